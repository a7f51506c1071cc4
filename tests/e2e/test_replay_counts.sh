#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A recording with cycles (at a frequency), instructions, stalls and misses beside loads. `pebsd --replay` must show
# what waiting costs, and `--test-rules` must judge it. What the recording does not contain is not known, and a note
# says why.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

"$TOOLS/make_recording" --counts "$work/counts.data"
"$PEBSD" --replay "$work/counts.data" --once --json >"$work/top.json" 2>"$work/log" || fail "$(cat "$work/log")"
expect 'events' '["cycles","instructions","loads","misses","stalls"]' \
	"$(jq -c '[.cgroups[].events | keys[]] | unique' "$work/top.json")"
expect 'samples seen' "$(jq '[.cgroups[].events[].samples] | add' "$work/top.json")" "$(jq .samples.seen "$work/top.json")"
# make_recording says what they are made of.
expect 'waiting of all' '{"wait":{"value":0.5},"cpi":{"value":1},"misses_per_thousand":{"value":1}}' \
	"$(jq -c '.waits | map_values({value})' "$work/top.json")"
expect 'waiting of each cgroup' true \
	"$(jq '.cgroups | length == 6 and all(.[]; (.waits.wait.value - 0.5 | fabs) < 0.05)' "$work/top.json")"
expect 'cores need a frequency' null "$(jq '[.waits, .cgroups[].waits] | map(.cores_lost) | unique[]' "$work/top.json")"
expect 'a note says why' true "$(jq 'any(.notes[]; contains("had a counter"))' "$work/top.json")"

exits 'as text' 0 "$PEBSD" --replay "$work/counts.data" --once
grep -q 'Waiting: wait 50.0%, CPI 1, 1 misses per thousand' "$work/said" || fail "the text: $(cat "$work/said")"

printf '%s\n' '[sampling]' 'events = loads cycles stalls' '[rule waits]' 'cgroup = /system.slice/postgresql.service' \
	'metric = wait' 'above = 40%' 'window = 10s' 'for = 5s' >"$work/rules.conf"
exits 'rules on counts' 0 "$PEBSD" --test-rules --replay "$work/counts.data" --config "$work/rules.conf"
grep -q 'fired 1 time on 1 cgroup' "$work/said" || fail "the rule: $(cat "$work/said")"
