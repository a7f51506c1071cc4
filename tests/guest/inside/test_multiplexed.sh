#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Other users of the same hardware. A pinned event with another latency threshold keeps pebsd's event from
# counting. pebsd must report this until the other event ends. An event that is not pinned must leave pebsd's event
# on the hardware.
# long
# cpus: 2
# kernels: 6.12 6.1 7
# machines: skylake-server
# init: small
# takes: 120 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

in_error() {
	status | tr -d ' \n' | grep -o '"in_error":[a-z]*' | sed 's/.*://' | tr '\n' ' '
}

is_in_error() {
	[ "$(in_error)" = "$1 " ]
}

ratios() {
	status | tr -d ' \n' | sed 's/.*"per_cpu"//' | grep -o '"running_ratio":[0-9.]*' | sed 's/.*://' | paste -s -d ' '
}

unsampled_us() {
	metric pebsd_unsampled_seconds_total 'reason="multiplexed"' | awk '{ printf "%.0f\n", $1 * 1e6 }'
}

# records_of CPU: prints the number of mem-loads records that the machine wrote on that CPU.
records_of() {
	jq --argjson cpu "$1" --arg code "$(code_of mem-loads)" 'select(.cpu == $cpu) | .events[$code].overflow // 0' <(pmu totals)
}

has_records() {
	[ "$(records_of "$1")" -ge "$2" ]
}

is_open() {
	readlink /proc/"$1"/fd/* | grep -q perf_event
}

# hold OPTION...: another user's event on CPU 0, with another latency threshold. It has no samples.
hold() {
	"$here/open_event" --config "$(code_of mem-loads)" --config1 100 --precise 2 --sample-type "$((1 << 14))" --wakeup 1 \
		--period $((0x7fffffff)) --for 1000 "$@" >/dev/null &
	holder=$!
	wait_until 'the event of another' 30 is_open $holder
}

release() {
	kill $holder
	wait $holder || :
}

settings '[sampling]' 'period = 1009' 'budget = off'
play_paused
hold --pinned 1
start_pebsd
load pointer-chase chase -- --threads 2
resume
await_samples 200
wait_until 'the event of CPU 0 in error' 30 is_in_error 'true false'
pebsctl status | tr -s '[:space:]' ' ' >"$work/line"
grep -q 'loads does not count on CPU 0: its counter is held by another pinned event' "$work/line" ||
	fail "no note names the CPU: $(pebsctl status)"
settle
agree 'one CPU held'
expect 'samples of CPU 0' 0 "$(records_of 0)"
# The unsampled time must be reported for the CPU that is held, and not for the one that counts.
expect 'share of the time that CPU 0 and CPU 1 count' '0.000000 1.000000' "$(ratios)"
scrape
held_us=$(unsampled_us)
[ "$held_us" -gt 0 ] || fail 'no unsampled time is reported for CPU 0'

release
resume
wait_until 'the event of CPU 0 counts again' 30 is_in_error 'false false'
pebsctl status >"$work/said" || fail 'status'
! grep -q 'does not count' "$work/said" || fail "the note stays: $(cat "$work/said")"
await_samples 200

# pebsd's event is pinned and the other one is not, so the other one has to wait.
scrape
before_us=$(unsampled_us)
hold
await_samples 200
# The scheduler decides which CPU the two loads have.
wait_until 'samples of CPU 0' 200 has_records 0 101
release
settle
agree "the holder gone, $held_us us without"
scrape
[ $(($(unsampled_us) - before_us)) -lt 10000 ] || fail "with a sharer $(($(unsampled_us) - before_us)) us are reported"
expect 'CPUs in error' 'false false ' "$(in_error)"
[ "$(records_of 0)" -gt 100 ] || fail 'CPU 0 is not sampled'
