#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The output and exit codes of pebsctl's verbs on policy, with a daemon that has rules and with one that has none.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq socat
cgroup=model:pointer-chase

cat >"$work/pebsd.conf" <<'C'
[model]
workloads = pointer-chase
[rule slow-loads]
cgroup = model:pointer*
metric = p99
above = 900
[rule always]
cgroup = model:pointer*
metric = rate
above = 1
window = 4s
for = 0s
min-samples = 10
[rule elsewhere]
cgroup = /nowhere/*
metric = rate
above = 1
C
start --origin model --config "$work/pebsd.conf"
judged() {
	ctl --json explain slow-loads $cgroup 2>/dev/null | jq -ne 'input | .judged[0].samples > 0' >/dev/null
}
until_true 'it is judged' judged

exits 'rules' 0 ctl rules
grep -q 'Fires: p99 of loads above 896 cycles (configured: 900)' "$work/said" || fail "rules: $(cat "$work/said")"
grep -q 'Matches: none of the cgroups' "$work/said" || fail "a rule without a cgroup: $(cat "$work/said")"
expect 'rules as JSON' 'slow-loads always elsewhere' "$(ctl --json rules | jq -r '[.rules[].rule] | join(" ")')"
exits 'alerts' 0 ctl alerts
fires() {
	ctl --json alerts | jq -ne 'input | any(.alerts[]; .rule == "always" and .state == "firing")' >/dev/null
}
until_true 'a rule fires' fires
exits 'status' 0 ctl status
grep -q 'Alerts: [12] firing (see .pebsctl alerts' "$work/said" || fail "alerts in the status: $(cat "$work/said")"
exits 'top of what is not there' 0 ctl top --filter no-such-name
grep -q 'no matching cgroup has a sample in this window' "$work/said" || fail "top: $(cat "$work/said")"
expect 'alerts as JSON' array "$(ctl --json alerts | jq -r '.alerts | type')"
exits 'explain' 0 ctl explain slow-loads $cgroup
grep -q "Cgroup: .*($cgroup)$" "$work/said" || fail "explain: $(cat "$work/said")"
expect 'explain as JSON' slow-loads "$(ctl --json explain slow-loads $cgroup | jq -r .rule.rule)"
exits 'a rule that there is not' 4 ctl explain slow-laods $cgroup
grep -q 'did you mean slow-loads?' "$work/said" || fail "the nearest rule: $(cat "$work/said")"
exits 'a cgroup that was never sampled' 4 ctl explain slow-loads /no/such.service
grep -q 'no cgroup .* is known, or it has no sample' "$work/said" || fail "a cgroup: $(cat "$work/said")"
exits 'a cgroup that looks like a time' 4 ctl show /job-2026-01-01T00:00:00Z
grep -q "no cgroup '/job-2026-01-01T00:00:00Z' is known" "$work/said" || fail "its name: $(cat "$work/said")"
exits 'a filter that is too long in JSON' 2 ctl top --filter "$(printf '\xff%.0s' {1..60})"
exits 'a rule that is not for the cgroup' 4 ctl explain elsewhere $cgroup
grep -q 'cgroup. is /nowhere/' "$work/said" || fail "what the rule is for: $(cat "$work/said")"
exits 'the neighbours of a cgroup that was never sampled' 4 ctl neighbours /no/such.service
exits 'explain without a cgroup' 2 ctl explain slow-loads
exits 'rules with an argument' 2 ctl rules slow-loads

printf '[model]\nworkloads = pointer-chase\n' >"$work/pebsd.conf"
exits 'a reload without rules' 0 ctl reload
exits 'no rules' 0 ctl rules
grep -q 'pebsd.conf(5)' "$work/said" || fail "how to write a rule: $(cat "$work/said")"
exits 'explain without rules' 4 ctl explain slow-loads $cgroup
grep -q 'no rules are configured' "$work/said" || fail "no rules: $(cat "$work/said")"

# If an option is given twice, its last value counts, even if that is 0. socat receives the request.
socat -u "UNIX-LISTEN:$work/asked.sock" "CREATE:$work/asked" &
others=$!
until_true 'it listens' [ -S "$work/asked.sock" ]
# socat may not listen yet. A pebsctl that reaches socat waits for an answer, and ends with socat.
while ! [ -s "$work/asked" ] && kill -0 "$others" 2>/dev/null; do
	timeout 5 "$PEBSCTL" --json --socket "$work/asked.sock" top --depth 3 --depth 0 >/dev/null 2>&1 || :
done
asked_depth() {
	tr -d '\0' <"$work/asked" | jq .parameters.depth 2>/dev/null
}
until_is 'the depth that is asked for' 0 asked_depth
