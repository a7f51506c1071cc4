#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If the kernel throttles an event, pebsd must report which one, how often and for how long. All samples that arrived
# must be accounted for.
# time limit: 400 s
# long
# cpus: 2
# kernels: 6.12 6.1 7
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# At first the ring for the kernel's messages has one page, which holds the records of 100 ms. So each throttling
# is reported.
play_paused
settings '[sampling]' 'interval = 100ms'
# Each CPU has a load: an idle CPU stops its tick, and an event that is throttled there stays throttled.
load pointer-chase chase0.service --property=CPUAffinity=0
load pointer-chase chase1.service --property=CPUAffinity=1
start_pebsd
resume
await_samples 1000
expect 'throttlings before' 0 "$(sum_of throttles)"
pebsctl status >"$work/said" || fail 'status'
! grep -q 'was throttled' "$work/said" || fail 'status speaks of throttling where there was none'
# Two samples per tick, if the kernel ticks 250 times per second. Without the limit there would be more.
set_max_rate 500
pmu window 1
await_samples 3000
# The last throttling ends with the next tick.
pmu usual
set_max_rate "$sample_rate"
sleep 1
settle
compare
throttles=$(sum_of throttles)
said=$(sed -n 's/.*"throttles": *\([0-9]*\).*/\1/p' "$work/status" | head -n 1)
# Reads the event's value or the sum over all events. With one event both are the same.
said_us=$(sed -n 's/.*"throttled": *\([0-9.]*\).*/\1/p' "$work/status" | head -n 1 | awk '{ printf "%.0f\n", $1 * 1e6 }')
agree "the kernel throttled $throttles times, and by pebsd $said times for $said_us us"
[ "$throttles" -gt 100 ] || fail "the kernel throttled $throttles times"
expect throttlings "$throttles" "$said"
# Each throttling ends at the next tick, of which there are 250 per second.
if [ "$said_us" -lt $((said * 100)) ] || [ "$said_us" -gt $((throttles * 4400)) ]; then
	fail "pebsd says $said_us us of throttling, for $throttles times"
fi

pebsctl status >"$work/text"
grep -q '[0-9]s throttled.*added up over all events and CPUs' "$work/text" || fail "status does not tell the time: $(cat "$work/text")"
tr -s '[:space:]' ' ' <"$work/text" >"$work/line"
grep -q 'loads was throttled on CPUs 0-1' "$work/line" || fail "no note names the CPUs: $(cat "$work/text")"
grep -q "kernel.perf_event_max_sample_rate ($sample_rate); set a longer .period. in .sampling., or raise that sysctl" "$work/line" ||
	fail "no note names the remedy: $(cat "$work/text")"
scrape
expect 'pebsd_unsampled_seconds_total, throttled' "$said_us" \
	"$(metric pebsd_unsampled_seconds_total 'reason="throttled"' | awk '{ printf "%.0f\n", $1 * 1e6 }')"
