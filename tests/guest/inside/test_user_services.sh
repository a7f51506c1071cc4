#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The systemd of a lingering user starts services, an instance of a template and a scope. Their labels must be what that
# systemd says. pebsd must see each of them begin and end, also if it is restarted. The samples must be those of the
# books.
# long
# kernels: 7
# root: podman
# takes: 30 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	as_user systemctl --user stop web.service worker@1.service job.scope
	rm -rf /etc/systemd/user/{web,worker@}.service
}

program[0]=$here/workload
for unit in web worker@; do
	printf '%s\n' '[Service]' "ExecStart=${program[*]}" >"/etc/systemd/user/$unit.service"
done
begin_runtimes
add_user
as_user systemctl --user start web.service worker@1.service
as_user systemd-run --quiet --user --scope --unit=job.scope "${program[@]}" &
is_active() {
	as_user systemctl --user --quiet is-active "$1"
}
declare -A path
for unit in web.service worker@1.service job.scope; do
	wait_until "$unit" 100 is_active "$unit"
	path[$unit]=$(as_user systemctl --user show --property=ControlGroup --value "$unit")
	expect_container "$unit" "${path[$unit]}" "{\"unit\":\"$unit\",\"user\":\"1000\"}"
done
expect 'the cgroup of the scope' /user.slice/user-1000.slice/user@1000.service/app.slice/job.scope "${path[job.scope]}"
await_container_samples
as_user systemctl --user restart web.service
expect_container web.service "${path[web.service]}" '{"unit":"web.service","user":"1000"}' 2
as_user systemctl --user stop web.service worker@1.service job.scope
expect_death web.service "${path[web.service]}" 2
expect_death worker@1.service "${path[worker@1.service]}"
expect_death job.scope "${path[job.scope]}"
expect_labels 'a service that was stopped' "${path[web.service]}" '{"unit":"web.service","user":"1000"}'
agree_on_containers "$(systemctl --version | head -n 1)"
