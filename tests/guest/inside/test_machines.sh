#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd on machines of each generation: it samples those that have load latency, and accounts every sample; it refuses
# the others by name.
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

load pointer-chase chase.service -- --threads 2
load locked-counters locked.service
quiet

for cpu in nehalem sandybridge-ep haswell icelake sapphirerapids; do
	play cpu=$cpu paused=Y
	exits "pebsd --probe on $cpu" 0 pebsd --probe
	cat "$work/said"
	start_pebsd
	resume
	await_samples 1500
	settle
	agree "$cpu"
	kind=use split=0
	[ $cpu != sapphirerapids ] || kind=cache split=1
	grep -q "\"latency_kind\": *\"$kind\"" "$work/status" || fail "$cpu: the kind of latency is not $kind"
	[ "$(grep -c -m 1 '"instruction_latency"' "$work/top" || :)" = $split ] ||
		fail "$cpu: instruction latency is $([ $split = 1 ] || echo 'not ')to be there"
	unplay
done

play cpu=goldmont
exits 'pebsd --probe on goldmont' 3 pebsd --probe
cat "$work/said"
! systemctl start pebsd.service || fail 'pebsd starts on goldmont'
expect 'its exit status on goldmont' 3 "$(systemctl show --property=ExecMainStatus --value pebsd.service)"
systemctl reset-failed pebsd.service
