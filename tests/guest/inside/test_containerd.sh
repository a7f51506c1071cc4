#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# containerd starts containers without Docker and without Kubernetes, in its namespace `default` and in another one,
# with both cgroup drivers. Their labels must be what containerd says. The samples must be those of the books.
# long
# kernels: 7
# root: docker
# takes: 50 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

# remove NAMESPACE NAME: ends a container and removes it.
remove() {
	ctr --namespace "$1" tasks kill --signal KILL "$2"
	wait_until "end of $2" 30 stopped "$1" "$2"
	# Exits with the exit status of the container.
	ctr --namespace "$1" tasks delete "$2" >/dev/null 2>&1 || :
	ctr --namespace "$1" containers delete "$2"
}

stopped() {
	! ctr --namespace "$1" tasks list | grep -q "^$2 .*RUNNING"
}

end_containers() {
	remove default web || :
	remove default "$id" || :
	remove shop "$id2" || :
}

id=3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8
id2=c46bafd57b2ef55a23c1319893c8aa5bfca24872bd95258700a51059941fb69e
make_tree "$work/tree"
begin_runtimes

declare -A path
# run NAMESPACE NAME OPTION...: starts a container from the tree.
run() {
	local namespace=$1 name=$2
	shift 2
	ctr --namespace "$namespace" run --detach "$@" --rootfs "$work/tree" "$name" "${program[@]}"
	path[$name]=$(cgroup_of_process "$(ctr --namespace "$namespace" tasks list | awk -v name="$name" '$1 == name { print $2 }')")
}

# containerd's id of a container is any name. Without an option its cgroup is /NAMESPACE/ID.
run default web
expect 'the cgroup' /default/web "${path[web]}"
expect_container web /default/web '{"runtime":"containerd","container":"web"}'
# nerdctl makes ids of 64 digits, and keeps the name as an annotation.
run default "$id" --annotation nerdctl/name=front
expect 'the cgroup' "/default/$id" "${path[$id]}"
expect_container front "/default/$id" "{\"runtime\":\"containerd\",\"container\":\"front\",\"container_id\":\"$id\"}"
run shop "$id2" --annotation nerdctl/name=db --runc-systemd-cgroup --cgroup "system.slice:nerdctl:$id2"
expect 'the cgroup' "/system.slice/nerdctl-$id2.scope" "${path[$id2]}"
expect_container db "${path[$id2]}" "{\"runtime\":\"containerd\",\"container\":\"db\",\"container_id\":\"$id2\"}"
await_container_samples
expect 'the containers of default by containerd' "$id web" "$(ctr containers list --quiet | sort | paste -s -d ' ')"
expect 'those of shop' "$id2" "$(ctr --namespace shop containers list --quiet)"
remove default web
remove default "$id"
remove shop "$id2"
for name in web "$id" "$id2"; do
	expect_death "$name" "${path[$name]}"
done
expect_labels 'a container that was removed' /default/web '{"runtime":"containerd","container":"web"}'
agree_on_containers "$(containerd --version)"
