#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reloads that follow one another faster than the interval do not keep pebsd from collecting.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl

# When the last collection was made.
taken() {
	ctl --json status | jq -r .taken
}

# storm NAME COMMAND...: the command each fifth of a second for three intervals, during which collections go on.
storm() {
	local name=$1 before
	shift
	before=$(taken)
	for _ in $(seq 15); do
		"$@" >/dev/null 2>&1 || :
		sleep 0.2
	done
	[ "$(taken)" != "$before" ] || fail "no collection during $name"
}

printf '[sampling]\norigin = model\ninterval = 1s\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf"
storm reloads ctl reload
storm 'signals to reload' kill -HUP "$daemon"
expect 'healthz' 200 "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/healthz")"
