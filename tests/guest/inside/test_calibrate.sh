#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd must find out how long an interrupt takes on a machine where it uses every counter itself: three pinned events,
# and off-core counters that share the fourth.
# kernels: 6.12 6.1 7
# machines: haswell
# init: small
# takes: 60 s
# time limit: 600 s
# long
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# unknown: prints how many events lack the interrupt time at one of the two rates.
unknown() {
	status | jq --raw-output '[.events[] | select(.cost.dense_interrupt == null or .cost.sparse_interrupt == null)] | length'
}

is_known() {
	[ "$(unknown)" = 0 ]
}

play
# A round of the measurement lasts a few milliseconds, and compares the samples of such rounds. So all stores must be
# seen, not only those of one millisecond in 24.
pmu window 1
settings '[sampling]' 'events = loads stores instructions offcore' 'budget = 100%' 'interval = 1s' 'period = 200003'
start_pebsd
rest=5
expect 'events' 3 "$(status | jq '.events | length')"
status | jq -ne 'input | .offcore.refused == null' >/dev/null || fail "off-core responses are not counted: $(status)"
# (Only one counter can hold the loads, and only one the instructions. Both use the time of the stores.)
wait_until 'the time of an interrupt is known for each event' 90 is_known
say "$(status | jq --compact-output '[.events[] | {role, dense: .cost.dense_interrupt, sparse: .cost.sparse_interrupt}], .notes')"
# The guest's time is counted in instructions, so an interrupt takes about as long at the sparse rate as at the
# dense one.
far=$(status | jq --compact-output '[.events[].cost | select(.dense_interrupt and .sparse_interrupt) |
	.sparse_interrupt.ns / .dense_interrupt.ns | select(. < 0.25 or . > 4)]')
expect 'times that rare interrupts take of frequent ones, out of bounds' '[]' "$far"
