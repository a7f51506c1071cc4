#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `pebsd --once` must read a recording completely and print it. If the file is cut, is empty, is missing, has an
# empty header, has the other byte order or is not a recording, pebsd must say so, exit with 2, and invent no sample.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq
file=$(recording)

exits 'a whole recording' 0 "$PEBSD" --replay "$file" --once --json
json=$work/whole.json
cp "$work/said" "$json"
expect 'samples seen' "$(jq '[.cgroups[].events[].samples] | add' "$json")" "$(jq .samples.seen "$json")"
expect 'seen = attributed + unattributed' true "$(jq '.samples | .seen == .attributed + .unattributed' "$json")"
expect 'sources partition the samples' true \
	"$(jq '[.total.events[] | .samples == ([.sources[].samples] | add)] | all' "$json")"
expect 'sources partition the latency' true \
	"$(jq '[.total.events[] | .latency.sum == ([.sources[].latency_sum] | add)] | all' "$json")"
expect 'cgroups by descending weighted latency' true \
	"$(jq '[.cgroups[] | [.events[].weighted.latency_sum] | add] | . == (sort | reverse)' "$json")"
expect 'paths as recorded' true "$(jq '[.cgroups[].cgroup] | index("/system.slice/postgresql.service") != null' "$json")"
expect 'origin' '"replay"' "$(jq .origin "$json")"

exits 'as text' 0 "$PEBSD" --replay "$file" --once
grep -q "^postgresql " "$work/said" || fail "the text lacks a cgroup: $(cat "$work/said")"

# Writes the result where there is no space.
unwritten() {
	status=0
	"$PEBSD" --replay "$file" --once "$@" >/dev/full 2>"$work/log" || status=$?
	expect 'exit code of a result that cannot be written' 1 "$status"
	grep -q 'cannot write the result to standard output: No space left on device' "$work/log" ||
		fail 'the log does not say why the result is missing'
}
unwritten
unwritten --json
exits 'a comparison that cannot be written' 1 sh -c '"$@" >/dev/full' sh \
	"$PEBSD" --compare --replay "$file" --replay "$file"
grep -q 'cannot write to standard output: No space left on device' "$work/said" ||
	fail 'standard error does not say why the comparison is missing'

# The same bytes from standard input, and from a pipe, where the names of CPU and events come too late.
"$PEBSD" --replay - --once --json <"$file" >"$work/input.json" || fail 'a recording on standard input'
expect 'the same from standard input' "$(jq -c '.cgroups' "$json")" "$(jq -c '.cgroups' "$work/input.json")"
"$PEBSD" --replay - --once --json < <(cat "$file") >"$work/piped.json" || fail 'a recording from a pipe'
expect 'the same samples from a pipe' "$(jq -c '.samples' "$json")" "$(jq -c '.samples' "$work/piped.json")"
expect 'the note about a pipe' true "$(jq 'any(.notes[]; contains("give --replay the file itself"))' "$work/piped.json")"

# The recording is cut: complete records are counted and printed, the cut is reported, and the exit code is 2.
size=$(stat -c %s "$file")
head -c $((size * 2 / 3)) "$file" >"$work/cut.perf.data"
status=0
"$PEBSD" --replay "$work/cut.perf.data" --once --json >"$work/cut.json" 2>"$work/log" || status=$?
expect 'exit code of a cut recording' 2 "$status"
grep -q cut.perf.data "$work/log" || fail "the cut is not reported"
expect 'fewer samples than in the whole, and some' true \
	"$(jq --argjson whole "$(jq .samples.seen "$json")" '.samples.seen > 0 and .samples.seen < $whole' "$work/cut.json")"

: >"$work/empty"
head -c 4096 /dev/urandom >"$work/noise"
head -c 200 /dev/zero >"$work/zeros"
{ printf '2ELIFREP' && cat "$work/zeros"; } >"$work/foreign"
{ printf 'PERFILE2' && cat "$work/zeros"; } >"$work/headless"
printf 'PERFILE2' >"$work/stump"
for bad in empty noise foreign headless stump missing; do
	exits "$bad" 2 "$PEBSD" --replay "$work/$bad" --once --json
	grep -q "$work/$bad" "$work/said" || fail "$bad: the message does not name the file: $(cat "$work/said")"
	! grep -q '"samples"' "$work/said" || fail "$bad: samples were invented"
	mv "$work/said" "$work/$bad.said"
done
for said in 'foreign: was recorded on a machine with the other byte order' 'headless: has a header of 0 bytes'; do
	grep -q "${said#*: }" "$work/${said%%:*}.said" || fail "$said: $(cat "$work/${said%%:*}.said")"
done

# pebsd reports the samples that it leaves out, also in JSON. Names from outside never reach a terminal unescaped, and
# are not reported one by one.
"$TOOLS/make_hostile" "$work/hostile" 1000
printf '[cgroups]\nmax = 16\n' >"$work/few.conf"
"$PEBSD" --config "$work/few.conf" --replay "$work/hostile" --once --json >"$work/hostile.json" 2>"$work/log" ||
	fail 'a recording of 1000 tasks'
"$PEBSD" --config "$work/few.conf" --replay "$work/hostile" --once >"$work/hostile.text" 2>"$work/text.log" ||
	fail 'a recording of 1000 tasks, as text'
grep -q '31m' "$work/hostile.text" || fail 'the text lacks a hostile name'
! grep -q "$(printf '\033')" "$work/log" "$work/text.log" "$work/hostile.text" || fail 'a name reached the terminal raw'
[ "$(wc -l <"$work/log")" -le 5 ] || fail "the log is flooded: $(wc -l <"$work/log") lines"
expect 'samples are all seen' '[1000,true]' "$(jq -c '.samples | [.seen, .unattributed > 980]' "$work/hostile.json")"
expect 'notes' '[2,true,true]' "$(jq -c '.notes | [length, any(contains("its event")), any(contains("without a slot"))]' \
	"$work/hostile.json")"
expect 'no notes if nothing is left out' null "$(jq .notes "$json")"
