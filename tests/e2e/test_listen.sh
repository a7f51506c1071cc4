#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If other machines are served, the log must have one warning, and if only this machine is served, none. A request
# for another host name must be refused.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need curl
warning='to every client that can reach it: names of cgroups and their latencies'

answer() {
	fetch "$work/body" --write-out '%{http_code}' --header "Host: $1" "http://127.0.0.1:$port/metrics"
}

stop() {
	kill -TERM "$daemon"
	wait "$daemon" || fail "exit code $?"
	daemon=''
}

start --origin model
expect 'its own address' 200 "$(answer 127.0.0.1)"
expect 'another name' 421 "$(answer evil.example)"
stop
expect 'warnings on loopback' 0 "$(grep -c "$warning" "$work/log" || :)"

everywhere=$(free_port)
start --origin model --listen "0.0.0.0:$everywhere"
port=$everywhere
expect 'its own address' 200 "$(answer 127.0.0.1)"
expect 'another name' 421 "$(answer evil.example)"
ctl reload >"$work/said" || fail 'no reload'
stop
expect 'warnings for other machines' 1 "$(grep -c "$warning" "$work/log" || :)"
