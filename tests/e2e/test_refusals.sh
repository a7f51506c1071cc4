#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd must name each option and key that it refuses, report the right line, and exit with the right code.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

exits 'an unknown option' 2 "$PEBSD" --frobnicate
exits 'an origin that there is not' 2 "$PEBSD" --origin modell
for value in 0 86401 1m; do
	exits "the opener with --idle $value" 2 "$PEBSD-opener" --idle $value
	grep -qxF "pebsd-opener: invalid --idle '$value': expected a whole number of seconds from 1 to 86400" "$work/said" ||
		fail "the opener with --idle $value: $(cat "$work/said")"
done
exits 'the opener with an argument' 2 "$PEBSD-opener" 60
grep -qxF "pebsd-opener: unexpected argument '60'" "$work/said" || fail "the opener with an argument: $(cat "$work/said")"
exits 'help' 0 "$PEBSD" --help
exits 'version' 0 "$PEBSD" --version
for program in "$PEBSD" "$PEBSCTL"; do
	expect "lines of the help of $program that do not fit into 80 columns" '' "$("$program" --help | grep -E '.{81}' || :)"
done

# Output that cannot be written completely is a failure.
for mode in --help --version --check-config --probe '--test-rules --origin model --for 10s --config config/demo.conf'; do
	# shellcheck disable=SC2086
	exits "$mode without room for what it says" 1 sh -c '"$@" >/dev/full' sh "$PEBSD" $mode
	grep -q 'cannot write to standard output: No space left' "$work/said" || fail "$mode: $(cat "$work/said")"
done

cat >"$work/pebsd.conf" <<'C'
[sampling]
ldlat = 2
buget = 1%
[nonsense]
a = 1
[rule slow]
metric = p99
C
exits 'a configuration with mistakes' 2 "$PEBSD" --check-config --config "$work/pebsd.conf"
for line in 2 3 4 6; do
	grep -q "pebsd.conf:$line: " "$work/said" || fail "line $line is not told: $(cat "$work/said")"
done
exits 'the same to run with' 2 "$PEBSD" --config "$work/pebsd.conf" --once
for mode in --check-config --once; do
	exits "$mode with a configuration that is not there" 2 "$PEBSD" $mode --config "$work/none.conf"
	grep -q "$work/none.conf: " "$work/said" || fail "a file as a whole has no line: $(cat "$work/said")"
done
printf '[sampling]\ncpus = 8191\n' >"$work/cpus.conf"
exits 'CPUs that are not here' 2 "$PEBSD" --check-config --config "$work/cpus.conf"
grep -q 'cpus.conf:2: cpus = 8191: this machine has none of these CPUs; it has 0' "$work/said" ||
	fail "CPUs that are not here: $(cat "$work/said")"
printf '[sampling]\ncpus = 0,8191\n' >"$work/cpus.conf"
exits 'CPUs of which one is here' 0 "$PEBSD" --check-config --config "$work/cpus.conf"
# The model has CPUs of its own, and a recording has those of another machine: pebsd starts with such a list.
printf '[sampling]\norigin = model\ncpus = 8191\n' >"$work/cpus.conf"
exits 'CPUs that are not here, for the model' 0 "$PEBSD" --check-config --config "$work/cpus.conf"
exits 'the same to run with' 0 "$PEBSD" --config "$work/cpus.conf" --once --for 100ms
exits 'the default configuration' 0 "$PEBSD" --check-config --config config/pebsd.conf
grep -qxF 'Configuration OK (config/pebsd.conf; 0 rules).' "$work/said" || fail "files are missing: $(cat "$work/said")"

# Names of users or groups that do not exist, and an unusually large budget, are only warnings.
printf '[sampling]\nbudget = 8%%\n[control]\ngroup = no-such-group\ndetail = no-such-user\n' >"$work/warn.conf"
exits 'a configuration with warnings' 0 "$PEBSD" --check-config --config "$work/warn.conf"
for text in 'warn.conf:2: budget = 8%: sampling may take 8% of the time of each CPU' \
	'warn.conf:4: group = no-such-group: there is no such group' \
	'warn.conf:5: detail = no-such-user: there is no such user or group'; do
	grep -q "^warning: .*$text" "$work/said" || fail "no warning \"$text\": $(cat "$work/said")"
done
exits 'warnings as JSON' 0 "$PEBSD" --check-config --json --config "$work/warn.conf"
expect 'warnings as JSON' '[true,[2,4,5],[],1,0]' \
	"$(jq -c '[.ok, [.warnings[].line], .mistakes, (.files | length), .rules]' "$work/said")"
exits 'mistakes as JSON' 2 "$PEBSD" --check-config --json --config "$work/pebsd.conf"
expect 'mistakes as JSON' '[false,[2,3,4,6,6]]' "$(jq -c '[.ok, [.mistakes[].line]]' "$work/said")"
exits 'a missing file as JSON' 2 "$PEBSD" --check-config --json --config "$work/none.conf"
expect 'a missing file as JSON' '[false,null]' "$(jq -c '[.ok, .mistakes[0].line]' "$work/said")"
"$PEBSD" --origin model --once --for 100ms --config "$work/warn.conf" >/dev/null 2>"$work/said" || fail "$(cat "$work/said")"
grep -q 'warn.conf:2: budget = 8%: ' "$work/said" || fail "a start does not warn: $(cat "$work/said")"

# The section [sampling]: each mistake is reported on its line, with the values that are possible.
cat >"$work/sampling.conf" <<'C'
[sampling]
ldlat = 65536
events = loads stroes
period = 99
instructions-period = many
cpus = 0-3, 8
isolated = 2
C
exits 'mistakes in [sampling]' 2 "$PEBSD" --check-config --config "$work/sampling.conf"
expect 'mistakes told' 6 "$(wc -l <"$work/said")"
for text in '2: ldlat = 65536: expected a whole number from 3 to 65535' '3: events = stroes: unknown value; did you mean stores?' \
	'4: period = 99: expected auto or a whole number from 100 to' '5: instructions-period = many: expected auto or' \
	'6: cpus = 0-3, 8: expected all, or numbers and ranges' '7: isolated = 2: expected yes or no'; do
	grep -qF "sampling.conf:$text" "$work/said" || fail "not told: $text: $(cat "$work/said")"
done
printf '[sampling]\nevents = loads stores instructions offcore\ncpus = 0-1,3\n' >"$work/sampling.conf"
exits 'every event, on some CPUs' 0 "$PEBSD" --check-config --config "$work/sampling.conf"

# Rules: each mistake is reported on its line.
cat >"$work/rules.conf" <<'C'
[rule far]
cgroup = /system.slice/*
metric = p999
above = 900
[rule never]
cgroup = /system.slice/*
event = stores
metric = share:remote_dram
above = 130%
[rule later]
cgroup = /a
metric = p99
above = 900
action = zoom:2h
C
exits 'mistakes in rules' 2 "$PEBSD" --check-config --config "$work/rules.conf"
expect 'mistakes told' 4 "$(wc -l <"$work/said")"
for text in '3: [rule far]: min-samples = 500 (the default): p999 with these limits needs 2995 samples' \
	'7: [rule never]: event = stores: stores are not sampled, so the rule can never fire' \
	'9: [rule never]: above = 130%: expected a share between 0 and 1, such as 0.3 or 30%' \
	'14: action: zoom needs a duration from 1s to 1h'; do
	grep -qF "rules.conf:$text" "$work/said" || fail "not told: $text: $(cat "$work/said")"
done
printf '[rule slow]\ncgroup = /a\nmetric = p99\nabove = 900\n' >"$work/rules.conf"
exits 'a rule without mistakes' 0 "$PEBSD" --check-config --config "$work/rules.conf"

# The probe answers with any configuration, and with the same exit code.
usual_sample_rate
expected=0
"$PEBSD" --probe --json --config config/pebsd.conf >"$work/probe.json" || expected=$?
status=0
"$PEBSD" --probe --json --config "$work/pebsd.conf" >"$work/same.json" 2>"$work/said" || status=$?
expect 'exit code of --probe with mistakes in the configuration' "$expected" "$status"
# Measured values differ from run to run.
for file in probe same; do jq 'del(.cost)' "$work/$file.json" >"$work/$file.constant"; done
cmp "$work/probe.constant" "$work/same.constant" || fail 'mistakes in the configuration change what the machine can do'
grep -q 'pebsd.conf:2: ' "$work/said" || fail "the mistakes are not told: $(cat "$work/said")"

jq -ne 'input | has("usable") and has("events") and has("refused") and has("notes")' "$work/probe.json" >/dev/null ||
	fail "--probe --json: $(cat "$work/probe.json")"
if [ "$(jq .usable "$work/probe.json")" = false ]; then
	exits '--probe where nothing can be sampled' 3 "$PEBSD" --probe
	exits 'the daemon where nothing can be sampled' 3 "$PEBSD" --socket "$socket" --listen none
	grep -q -- '--replay' "$work/said" || fail "the way out is not told: $(cat "$work/said")"
	expect 'one line' 1 "$(wc -l <"$work/said")"
else
	exits '--probe where something can be sampled' 0 "$PEBSD" --probe
fi
