#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd --probe on a machine with a PMU: checks its measurements, the requirements of sampling that it states, and
# its output if privileges or descriptors are missing.
# init: small
# takes: 30 s
# time limit: 600 s
# machines: skylake-server sapphirerapids
# short machines: skylake-server
# cpus: 2
# kernels: 6.12 6.1 7
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# probe COMMAND...: leaves $work/probe.json
probe() {
	status=0
	"$@" --probe --json >"$work/probe.json" 2>"$work/said" || status=$?
}
# json WHAT FILTER: expects FILTER to be true for $work/probe.json
json() {
	jq -ne "input | $2" "$work/probe.json" >/dev/null || fail "$1: not $2 in: $(<"$work/probe.json")"
}

play_paused
settings '[sampling]' 'events = loads stores instructions'
pebsd --probe
probe pebsd
expect "exit code of the probe on $emulated" 0 "$status"
json "$emulated: what was measured" '.cost.measured | .load_ns > 0 and .event_ns > 0 and .events_timed > 0'
json "$emulated: the time to start" '.cost.asked.start_ns > .cost.measured.load_ns'
json "$emulated: the kernel's structures" '.cost.asked.kernel_event_bytes_min > 1000'
said=$(jq .cost.asked.descriptors "$work/probe.json")
start_pebsd
open=$(find "/proc/$pebsd_pid/fd" -lname 'anon_inode:\[perf_event\]' | wc -l)
expect "$emulated: descriptors of events" "$said" "$open"

# The running pebsd has a pinned event on the same counters, and other counters are free. This is not a reason to
# refuse anything. On both machines, precisely distributed instructions have only one counter, which pebsd itself
# then holds.
probe pebsd
expect "exit code of the probe on $emulated beside pebsd" 0 "$status"
json "$emulated: its own events are not called another user's" '[.notes[]] | all(contains("a pinned event of another") | not)'
json "$emulated: pebsd's own counters" '[.notes[] | select(contains("the running pebsd"))] | length > 0'
stop_pebsd

probe prlimit --nofile=100:100 pebsd
expect "exit code of the probe on $emulated with few descriptors" 3 "$status"
json "$emulated: too few descriptors" '[.refused[].reason] | any(contains("too few file descriptors") and
		contains("the hard limit is 100"))'
probe setpriv --reuid=65534 --regid=65534 --clear-groups pebsd
expect "exit code of the probe on $emulated without rights" 3 "$status"
json "$emulated: no rights" '[.refused[].reason] | any(contains("kernel.perf_event_paranoid is"))'
json "$emulated: no rights for BPF" '[.notes[]] | any(contains("CAP_BPF"))'
