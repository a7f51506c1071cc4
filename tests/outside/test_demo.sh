#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo in real time, as `make run` starts it: the model with config/demo.conf, for one cycle of its scenario of four
# minutes. Each alert fires and resolves in its phase, pebsctl neighbours names the culprit, and pebsctl compare proves
# what the deploy changed. tests/e2e/test_demo.sh tests the phases in the model's own time.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/../e2e/daemon.sh"
need jq
phases=$(cat "$(dirname "$0")/../e2e/demo_phases.jq")

mkdir "$work/state"
STATE_DIRECTORY=$work/state start --origin model --config config/demo.conf
begin=$(date +%s)

# at SECONDS: the time so long after the start of the scenario
at() {
	date -u -d "@$((begin + $1))" +%Y-%m-%dT%H:%M:%SZ
}

# go_to SECONDS: waits for this time of the scenario
go_to() {
	local left=$((begin + $1 - $(date +%s)))
	[ "$left" -le 0 ] || sleep "$left"
}

firing() {
	ctl --json alerts | jq -ne --arg rule "$1" --arg cgroup "$2" \
		'input | any(.alerts[]; .state == "firing" and .rule == $rule and .cgroup == $cgroup)' >/dev/null
}

# screen TEXT VERB...: what a terminal of 80x24 shows
screen() {
	"$TOOLS/draw_top" --size 80x24 --wait "$1" --for 500 -- "$PEBSCTL" --socket "$socket" "${@:2}" >"$work/screen" ||
		fail "no screen of ${*:2}"
}

# Quiet: two programs sleep, and nothing fires.
go_to 30
ctl --json top --window 20s >"$work/quiet" || fail 'top'
expect 'the programs' '["backup","batch","cache","database","monitor","shop"]' \
	"$(jq -c '[.cgroups[].cgroup | ltrimstr("model:")] | sort' "$work/quiet")"
expect 'programs that use less than a hundredth of a core' '["backup","batch"]' \
	"$(jq -c '[.cgroups[] | select((.waits.cores_used.value // 0) < 0.01).cgroup | ltrimstr("model:")] | sort' "$work/quiet")"
expect 'alerts that fire' 0 "$(ctl --json alerts | jq '[.alerts[] | select(.state == "firing")] | length')"

# The backup slows the database.
go_to 50
until_true 'the database is slow' firing database-latency model:database
until_true 'the backup waits' firing cores-lost model:backup
screen database-latency alerts
grep -q 'Alerts: [0-9]* firing' "$work/screen" || fail "the alerts do not fit on a screen: $(cat "$work/screen")"
screen 'By source' explain cores-lost model:backup
for line in 'Rule: cores-lost' 'State: firing since ' 'loses [.0-9]* of its [.0-9]* cores* to memory: at' \
	'memory costs the cgroup at most this much' 'the rule fires when the lower bound is at least 1' 'pebsctl hot ' \
	'By source: .*LFB [1-9]' 'of its sampled loads'; do
	grep -q "$line" "$work/screen" || fail "the screen lacks \"$line\": $(cat "$work/screen")"
done
# Bins of 5 s, and 24 of them are needed.
go_to 125
named() {
	ctl --json neighbours database >"$work/neighbours" &&
		[ "$(jq -c '[.neighbours[] | select(.named).cgroup]' "$work/neighbours")" = '["model:backup"]' ]
}
until_true 'the backup is named' named
ctl explain database-latency database >"$work/explained" || fail 'explain'
grep -q 'model:backup may disturb this cgroup: in the last .* (strength 0\.[5-9]' "$work/explained" || fail "not named: $(cat "$work/explained")"

# The deploy.
until_true 'the shop shares lines' firing shared-lines model:shop
ctl explain shared-lines shop >"$work/explained" || fail 'explain'
! grep 'may disturb this cgroup' "$work/explained" || fail 'explain names a neighbour for false sharing inside the cgroup'
# The README's picture of it has the same lines. Times, figures and the histogram's buckets differ.
ctl show shop >"$work/show" || fail 'show'
expect 'lines of .github/show.svg (make pictures)' "$(sed -nE 's/^ *([A-Z][A-Za-z]*:) .*/\1/p; s/^([a-z][a-z0-9_]*) +[0-9]+ .*/\1/p' "$work/show")" \
	"$(sed -nE 's/^<text [^>]*>([A-Z][A-Za-z]*:) .*/\1/p; s/^<text [^>]*>([a-z][a-z0-9_]*)<.*/\1/p' .github/show.svg)"
go_to 191
compared() {
	ctl --json compare shop --since "$(at 138)" --until "$(at 178)" --with "$(at 0)" >"$work/compared" &&
		[ "$(jq -r .events.loads.hitm.verdict "$work/compared")" = proven ]
}
until_true 'the deploy is proven' compared
jq -ne 'input.events.loads.hitm | .low > 0.3 and .low < .difference and .difference < .high' "$work/compared" >/dev/null ||
	fail "bounds of the deploy: $(jq -c .events.loads.hitm "$work/compared")"
hitm_at() {
	ctl --json top --at "$(at "$1")" | jq '.cgroups[] | select(.cgroup == "model:shop").events.loads | (.snoop.hitm // 0) / .samples > 0.5'
}
expect 'HITM during the deploy' true "$(hitm_at 170)"
expect 'HITM before the deploy' false "$(hitm_at 40)"

# The batch job, and the alerts of the cycle.
go_to 200
until_true 'the batch job waits' firing cores-lost model:batch
go_to 250
ctl --json alerts --since "$(at 0)" --until "$(at 249)" >"$work/past" || fail 'alerts of the past'
expect 'alerts of the cycle' '["cores-lost model:backup","cores-lost model:batch","database-latency model:database","shared-lines model:shop"]' \
	"$(jq -c '[.alerts[] | select(.fired) | "\(.rule) \(.cgroup)"] | unique' "$work/past")"
# A busy machine delays collections.
# shellcheck disable=SC2016 # jq's variables
expect 'alerts out of their phases' '[]' "$(jq -c --arg begin "$(at 0)" "$phases"'
	[.alerts[] | select(.fired) | phases["\(.rule) \(.cgroup)"][0] as [$from, $to] |
		((.fired | fromdate) - ($begin | fromdate)) as $at | select($at < $from - 2 or $at > $to + 30)]' "$work/past")"
jq -r '.alerts[] | select(.fired) | "\(.fired) \(.state) \(.since): \(.rule) \(.cgroup)"' "$work/past"

# An alert that has resolved names the neighbour as well, in pebsctl and for a click on the page.
ctl explain database-latency database --at "$(at 90)" >"$work/explained" || fail 'explain of the past'
grep -q 'model:backup may disturb this cgroup: in the last .* (strength 0\.[5-9]' "$work/explained" || fail "not named: $(cat "$work/explained")"
get "/explain.json?rule=database-latency&cgroup=model:database&since=$(at 56)&until=$(at 90)" >"$work/explained.json"
expect 'neighbours on the page' true "$(jq '.judged[0].sentences[-1] | startswith("model:backup may disturb this cgroup: in the last ")' "$work/explained.json")"

# The past has what was seen live: the backup and the database in their phase, whose alerts have resolved since.
screen '2 firing (a)' top --at "$(at 90)"
for line in '[> ]!backup ' '[> ]!database ' '! firing for [0-9a-z ]*: [a-z-]*, [a-z0-9-]* first [.,0-9]* '; do
	grep -q "$line" "$work/screen" || fail "top --at lacks \"$line\": $(cat "$work/screen")"
done
expect 'alerts of that time' '["cores-lost firing","database-latency firing"]' \
	"$(ctl --json alerts --at "$(at 90)" | jq -c '[.alerts[] | "\(.rule) \(.state)"] | sort')"
screen 'worst value' alerts
grep -q 'fired .* for .*, worst value ' "$work/screen" || fail "alerts that have resolved: $(cat "$work/screen")"

# The same incident by keys alone, from the present: back in time, the list of alerts, and the explanation.
# found_by KEYS: the keys after the time is there
found_by() {
	local back=$(($(date +%s) - begin - 85)) keys=''
	while [ "$back" -ge 100 ]; do keys+='<' back=$((back - 100)); done
	while [ "$back" -ge 10 ]; do keys+=',' back=$((back - 10)); done
	"$TOOLS/draw_top" --size 200x60 --wait TREND --for 3000 --keys "$keys" --keys a --keys "$1" -- \
		"$PEBSCTL" --socket "$socket" top >"$work/screen" || fail 'no screen of top'
	for line in 'Rule: database-latency' 'State: firing since ' 'backup may disturb this cgroup: in the last '; do
		grep -q "$line" "$work/screen" || return 1
	done
}
# The alert of the database or that of the backup is the first one. A busy machine may be slower than the keys.
found=no
for keys in '\r' '\e[B\r' '\r' '\e[B\r'; do
	! found_by "$keys" || found=yes
	[ "$found" = no ] || break
done
expect "the alert of the past, found by keys: $(cat "$work/screen")" yes "$found"
