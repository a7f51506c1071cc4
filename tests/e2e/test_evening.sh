#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An evening on the model: a deploy brings false sharing, an alert fires, and the deploy is rolled back. Afterwards
# five commands find what happened: alerts --since, top --at, compare, explain --at, explain.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

mkdir "$work/state"
export STATE_DIRECTORY=$work/state

# serve WORKLOADS: starts pebsd with these workloads, as a deploy changes the services of a host.
serve() {
	cat >"$work/pebsd.conf" <<-C
		[sampling]
		origin = model
		interval = 250ms
		[model]
		workloads = $1
		[history]
		keep = yes
		[rule shared-lines]
		cgroup = model:*
		metric = share:hitm
		above = 50%
		window = 5s
		for = 1s
	C
	start --config "$work/pebsd.conf"
}

stop() {
	kill "$daemon"
	wait "$daemon" || fail 'pebsd did not end well'
	daemon=''
}

fires() {
	ctl --json alerts | jq -ne 'input | [.alerts[] | select(.state == "firing")] | length == 1' >/dev/null
}

now() {
	date -u +%Y-%m-%dT%H:%M:%SZ
}

quiet=$(now)
serve 'streaming mix'
until_true 'a quiet pane is stored' panes_stored 2
stop
deployed=$(now)
serve 'streaming mix false-sharing'
until_true 'the alert fires' fires
# Bounds need four panes.
until_true 'five panes of the deploy are stored' panes_stored 5
stop
rolled_back=$(now)
serve 'streaming mix'
until_true 'a pane after the deploy is stored' panes_stored 1

# 1. What was wrong this evening? `since` of the alert is the time to look at.
ctl --json alerts --since "$quiet" >"$work/alerts.json"
expect 'alerts of the evening' '["shared-lines model:false-sharing"]' \
	"$(jq -c '[.alerts[] | "\(.rule) \(.cgroup)"] | unique' "$work/alerts.json")"
since=$(jq -r '.alerts[0].since | sub("\\.[0-9]+"; "")' "$work/alerts.json")
if [[ $since < $deployed || ! $since < $rolled_back ]]; then
	fail "the alert began at $since, and the deploy lasted from $deployed to $rolled_back"
fi

# At that time it fired.
fired=$(jq -r '.alerts[0].fired' "$work/alerts.json")
ctl --json alerts --at "$fired" >"$work/fired.json"
expect 'alerts when it fired' '["firing"]' "$(jq -c '[.alerts[].state]' "$work/fired.json")"
jq -ne 'input | .alerts[0] | .value > 0.5 and .since == .fired and (has("firing") or has("to_us") | not)' "$work/fired.json" >/dev/null ||
	fail "alerts --at: $(cat "$work/fired.json")"
exits 'alerts of the past as text' 0 ctl alerts --at "$fired"
grep -q '^ *Alerts: 1 firing' "$work/said" || fail "alerts --at: $(cat "$work/said")"

# 2. The screen of that moment has the service, and those before and after do not.
cgroups_at() {
	ctl --json top --at "$1" | jq -c '[.cgroups[].cgroup] | sort'
}
expect 'top at the alert' '["model:false-sharing","model:mix","model:streaming"]' "$(cgroups_at "$since")"
expect 'top before the deploy' '["model:mix","model:streaming"]' \
	"$(ctl --json top --since "$quiet" --until "$deployed" | jq -c '[.cgroups[].cgroup] | sort')"
exits 'top as text' 0 ctl top --at "$since"
grep -q '^false-sharing ' "$work/said" || fail "top --at: $(cat "$work/said")"

# 3. What did the deploy change? It is proven that its loads differ from those of another service at that time.
ctl --json compare model:streaming model:false-sharing --since "$deployed" --until "$rolled_back" >"$work/compared" ||
	fail 'the services of that time cannot be compared'
proven=$(jq '[.events.loads | .. | objects | select(.verdict? == "proven")] | length' "$work/compared")
[ "$proven" -gt 0 ] || fail "nothing is proven: $(jq -c .events.loads "$work/compared")"

# 4. Why did it fire? The last second of the deploy has the alert and its sentences, although it ended with its cgroup.
exits 'explain of the past' 0 ctl explain shared-lines model:false-sharing --at "$fired"
for line in 'State: .*firing since' 'Verdict: '; do
	grep -q "^ *$line" "$work/said" || fail "explain --at has no '$line': $(cat "$work/said")"
done
# The key x of top explains the time that is shown.
"$TOOLS/draw_top" --size 120x40 --wait false-sharing --for 1000 --keys x -- "$PEBSCTL" --socket "$socket" top --at "$fired" \
	--filter false-sharing >"$work/screen" || fail 'no screen of top --at'
for text in 'Rule: shared-lines' 'State: firing since' 'Verdict: '; do
	grep -q "$text" "$work/screen" || fail "the key x of top --at does not show '$text': $(cat "$work/screen")"
done
# The names of that time mean its cgroups, which the present does not know.
for verb in 'show' 'explain shared-lines' 'compare streaming'; do
	# shellcheck disable=SC2086 # verb: words
	exits "$verb by a name of the past" 0 ctl $verb false-sharing --at "$fired"
done
grep -q 'false-sharing' "$work/said" || fail "compare --at: $(cat "$work/said")"
exits 'explain by a name of the past' 0 ctl explain shared-lines false-sharing --at "$fired"
grep -q '^ *State: .*firing since' "$work/said" || fail "explain --at by a name: $(cat "$work/said")"
exits 'explain with a misspelt cgroup' 4 ctl explain shared-lines false-sharin --at "$fired"
grep -q 'did you mean false-sharing?' "$work/said" || fail "a misspelt cgroup: $(cat "$work/said")"
grep -q 'top --at TIME' "$work/said" || fail "a misspelt cgroup: $(cat "$work/said")"
exits 'explain with a misspelt rule' 4 ctl explain shared-line false-sharing --at "$fired"
grep -q 'did you mean shared-lines?' "$work/said" || fail "a misspelt rule: $(cat "$work/said")"
exits 'explain before the alert' 0 ctl explain shared-lines model:false-sharing --since "$quiet" --until "$deployed"
grep -q 'the rule had no pending or firing alert' "$work/said" || fail "explain before: $(cat "$work/said")"

# 5. What does the rule say now?
exits 'explain' 0 ctl explain shared-lines model:false-sharing
grep -q '^ *State: ' "$work/said" || fail "explain after the deploy: $(cat "$work/said")"
! grep -q '^ *State: firing' "$work/said" || fail "the alert still fires: $(cat "$work/said")"
echo "found: alert since $since, $proven differences proven"
