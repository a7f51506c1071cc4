#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The governor must keep the cost of sampling within its budget. When the load grows tenfold, the cost may exceed
# the budget for at most two intervals. When the load is small again, the period must be shorter again. A steady
# load must not change the period. Every sample must be accounted in each case. On one CPU, whose time is counted
# in instructions, all values are the same in each run.
# long
# kernels: 6.12
# takes: 300 s
# time limit: 1800 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# Two rates of events, one ten times the other: one slot in 20, or in 2, is a window of the emulated PMU. The budget is
# the cost of a fixed number of samples per second on this machine.
low=20
high=2
samples=100
seconds=2 # length of an interval: it has some hundred samples, so that one more or less does not matter
records=$work/records

# No throttling until the test needs it.
set_max_rate 1000000

# shown KEY: prints a value of the only event.
shown() {
	status | sed -n "s/^.*\"$1\": *\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p" | head -n 1
}

in_force() {
	shown period
}

has_interrupt() {
	[ -n "$(shown interrupt_ns)" ]
}

has_program() {
	[ -n "$(shown program_ns)" ]
}

# record COLLECTIONS: writes a line for each collection to $records: period, ratio, state.
record() {
	local last now i
	: >"$records"
	last=$(taken)
	for ((i = 0; i < $1;)); do
		status >"$work/now"
		now=$(sed -n 's/.*"taken": *"\([^"]*\)".*/\1/p' "$work/now")
		if [ "$now" = "$last" ]; then
			sleep 0.1
			continue
		fi
		last=$now
		i=$((i + 1))
		sed -n 's/^.*"period": *\([0-9]*\).*"ratio": *\([0-9.]*\).*"state": *"\([^"]*\)".*/\1 \2 \3/p' \
			<<<"$(tr -d '\n' <"$work/now")" >>"$records"
	done
}

# record_seconds SECONDS: like record, for the collections of this many seconds.
record_seconds() {
	record $(($1 / seconds))
}

# over: prints how many recorded collections exceeded the budget by more than 5 %. One sample may come a moment
# early.
over() {
	awk -v budget="$budget" '$2 > budget * 1.05 { n++ } END { print n + 0 }' "$records"
}

# moved: prints the largest change of the period from the first one, in percent.
moved() {
	awk 'NR == 1 { first = $1 }
		{ by = ($1 > first ? $1 - first : first - $1) * 100 / first; if (by > most) most = by }
		END { printf "%.1f\n", most }' "$records"
}

# used: prints the mean cost in percent of the budget.
used() {
	awk -v budget="$budget" '{ sum += $2 } END { printf "%.0f\n", sum / NR / budget * 100 }' "$records"
}

# expect_steady WHAT SECONDS: the period must hardly change, and the cost must be 35 to 100 % of the budget.
expect_steady() {
	record_seconds "$2"
	note "$1: period $(in_force), moved by $(moved)% in $2 s, $(used)% of the budget, over in $(over) intervals"
	awk -v moved="$(moved)" 'BEGIN { exit !(moved < 5) }' || fail "$1: the period moved by $(moved)%: $(cat "$records")"
	if [ "$(used)" -lt 35 ] || [ "$(used)" -gt 100 ]; then
		fail "$1: $(used)% of the budget: $(cat "$records")"
	fi
}

# note TEXT: prints the text, also to the kernel's log, which is kept even if the test passes.
note() {
	say "measured: $*"
	printf 'guest-tests: %s: %s\n' "${0##*/}" "$*" >/dev/kmsg
}

# samples_a_second: prints the samples per second by the books, over ten seconds.
samples_a_second() {
	local before
	before=$(delivered)
	sleep 10
	echo $((($(delivered) - before) / 10))
}

come_to_rest() {
	record_seconds 16
	[ "$(moved)" = 0.0 ] && [ "$(used)" -ge 35 ]
}

play
pmu window $low
settings '[sampling]' 'budget = 100%' 'period = 10007' 'interval = 1s'
load pointer-chase chase.service
start_pebsd
expect 'the period to begin with' 10007 "$(in_force)"
wait_until 'the time of an interrupt is known' 60 has_interrupt
# If interrupts take long, use fewer samples: ten times as many must leave time for the emulator's other work.
if awk -v ns="$(shown interrupt_ns)" 'BEGIN { exit !(ns > 300000) }'; then
	samples=50
	seconds=4
fi
budget=$(awk -v ns="$(shown interrupt_ns)" -v samples=$samples \
	'BEGIN { share = ns * samples / 1e9; printf("%.4f\n", (share > 1 ? 1 : share < 0.0001 ? 0.0001 : share)) }')
percent=$(awk -v budget="$budget" 'BEGIN { print budget * 100 }')
note "an interrupt takes $(shown interrupt_ns) ns; the budget is $budget"
settings '[sampling]' 'period = auto' "budget = $percent%" "interval = ${seconds}s"
exits 'a reload' 0 systemctl reload pebsd.service
await_collections 2
wait_until 'what the program takes' 60 has_program
expect 'the budget' "${budget}00" "$(shown budget)"

# The cost starts below the budget: this load has 30 samples per second with the first period.
wait_until 'the budget from below' 200 come_to_rest
expect_steady 'a small load' 40

pmu window $high
record 10
note "ten times the load: over in $(over) of 10 intervals: $(awk '{ printf("%s%.2f%%", (NR == 1 ? "" : " "), $2 * 100) }' "$records")"
[ "$(over)" -ge 1 ] || fail "ten times the load, and it was never over: $(cat "$records")"
[ "$(over)" -le 2 ] || fail "over in $(over) intervals: $(cat "$records")"
# One second of this load takes the emulator ten seconds.
expect_steady 'a large load' 20

pmu window $low
record 10
expect 'intervals over budget with the load down' 0 "$(over)"
wait_until 'the budget from below again' 200 come_to_rest
record_seconds 20
[ "$(used)" -ge 35 ] || fail "$(used)% of the budget: $(cat "$records")"
note "a tenth of the load again: period $(in_force), $(used)% of the budget, $(shown period_changes) changes in all"

# The kernel's own limit, at half of the present rate.
before=$(in_force) limit=$(samples_a_second)
limit=$((limit / 2))
set_max_rate $limit
record 3
[ "$(in_force)" -ge $((before * 3 / 2)) ] ||
	fail "the limit is $limit samples a second, the period $(in_force): $(cat "$records")"
set_max_rate 1000000

# The limit is gone and the period may still change, but it must not change between the two answers.
scrape_at_rest() {
	changes=$(shown period_changes)
	scrape
	[ "$(shown period_changes)" = "$changes" ]
}
wait_until 'a scrape with no change of the period beside it' 60 scrape_at_rest
awk -v ratio="$(metric pebsd_cost_ratio)" -v budget="$(metric pebsd_cost_budget_ratio)" \
	'BEGIN { exit !(ratio > 0 && ratio < budget) }' ||
	fail "metrics: $(grep cost "$work/metrics")"
expect 'changes, by their reasons' "$changes" \
	"$(metric pebsd_period_changes_total | sed 's/\.0*$//')"
pebsctl status | tr -s '[:space:]' ' ' >"$work/line"
grep -q 'cost: .*[0-9]% of the time of the CPU with the most samples, budget [0-9.]*%: ' "$work/line" ||
	fail "pebsctl status: $(cat "$work/line")"

# A period that the user set must stay. A period that nobody governs must be the PMU's default.
settings '[sampling]' "budget = $percent%" 'period = 5003' "interval = ${seconds}s"
exits 'a reload' 0 systemctl reload pebsd.service
await_collections 3
expect 'the fixed period' 5003 "$(in_force)"
expect 'its state' fixed "$(shown state)"
settings '[sampling]' 'period = auto' 'budget = off'
exits 'a reload' 0 systemctl reload pebsd.service
await_collections 2
expect 'the period that nobody governs' 10007 "$(in_force)"
expect 'its budget' '' "$(shown budget)"

# Over all these periods, and with a calibration at the same time, no sample may be lost for another reason than
# the guard or a stop of the event.
settle
lost=$(shown unexplained)
missed=$(missed)
note "$(shown seen) samples seen, $lost lost, $missed guarded or cut off"
[ "$lost" -le "$missed" ] || fail "$lost samples lost, $missed guarded or cut off: $(status)"
