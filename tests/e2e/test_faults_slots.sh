#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# There are more cgroups than slots. Samples of cgroups without a slot count as unattributed, cgroups with a slot
# are sampled, and the log reports the shortage once. Free slots go to later cgroups and to cgroups that had none.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
need flock curl socat
own_cgroup
alone_with_cgroups
usual_sample_rate
# Others on this machine may also have cgroups.
slots=$(($(find "${cgroup%/*}" -type d | wc -l) + 20))
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = %d\n' "$slots"
	printf '[rule blind]\ncgroup = /%s/*\nmetric = rate\nabove = 1\nwindow = 5s\n' "${cgroup##*/}"
	printf '[rule whole]\ncgroup = /%s\nsubtree = yes\nmetric = rate\nabove = 1000000000\nwindow = 5s\n' "${cgroup##*/}")

status() {
	ctl --json status | jq "$@"
}

start --config "$work/pebsd.conf"
get /metrics >/dev/null
remember
mkdir "$cgroup"/{1..60}
until_is 'some cgroup finds no slot' true status '.births_without_slot > 0'
before=$(status .samples.unattributed)
work_in 60
until_is 'samples of a cgroup without a slot are counted' true status ".samples.unattributed > $before"
work_in 1
sampled "/${cgroup##*/}/1"

# Every interface names a cgroup without a slot as such. The last cgroup here never had a sample of its own.
blind=/${cgroup##*/}/60
until_is 'status counts those without a slot, and names them' true \
	status ".without_slot > 0 and ([.no_slot[] == \"$blind\"] | any)"
ctl status | grep -q 'No slot: [1-9].* cgroups: their samples are unattributed' || fail "status does not tell: $(ctl status)"
expect 'show of JSON' true "$(ctl --json show "$blind" | jq '.no_slot and .events == {}')"
ctl show "$blind" | grep -q 'Slot: none' || fail "show does not tell: $(ctl show "$blind" 2>&1)"
ctl top | grep -q 'No slot' || fail "top does not tell: $(ctl top)"
judged() {
	ctl --json explain blind "$blind" | jq -c '.judged[0] | [.state, .unknown]'
}
until_is 'the rule is unknown of it' '["unknown","no_slot"]' judged
ctl explain blind "$blind" | grep -q 'the cgroup has no slot' || fail "explain does not tell: $(ctl explain blind "$blind" 2>&1)"
whole() {
	ctl --json explain whole "${blind%/*}" | jq '.judged[0] | .subtree_without_slot > 0 and .unknown != "no_slot"'
}
until_is 'a rule with subtree counts them' true whole
told=$(ctl explain whole "${blind%/*}" | tr -s ' \n' ' ')
grep -q 'at and below .* no slot now' <<<"$told" || fail "explain of a subtree does not tell: $told"
for verb in neighbours hot; do
	! told=$(ctl $verb "$blind" 2>&1) || fail "$verb of a cgroup without a slot: $told"
	grep -q 'the cgroup has no slot' <<<"$told" || fail "$verb does not tell: $told"
done
! told=$(ctl zoom --last "$blind" 2>&1) || fail "the last zoom of a cgroup without a slot: $told"
grep -q 'there is no zoom of this cgroup' <<<"$told" || fail "zoom does not tell: $told"
expect 'a subtree counts them' true "$(printf '{"method": "io.pebsd.GetCgroup", "parameters": %s}\0' \
	"{\"cgroup\": \"${blind%/*}\", \"subtree\": true}" | socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0' |
	jq '.parameters.subtree_without_slot > 0')"
expect 'rules count it' true "$(ctl --json rules | jq '.rules[0].cgroups.unknown.no_slot > 0')"
get /metrics >"$work/metrics"
for metric in pebsd_cgroups_without_slot pebsd_cgroup_births_without_slot_total pebsd_cgroup_slots_limit; do
	grep -q "^$metric [1-9]" "$work/metrics" || fail "no $metric: $(grep slot "$work/metrics")"
done
expect 'malformed' 0 "$(status .samples.lost.malformed)"
still_samples 'without a slot to spare'
# One of the slots is for unattributed samples.
named 'no free slot' "no slot is free for new cgroups: all $((slots - 1)) are in use"
quiet 'no free slot' 1
ctl zoom --for 1s "$blind" >"$work/zoom" 2>&1 || fail "a cgroup without a slot cannot be zoomed: $(cat "$work/zoom")"

# Most cgroups are removed: a cgroup that had no slot gets one of their slots.
for n in {1..55}; do
	rmdir "$cgroup/$n"
done
named 'slots again' 'every cgroup has a slot again'
work_in 60
sampled "/${cgroup##*/}/60"
expect 'and has a slot' null "$(ctl --json show "$blind" | jq .no_slot)"
until_is 'as all have' '[0,[]]' status -c '[.without_slot, .no_slot]'

# Storms of births are logged only as often as slots run out, and at most three times in a minute.
for _ in 1 2 3; do
	for n in {100..160}; do
		mkdir "$cgroup/$n"
		rmdir "$cgroup/$n"
	done
done
still_samples 'after a storm of births'
given_back 'with slots again'
quiet 'storms of births' 8 8
