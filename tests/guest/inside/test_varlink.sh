#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemd's own Varlink client must accept the control socket.
# kernels: 7
# takes: 8 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
command -v varlinkctl >/dev/null || skip 'needs varlinkctl, which comes with systemd 257'
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

socket=/run/pebsd/control.sock
play
start_pebsd
exits 'varlinkctl info' 0 varlinkctl info "$socket"
[[ $(<"$work/said") == *io.pebsd* ]] || fail "varlinkctl info: $(<"$work/said")"
exits 'varlinkctl list-interfaces' 0 varlinkctl list-interfaces "$socket"
expect 'its interfaces' 'io.pebsd org.varlink.service' "$(sort "$work/said" | tr '\n' ' ' | sed 's/ $//')"
# varlinkctl prints the interface only after it has parsed it.
exits 'varlinkctl introspect' 0 varlinkctl introspect "$socket" io.pebsd
[[ $(<"$work/said") == *'method GetStatus'* ]] || fail "varlinkctl introspect: $(<"$work/said")"
exits 'varlinkctl call' 0 varlinkctl --json=short call "$socket" io.pebsd.GetStatus '{}'
expect 'origin by varlinkctl' perf "$(jq -r '.. | .origin? // empty' "$work/said" | head -n 1)"
exits 'a method that is not there' 1 varlinkctl call "$socket" io.pebsd.Nothing '{}'
[[ $(<"$work/said") == *MethodNotFound* ]] || fail "a method that is not there: $(<"$work/said")"
varlinkctl --more --json=short call "$socket" io.pebsd.Watch '{}' >"$work/watched" 2>&1 &
watcher=$!
tells_of_a_birth() {
	kill -0 $watcher || fail "varlinkctl call --more ended: $(<"$work/watched")"
	systemd-run --quiet --wait --collect --unit=watched.service true
	grep -q watched.service "$work/watched"
}
wait_until 'Watch tells of a birth' 60 tells_of_a_birth
kill $watcher
wait $watcher || :
