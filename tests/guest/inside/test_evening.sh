#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An evening with real programs under the emulated PMU: a service works on data in its caches, follows pointers through
# memory for a minute, and recovers. Afterwards four commands find what happened, and all of them answer from what the
# history has: alerts --since, top --at, compare, explain.
# long
# kernels: 6.12
# takes: 200 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

now() {
	date -u +%Y-%m-%dT%H:%M:%SZ
}

panes_stored() {
	status | jq -ne "input | .history.panes_stored >= $1" >/dev/null
}

# another_time SECONDS: waits until this many more seconds of the guest's time are stored.
another_time() {
	wait_until 'more panes are stored' 600 panes_stored $(($(status | jq .history.panes_stored) + $1 / 10))
}

# does WORKLOAD MIB: makes the service run WORKLOAD with this much memory from now on.
does() {
	echo "$1 --touch $2" >"$work/does"
	pkill -f "^$here/workload .* --for" || :
}

state_is() {
	pebsctl --json alerts | jq -ne "input | [.alerts[] | select(.cgroup == \"/turning.service\") | .state] == [\"$1\"]" \
		>/dev/null
}

play
rm -rf /var/lib/pebsd
settings '[rule slow-loads]' 'cgroup = /*.service' 'metric = share:local_dram' 'above = 30%' 'clear = 10%' \
	'window = 10s' 'for = 5s' 'min-samples = 100'
echo 'pointer-chase --touch 1' >"$work/does"
systemd-run --quiet --collect --unit=turning.service --slice=-.slice --property=CPUSchedulingPolicy=idle \
	/bin/sh -c "while :; do $here/workload \$(cat $work/does) --rest $rest --for 1000; done"
workloads+=(turning.service)
load register-loop bystander.service --slice=-.slice
start_pebsd
await_samples 200
before=$(now)
another_time 80

slowed=$(now)
does pointer-chase "$touches"
wait_until 'the alert fires' 300 state_is firing
another_time 60
recovered=$(now)
does pointer-chase 1
wait_until 'the alert resolves' 300 state_is resolved
another_time 20

# 1. What was wrong this evening?
pebsctl --json alerts --since "$before" >"$work/alerts"
expect 'alerts of the evening' '["slow-loads /turning.service"]' \
	"$(jq -c '[.alerts[] | "\(.rule) \(.cgroup)"] | unique' "$work/alerts")"
fired=$(jq -r '.alerts[0].fired | sub("\\.[0-9]+"; "")' "$work/alerts")
if [[ $fired < $slowed || ! $fired < $recovered ]]; then
	fail "the alert fired at $fired, and the service was slow from $slowed to $recovered"
fi

# 2. The screen of that moment: the service is slow, and was not before.
mean_at() {
	pebsctl --json top --at "$1" | jq '.cgroups[] | select(.cgroup == "/turning.service") | .events.loads.latency.mean | floor'
}
slow=$(mean_at "$fired")
usual=$(mean_at "$slowed")
[ "${slow:-0}" -gt "$((2 * ${usual:-1000}))" ] || fail "mean latency at $fired: $slow, at $slowed: $usual"

# 3. What changed? The difference is proven.
pebsctl --json compare turning --since "$fired" --until "$recovered" --with "$before" >"$work/compared" ||
	fail 'the two times cannot be compared'
expect 'its loads come from elsewhere' proven "$(jq -r .events.loads.sources.local_dram.verdict "$work/compared")"

# 4. Why did it fire?
exits 'explain of that time' 0 pebsctl explain slow-loads turning --at "$fired"
grep -q 'State: .*firing since' "$work/said" || fail "explain --at: $(cat "$work/said")"
say "slow from $slowed to $recovered: fired at $fired, mean latency $usual -> $slow cycles," \
	"$(jq '[.events.loads | .. | objects | select(.verdict? == "proven")] | length' "$work/compared") differences proven"
