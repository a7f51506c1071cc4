#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `pebsd --test-rules` judges recordings and the model in their own time. A step of latency must fire once and
# resolve once, at the right times. A threshold above the step must never fire. Runs as nobody, without a bpf or
# perf_event_open call.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq setpriv

# The user nobody must be able to read the files of this test.
chmod 755 "$work"
for program in "$PEBSD" "$TOOLS/without_bpf"; do
	install -m 755 "$program" "$work/"
done
pebsd=$work/$(basename "$PEBSD")

# Runs as nobody, and is killed at the first system call that needs a privilege here.
test_rules() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/without_bpf" "$pebsd" --test-rules "$@"
}

# rule NAME LINE...: writes a configuration with that rule to $work/NAME.conf
rule() {
	local name=$1
	shift
	{
		printf '[rule %s]\n' "$name"
		printf '%s\n' 'window = 30s' 'for = 60s' "$@"
	} >"$work/$name.conf"
	chmod 644 "$work/$name.conf"
}

# told WHAT ARGUMENT...: runs test_rules, expects exit code $code (default: 0), and writes the JSON to $work/json
told() {
	local what=$1 status=0
	shift
	test_rules --json "$@" >"$work/json" 2>"$work/log" || status=$?
	[ "$status" = "${code:-0}" ] || fail "$what: exit code $status instead of ${code:-0}"
}

# without_bpf must notice a bpf call: it must kill the daemon, which makes one.
status=0
("$work/without_bpf" "$PEBSD" --once --for 100ms --origin model || exit $?) >/dev/null 2>&1 || status=$?
expect 'the daemon itself is killed without bpf' 159 "$status"

step=$work/step.perf.data
"$TOOLS/make_step" --clock "$step"
chmod 644 "$step"

rule db-p99 'cgroup = comm:*' 'metric = p99' 'above = 900'
told 'a step of p99' --replay "$step" --config "$work/db-p99.conf"
expect 'one pending, fired, resolved' '[["inactive","pending"],["pending","firing"],["firing","resolved"]]' \
	"$(jq -c '[.transitions[] | [.from, .state]]' "$work/json")"
expect 'of the one command' '["comm:db"]' "$(jq -c '[.transitions[].cgroup] | unique' "$work/json")"
# With each second after the step, 3 more of the window's 3,000 latencies are slow. If they were independent, 40 of
# them would prove a breach, about 14 s after the step. But the step might be a burst, so the part of the window
# after the step has to outweigh the part before it. In the same way, a good p99 is proven when the slow latencies
# leave the window.
expect 'at the right times' '[true,true,true]' "$(jq -c '[.transitions[].at_s] |
	[.[0] >= 250 and .[0] <= 275, .[1] >= .[0] + 60 and .[1] <= .[0] + 62, .[2] >= 375 and .[2] <= 392]' "$work/json")"
expect 'at the time of day' true \
	"$(jq '.transitions[1] | .fired == .time and (.fired | startswith("2026-11-21T06:2"))' "$work/json")"
expect 'all of the recording' '[600,"2026-11-21T06:16:40Z","2026-11-21T06:26:39Z"]' \
	"$(jq -c '[(.stretches[0].covered_s | round), .from, .to]' "$work/json")"
expect 'the rule in short' '[1,1,0,2,2]' \
	"$(jq -c '.rules[0] | [.fired, .cgroups_fired, .still_firing, .cgroups_matched, .cgroups_judged]' "$work/json")"
expect 'for how long it fires' true \
	"$(jq '.rules[0].firing_s == .transitions[2].at_s - .transitions[1].at_s' "$work/json")"
expect 'unknown before the window is covered' true \
	"$(jq '.rules[0] | .unknown_s.window >= 2 * 29 and .unknown_s.window <= 2 * 31 and
		.unknown_s.window + .unknown_s.bursts + .known_s >= 1190' "$work/json")"
expect 'the closest it came' '["comm:db",true]' \
	"$(jq -c '.rules[0].closest | [.cgroup, .value > 1900 and .of_threshold > 2 and .at_s > 250]' "$work/json")"

changes='[.transitions[] | [.at_s, .cgroup, .from, .state, .value]]'
alone=$(jq -c "$changes" "$work/json")
test_rules --json --replay - --config "$work/db-p99.conf" < <(cat "$step") >"$work/json" 2>"$work/log" ||
	fail 'a recording through a pipe'
expect 'the same through a pipe' "$alone" "$(jq -c "$changes" "$work/json")"

TZ=CET-1 test_rules --replay "$step" --config "$work/db-p99.conf" >"$work/text" 2>"$work/log" || fail 'the same as text'
grep -Eq '^\+00:05:[0-9]{2}  Sat 2026-11-21 07:2[12]:[0-9]{2} CET  db-p99  db  pending -> firing  ' "$work/text" ||
	fail "no line of the firing: $(cat "$work/text")"
grep -q '^  fired 1 time on 1 cgroup, firing for ' "$work/text" || fail "no summary: $(cat "$work/text")"
test_rules --full --replay "$step" --config "$work/db-p99.conf" >"$work/text" 2>"$work/log" || fail 'with --full'
grep -q '  db-p99  comm:db  pending -> firing  ' "$work/text" || fail "no path with --full: $(cat "$work/text")"
"$PEBSD" --replay "$step" --once --full >"$work/text" 2>"$work/log" || fail '--once --full'
grep -q '^comm:db ' "$work/text" || fail "--once has no path with --full: $(cat "$work/text")"

# A rule tuned so that nothing fires: the output says how close it came.
rule high 'cgroup = comm:*' 'metric = p99' 'above = 3000'
told 'a threshold above the step' --replay "$step" --config "$work/high.conf"
expect 'no transition' '[[],0,true]' \
	"$(jq -c '[.transitions, .rules[0].fired, (.rules[0].closest.of_threshold | . > 0.6 and . < 0.7)]' "$work/json")"

# An excluded cgroup is not judged.
{
	printf '[cgroups]\nexclude = comm:db\n'
	cat "$work/db-p99.conf"
} >"$work/excluded.conf"
told 'an excluded command' --replay "$step" --config "$work/excluded.conf"
expect 'the other one is judged' '[0,1,1,1]' "$(jq -c \
	'[(.transitions | length), .cgroups, .cgroups_excluded, .rules[0].cgroups_judged]' "$work/json")"

# Two recordings follow each other on one clock: nothing is known of the hour between them.
"$TOOLS/make_step" --start 5200 "$work/next.perf.data"
chmod 644 "$work/next.perf.data"
told 'two recordings' --replay "$step" --replay "$work/next.perf.data" --config "$work/db-p99.conf"
expect 'one stretch, two alerts' '[1,2,true]' \
	"$(jq -c '[(.stretches | length), .rules[0].fired, .rules[0].unknown_s.source > 3000]' "$work/json")"
# In the opposite order they are not on one clock.
told 'two recordings the other way round' --replay "$work/next.perf.data" --replay "$step" --config "$work/db-p99.conf"
expect 'two stretches, two alerts' '[2,2,[0,0,0,1,1,1]]' \
	"$(jq -c '[(.stretches | length), .rules[0].fired, [.transitions[].stretch]]' "$work/json")"
expect 'no time of day where none is known' '[[false,false],[true,true]]' \
	"$(jq -c '[.transitions[] | select(.state == "firing") | [has("time"), has("fired")]]' "$work/json")"
grep -q 'judged by itself' "$work/log" || fail 'the second clock is not told'

# If a recording is damaged, the results before the damage stay valid.
head -c $(($(stat -c %s "$step") * 3 / 4)) "$step" >"$work/cut.perf.data"
chmod 644 "$work/cut.perf.data"
code=2 told 'a cut recording' --replay "$work/cut.perf.data" --config "$work/db-p99.conf"
expect 'what was judged before' 3 "$(jq '.transitions | length' "$work/json")"
grep -q cut.perf.data "$work/log" || fail 'the cut is not told'

"$TOOLS/make_step" --untimed "$work/untimed.perf.data"
chmod 644 "$work/untimed.perf.data"
exits 'without times' 2 test_rules --replay "$work/untimed.perf.data" --config "$work/db-p99.conf"
grep -q 'its samples have no times' "$work/said" || fail "without times: $(cat "$work/said")"

# Calls that lack rules, or a recording or model to judge, are refused.
: >"$work/none.conf"
exits 'no rules' 2 test_rules --replay "$step" --config "$work/none.conf"
grep -Fq '[rule NAME]' "$work/said" || fail "no rules: $(cat "$work/said")"
exits 'nothing to test on' 2 test_rules --config "$work/db-p99.conf"
exits 'no recording' 2 test_rules --replay "$work/missing" --config "$work/db-p99.conf"

# A pattern that matches nothing is reported together with the cgroups that exist.
rule nothing 'cgroup = /system.slice/**' 'metric = p99' 'above = 900'
exits 'a pattern that matches nothing' 0 test_rules --replay "$step" --config "$work/nothing.conf"
grep -q 'matches none of 2 cgroups: comm:db, comm:web' "$work/said" || fail "no hint: $(cat "$work/said")"

# On the model, only the loads of the remote workload are remote.
rule remote 'cgroup = **' 'metric = share:remote_dram' 'above = 30%'
printf '[model]\nworkloads = all\n' >>"$work/remote.conf"
told 'the model' --origin model --for 110s --config "$work/remote.conf"
expect 'remote-numa alone fires' '["model:remote-numa"]' \
	"$(jq -c '[.transitions[] | select(.state == "firing").cgroup]' "$work/json")"
expect 'all workloads are judged' 7 "$(jq '.rules[0].cgroups_judged' "$work/json")"
expect 'in simulated time' '[110,"model"]' "$(jq -c '[.stretches[0].covered_s, .origin]' "$work/json")"
expect 'it says that it is none' true "$(jq '.notes[0] | contains("no measurement")' "$work/json")"

# The same seed gives the same result. Only configured workloads run.
sed -i 's/^workloads = .*/workloads = mix streaming/' "$work/remote.conf"
told 'two workloads' --origin model --for 45s --config "$work/remote.conf"
expect 'two workloads' 2 "$(jq .cgroups "$work/json")"
cp "$work/json" "$work/before"
told 'the same again' --origin model --for 45s --config "$work/remote.conf"
cmp -s "$work/json" "$work/before" || fail 'the same seed gave another result'
