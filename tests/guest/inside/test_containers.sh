#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd must show the name that the runtime stores on disk for a container's cgroup. A child process reads the
# name, and its only capability is CAP_DAC_READ_SEARCH. The metrics must have the name as a label.
# kernels: 7
# takes: 21 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

id=3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8
docker=/var/lib/docker/containers/$id
cgroup=/sys/fs/cgroup/docker/$id
loader=''

# shellcheck disable=SC2317 # called by the trap
end_containers() {
	[ -z "$loader" ] || kill "$loader" 2>/dev/null || :
	wait
	leave
	rm -rf /var/lib/docker
	rmdir "$cgroup" "${cgroup%/*}" 2>/dev/null || :
}
trap end_containers EXIT

has_name() {
	pebsctl --json show "/docker/$id" | jq -ne 'input | .labels.container == "web"' >/dev/null
}

mkdir -p "$docker" "$cgroup"
# Readable by root only, as Docker makes them.
chmod 700 /var/lib/docker "$docker"
echo '{"Name":"/web","Config":{"Env":["PASSWORD=secret"],"Labels":{}}}' >"$docker/config.v2.json"
chmod 600 "$docker/config.v2.json"
printf '[containers]\nlabels = runtime container\n' | configure
play
load mix plain.service
sh -c "echo 0 >$cgroup/cgroup.procs; exec chrt --idle 0 $here/workload mix" &
loader=$!
start_pebsd
await_samples 500
wait_until 'the name' 100 has_name
main=$(systemctl show --property=MainPID --value pebsd.service)
worker=$(pgrep -P "$main" -f container-names) || fail 'no process looks for names'
expect 'its capabilities' 0000000000000004 "$(awk '/^CapEff/ { print $2 }' "/proc/$worker/status")"
expect 'its filter of system calls' 2 "$(awk '/^Seccomp:/ { print $2 }' "/proc/$worker/status")"
expect 'the runtime' docker "$(pebsctl --json show "/docker/$id" | jq -r .labels.runtime)"
scrape
grep -q "^pebsd_weighted_samples_total{cgroup=\"/docker/$id\",runtime=\"docker\",container=\"web\",event=" \
	"$work/metrics" || fail "no series has the name: $(grep -F "$id" "$work/metrics" | head -n 1)"
! grep -rq secret "$work/metrics" || fail 'more than the name was exported'
