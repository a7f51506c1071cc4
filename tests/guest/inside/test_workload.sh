#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A workload must run in its own service, all its threads must have its name and do work, and it must end on
# request. Without work, when the CPU is mostly halted, the emulated CPU must have less than a quarter of the
# cycles.
# kernels: 6.12
# takes: 20 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

start_workload pointer-chase chase.service --slice=play-inner.slice -- --threads 2
expect 'its cgroup' /play.slice/play-inner.slice/chase.service "$(cgroup_of chase.service)"
tasks=/sys/fs/cgroup$(cgroup_of chase.service)/cgroup.threads
have_threads() {
	[ "$(wc -l <"$tasks")" = 2 ]
}
wait_until 'two threads' 60 have_threads
while read -r task; do
	expect "the name of thread $task" pointer-chase "$(cat "/proc/$task/comm")"
done <"$tasks"
used() {
	awk '$1 == "usage_usec" { print $2 }' "/sys/fs/cgroup$(cgroup_of chase.service)/cpu.stat"
}

# The cycles are compared while pebsd samples instructions.
play
settings '[sampling]' 'events = instructions' 'instructions-period = 20000003' 'budget = off'
start_pebsd

# cycles: prints the cycles of all CPUs so far.
cycles() {
	pmu totals | grep -o '"cycles":[0-9]*' | awk -F : '{ sum += $2 } END { printf "%.0f\n", sum }'
}

before=$(used) busy=$(cycles)
sleep 2
[ $(($(used) - before)) -gt 500000 ] || fail "the workload used $(($(used) - before)) us of CPU time in 2 s"
busy=$(($(cycles) - busy))
systemctl stop chase.service
expect 'its end' '' "$(pgrep -x pointer-chase || :)"
idle=$(cycles)
sleep 2
idle=$(($(cycles) - idle))
say "measured: $busy cycles in 2 s with the workload, $idle without"
[ $((idle * 4)) -lt $busy ] || fail "an idle CPU has $idle cycles in 2 s, a busy one $busy"
start_workload streaming short.service -- --for 1
stopped() {
	! systemctl is-active --quiet short.service
}
wait_until 'the end of a short one' 60 stopped
exits 'a name that is too long' 2 "$here/workload" 0123456789abcdef
