#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The emulated PMU itself, without pebsd: cycles, instructions, stalls and misses that the kernel's driver counts must
# equal what the CPU did by the books, and programs must wait as their loads overlap. (pebsd: test_counts.sh.)
# kernels: 6.12 6.1 7
# machines: skylake-server zen5 haswell sandybridge icelake-server sapphirerapids gracemont zen3 generic-vm
# short machines: skylake-server zen5
# init: small
# takes: 40 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# The codes of the events, with the counter mask in bits 31:24. Zen 3 and unknown models have no event of stalls.
cycles=0x3c misses=0x412e stalls=''
case $emulated in
haswell | sandybridge) stalls=0x60006a3 ;;
skylake-server | icelake-server) stalls=0x140014a3 ;;
sapphirerapids) stalls=0x50021a6 ;;
gracemont) stalls=0x734 ;;
zen5) cycles=0x76 misses=0x4844 stalls=0xa2d6 ;;
zen3) cycles=0x76 misses=0x4844 ;;
esac
names=(cycles instructions misses ${stalls:+stalls})
configs=("$cycles" 0xc0 "$misses" ${stalls:+"$stalls"})
# AMD's counters also count what the handler of their interrupts does (amd/core.c amd_pmu_handle_irq, Linux 7.2), and it
# rarely waits. Interrupts must be rare, or they lower the share of stalled cycles that a workload shows.
period=100003

# sum_spent NAME [CGROUP_ID]: prints the sum over all tasks, or those of one cgroup, while the counters were enabled.
# (Without jq, which takes a second to start here.)
sum_spent() {
	sed 's/.*"cgroup":\([0-9]*\).*"counting":{\(.*\)}}/\1 \2/; s/[":,]/ /g' "$work/spent" |
		awk -v name="$1" -v id="${2:-}" '
			id == "" || $1 == id { for (i = 2; i < NF; i += 2) if ($i == name) sum += $(i + 1) }
			END { printf "%.0f\n", sum }'
}

# result NAME FIELD: prints a field of the result of an event.
result() {
	sed "s/.*\"$2\":\([0-9]*\).*/\1/" "$work/$1"
}

# has_memory WORKLOAD: true if it has written its memory, so that it begins to read it.
has_memory() {
	local pid
	pid=$(pgrep -f "^$here/workload $1 ") && awk -v most=$((touches * 256)) '{ exit $2 < most }' "/proc/$pid/statm"
}

# try WORKLOAD LEAST MOST: counts while the workload runs, and compares with the books. The share of stalled cycles, in
# percent, must be in these bounds. Sets $stalled and $missed to the numbers of stalled cycles and misses.
try() {
	local i id found truth instructed used waits
	play_paused
	pmu reset
	load "$1" "$1"
	wait_until "$1 has its memory" 100 has_memory "$1"
	quiet
	for i in "${!names[@]}"; do
		"$here/open_event" --cpu 0 --type 4 --config "${configs[i]}" --period $period --sample-type 1 --for 1 \
			>"$work/${names[i]}" &
	done
	sleep 0.2
	pmu exact
	resume
	sleep 0.03
	stop_counting
	quiet
	pmu usual
	wait
	pmu spent >"$work/spent"
	for i in "${names[@]}"; do
		found=$(result "$i" count) truth=$(sum_spent "$i")
		# AMD's driver does not stop the counters while it writes them, so they miss a dozen instructions each
		# time.
		if [[ $emulated == zen* ]] && [ "$found" -le "$truth" ] && [ "$found" -ge $((truth - truth / 200)) ]; then
			truth=$found
		fi
		expect "$1, $i" "$truth" "$found"
		if [ "$(result "$i" ring)" -gt $((found / period + 1)) ] ||
			[ "$(result "$i" ring)" -lt $((found / period - 1 - found / period / 50)) ]; then
			fail "$1, $i: samples: $(<"$work/$i")"
		fi
	done
	id=$(stat --format=%i "/sys/fs/cgroup/$1")
	instructed=$(sum_spent instructions "$id") used=$(sum_spent cycles "$id")
	stalled=$(sum_spent stalls "$id") missed=$(sum_spent misses "$id")
	waits=$((100 * stalled / used))
	say "measured: $1: instructions $instructed, cycles $used, stalled $stalled ($waits %), misses $missed"
	pkill -KILL -f "^$here/workload " || :
	if [ -n "$stalls" ] && { [ "$waits" -lt "$2" ] || [ "$waits" -gt "$3" ]; }; then
		fail "$1 waits $waits % of its cycles, not $2 to $3 %"
	fi
}

rest=''
try pointer-chase 85 100
try register-loop 0 5
try streaming 10 75
# The loads of both take the same time, but four of the second overlap.
try one-chain 78 98
one_stalled=$stalled one_missed=$missed
try four-chains 40 85
if [ -n "$stalls" ] && [ $((2 * stalled * one_missed)) -gt $((one_stalled * missed)) ]; then
	fail "for a miss, four-chains stalls more than half of what one-chain does"
fi
