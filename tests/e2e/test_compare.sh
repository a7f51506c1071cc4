#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `pebsctl compare` must compare two cgroups, and say which options name two sides. `pebsd --compare` must compare two
# recordings without privileges: a recording does not differ from itself, and other latencies are not compared.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq setpriv

# Recordings, as the user nobody and without a bpf or perf_event_open call.
chmod 755 "$work"
for program in "$PEBSD" "$TOOLS/without_bpf"; do
	install -m 755 "$program" "$work/"
done
"$TOOLS/make_recording" "$work/before.perf.data"
"$TOOLS/make_step" --clock "$work/step.perf.data"
chmod 644 "$work"/*.perf.data
compares() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/without_bpf" "$work/$(basename "$PEBSD")" --compare "$@"
}

compares --replay "$work/before.perf.data" --replay "$work/before.perf.data" --json >"$work/same.json" 2>"$work/log" ||
	fail "two recordings cannot be compared: $(cat "$work/log")"
expect 'nothing differs from itself' 0 "$(jq '[.. | .verdict? | select(. == "proven")] | length' "$work/same.json")"
expect 'figures were compared' true "$(jq '.comparisons >= 8 and .confidence == 0.95' "$work/same.json")"
expect 'the files are named' true "$(jq '.a.file == .b.file and (.a.file | endswith("/before.perf.data"))' "$work/same.json")"
expect 'bounds contain 0' true \
	"$(jq '[.. | objects | select(.verdict? == "not_proven") | (.low // -1) <= 0 and (.high // 1) >= 0] | all' "$work/same.json")"

compares --replay "$work/before.perf.data" --replay "$work/before.perf.data" >"$work/text" 2>"$work/log" ||
	fail "two recordings cannot be compared as text: $(cat "$work/log")"
grep -q '^ *A: recording .*before.perf.data (' "$work/text" || fail "the text lacks the first side: $(cat "$work/text")"
grep -q '^LATENCY  *A  *B  DIFFERENCE  BOUNDS (95%)$' "$work/text" || fail "the text has no table: $(cat "$work/text")"
compares --replay "$work/before.perf.data" --replay "$work/step.perf.data" >"$work/other" 2>"$work/log" ||
	fail "recordings of two CPUs: $(cat "$work/log")"
grep -q 'loads is not compared: one side has another kind of latency' "$work/other" ||
	fail "the text does not say why nothing is compared: $(cat "$work/other")"
[ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' "$work/text")" -le 240 ] || fail 'a line is too long'

exits 'one recording' 2 "$PEBSD" --compare --replay "$work/before.perf.data"
grep -q 'needs two recordings' "$work/said" || fail "the message does not say what to do: $(cat "$work/said")"
head -c 20000 "$work/before.perf.data" >"$work/cut.perf.data"
exits 'a cut recording' 2 "$PEBSD" --compare --replay "$work/before.perf.data" --replay "$work/cut.perf.data"
grep -q cut.perf.data "$work/said" || fail "the message does not name the recording: $(cat "$work/said")"

# pebsctl says who compares recordings, also if no daemon answers.
exits 'pebsctl with recordings' 2 "$PEBSCTL" --socket "$work/none" compare "$work/before.perf.data" "$work/step.perf.data"
grep -qF 'pebsd --compare --replay A --replay B' "$work/said" || fail "the message does not say what to do: $(cat "$work/said")"

# Cgroups of the present.
printf '[sampling]\ninterval = 250ms\n[model]\nworkloads = streaming pointer-chase\n' >"$work/pebsd.conf"
start --origin model --config "$work/pebsd.conf"
compared() {
	ctl --json compare "$1" "$2" --window 20s >"$work/json" 2>/dev/null &&
		[ "$(jq -r .events.loads.latency.mean.verdict "$work/json")" = proven ]
}
until_true 'pointer-chase is slower than streaming' compared streaming pointer-chase
expect 'the full paths' '["model:streaming","model:pointer-chase"]' "$(jq -c '[.a.cgroup, .b.cgroup]' "$work/json")"
expect 'it is slower by its bounds' true "$(jq '.events.loads.latency.mean | .low > 0 and .low <= .difference' "$work/json")"
exits 'as text' 0 ctl compare streaming pointer-chase --window 20s
grep -q '^          B: pointer-chase$' "$work/said" || fail "the text lacks the second side: $(cat "$work/said")"
ctl --json compare streaming streaming --window 20s >"$work/json" || fail 'a cgroup cannot be compared with itself'
expect 'a cgroup does not differ from itself' 0 "$(jq '[.. | .verdict? | select(. == "proven")] | length' "$work/json")"
exits 'an unknown cgroup' 4 ctl compare streaming nothing
# The suggestion is for the cgroup that the message names.
exits 'a misspelt first cgroup' 4 ctl compare streamin pointer-chase
grep -q "no cgroup 'streamin' .*did you mean streaming?" "$work/said" || fail "the first cgroup: $(cat "$work/said")"
exits 'a misspelt second cgroup' 4 ctl compare streaming pointer-chas
grep -q "no cgroup 'pointer-chas' .*did you mean pointer-chase?" "$work/said" || fail "the second cgroup: $(cat "$work/said")"
exits 'two cgroups that are not known' 4 ctl compare nothing pointer-chas
grep -q "no cgroup 'nothing' " "$work/said" || fail "two unknown cgroups: $(cat "$work/said")"
grep -q 'did you mean' "$work/said" && fail "a suggestion for the other cgroup: $(cat "$work/said")"

# Options that do not name two sides, or a time.
exits 'one cgroup without a time' 2 ctl compare streaming
grep -q 'give --at TIME' "$work/said" || fail "the message does not say what to do: $(cat "$work/said")"
exits '--with and two cgroups' 2 ctl compare streaming pointer-chase --at -1h --with -2h
exits 'nothing after --at' 2 ctl compare streaming --at now
grep -q -- '--at must be before now' "$work/said" || fail "the message does not say why: $(cat "$work/said")"
exits 'compare with --window all' 2 ctl compare streaming pointer-chase --window all
grep -q -- '--window all cannot be used with compare' "$work/said" || fail "the message does not say why: $(cat "$work/said")"
exits '--at and --since' 2 ctl top --at -1h --since -2h
exits '--window and --since' 2 ctl top --window 10s --since -2h
exits '--since after --until' 2 ctl top --since -1h --until -2h
exits 'a time of the future' 2 ctl top --at '2999-01-01 00:00'
grep -q "invalid --at '2999-01-01 00:00': expected a time in the past" "$work/said" ||
	fail "the message does not say why: $(cat "$work/said")"
exits 'no time' 2 ctl alerts --since soon
grep -q 'expected a time such as 03:12' "$work/said" || fail "the message does not say what to type: $(cat "$work/said")"
exits 'a verb of the present' 2 ctl hot streaming --at -1h
