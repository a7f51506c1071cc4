#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The data of the page over HTTP on the model: timelines, ranges and alerts of the past, explanations, and refusals.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl

mkdir "$work/state"
export STATE_DIRECTORY=$work/state

# configure KEEP [LINE]: writes a configuration whose rule fires on the model's false sharing.
configure() {
	cat >"$work/pebsd.conf" <<-C
		[sampling]
		origin = model
		interval = 250ms
		[model]
		workloads = streaming false-sharing
		[history]
		keep = $1
		[cgroups]
		exclude = model:streaming
		[rule shared-lines]
		cgroup = model:*
		metric = share:hitm
		above = 50%
		window = 5s
		for = 1s
	C
}

# ask PATH: the body goes to $work/body. Prints the status.
ask() {
	curl -s -o "$work/body" -w '%{http_code}' "http://127.0.0.1:$port$1"
}

# answers PATH FILTER: expects 200 and a JSON body for which the filter is true.
answers() {
	expect "status of $1" 200 "$(ask "$1")"
	jq -ne "input | $2" "$work/body" >/dev/null || fail "$1: $2 does not hold for $(head -c 2000 "$work/body")"
}

# refuses STATUS PATH TEXT: expects that status and a text that is not JSON.
refuses() {
	expect "status of $2" "$1" "$(ask "$2")"
	grep -qF -- "$3" "$work/body" || fail "$2: expected '$3', got $(head -c 500 "$work/body")"
	! jq -ne 'input' "$work/body" >/dev/null 2>&1 || fail "$2: the refusal is JSON"
}

fires() {
	ctl --json alerts | jq -ne 'input | [.alerts[] | select(.state == "firing")] | length > 0' >/dev/null
}

stop() {
	kill "$daemon"
	wait "$daemon" || fail 'pebsd did not end well'
	daemon=''
}

# ---- with a history ----

configure yes
since=$(date +%s)
start --config "$work/pebsd.conf"
refuses 404 "/range.json?since=$since" 'Nothing is stored'
until_true 'the alert fires' fires
until_true 'three panes are stored' panes_stored 3
sharing=cgroup=model:false-sharing

answers "/timeline.json?since=$since&bins=360" \
	'.origin == "model" and (.bins | length >= 3) and (.cgroup | not) and all(.bins[]; .events.loads.samples > 0 and .events.loads.sources.l1.samples > 0)'
answers "/timeline.json?since=$since&bins=2&$sharing&histograms=1" \
	'.cgroup == "model:false-sharing" and .name == "false-sharing" and (.bins | length <= 2) and all(.bins[]; .events.loads.histogram | length > 0)'
iso=$(date -ud "@$since" +%Y-%m-%dT%H:%M:%SZ)
answers "/timeline.json?since=${iso//:/%3A}&bins=1" '.bins | length == 1'
answers "/range.json?since=$since" \
	'[.cgroups[].cgroup] == ["model:false-sharing"] and (.gaps | type == "array") and (.cgroups[0].events.loads.trend | type == "object" or type == "array") and (.cgroups[0].id | not)'
answers "/alerts.json?since=$since" \
	'[.alerts[] | "\(.rule) \(.cgroup) \(.state) \(.above)"] == ["shared-lines model:false-sharing firing 0.5"] and .alerts[0].value > 0.5'
answers /alerts.json '.alerts[0] | .state == "firing" and .value > 0.5 and .above == 0.5'
answers "/explain.json?rule=shared-lines&$sharing" \
	'.rule.rule == "shared-lines" and (.judged[0].sentences | length > 0) and (.rule | has("action") or has("cgroup") | not)'

fired=$(ctl --json alerts | jq -r '[.alerts[] | select(.state == "firing")][0].fired')
answers "/explain.json?rule=shared-lines&$sharing&since=$since&until=$fired" \
	'(.rule | not) and .judged[0].state == "firing" and (.judged[0].sentences | length > 0) and (.judged[0] | has("alert") | not)'
answers "/explain.json?rule=none&$sharing&since=$since" '.judged == []'
refuses 400 "/explain.json?rule=shared-lines&$sharing&until=$fired" 'expected the parameter since'

# Nobody learns of a cgroup that /metrics does not name.
refuses 404 "/timeline.json?since=$since&cgroup=model:streaming" 'in [cgroups] leave it out'
refuses 404 "/timeline.json?since=$since&cgroup=/none" 'in [cgroups] leave it out'
refuses 404 '/explain.json?rule=shared-lines&cgroup=model:streaming' 'No such alert'
answers '/top.json?match=streaming' '.cgroups == [] and .unlisted == 0'
answers "/range.json?since=$since&match=streaming" '.cgroups == [] and .unlisted == 0'

# A search also finds cgroups without a series.
answers '/top.json?match=SHAR' '[.cgroups[].cgroup] == ["model:false-sharing"] and (.cgroups[0].events.loads.histogram | length > 0)'
answers "/range.json?since=$since&match=Shar" '[.cgroups[].cgroup] == ["model:false-sharing"]'
answers '/top.json?match=s*g' '.cgroups == []'
refuses 400 '/top.json?match=' 'match: expected a text of 1 to 255 bytes'
refuses 400 '/top.json?match=a&window=5' 'only the parameters match'
refuses 404 '/explain.json?rule=none&cgroup=model:false-sharing' 'No such alert'

refuses 400 /timeline.json 'expected the parameter since'
refuses 400 "/timeline.json?since=$since&bins=361" 'bins: expected a whole number from 1 to 360'
refuses 400 "/timeline.json?since=$since&bins=1&bins=2" 'each once'
refuses 400 "/range.json?since=$since&x=1" 'only the parameters since, until and match'
refuses 400 '/range.json?since=yesterday' 'since: expected a time'
refuses 400 '/range.json?since=5&until=5' 'earlier'
refuses 400 "/alerts.json?since=$since&cgroup=/a" 'only the parameters'
refuses 400 "/timeline.json?since=$since&cgroup=/a%00b" 'only the parameters'
refuses 404 '/range.json?since=5&until=50' 'The history reaches from'
refuses 404 "/zoom.json?$sharing" 'This cgroup has no finished zoom'
expect 'HEAD' 405 "$(curl -s -I -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/range.json?since=$since")"
expect 'another Host' 421 "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil' "http://127.0.0.1:$port/range.json?since=$since")"

# A zoom of the model is for everybody: the two threads write to different offsets of one line.
answers "/zoom.json?$sharing&seconds=2" \
	'.cgroup == "model:false-sharing" and .samples > 100 and .flame.samples > 100 and (.flame.children | length > 0) and ([.flame | .. | .name? // empty] | length > 3) and ([.lines[0].accesses[].cpu] | unique | length >= 2) and ([.lines[0].accesses[].offset] | unique | length >= 2) and .lines[0].false_sharing and (.lines[0].line | startswith("0x"))'
answers "/zoom.json?$sharing" '.samples > 100 and ([.. | objects | select(has("sources"))] | length <= 2000) and ([.flame | recurse(.children[]?) | .latency == ([.source_latencies[]] | add // 0)] | all)'
refuses 400 "/zoom.json?$sharing&seconds=301" 'seconds: expected a whole number from 1 to 300'
refuses 404 "/zoom.json?cgroup=/none&seconds=1" ''

# Too many at a time: each has a result, and afterwards all is well.
for i in $(seq 60); do
	curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$port/range.json?since=$((since - i))" >"$work/status.$i" &
	clients[i]=$!
done
wait "${clients[@]}"
sort "$work"/status.* | uniq -c >"$work/statuses"
grep -q ' 200$' "$work/statuses" || fail "nobody was answered: $(cat "$work/statuses")"
grep -q ' 503$' "$work/statuses" || fail "nobody was refused: $(cat "$work/statuses")"
! grep -vq ' \(200\|503\)$' "$work/statuses" || fail "other results: $(cat "$work/statuses")"
ctl --json top --at "$(date -ud "@$((since + 15))" +%Y-%m-%dT%H:%M:%SZ)" >/dev/null || fail 'the control socket got no answer of the history'
# The number of requests in a short time is limited.
is_answered() {
	[ "$(ask "/range.json?since=$since")" = 200 ]
}
until_true 'requests are answered again' is_answered
answers "/range.json?since=$since" '.cgroups | length == 1'
stop

# What a search finds beyond `top` has a timeline, too.
configure yes
printf '[export]\ntop = 1\n' >>"$work/pebsd.conf"
sed -i 's/streaming false-sharing/streaming false-sharing pointer-chase/' "$work/pebsd.conf"
since=$(date +%s)
start --config "$work/pebsd.conf"
until_true 'three panes are stored' panes_stored 3
answers "/range.json?since=$since" '(.cgroups | length) == 1 and .unlisted == 1'
for name in false-sharing pointer-chase; do
	answers "/range.json?since=$since&match=$name" "[.cgroups[].name] == [\"$name\"]"
	answers "/timeline.json?since=$since&cgroup=model:$name&histograms=1" ".name == \"$name\" and all(.bins[] | select(.covered_s > 1); .events.loads.samples > 0)"
done
refuses 404 "/timeline.json?since=$since&cgroup=model:streaming" 'in [cgroups] leave it out'
stop

# ---- without ----

configure no
start --config "$work/pebsd.conf"
for page in timeline range alerts; do
	refuses 404 "/$page.json?since=$since" 'No history is stored: keep = no in [history]'
done
grep -qF 'keep = yes' "$work/body" || fail "the refusal does not say what to do: $(cat "$work/body")"
answers /top.json '.cgroups | length >= 0'
stop

# A replay never has a history, so the page does not advise to set a key.
configure yes
sed -i '/origin = model/d' "$work/pebsd.conf"
start --config "$work/pebsd.conf" --replay "$(recording)"
refuses 404 "/timeline.json?since=$since&bins=10" 'No history is stored: a replay has the times of its recording.'
! grep -qF 'keep = ' "$work/body" || fail "the refusal advises what does not help: $(cat "$work/body")"
