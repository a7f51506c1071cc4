#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo: the model with config/demo.conf, as `make run` starts it. Its rules fire, and pebsctl explains an alert on
# cores-lost on one screen.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

start --origin model --config config/demo.conf
firing() {
	ctl --json alerts | jq -r '[.alerts[] | select(.state == "firing").rule] | unique | join(" ")'
}
for _ in $(seq 60); do
	[ "$(firing)" != 'cores-lost shared-lines' ] || break
	sleep 1
done
expect 'the rules that fire' 'cores-lost shared-lines' "$(firing)"

# screen VERB...: what a terminal of 80x24 shows
screen() {
	"$TOOLS/draw_top" --size 80x24 --wait "$1" --for 500 -- "$PEBSCTL" --socket "$socket" "${@:2}" >"$work/screen" ||
		fail "no screen of ${*:2}"
}
screen model:pointer-chase alerts
grep -q 'Alerts: [0-9]* firing' "$work/screen" || fail "the alerts do not fit on a screen: $(cat "$work/screen")"
screen 'By source' explain cores-lost model:locked-counters
for line in 'Rule: cores-lost' 'State: firing since 20' 'loses 0[.0-9]* of its [.0-9]* cores* to memory: at' \
	'memory costs at most that much' 'the rule fires when the lower bound is at least 0.75' 'pebsctl hot model' \
	'By source: .*L3 [1-9]' 'of its sampled loads'; do
	grep -q "$line" "$work/screen" || fail "the screen lacks \"$line\": $(cat "$work/screen")"
done
