#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The disk has no space for the state of alerts. Alerts must fire and be logged nevertheless, the fault is logged
# once, and the state is complete again as soon as there is space.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"

# rules NAME...: writes rules that fire as soon as there are enough samples.
rules() {
	local name
	configure model < <(
		printf '[model]\nworkloads = pointer-chase\n'
		for name; do
			printf '[rule %s]\ncgroup = model:pointer*\nmetric = p99\nabove = 100\nwindow = 4s\nfor = 0\n' "$name"
			printf 'min-samples = 300\n'
		done
	)
}

firing() {
	for _ in $(seq 600); do
		! ctl --json alerts | jq -ne --arg rule "$1" 'input | [.alerts[] | select(.rule == $rule and .state == "firing")] | length > 0' \
			>/dev/null || return 0
		sleep 0.1
	done
	fail "$1 does not fire: $(ctl alerts)"
}

stored() {
	jq --raw-output '[.alerts[].rule] | unique | join(" ")' "$work/alerts/state.json"
}

mkdir -m 0700 "$work/alerts"
mount -t tmpfs -o size=64k,mode=0700 none "$work/alerts"
trap 'umount --lazy "$work/alerts" 2>/dev/null; end' EXIT
rules first
start --config "$work/pebsd.conf"
firing first
until_is 'stored' first stored
remember
! cat /dev/zero >"$work/alerts/filling" 2>/dev/null || fail 'there is room'

# The disk is full now. Alerts of other rules must fire nevertheless.
for others in 'first second' 'first third' 'first second third'; do
	# shellcheck disable=SC2086 # words
	rules $others
	ctl reload >/dev/null
	firing "${others##* }"
	named "$others" "${others##* } fires on model:pointer-chase" 3
done
named 'no room' 'cannot write the state of alerts.*free some space'
expect 'the state before' first "$(stored)"
# pebsd tries again from time to time, and removes the incomplete file.
files() {
	find "$work/alerts" -type f -printf '%f\n' | sort | paste -sd ' '
}
until_is 'files' 'filling state.json' files
still_samples 'without room'
given_back 'without room'
quiet 'without room' 12

rm "$work/alerts/filling"
rules second third fourth
ctl reload >/dev/null
firing fourth
named 'room again' 'the state of alerts is written to .* again'
all_stored() {
	stored | grep -q 'fourth.*second.*third'
}
until_true 'all are stored' all_stored

# There is no space at the start.
kill "$daemon"
wait "$daemon" || fail 'it does not end well'
daemon=''
! cat /dev/zero >"$work/alerts/filling" 2>/dev/null || fail 'there is room'
log_before=0
start --config "$work/pebsd.conf"
firing fourth
still_samples 'started without room'
named 'no room at the start' 'cannot write the state of alerts.*free some space'
known() {
	ctl --json alerts | jq -r '[.alerts[] | select(.state == "firing").rule] | sort | join(",")'
}
until_is 'what was known' fourth,second,third known
