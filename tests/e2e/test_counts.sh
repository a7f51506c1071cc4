#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a machine without PEBS, pebsd samples the events that only count: the probe says so, samples of each come, and a
# reload changes their periods. The stand-in for the PMU gives all of them the software event of the CPU clock.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need jq
stand_in_pmu
own_cgroup
pmu=/sys/bus/event_source/devices/cpu
rm "$pmu/events/mem-loads"
# The kernel ignores config1 of a software event, so the terms of all events leave config at 0.
echo config1:0-7 >"$pmu/format/event"
echo config1:8-15 >"$pmu/format/umask"
echo config1:24-31 >"$pmu/format/cmask"

# Without a budget the periods stay: 10,000,019 ns of the clock are 100 samples a second on a busy CPU.
configure() { # LINE...
	printf '[sampling]\norigin = perf\nevents = loads instructions cycles stalls misses\nbudget = off\nmisses-period = 10000019\n' \
		>"$work/pebsd.conf"
	printf '%s\n' "$@" >>"$work/pebsd.conf"
}
configure
"$PEBSD" --probe --config "$work/pebsd.conf" >"$work/probe" || fail "the probe exits with $?: $(cat "$work/probe")"
tr -s ' \n' ' ' <"$work/probe" | grep -q 'pebsd can sample instructions, cycles, stalls and misses here, but no memory accesses' ||
	fail "the probe: $(cat "$work/probe")"

start --config "$work/pebsd.conf"
roles='["cycles","instructions","misses","stalls"]'
samples() {
	ctl --json top | jq -c '[.total.events | to_entries[] | select(.value.samples > 20) | .key] | sort'
}
timeout 20 sh -c 'while :; do :; done' &
until_is 'samples of each event' "$roles" samples
ctl --json status >"$work/status"
jq -ne 'input | .events | (.cycles.period == 10000019) and (.stalls.period == 10000019) and
	([.[] | .takes_turns_with, .latency_kind] | all(. == null)) and all(.[]; .running_ratio > 0.9)' "$work/status" >/dev/null ||
	fail "status: $(jq -c .events "$work/status")"
jq -ne 'input | .notes | any(contains("loads on PMU cpu is not available"))' "$work/status" >/dev/null ||
	fail "the status does not say why loads are missing: $(jq -c .notes "$work/status")"

configure 'cycles-period = 20000003' 'stalls-period = 30000001'
exits 'a reload of the periods' 0 ctl reload
grep -q 'applied: cycles-period, stalls-period' "$work/said" || fail "what changed is not told: $(cat "$work/said")"
periods() {
	ctl --json status | jq -c '[.events | .cycles, .stalls, .misses | .period]'
}
until_is 'the periods after the reload' '[20000003,30000001,10000019]' periods
