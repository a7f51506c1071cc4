#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemd-nspawn starts containers by its template unit, in a scope of systemd-machined and in the unit of its caller.
# Their labels must be what machinectl says, except in the unit of its caller, whose path has no name of a machine.
# pebsd must see each of them begin and end, also if it is restarted. The samples must be those of the books.
# long
# kernels: 7
# root: machines
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	machinectl terminate web build-host kept
	systemctl stop job.service kept.service
	rm -rf /var/lib/machines/web /etc/systemd/nspawn/web.nspawn
}

is_running() {
	leader=$(machinectl show --property=Leader --value "$1" 2>/dev/null) && [ -n "$leader" ] && [ "$(cat "/proc/$leader/comm")" = mix ]
}

declare -A path
# expect_machine NAME JSON [BIRTHS]: the machine runs its program, and has these labels.
expect_machine() {
	wait_until "the machine $1" 100 is_running "$1"
	path[$1]=$(cgroup_of_process "$leader")
	expect_container "$1" "${path[$1]}" "$2" "${3:-1}"
}

make_tree /var/lib/machines/web
# systemd-nspawn runs a directory only once at a time.
make_tree "$work/tree"
make_tree "$work/other"
# The program ends at SIGTERM, and not at the signal that systemd-nspawn sends to an init.
mkdir -p /etc/systemd/nspawn
printf '[Exec]\nKillSignal=SIGTERM\n' >/etc/systemd/nspawn/web.nspawn
begin_runtimes

machinectl start web
expect_machine web '{"runtime":"nspawn","container":"web"}'
expect 'its cgroup' /machine.slice/systemd-nspawn@web.service/payload "${path[web]}"
nspawn=(systemd-nspawn --quiet --kill-signal=SIGTERM)
systemd-run --quiet --unit=job.service "${nspawn[@]}" --directory="$work/tree" --machine=build-host "${program[@]}"
expect_machine build-host '{"runtime":"nspawn","container":"build-host"}'
expect 'its cgroup' '/machine.slice/machine-build\x2dhost.scope/payload' "${path[build-host]}"
systemd-run --quiet --unit=kept.service --property=Delegate=yes "${nspawn[@]}" --directory="$work/other" --keep-unit \
	--machine=kept "${program[@]}"
expect_machine kept '{"unit":"kept.service"}'
expect 'its cgroup' /system.slice/kept.service/payload "${path[kept]}"
await_container_samples
systemctl stop job.service
expect_death build-host "${path[build-host]}"
systemctl restart systemd-nspawn@web.service
expect_machine web '{"runtime":"nspawn","container":"web"}' 2
machinectl terminate web
systemctl stop kept.service
expect_death web "${path[web]}" 2
expect_death kept "${path[kept]}"
expect_labels 'a container that was removed' "${path[build-host]}" '{"runtime":"nspawn","container":"build-host"}'
agree_on_containers "$(systemd-nspawn --version | head -n 1)"
