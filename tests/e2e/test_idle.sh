#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# When nothing happens, pebsd must wake up only for its collections.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"

interval=1000000 # microseconds
printf '[sampling]\ninterval = %dms\n' "$((interval / 1000))" >"$work/pebsd.conf"
start --replay "$(recording)" --config "$work/pebsd.conf"
replayed

# Prints how often the threads of pebsd have waited and were woken.
wakeups() {
	awk '/^voluntary_ctxt_switches:/ { sum += $2 } END { print sum }' "/proc/$daemon/task/"*/status
}

# Work for earlier requests, and writes that wait for the disk, may go on for a while, and longer if others take
# the CPUs. So the measurement is repeated: a pebsd that wakes up for more than its collections does so each time.
for _ in 1 2 3 4 5; do
	before=$(wakeups)
	began=$(uptime_ms)
	sleep 5
	woken=$(($(wakeups) - before))
	most=$((($(uptime_ms) - began) * 1000 / interval + 2))
	echo "woken $woken times, at most $most are its collections'"
	[ "$woken" -lt 1 ] || [ "$woken" -gt "$most" ] || exit 0
done
[ "$woken" -ge 1 ] || fail 'there was no collection'
fail "woken $woken times, for at most $most collections"
