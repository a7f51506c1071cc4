#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A CPU that the kernel was told to isolate (isolcpus=1), on which a program loads, waits and counts. By the emulated
# PMU, pebsd's events must not interrupt it and must have no sample there. With `isolated = yes` they have.
# kernels: 6.12
# machines: skylake-server
# cpus: 2
# cpu 1: isolated
# init: small
# takes: 45 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

expect 'isolated CPUs' 1 "$(cat /sys/devices/system/cpu/isolated)"
# The NMI watchdog would interrupt both CPUs.
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)
echo 0 >/proc/sys/kernel/nmi_watchdog
trap 'echo "$watchdog" >/proc/sys/kernel/nmi_watchdog; leave' EXIT

# of_cpu CPU: prints the number of interrupts of the CPU's PMU, of its BPF programs, and of the samples of each event.
of_cpu() {
	jq -r -n --argjson cpu "$1" --slurpfile price "$work/price" --slurpfile totals "$work/totals" '
		($price[] | select(.cpu == $cpu)) as $price | ($totals[] | select(.cpu == $cpu)) as $totals
		| ([$price.nmis, $totals.sent, $price.programs] | map(tostring))
			+ [$totals.events | to_entries[] | "\(.key):\(.value.overflow + .value.cut)"] | join(" ")'
}

# try ISOLATED: samples with this setting while a program runs on each CPU. Leaves $work/price, $work/totals and
# $work/said.
try() {
	local line
	play_paused
	settings '[sampling]' 'events = loads cycles instructions stalls misses' 'period = 1009' 'instructions-period = 50021' \
		'cycles-period = 50021' 'stalls-period = 5003' 'misses-period = 503' 'budget = off' "isolated = $1"
	load pointer-chase here
	load pointer-chase isolated
	start_pebsd
	taskset -p -c 1 "$(cat /sys/fs/cgroup/isolated/cgroup.procs)" >/dev/null
	# The programs write their memory first.
	sleep 2
	quiet
	await_collections 2
	pmu reset
	resume
	sleep 1.5
	stop_counting
	quiet
	pmu price >"$work/price"
	pmu totals >"$work/totals"
	pmu spent >"$work/spent"
	await_collections 2
	pebsctl status >"$work/said"
	pkill -KILL -f "^$here/workload " || :
	line=$(of_cpu 0)
	say "measured: isolated = $1, CPU 0: interrupts, sent, programs, and samples of each event: $line"
	[ "$(grep -o ':[1-9]' <<<"$line" | wc -l)" -ge 5 ] || fail "isolated = $1: an event has no sample on CPU 0: $line"
	[ "$(jq -s 'map(select(.cpu == 1 and .comm == "pointer-chase") | .instructions) | add // 0' "$work/spent")" -gt 10000000 ] ||
		fail 'nothing ran on CPU 1'
	say "measured: isolated = $1, CPU 1: $(of_cpu 1)"
}

rest=''
# Accesses are seen in each fourth millisecond.
pmu window 4
try no
# Without a single event in the books.
expect 'interrupts, sent interrupts and programs of the isolated CPU' '0 0 0' "$(of_cpu 1)"
grep -q 'isolated CPUs are not sampled (isolated = no in \[sampling\]): nothing that runs on CPU 1 is counted' <(tr -s '[:space:]' ' ' <"$work/said") ||
	fail "status does not name the isolated CPU: $(<"$work/said")"
stop_pebsd
try yes
[ "$(grep -o ':[1-9]' <<<"$(of_cpu 1)" | wc -l)" -ge 5 ] || fail "isolated = yes: an event has no sample on CPU 1: $(of_cpu 1)"
