#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf wants counters that pebsd uses. A pinned event that perf opens after pebsd gets its counter at once: pebsd's count
# events yield, are scaled for the time that they ran, and estimate what perf counts. Loads keep their counter. With
# leave-counters, perf's events need not even take turns. A CPU that is left out has no interrupt of pebsd's.
# long
# cpus: 2
# root: whole
# kernels: 6.12
# machines: haswell
# init: small
# takes: 240 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# The machine has four general-purpose counters, and fixed ones of instructions, cycles and reference cycles. Loads, stalls
# and misses need one general-purpose counter each. The watchdog would hold the fixed counter of cycles.
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)
echo 0 >/proc/sys/kernel/nmi_watchdog
# shellcheck disable=SC2317 # called by the trap
leave_all() {
	pkill -INT -x perf || :
	leave
	echo "$watchdog" >/proc/sys/kernel/nmi_watchdog || :
}
trap leave_all EXIT

EVENTS='events = loads cycles instructions stalls misses'
STALLS=cpu/event=0xa3,umask=0x6,cmask=0x6/D
MISSES=r412e:D
BRANCHES=r00c4
TAKEN=r20c4

perf=''
counts() {
	readlink /proc/"$perf"/fd/* | grep -q perf_event
}

# count EVENT...: perf counts the events on all CPUs until counted().
count() {
	local -a options=()
	local event
	for event; do
		options+=(-e "$event")
	done
	rm -f "$work/stat"
	perf stat -a -x ';' -o "$work/stat" "${options[@]}" -- sleep 1000 >"$work/stat.said" 2>&1 &
	perf=$!
	wait_until "perf's events" 60 counts
}

# counted: ends perf, which leaves its counts in $work/stat.
counted() {
	local ended=0
	kill -INT "$perf"
	wait "$perf" || ended=$?
	case $ended in 0 | 130 | 143) ;; *) fail "perf stat: exit status $ended: $(cat "$work/stat.said")" ;; esac
}

# always_counted N: each of perf's N events had a counter all the time.
always_counted() {
	awk -F ';' -v n="$1" 'NF > 4 { events++; if ($1 !~ /^[1-9]/ || $5 < 99.99) wrong = 1 }
		END { exit wrong || events != n }' "$work/stat" || fail "perf had to wait: $(cat "$work/stat")"
}

# of_perf N: prints the count of perf's Nth event.
of_perf() {
	awk -F ';' -v n="$1" 'NF > 4 && ++events == n { print $1 }' "$work/stat"
}

# ratio EVENT: prints the share of the time in which the event ran since the start.
ratio() {
	status | jq --arg event "$1" '.events[$event].running_ratio'
}

# expect_ratio EVENT LOW HIGH
expect_ratio() {
	local found
	found=$(ratio "$1")
	say "measured: $1 ran for $found of the time"
	awk -v found="$found" -v low="$2" -v high="$3" 'BEGIN { exit !(found >= low && found <= high) }' ||
		fail "$1 ran for $found of the time, not for $2 to $3"
}

# estimate EVENT COUNT: pebsd's estimate must be that of perf. The edges of perf's time and the turns leave a tenth, and
# chance five standard errors.
estimate() {
	local event=$1 by_perf=$2 samples weight share
	read -r samples weight < <(pebsctl --json top --window all |
		jq --raw-output --arg event "$event" '.total.events[$event] | "\(.samples) \(.weighted.samples)"')
	share=$(ratio "$event")
	say "measured: $event: $by_perf by perf; $samples samples, a weight of $weight, and $share of the time by pebsd"
	awk -v n="$samples" -v weight="$weight" -v share="$share" -v by_perf="$by_perf" 'BEGIN {
		if (n < 20 || share <= 0) exit 1
		by = weight / share / by_perf - 1
		exit (by < 0 ? -by : by) > 0.1 + 5 / sqrt(n)
	}' || fail "$event: pebsd estimates something else than perf counts"
}

# interrupts KIND CPU: prints that number of /proc/interrupts.
interrupts() {
	awk -v kind="$1:" -v column=$(($2 + 2)) '$1 == kind { print $column }' /proc/interrupts
}

# Everything has a counter.
settings '[sampling]' "$EVENTS" 'budget = off'
play_paused
load pointer-chase chase
load mix mixed
start_pebsd
resume
await_samples 500
for event in loads cycles instructions stalls misses; do
	expect_ratio $event 0.999 1
done

# perf pins what pebsd samples. One counter is left for cycles, stalls and misses of pebsd.
play_paused
start_pebsd
count cycles:D "$STALLS" "$MISSES"
resume
sleep 60
await_samples 2000
settle
counted
always_counted 3
for event in loads instructions; do
	expect_ratio $event 0.999 1
done
for event in cycles stalls misses; do
	expect_ratio $event 0.1 0.6
done
expect 'events in error' 0 "$(status | jq '[.events[].per_cpu[] | select(.in_error)] | length')"
estimate cycles "$(of_perf 1)"
estimate stalls "$(of_perf 2)"
estimate misses "$(of_perf 3)"
scrape
[ "$(metric pebsd_unsampled_seconds_total 'reason="multiplexed"' | awk '{ printf "%.0f", $1 * 1000 }')" -gt 0 ] ||
	fail 'the time without a counter is not reported'
[ "$(status | jq '[.events[].samples.lost.unexplained // 0] | add')" -le 3 ] || fail "samples are lost: $(status)"

# Three pinned events of perf leave no counter to count events, which go on when perf ends.
resume
count "$STALLS" "$MISSES" "$BRANCHES:D"
before=$(ratio misses)
sleep 30
during=$(ratio misses)
counted
always_counted 3
awk -v before="$before" -v during="$during" 'BEGIN { exit !(during < before) }' ||
	fail "misses ran for $before of the time before perf, and $during afterwards"
sleep 60
awk -v during="$during" -v after="$(ratio misses)" 'BEGIN { exit !(after > during) }' ||
	fail 'misses do not go on after perf'
expect_ratio loads 0.999 1

# One counter is left alone: perf's event never takes turns with pebsd's, although it is not pinned.
settings '[sampling]' "$EVENTS" 'budget = off' 'leave-counters = 1'
play
start_pebsd
count $BRANCHES
await_samples 500
counted
always_counted 1
for event in loads cycles instructions stalls misses; do
	expect_ratio $event 0.999 1
done

# With two, misses do not fit.
settings '[sampling]' "$EVENTS" 'budget = off' 'leave-counters = 2'
play
count $BRANCHES $TAKEN
start_pebsd
await_samples 500
expect 'the events' 'cycles instructions loads stalls' "$(status | jq --raw-output '.events | keys | join(" ")')"
status | jq --raw-output '.notes[]' >"$work/notes"
grep -q 'misses on PMU cpu is not available: leave-counters = 2 in \[sampling\] leaves pebsd 2 of the 4 general-purpose counters of each CPU, of which loads and stalls need all' \
	"$work/notes" || fail "no note names misses: $(cat "$work/notes")"
expect 'the process that the status names' "perf $perf" \
	"$(status | jq --raw-output '.counter_users.processes[] | select(.name == "perf") | "\(.name) \(.pid)"')"
pebsd --probe --json >"$work/probe" || fail "--probe: $(cat "$work/probe")"
jq --raw-output '.notes[]' "$work/probe" >"$work/notes"
grep -q "perf (pid $perf) 4" "$work/notes" || fail "--probe does not name perf: $(cat "$work/notes")"
grep -q 'on PMU cpu, pebsd uses at most 2 of the 4 general-purpose counters' "$work/notes" || fail "--probe: $(cat "$work/notes")"
counted
always_counted 2

# A CPU that is left out is not interrupted.
settings '[sampling]' "$EVENTS" 'budget = off' 'cpus = 0'
play
start_pebsd
await_samples 100
before=$(interrupts PMI 1)/$(interrupts NMI 1) own=$(interrupts PMI 0)
await_samples 500
expect 'performance interrupts and NMI of CPU 1' "$before" "$(interrupts PMI 1)/$(interrupts NMI 1)"
[ "$(interrupts PMI 0)" -ge $((own + 100)) ] || fail 'CPU 0 has no interrupts either'
