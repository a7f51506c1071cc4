#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that open pinned events after pebsd. Each must get a counter at once and keep it, if the host has one that
# neither pebsd's loads nor its precise instructions hold. Events of pebsd that only count must share what is left, be
# scaled for it, and get their counters back. Their samples, and those of loads, must equal the books of the emulated
# PMU. With leave-counters, programs get as many counters, and no event of pebsd loses any time.
# kernels: 6.12
# machines: skylake-server haswell sapphirerapids zen5 generic-vm
# short machines: skylake-server
# init: small
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# KEY PMU CODE... of each event, as in `sampled` of books.sh. `free`: general counters that no pinned event of pebsd
# has. `yielding`: the events that need one and are not pinned. `fixed`: those that are not pinned, but have a fixed
# counter. They take turns with the others, too: the kernel tries the events one after the other, in turns, and ends
# with the first that finds no counter (merge_sched_in() in kernel/events/core.c, Linux 6.12). `code`: an event of
# another program that any general counter counts.
# `leave` is for leave-counters, and `left` has the events that are opened then.
sampled=('loads cpu 0x1cd' 'cycles cpu 0x3c' 'instructions cpu 0x1c0' 'misses cpu 0x412e' 'stalls cpu 0x14a3')
events='loads cycles instructions stalls misses'
free=2 yielding='stalls misses' fixed=cycles code=0x412e leave=2 left='loads cycles instructions'
case $emulated in
haswell)
	# Without loads: see test_counts.sh.
	sampled=('cycles cpu 0x3c' 'instructions cpu 0x1c0' 'misses cpu 0x412e' 'stalls cpu 0x6a3')
	events='cycles instructions stalls misses' free=3 leave=3 left='cycles instructions'
	;;
sapphirerapids)
	sampled[2]='instructions cpu 0xc0' sampled[4]='stalls cpu 0x21a6'
	free=6 leave=6
	;;
zen5)
	sampled=('loads ibs_op 0x2 0x1 0x4' 'cycles cpu 0x76' 'instructions cpu 0xc0' 'misses cpu 0x4844'
		'stalls cpu 0xa2d6')
	free=6 yielding='cycles instructions stalls misses' fixed='' code=0x4844 leave=4 left='loads cycles instructions'
	;;
generic-vm)
	sampled=('cycles cpu 0x3c' 'instructions cpu 0xc0' 'misses cpu 0x412e')
	events='cycles instructions misses' free=4 yielding=misses fixed='cycles instructions' leave=4 left='cycles instructions'
	;;
esac

# The NMI watchdog has a counter, too: on Intel the fixed one of cycles.
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)
echo 0 >/proc/sys/kernel/nmi_watchdog
trap 'echo "$watchdog" >/proc/sys/kernel/nmi_watchdog; leave' EXIT

is_open() {
	readlink /proc/"$1"/fd/* | grep -q perf_event
}

# hold N: another program's N pinned events on CPU 0.
hold() {
	local i
	holders=()
	for ((i = 0; i < $1; i++)); do
		"$here/open_event" --cpu 0 --type 4 --config $code --period $((0x7fffffff)) --pinned 1 --for 1000 >"$work/held.$i" &
		holders+=($!)
	done
	for i in "${holders[@]}"; do
		wait_until 'the event of another' 30 is_open "$i"
	done
}

# release N: closes the events. N of them must have had a counter all the time, and the others, which are in error
# state, none.
release() {
	local i
	kill "${holders[@]}"
	wait "${holders[@]}"
	for i in "${!holders[@]}"; do
		cat "$work/held.$i"
	done >"$work/held"
	expect "pinned events that counted all the time, of ${#holders[@]}: $(<"$work/held")" "$1" \
		"$(sed -n 's/.*"enabled":\([0-9]*\),"running":\([0-9]*\),.*/\1 \2/p' "$work/held" | awk '$1 == $2 && $1 > 0' | wc -l)"
	expect "pinned events in error state: $(<"$work/held")" $((${#holders[@]} - $1)) "$(grep -c -v enabled "$work/held" || :)"
}

# begin, finish: the time that grew() and share() are about. Nothing is counted between finish() and begin().
begin() {
	await_collections 2
	scrape
	mv "$work/metrics" "$work/metrics.before"
	pmu spent >"$work/spent.before"
	resume
}

finish() {
	settle
	pmu spent >"$work/spent"
	scrape
}

# grew NAME LABEL: prints by how much the metric grew, summed over its series.
grew() {
	awk -v name="$1" -v label="$2" '
		index($0, name "{") == 1 && index($0, label) { sum += FNR == NR ? -$NF : $NF }
		END { printf "%.6f\n", sum }' "$work/metrics.before" "$work/metrics"
}

# share EVENT: prints for how many thousandths of the time the event had a counter.
share() {
	local running enabled
	running=$(grew pebsd_event_running_seconds_total "event=\"$1\"")
	enabled=$(grew pebsd_event_enabled_seconds_total "event=\"$1\"")
	awk -v running="$running" -v enabled="$enabled" 'BEGIN { printf "%.0f\n", (enabled ? 1000 * running / enabled : -1) }'
}

# shares WHEN: prints the share of each event, and leaves those of `yielding` in `of_yielding` and those of `fixed` in
# `of_fixed`. All others must be 1000.
shares() {
	local line event found text=''
	of_yielding=() of_fixed=()
	for line in "${sampled[@]}"; do
		event=${line%% *}
		found=$(share "$event")
		text+="$event $found, "
		if [[ " $yielding " == *" $event "* ]]; then
			of_yielding+=("$found")
		elif [[ " $fixed " == *" $event "* ]]; then
			of_fixed+=("$found")
		else
			expect "$1: share of the time of $event, in thousandths" 1000 "$found"
		fi
	done
	say "measured: $1: shares of the time, in thousandths: ${text%, }"
}

# are WHEN LEAST MOST SHARE...: each share must be in these bounds.
are() {
	local found when=$1 least=$2 most=$3
	shift 3
	for found; do
		if [ "$found" -lt "$least" ] || [ "$found" -gt "$most" ]; then
			fail "$when: a share of the time is $found thousandths, not $least to $most"
		fi
	done
}

spent_sum() {
	sed 's/.*"counting":{\(.*\)}}/\1/; s/[":,]/ /g' "$2" |
		awk -v name="$1" '{ for (i = 1; i < NF; i += 2) if ($i == name) sum += $(i + 1) } END { printf "%.0f\n", sum }'
}

# near EVENT METRIC: the estimate, which pebsd scales for the time without a counter, must be near the count in the
# books.
near() {
	local found truth
	found=$(grew "$2" '') truth=$(($(spent_sum "$1" "$work/spent") - $(spent_sum "$1" "$work/spent.before")))
	say "measured: $1: $found by pebsd, $truth by the books"
	awk -v found="$found" -v truth="$truth" 'BEGIN { exit !(truth > 0 && found > truth * 0.85 && found < truth * 1.15) }' ||
		fail "$1: the estimate $found is far from $truth"
}

# The chase never rests, and its accesses are always seen, so events that run in turns of a millisecond can be scaled.
# Periods are long, because an interrupt takes some 4,000 instructions of the 125,000 that a millisecond has: while the
# stalls have their turn, the chase would do less.
rest=''
pmu window 1
play_paused
settings '[sampling]' "events = $events" 'period = 20011' 'instructions-period = 500009' 'cycles-period = 500009' \
	'stalls-period = 500009' 'misses-period = 30011' 'budget = off'
load pointer-chase chase
start_pebsd
await_collections 2
begin
sleep 0.5
finish
shares 'nobody else'
are 'nobody else' 1000 1000 "${of_yielding[@]}" "${of_fixed[@]}"

# One counter is left for all events of pebsd that yield.
hold $((free - 1))
begin
sleep 1
finish
shares 'one counter left'
if [ ${#of_yielding[@]} = 1 ]; then
	are 'one counter left for one event' 1000 1000 "${of_yielding[@]}" "${of_fixed[@]}"
else
	are 'one counter left' 100 900 "${of_yielding[@]}" "${of_fixed[@]}"
	are 'one counter left, all together' 980 1010 "$(printf '%s\n' "${of_yielding[@]}" | awk '{ sum += $1 } END { print sum }')"
	near cycles pebsd_cycles_total
	near stalls pebsd_stalled_cycles_total
	near misses pebsd_llc_misses_total
fi
release $((free - 1))

# No counter is left. pebsd's loads and precise instructions keep theirs.
hold $((free + 1))
begin
sleep 0.5
finish
shares 'no counter left'
are 'no counter left' 0 0 "${of_yielding[@]}"
are 'no counter left' 100 900 "${of_fixed[@]}"
status | jq -r '.events | to_entries[] | "\(.key) \(.value.running_ratio)"' >"$work/ratios"
pebsctl status >"$work/said"
for event in $yielding $fixed; do
	awk -v event="$event" '$1 == event && $2 > 0.05 && $2 < 0.98 { found = 1 } END { exit !found }' "$work/ratios" ||
		fail "the running ratio of $event: $(<"$work/ratios")"
done
expect 'events that status shows as counting a part of the time' "$(wc -w <<<"$yielding $fixed")" \
	"$(grep -c 'counting [0-9.]*% of the time' <(grep -v 'counting 100' "$work/said"))"
release "$free"

# All counters are back.
begin
sleep 0.5
finish
shares 'others gone'
are 'others gone' 1000 1000 "${of_yielding[@]}" "${of_fixed[@]}"
agree "$emulated"

# With leave-counters, nobody has to yield.
play_paused
settings '[sampling]' "events = $events" 'period = 20011' 'instructions-period = 500009' 'cycles-period = 500009' \
	'stalls-period = 500009' 'misses-period = 30011' 'budget = off' "leave-counters = $leave"
start_pebsd
for line in "${sampled[@]}"; do
	[[ " $left " != *" ${line%% *} "* ]] || kept+=("$line")
done
sampled=("${kept[@]}") yielding='' fixed=''
expect 'events beside leave-counters' "$(tr ' ' '\n' <<<"$left" | sort | paste -s -d ' ')" \
	"$(status | jq -r '.events | keys | sort | join(" ")')"
hold "$leave"
begin
sleep 0.5
finish
shares "leave-counters = $leave"
release "$leave"
agree "leave-counters = $leave"
