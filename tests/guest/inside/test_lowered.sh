#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel lowers kernel.perf_event_max_sample_rate by itself, because interrupts take long by the guest's clock: to
# some ten thousand with the kernel's default settings, and to one or two samples a tick with the least share of time
# for interrupts. With pebsd's default period and budget, samples must keep coming, and the period must stay in
# bounds, although the kernel throttles the event all the time. The status must say why samples are few. When the limit
# is set back, there must soon be as many samples as the budget allows. All of them must be accounted. On one CPU, whose
# time is counted in instructions, all values are the same in each run.
# long
# kernels: 7
# takes: 450 s
# time limit: 2400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

percent_path=/proc/sys/kernel/perf_cpu_time_max_percent
limit_path=/proc/sys/kernel/perf_event_max_sample_rate

# let_kernel_lower PERCENT: the kernel lowers its limit if interrupts could take more than PERCENT of the time.
let_kernel_lower() {
	echo "$1" >$percent_path
}

# set_back: gives both sysctls their defaults.
set_back() {
	let_kernel_lower 25
	echo 100000 >$limit_path
}

limit_is_below() {
	[ "$(<$limit_path)" -lt "$1" ]
}

# note TEXT: prints the text, also to the kernel's log, which is kept even if the test passes.
note() {
	say "measured: $*"
	printf 'guest-tests: %s: %s\n' "${0##*/}" "$*" >/dev/kmsg
}

# shown KEY: prints a value of the only event.
shown() {
	status | sed -n "s/^.*\"$1\": *\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p" | head -n 1
}

is_calibrated() {
	status >"$work/now"
	jq -ne 'input | .events[] | .cost | .dense_interrupt and .sparse_interrupt and .program_ns' "$work/now" >/dev/null
}

# The event of this test: its key in the status, and its code in the books.
event='' code=''

# add_up NAME: stops the counters, and writes the sums of the event so far to $work/NAME, by the books and by pebsd.
add_up() {
	settle
	take_books
	pebsctl --json top --window all >"$work/top"
	status >"$work/status"
	jq --null-input --arg event "$event" --arg code "$code" --slurpfile books "$work/books" \
		--slurpfile totals "$work/totals" --slurpfile top "$work/top" --slurpfile status "$work/status" '
		def sum(stream): reduce stream as $value (0; . + $value);
		[$books[] | select(.event == $code)] as $mine
		| sum($mine[].guarded) as $guarded
		| $status[0].events[$event].samples as $samples
		| [$top[0].cgroups[].events[$event] // empty] as $seen
		| {
			books: {
				seen: (sum($mine[].samples) - $guarded),
				lost: ($guarded + sum($totals[].events[$code].cut // 0)),
				period: sum($mine[].period), latency: sum($mine[].latency),
				throttles: sum($totals[].throttles)
			},
			pebsd: {
				seen: $samples.seen, lost: $samples.lost.unexplained,
				period: sum($seen[].weighted.samples), latency: sum($seen[].latency.sum // 0),
				throttles: $status[0].events[$event].throttles
			},
			guarded: $guarded
		}' >"$work/$1"
}

# agree_since NAME: expects that pebsd and the books counted the same since add_up NAME. Only in the books do the sums
# of periods and latencies include samples that the kernel's guard kept from pebsd's program. The books count calls in
# the kernel, of any event; pebsd counts records in the event's ring. On Linux 7, with a throttling at each sample, the
# ring had 21 fewer of 11,747.
agree_since() {
	add_up since
	jq --null-input --compact-output --slurpfile before "$work/$1" --slurpfile now "$work/since" '
		def less($before): with_entries(.value -= $before[.key]);
		($now[0].books | less($before[0].books)) as $books
		| ($now[0].pebsd | less($before[0].pebsd)) as $pebsd
		| (if $now[0].guarded == $before[0].guarded then [] else ["period", "latency"] end) as $open
		| {books: $books, pebsd: $pebsd,
			differ: [$books | keys_unsorted - $open - ["throttles"] | .[] | select($books[.] != $pebsd[.])]}' >"$work/said"
	note "$event since $1: $(cat "$work/said")"
	jq -ne 'input | .differ == [] and ((.books.throttles - .pebsd.throttles) as $more | $more >= 0 and
		$more <= 1 + .books.throttles / 100)' "$work/said" >/dev/null || fail "pebsd and the books differ: $(cat "$work/said")"
	resume
}

# minutes WHAT N LEAST PERIOD_MOST: in each of N minutes pebsd must see at least LEAST samples, and the period must
# never be above PERIOD_MOST. Leaves the number of the last minute in $seen, and the status in $work/now.
minutes() {
	local minute part before period state throttles
	status >"$work/now"
	for ((minute = 1; minute <= $2; minute++)); do
		before=$(jq ".events[\"$event\"].samples.seen" "$work/now")
		for ((part = 0; part < 3; part++)); do
			sleep 20
			status >"$work/now"
			IFS=$'\t' read -r seen period throttles state < <(jq -r \
				".events[\"$event\"] | [.samples.seen, .period, .throttles, .cost.state] | @tsv" "$work/now")
			[ "$period" -le "$4" ] || fail "$1, minute $minute: the period is $period, at most $4: $(cat "$work/now")"
		done
		seen=$((seen - before))
		note "$1, minute $minute: limit $(<$limit_path), $seen samples, period $period, $throttles throttlings so far, $state"
		[ "$seen" -ge "$3" ] || fail "$1, minute $minute: $seen samples of at least $3: $(cat "$work/now")"
	done
}

# says_why: the state and a note must say that the kernel's limit is the reason for few samples.
says_why() {
	local state
	state=$(jq -r ".events[\"$event\"].cost.state" "$work/now")
	case $state in
	"at the kernel's sample rate limit" | 'recovering from throttling' | 'recovering from a lowered sample rate') ;;
	*) fail "the state is \"$state\": $(cat "$work/now")" ;;
	esac
	pebsctl status | tr -s '[:space:]' ' ' >"$work/line"
	grep -q "Note: $event has few samples, [0-9]* per second on the CPU with the most: .*kernel.perf_event_max_sample_rate ($(<$limit_path))" \
		"$work/line" || fail "no note says why samples are few: $(cat "$work/line")"
	grep -q "budget 0.50%: $state" "$work/line" || fail "pebsctl status has another state: $(cat "$work/line")"
}

has_no_reason() {
	! pebsctl status | grep -q "$event has few samples"
}

# One slot in 20 is a window of the emulated PMU, so this load comes in bursts of a millisecond: 20 samples a second
# with the first period, where the budget allows some 150.
play
set_back
pmu window 20
settings '[sampling]' 'period = auto' 'budget = 0.5%'
event=loads code=$(code_of mem-loads)
load pointer-chase chase.service
start_pebsd
expect 'the period to begin with' 10007 "$(shown period)"
wait_until 'the limit falls from its default' 60 limit_is_below 50000
# A calibration fails if the kernel lowers the limit meanwhile. pebsd tries again after a minute, and then after four.
wait_until 'the times of interrupts and of the program are known' 600 is_calibrated
minutes 'shipped' 1 600 20000
add_up shipped
resume

let_kernel_lower 1
wait_until 'the limit falls to two samples a tick or less' 60 limit_is_below 501
minutes 'lowered' 2 400 20000
says_why
few=$seen
[ "$(jq '.events.loads.throttles' "$work/now")" -gt 500 ] || fail "few throttlings: $(cat "$work/now")"
pebsctl status >"$work/text"
grep -q 'loads was throttled on CPU 0' "$work/text" || fail "no note tells of throttling: $(cat "$work/text")"

set_back
minutes 'set back' 1 $((few * 3)) 20000
[ "$(<$limit_path)" -gt 5000 ] || fail "the limit is $(<$limit_path)"
has_no_reason || fail "few samples, but the limit was set back: $(pebsctl status)"
agree_since shipped
systemctl stop chase.service
stop_pebsd

# A load that runs all the time. Every sample stops the event until the next tick, or the second one if the limit is
# two samples a tick. The budget allows some 150 samples a second. 50 are a fair share.
play
let_kernel_lower 1
settings '[sampling]' 'events = instructions' 'instructions-period = auto' 'budget = 0.5%'
event=instructions code=0x1c0
pmu window 300
rest=1
load mix mix.service
start_pebsd
wait_until 'the limit falls to two samples a tick or less' 60 limit_is_below 501
add_up start
resume
minutes 'a steady load, at first' 1 400 10000019
minutes 'a steady load' 2 3000 10000019
agree_since start
