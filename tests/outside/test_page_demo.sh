#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo as somebody who opens the page finds it, in Chromium: the model plays its scenario with config/demo.conf, and
# one drag and two clicks lead from the timeline to the explanation of what slowed the database. The model's clock is
# the machine's, so this takes more than two minutes.
set -u
# shellcheck source=tests/e2e/daemon.sh
. tests/e2e/daemon.sh
# shellcheck source=tests/outside/browser.sh
. tests/outside/browser.sh
trap 'browser_end; end' EXIT
command -v chromium >/dev/null || skip 'needs chromium (Debian: chromium, fonts-dejavu-core)'
need jq curl

mkdir "$work/state"
STATE_DIRECTORY=$work/state start --origin model --config config/demo.conf
begin=$(date +%s)

# The alert fires and resolves while the backup runs. Neighbours need 24 bins of 5 s.
was_named() {
	ctl --json alerts | jq -ne 'input | any(.alerts[]; .rule == "database-latency" and .state == "resolved")' >/dev/null &&
		ctl --json neighbours database | jq -ne 'input | any(.neighbours[]; .named)' >/dev/null
}
sleep $((begin + 120 - $(date +%s)))
until_true 'the alert has resolved, and the backup is named' was_named
alert=$(ctl --json alerts | jq -c '[.alerts[] | select(.rule == "database-latency" and .fired)][0]')
[ "$alert" != null ] || fail 'no alert'

browser_start
screen 1400 900
ask Page.navigate "{\"url\":\"http://127.0.0.1:$port/\"}"
becomes 'a timeline with bands of alerts' true 'document.readyState === "complete" && Boolean(bodyOf("timeline")) &&
	document.querySelectorAll("#timeline .band").length >= 2 && document.querySelectorAll("#table tbody tr").length > 0'

# press SELECTOR [TEXT]: presses the mouse on the first element with this text
press() {
	local at type
	at=$(evaluate "(element => {
		element.scrollIntoView({block: 'center'});
		const box = element.getBoundingClientRect();
		return {x: box.left + Math.min(20, box.width / 2), y: box.top + box.height / 2};
	})([...document.querySelectorAll('$1')].find(e => e.textContent.includes('${2:-}')))")
	for type in mousePressed mouseReleased; do
		ask Input.dispatchMouseEvent "$(jq -c --arg type "$type" '. + {type: $type, button: "left", buttons: 1, clickCount: 1}' <<<"$at")"
	done
}

# The drag goes over the band of the database's alert, whose times the timeline shows.
read -r left right y < <(evaluate "(() => {
	scrollTo(0, 0);
	const box = document.getElementById('timeline').getBoundingClientRect(), x = xOf(viewOf(), box.width), alert = $alert;
	return [x(seconds(alert.fired) - 10) + box.left, x(seconds(alert.resolved)) + box.left, box.top + 60].join(' ');
})()" | tr -d '"')
for type in "mousePressed $left" "mouseMoved $right" "mouseReleased $right"; do
	ask Input.dispatchMouseEvent "{\"type\":\"${type% *}\",\"x\":${type#* },\"y\":$y,\"button\":\"left\",\"buttons\":1,\"clickCount\":1}"
done
becomes 'the table of the incident' true 'Boolean(bodyOf("range")) && state.since > 0 &&
	["database", "backup"].every(name => [...document.querySelectorAll("#table tbody tr")].some(tr =>
		tr.textContent.includes(name) && tr.querySelector(".mark")))'
expect 'the range has the alert' true "$(evaluate "(alert => state.since <= seconds(alert.fired) && state.until > seconds(alert.fired))($alert)")"

press '#table tbody a' database
becomes 'the database' true 'document.getElementById("one-head").textContent.includes("database") && Boolean(bodyOf("heat"))'
press '#alert-list .lane' database-latency
becomes 'the explanation' true '["database-latency", "p99", "resolved", "backup may disturb this cgroup: "].every(text =>
	document.getElementById("explanation").textContent.includes(text))'
expect 'violations of the policy' '[]' "$(evaluate violations)"
expect 'exceptions' '' "$(jq -c 'select(.method == "Runtime.exceptionThrown")' "$work/events")"
