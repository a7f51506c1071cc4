#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Docker starts containers with the systemd driver, and after a change of its configuration with the cgroupfs driver.
# Their labels must be what Docker says. pebsd must see each of them begin and end, also if it is restarted. A new name
# is known after a restart of the container. The samples must be those of the books.
# long
# kernels: 7
# root: docker
# takes: 90 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	docker ps --all --quiet | xargs --no-run-if-empty docker rm --force
	rm -f /etc/docker/daemon.json
}

# asked NAME FORMAT: what Docker says about a container.
asked() {
	docker inspect --format "$2" "$1"
}

# Docker writes names with a slash at the begin.
labels='{"runtime":"docker","container":"{{slice .Name 1}}","container_id":"{{.Id}}"}'

make_tree "$work/tree"
tar --directory="$work/tree" --create . | docker import - tree >/dev/null
expect 'the driver' systemd "$(docker info --format '{{.CgroupDriver}}')"
begin_runtimes

declare -A path wanted
# run NAME OPTION...: starts a container, and expects its labels.
run() {
	docker run --detach --name "$@" tree "${program[@]}" >/dev/null
	path[$1]=$(cgroup_of_process "$(asked "$1" '{{.State.Pid}}')")
	wanted[$1]=$(asked "$1" "$labels")
	expect_container "$1" "${path[$1]}" "${wanted[$1]}"
}

run web --label stage=test
run job --network=host --rm --cgroup-parent=batch.slice
expect 'the cgroup of a container' "$(asked web '/system.slice/docker-{{.Id}}.scope')" "${path[web]}"
await_container_samples
docker rename web www
docker restart --time 0 www >/dev/null
expect_container www "${path[web]}" "$(asked www "$labels")" 2
docker restart --time 0 www >/dev/null
expect_container www "${path[web]}" "$(asked www "$labels")" 3
docker rm --force www job >/dev/null
expect_death web "${path[web]}" 3
expect_death job "${path[job]}"
expect_labels 'a container that was removed' "${path[job]}" "${wanted[job]}"

echo '{"exec-opts":["native.cgroupdriver=cgroupfs"]}' >/etc/docker/daemon.json
systemctl restart docker.service
expect 'the driver' cgroupfs "$(docker info --format '{{.CgroupDriver}}')"
run plain --network=host
run parent --network=host --cgroup-parent=/batch
expect 'the cgroup of a container' "$(asked plain '/docker/{{.Id}}')" "${path[plain]}"
expect 'the cgroup of a container with a parent' "$(asked parent '/batch/{{.Id}}')" "${path[parent]}"
await_container_samples
docker rm --force plain parent >/dev/null
expect_death plain "${path[plain]}"
expect_death parent "${path[parent]}"
agree_on_containers "Docker $(docker version --format '{{.Server.Version}}')"
