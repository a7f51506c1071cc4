#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An event that the kernel throttles is noticed and named, with how often and for how long, and the samples that there
# were are all accounted.
# kernels: 6.1 7
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# A ring for what the kernel logs begins with one page: all of 100 ms has room in it, so that each throttling is told.
play paused=Y
settings '[sampling]' 'interval = 100ms'
# A CPU that idles stops its tick, and an event that is throttled there stays so.
load pointer-chase chase0.service --property=CPUAffinity=0
load pointer-chase chase1.service --property=CPUAffinity=1
start_pebsd
resume
await_samples 1000
expect 'throttlings before' 0 "$(sum_of throttles)"
! pebsctl status | grep -q 'was throttled' || fail 'status speaks of throttling where there was none'
# Two samples a tick where the kernel ticks 250 times a second, of some sixteen that there would be: most of each tick is
# throttled, and what writing the kernel's records of it takes, after the one's time and after the other's, is little of it.
echo 500 >/proc/sys/kernel/perf_event_max_sample_rate
echo 40000000 >"$parameters/loads_per_second"
await_samples 3000
# The last of it ends with the next tick.
echo 10000000 >"$parameters/loads_per_second"
echo "$sample_rate" >/proc/sys/kernel/perf_event_max_sample_rate
is_over() {
	local ns
	ns=$(sum_of throttled_ns)
	sleep 0.1
	[ "$(sum_of throttled_ns)" = "$ns" ]
}
wait_until 'the end of throttling' 100 is_over
settle
compare
throttles=$(sum_of throttles)
books_us=$(($(sum_of throttled_ns) / 1000))
said=$(sed -n 's/.*"throttles": *\([0-9]*\).*/\1/p' "$work/status" | head -n 1)
# The event's and the sum of events; here there is one.
said_us=$(sed -n 's/.*"throttled": *\([0-9.]*\).*/\1/p' "$work/status" | head -n 1 | awk '{ printf "%.0f\n", $1 * 1e6 }')
agree "throttles $throttles by the books and $said by pebsd, $books_us (slack $(($(sum_of throttle_slack_ns) / 1000))) and $said_us us"
[ "$throttles" -gt 100 ] || fail "the kernel throttled $throttles times"
expect 'throttlings' "$throttles" "$said"
# Until 6.15 the books begin before the kernel logs a throttling, and end after it logs the end of it; how long either took
# is in them, for that is long where a host has other things to do. Later kernels log next to what is in the books.
difference=$((books_us > said_us ? books_us - said_us : said_us - books_us))
slack_us=$(($(sum_of throttle_slack_ns) / 1000))
IFS=.- read -r major minor _ <<<"$(uname -r)"
if [ "$major" -lt 6 ] || { [ "$major" = 6 ] && [ "$minor" -le 15 ]; }; then
	if [ "$said_us" -lt $((books_us - slack_us)) ] || [ "$said_us" -gt "$books_us" ]; then
		fail "pebsd says $said_us us of throttling, the books $((books_us - slack_us)) to $books_us us"
	fi
else
	[ $((difference * 20)) -le "$books_us" ] || fail "pebsd says $said_us us of throttling, the books $books_us us"
fi

pebsctl status >"$work/text"
grep -q 'of CPU time throttled' "$work/text" || fail "status does not tell the time: $(cat "$work/text")"
tr -s '[:space:]' ' ' <"$work/text" >"$work/line"
grep -q 'loads was throttled on CPUs 0-1' "$work/line" || fail "no note names the CPUs: $(cat "$work/text")"
grep -q "kernel.perf_event_max_sample_rate ($sample_rate); raise .period. in .sampling., or that sysctl" "$work/line" ||
	fail "no note names the remedy: $(cat "$work/text")"
scrape
expect 'pebsd_unsampled_seconds_total, throttled' "$said_us" \
	"$(metric pebsd_unsampled_seconds_total 'reason="throttled"' | awk '{ printf "%.0f\n", $1 * 1e6 }')"
