#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The benchmarks themselves: two rounds of cheap ones must give a result. A comparison must report a result that
# became worse, and must report nothing for equal runs. A measurement that fails or is impossible must be reported.
# The measured values do not matter here.
set -u
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"

need jq
programs=$(dirname "$TOOLS")/bench
run() {
	tests/bench/run.sh -b "$programs" -o "$work/results" "$@" >"$work/said" 2>&1
}

run -r 2 -n small yardstick 'events_cost ROUND 1' || fail "$(cat "$work/said")"
result=$work/results/small.json
expect 'the rounds' 2 "$(jq .rounds "$result")"
for name in 'body/pebsd' 'body/ring buffer' 'victim/per-CPU hash' 'consumer/ring buffer' 'machine/integer loop' \
	'ratio/a sample with pebsd, of a ring buffer'\''s without wakeups'; do
	expect "the values of $name" 2 \
		"$(jq --arg name "$name" '[.results[] | select(.group + "/" + .name == $name)][0].values | map(numbers) | length' \
			"$result")"
done
expect 'what pebsd lost' '[0,0]' \
	"$(jq -c '.results[] | select(.group == "lost" and .name == "pebsd").values' "$result")"
grep -q 'pebsd, CPUs share a stripe' "$work/said" || fail 'the table lacks a measurement'
grep -q '^machine: ' "$work/said" || fail 'the machine is not named'

# tests/bench/README.md must have the rows of these tables, each with its limit. Its values come from another run,
# so they are not compared. Neither are the units of limits, which are there only if something was measured.
rows() {
	sed -n 's/^| \([^|]*\) |.*| \([^|]*\) |$/\1: \2/p' | sed '/^---/d; s/: –$//; s/: [0-9][0-9.,]*$//; s/\(: at [a-z]* [0-9.,]*\) [A-Za-z]*$/\1/' | sort
}
"$programs/bench_report" markdown "$result" | rows >"$work/rows"
grep -q -x pebsd "$work/rows" || fail 'the tables have no row of pebsd'
missing=$(sed '/^# Beside other tools$/,$d' tests/bench/README.md | rows | diff "$work/rows" - | grep '^[<>]') || :
[ -z "$missing" ] || fail "tests/bench/README.md lacks rows (<) or has others (>): make bench-table
$missing"

# Makes seven rounds from the first one, with small differences, and a second run in which one value grew by a third. A
# difference of two measured times may be negative by chance, and would not grow then.
jq '.rounds = 7 | .results |= map(if .unit and .values[0] then .values = [(.values[0] | fabs) * (1, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006)]
	else del(.unit) | .left_out = "not here" end)' "$result" >"$work/results/a.json"
jq '.results |= map(if .group == "body" and .name == "pebsd" then .values |= map(. * 1.33) else . end)' \
	"$work/results/a.json" >"$work/results/b.json"
exits 'comparing equal runs' 0 "$programs/bench_report" compare "$work/results/a.json" "$work/results/a.json"
exits 'comparing with a run in which a figure grew' 1 \
	"$programs/bench_report" compare "$work/results/a.json" "$work/results/b.json"
grep -q '^WORSE .*body .*pebsd ' "$work/said" || fail "what is worse is not named: $(cat "$work/said")"
grep -q '^[1-9][0-9]* worse' "$work/said" || fail "not one thing is worse: $(cat "$work/said")"
exits 'comparing with what is no run' 2 "$programs/bench_report" compare "$work/results/a.json" /dev/null

# A directory of measurements that fail.
mkdir "$work/wrong"
ln -s "$(realpath "$programs/bench_report")" "$work/wrong/"
cat >"$work/wrong/lacks" <<'END'
#!/bin/sh
echo 'there is no such "thing" here' >&2
exit 77
END
cat >"$work/wrong/fails" <<'END'
#!/bin/sh
echo '{"group": "g", "name": "before", "unit": "ns", "value": 5}'
echo broken
exit 1
END
chmod +x "$work/wrong/lacks" "$work/wrong/fails"
programs=$work/wrong
run -r 1 -n wrong lacks fails && fail 'a measurement that failed was not told'
grep -q 'fails: exit status 1' "$work/said" || fail "what failed is not named: $(cat "$work/said")"
expect 'what was left out' 'there is no such thing here' \
	"$(jq -r '.results[] | select(.group == "lacks").left_out' "$work/results/wrong.json")"
expect 'what was measured before' '[5]' \
	"$(jq -c '.results[] | select(.group == "g").values' "$work/results/wrong.json")"
