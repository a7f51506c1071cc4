#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# When nothing happens, pebsd wakes up for its collections only.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"

interval=1000000 # microseconds
printf '[sampling]\ninterval = %dms\n' "$((interval / 1000))" >"$work/pebsd.conf"
start --replay "$(recording)" --config "$work/pebsd.conf"
replayed

# Prints how often a thread of pebsd waited and was woken.
wakeups() {
	awk '/^voluntary_ctxt_switches:/ { sum += $2 } END { print sum }' "/proc/$daemon/task/"*/status
}

now() {
	echo "${EPOCHREALTIME/[.,]/}"
}

# Work that earlier requests started may end first. After that, a slow machine can only lower the number.
sleep 2
before=$(wakeups)
began=$(now)
sleep 5
woken=$(($(wakeups) - before))
most=$((($(now) - began) / interval + 2))
echo "woken $woken times, at most $most are its collections'"
[ "$woken" -ge 1 ] || fail 'there was no collection'
[ "$woken" -le "$most" ] || fail "woken $woken times, for at most $most collections"
