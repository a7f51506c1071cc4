#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd as a service must count every sample of every cgroup, with its latency, source, snoop and TLB result.
# pebsctl and /metrics must show exactly the samples that the hardware delivered.
# time limit: 400 s
# kernels: 6.1 6.12 7
# takes: 48 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
play
settings '[export]' 'detail-metrics = yes'
load pointer-chase chase.service -- --threads 2
load streaming stream.service --slice=play.slice
load locked-counters locked.service --slice=play-inner.slice
start_pebsd

# Cgroups that are created while pebsd samples. One has its own subtree, two levels deep.
load remote-numa remote.service --slice=play-inner.slice
load tlb-thrash thrash.service
# shellcheck disable=SC2016 # the service's own
systemd-run --quiet --collect --unit=nest.service --property=CPUSchedulingPolicy=idle --property=Delegate=yes \
	bash -c '
		own=/sys/fs/cgroup$(sed s/^0::// /proc/self/cgroup)
		mkdir -p "$own/one/two"
		(echo $BASHPID >"$own/one/cgroup.procs" && exec "$1" false-sharing) &
		(echo $BASHPID >"$own/one/two/cgroup.procs" && exec "$1" mix) &
		exec "$1" streaming' bash "$here/workload"
workloads+=(nest.service)
paths=(/system.slice/{chase,thrash,nest}.service /play.slice/stream.service
	/play.slice/play-inner.slice/{locked,remote}.service /system.slice/nest.service/one{,/two})
# nest.service makes its cgroups itself.
have_ids() {
	stat --format=%i "${paths[@]/#//sys/fs/cgroup}" >"$work/ids" 2>"$work/said"
}
wait_until 'the cgroups' 60 have_ids
mapfile -t ids <"$work/ids"
# The opener's cgroup may be gone when the counters are stopped.
note_cgroups

since=$(date +%s%N) before=$(delivered)
await_samples 12000
rate=$((($(delivered) - before) * 1000000000 / ($(date +%s%N) - since) / 2))
wait_until 'samples of each cgroup' 200 books_have 101 "${ids[@]}"
settle
agree "$rate a second and CPU"
for path in "${paths[@]}"; do
	[ "$(samples_of "$path")" -gt 100 ] || fail "$path has $(samples_of "$path") samples"
done
expect 'cgroups whose path this test does not know' 0 "$(figure unnamed)"

# /metrics must have the same values.
scrape
compared=0
while IFS=$'\t' read -r what name label value; do
	[ "$what" = metric ] || continue
	expect "$name $label" "$value.000000" "$(metric "$name" "$label")"
	compared=$((compared + 1))
done <"$work/compared"
[ "$compared" -gt 20 ] || fail "only $compared metrics were compared"
say "$compared metrics agree"
