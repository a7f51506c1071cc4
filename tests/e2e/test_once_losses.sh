#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Expected samples that did not come are reported as lost when a run ends, even if the last collection is the one
# that finds them missing: by --once, and in the daemon's log when it stops.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need flock
stand_in_pmu
own_cgroup
# A clock that counts nanoseconds. Linux makes at most one sample every 10,000 ns, so nine of ten expected samples never
# come.
echo event=0x0 >/sys/bus/event_source/devices/cpu/events/mem-loads # PERF_COUNT_SW_CPU_CLOCK

# Limits the interrupts to a few per tick instead of 100,000 per second. The limit applies to the whole machine. Only
# one test at a time changes it, for a moment (tests/bpf/test_perf_origin.c takes the same lock).
rate=/proc/sys/kernel/perf_event_max_sample_rate
exec 9<"$rate"
flock 9
usual=$(cat "$rate")
[ "$usual" -gt 2000 ] || skip "kernel.perf_event_max_sample_rate is $usual"
echo 1000 2>/dev/null >"$rate" || skip 'kernel.perf_event_max_sample_rate cannot be written'

# shellcheck disable=SC2317 # called by the trap
restore() {
	local status=$?
	echo "$usual" >"$rate"
	return "$status"
}
trap 'restore || end_with_cgroup; end_with_cgroup' EXIT

# Both runs have only one collection.
printf '[sampling]\norigin = perf\ninterval = 10s\nperiod = 1000\nbudget = off\n' >"$work/pebsd.conf"
"$PEBSD" --config "$work/pebsd.conf" --once --for 1s --json >"$work/top.json" 2>"$work/log" || fail 'pebsd --once failed'
lost=$(jq .samples.lost.unexplained "$work/top.json") seen=$(jq .samples.seen "$work/top.json")
[ "$lost" -gt "$seen" ] || fail "--once reports $lost samples lost beside $seen seen: $(jq -c .samples "$work/top.json")"

start --config "$work/pebsd.conf"
sleep 1 # Nothing can be waited for: what is lost is known only when pebsd ends.
kill "$daemon"
wait "$daemon" || fail "pebsd ended with $?"
daemon=''
grep 'total: .* samples* of loads seen' "$work/log" | grep -vq ' 0 lost' || fail 'the last words have no loss'
