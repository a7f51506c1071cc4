#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In a virtual machine whose PMU has neither PEBS nor IBS, a unit that is to sample loads must fail once, say why, and
# not be restarted repeatedly. With the drop-in for a mixed fleet it must be skipped instead. By default the unit starts
# there, samples what only counts, and says what it does not know.
# kernels: 6.12 7
# machines: skylake-server-vm generic-vm zen3-vm
# short machines: skylake-server-vm
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

# refused CODE REASON: a start must fail. A second's wait shows that there is no restart, which would be due at
# once.
refused() {
	exits 'systemctl start' 1 systemctl start pebsd.service
	sleep 1
	look
	expect 'the unit' "failed/exit-code/$1/0" \
		"${unit[ActiveState]}/${unit[Result]}/${unit[ExecMainStatus]}/${unit[NRestarts]}"
	expect_told "$2"
	systemctl reset-failed pebsd.service
}

adapt_unit RestartSec=10ms
exits 'pebsd --probe' 3 pebsd --probe
why=$(pebsd --probe --json | jq -r 'first(.refused[] | select(.pmu == "cpu" and .role == "loads")).reason')
[[ $why == *virtual* ]] || fail "pebsd --probe: $(<"$work/said")"
refused 3 "cannot sample memory loads here: cpu: $why. Run pebsd --probe"
[[ ${unit[StatusText]} == *"$why"* ]] || fail "the unit's status: ${unit[StatusText]}"

# With the drop-in for a mixed fleet, in which some machines cannot sample.
grep -q '^ExecCondition=' /usr/share/doc/pebsd/mixed-fleet.conf
{
	cat "$drop_in"
	cat /usr/share/doc/pebsd/mixed-fleet.conf
} >"$work/both"
cp "$work/both" "$drop_in"
exits 'systemctl start on a mixed fleet' 0 systemctl start pebsd.service
look
expect 'the unit on a mixed fleet' inactive "${unit[ActiveState]}"
expect_told "Skipped due to 'exec-condition'"

# The default configuration needs no loads.
adapt_unit RestartSec=10ms
default_events
exits 'pebsd --probe by default' 0 pebsd --probe
exits 'systemctl start by default' 0 systemctl start pebsd.service
look
expect 'the unit by default' active "${unit[ActiveState]}"
expect_told 'this machine cannot sample loads, so pebsd knows neither latencies nor data sources here'
pebsctl --json status >"$work/status"
jq -ne 'input | (.events | has("cycles") and has("instructions") and (has("loads") | not)) and
	([.notes[] | select(contains("cannot sample loads"))] | length == 1)' "$work/status" >/dev/null ||
	fail "what is sampled by default: $(<"$work/status")"
exits 'systemctl stop' 0 systemctl stop pebsd.service
configure_loads

# A mistake in the configuration, which is found before the machine is checked.
adapt_unit RestartSec=10ms
settings '[sampling]' 'ldlat = many'
exits 'pebsd --check-config' 2 pebsd --check-config
where=/etc/pebsd/pebsd.conf.d/guest.conf:2
[[ $(<"$work/said") == *"$where: ldlat = many: "* ]] || fail "pebsd --check-config: $(<"$work/said")"
refused 2 "$where: ldlat = many: "
