#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Requests that follow each other faster than the interval must not keep pebsd from collecting.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl

# Prints the time of the last collection.
taken() {
	ctl --json status | jq -r .taken
}

# storm NAME COMMAND...: runs the command five times per second for three intervals, and longer if others take the
# CPUs, until there was another collection. Fails if none comes.
storm() {
	local name=$1 before n
	shift
	before=$(taken)
	for n in $(seq 300); do
		"$@" >/dev/null 2>&1 || :
		sleep 0.2
		[ "$n" -lt 15 ] || [ "$(taken)" = "$before" ] || break
	done
	[ "$(taken)" != "$before" ] || fail "no collection during $name"
}

printf '[sampling]\norigin = model\ninterval = 1s\n[model]\nworkloads = all\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf"
storm reloads ctl reload
storm 'signals to reload' kill -HUP "$daemon"
# pause_resume: a pause that ends at once.
pause_resume() {
	ctl pause --for 1m
	ctl resume
}
storm 'pauses' pause_resume
storm 'requests for hot tables' ctl hot model:false-sharing
expect 'healthz' 200 "$(fetch "$work/body" --write-out '%{http_code}' "http://127.0.0.1:$port/healthz")"
