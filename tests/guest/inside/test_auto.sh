#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The default, `events = auto`: pebsd samples loads and what the machine can count, with samples of each event. Before
# Skylake it leaves out the counts, and without PEBS the loads, and says so in one note.
# kernels: 6.12 6.1 7
# machines: skylake-server skylake-server-vm haswell zen5
# short machines: skylake-server skylake-server-vm
# init: small
# takes: 30 s
# time limit: 600 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

loads_and_counts='["cycles","instructions","loads","misses","stalls"]'
period=1009
case $emulated in
skylake-server) events=$loads_and_counts note='' ;;
skylake-server-vm)
	events='["cycles","instructions","misses","stalls"]'
	note='this machine cannot sample loads, so pebsd knows neither latencies nor data sources here; it samples instructions, cycles, stalls and misses (events = auto; pebsd --probe says why)'
	;;
haswell)
	events='["loads"]'
	note='events = auto leaves out instructions, cycles, stalls and misses on PMU cpu; pebsd --probe says why'
	;;
zen5) events=$loads_and_counts note='' period=20011 ;;
esac

play
default_events
settings '[sampling]' "period = $period" 'instructions-period = 50021' 'cycles-period = 50021' 'stalls-period = 50021' \
	'misses-period = 2003' 'budget = off'
exits "pebsd --probe on $emulated" 0 pebsd --probe
start_pebsd
load pointer-chase chase

# sampled: true if exactly these events have 20 samples each.
sampled() {
	pebsctl --json top >"$work/top" &&
		[ "$(jq --compact-output '[.total.events | to_entries[] | select(.value.samples >= 20) | .key] | sort' "$work/top")" = "$events" ]
}
wait_until "samples of $events" 300 sampled
pebsctl --json status >"$work/status"
expect "events on $emulated" "$events" "$(jq --compact-output '.events | keys | sort' "$work/status")"
expect "notes on $emulated" "$note" \
	"$(jq --raw-output '.notes[] | select(contains("events = auto"))' "$work/status")"
jq -ne 'input | ([.notes[] | select(contains("is not available"))] | length) == 0' "$work/status" >/dev/null ||
	fail "an event that nobody named is refused: $(jq -c .notes "$work/status")"
# Instructions are only counted: they take turns, and no PEBS record is lost because of them.
pebsctl top
say "measured: $(jq --compact-output '.events | map_values(.samples)' "$work/status")"
