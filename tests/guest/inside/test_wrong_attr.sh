#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Without wakeup_events the kernel collects records in a buffer, and only one sample of each buffer reaches pebsd.
# The comparison that the other tests make must then fail, with at most one of 50 delivered samples seen, and pebsd
# itself must report the loss. With the attributes that pebsd requests, no sample may be lost that way.
# kernels: 6.12
# time limit: 400 s
# takes: 62 s
# long
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# The drop-in for the service that opens the events here.
drop_in=/run/systemd/system/pebsd-opener.service.d/wrong_attr.conf

# shellcheck disable=SC2317 # called by the trap
set_right() {
	leave
	rm -f "$drop_in"
	systemctl daemon-reload
}
trap set_right EXIT

# shellcheck disable=SC2317 # called by wait_until
has_seen() {
	[ "$(pebsctl --json status | jq .samples.seen)" -gt 0 ]
}

# The buffer must fill between two context switches, which empty it.
play_paused
pmu window 1
rest=''
settings '[sampling]' 'period = 101'
load pointer-chase chase.service -- --threads 2
mkdir -p "${drop_in%/*}"
printf '[Service]\nEnvironment=LD_PRELOAD=%s\n' "$here/no_wakeup.so" >"$drop_in"
systemctl daemon-reload
systemctl stop pebsd-opener.service
start_pebsd
resume
wait_until 'a buffer that fills' 100 has_seen
settle
compare
measured 'without wakeup_events'
delivered=$(figure delivered) seen=$(figure seen) lost=$(figure lost)
differences | grep -q '^loads, seen:' || fail "the comparison does not fail: $(differences)"
differences | grep -q '^loads, /system.slice/chase.service: [0-9]* samples of' ||
	fail "no cgroup is short: $(differences)"
[ "$seen" -gt 0 ] || fail 'no buffer ever filled'
[ $((seen * 50)) -le "$delivered" ] || fail "$seen of $delivered samples reached pebsd: no batches"
# pebsd knows samples that are still in a buffer only from the event's count.
[ "$lost" -ge $((delivered - seen - 2)) ] || fail "pebsd reports $lost lost of $((delivered - seen))"

# Sampling works with pebsd's own attributes.
stop_pebsd
pmu usual
rm "$drop_in"
systemctl daemon-reload
systemctl stop pebsd-opener.service
play_paused
start_pebsd
resume
await_samples 2000
settle
agree 'with wakeup_events'
