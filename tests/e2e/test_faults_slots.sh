#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# More cgroups than slots: those without one are counted as unattributed, all that has one is sampled on, it is told
# once, and slots that come free are given to cgroups that come later and to those that went without.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
own_cgroup
# Others of this machine may have cgroups too.
slots=$(($(find "${cgroup%/*}" -type d | wc -l) + 20))
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = %d\n' "$slots")

# In cgroup N: a process that touches fresh memory.
work_in() {
	(
		echo "$BASHPID" >"$cgroup/$1/cgroup.procs"
		head -c 20000000 /dev/zero | tail -c 10000000 >/dev/null
	)
}

status() {
	ctl --json status | jq "$1"
}

start --config "$work/pebsd.conf"
remember
mkdir "$cgroup"/{1..60}
for _ in $(seq 50); do
	[ "$(status .births_without_slot)" = 0 ] || break
	sleep 0.1
done
[ "$(status .births_without_slot)" -gt 0 ] || fail "every cgroup found a slot: $(ctl status)"
before=$(status .samples.unattributed)
work_in 60
sleep 0.5
[ "$(status .samples.unattributed)" -gt "$before" ] || fail "samples of a cgroup without a slot are not counted: $(ctl status)"
work_in 1
sleep 0.3
ctl --json show "/${cgroup##*/}/1" | jq -e '.events | length > 0' >/dev/null || fail 'a cgroup with a slot is not sampled'
expect 'malformed' 0 "$(status .samples.lost.malformed)"
still_samples 'without a slot to spare'
named 'no free slot' "cgroups find no free slot: all $slots are taken"
quiet 'no free slot' 1

# Most of them go: one that went without has a slot then.
for n in {1..55}; do
	rmdir "$cgroup/$n"
done
for _ in $(seq 100); do
	! grep -q 'every cgroup has a slot again' "$work/log" || break
	sleep 0.1
done
named 'slots again' 'every cgroup has a slot again'
work_in 60
sleep 0.3
ctl --json show "/${cgroup##*/}/60" | jq -e '.events | length > 0' >/dev/null || fail 'one that went without is not sampled now'

# Storms of births are told of no more often than slots run out.
for _ in 1 2 3; do
	for n in {100..160}; do
		mkdir "$cgroup/$n"
		rmdir "$cgroup/$n"
	done
done
still_samples 'after a storm of births'
given_back 'with slots again'
quiet 'storms of births' 8
