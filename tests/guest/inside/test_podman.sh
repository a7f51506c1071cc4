#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Podman starts containers with both of its cgroup drivers, in a pod, in the cgroup of a unit, and for a user without
# root. Their labels must be what Podman says. pebsd must see each of them begin and end, also if it is restarted. A new
# name is known after a restart of the container. The samples must be those of the books.
# long
# kernels: 7
# root: podman
# takes: 150 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	podman rm --force --time 0 --all
	as_user podman rm --force --time 0 --all
}

# asked NAME FORMAT: what Podman says about a container.
asked() {
	podman inspect --format "$2" "$1"
}

labels='{"runtime":"podman","container":"{{.Name}}","container_id":"{{.Id}}"}'

make_tree "$work/tree"
tar --directory="$work/tree" --create . >"$work/tree.tar"
podman import --quiet "$work/tree.tar" tree >/dev/null
begin_runtimes

podman run --quiet --detach --name web tree "${program[@]}" >/dev/null
podman pod create --name shop --infra-image tree --infra-command "/workload mix --rest 1000" >/dev/null
podman run --quiet --detach --pod shop --name db tree "${program[@]}" >/dev/null
podman --cgroup-manager=cgroupfs run --quiet --detach --network=host --name plain tree "${program[@]}" >/dev/null
# As the units of Quadlet do.
systemd-run --quiet --unit=job.service --property=Delegate=yes --property=KillMode=mixed --service-type=notify --property=NotifyAccess=all \
	podman run --quiet --rm --detach --network=host --sdnotify=conmon --cgroups=split --name job tree "${program[@]}"
declare -A path
for name in web db plain job; do
	path[$name]=$(cgroup_of_process "$(asked "$name" '{{.State.Pid}}')")
	wanted=$(asked "$name" "$labels")
	[ $name != job ] || wanted=$(jq '.unit = "job.service"' <<<"$wanted")
	expect_container "$name" "${path[$name]}" "$wanted"
done
[ "${path[web]}" = "$(asked web '/machine.slice/libpod-{{.Id}}.scope/container')" ] || fail "${path[web]}"

# A user's containers. Their names are in his home directory, which pebsd cannot read.
add_user
as_user podman import --quiet - tree <"$work/tree.tar" >/dev/null
as_user podman run --quiet --detach --network=host --name mine tree "${program[@]}" >/dev/null
path[mine]=$(cgroup_of_process "$(as_user podman inspect --format '{{.State.Pid}}' mine)")
expect_container mine "${path[mine]}" \
	"$(as_user podman inspect --format '{"runtime":"podman","container_id":"{{.Id}}","user":"1000"}' mine)"
await_container_samples

podman restart --time 0 web >/dev/null
expect 'the path after a restart' "${path[web]}" "$(cgroup_of_process "$(asked web '{{.State.Pid}}')")"
expect_container web "${path[web]}" "$(asked web "$labels")" 2
podman rename web www
podman restart --time 0 www >/dev/null
expect 'its name' www "$(asked www '{{.Name}}')"
expect_container www "${path[web]}" "$(asked www "$labels")" 3
await_container_samples

wanted=$(asked db "$labels")
podman rm --force --time 0 db plain job >/dev/null
as_user podman rm --force --time 0 mine >/dev/null
for name in db plain job mine; do
	expect_death "$name" "${path[$name]}"
done
expect_labels 'a container that was removed' "${path[db]}" "$wanted"
agree_on_containers "$(podman --version)"
