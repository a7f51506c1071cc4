#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# At 1 kHz, at 5 kHz and as fast as the guest can go, on each CPU, every sample is accounted.
# kernels: 6.12
# takes: 50 s
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

PERIOD=10007

# No throttling: this is not its test.
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
play paused=Y
settings '[sampling]' "period = $PERIOD"
load pointer-chase chase.service -- --threads 2
load mix mix.service
start_pebsd

# at WHAT LOADS_PER_SECOND SAMPLES
at() {
	local since before rate
	echo "$2" >"$parameters/loads_per_second"
	resume
	since=$(date +%s%N) before=$(delivered)
	await_samples "$3"
	rate=$((($(delivered) - before) * 1000000000 / ($(date +%s%N) - since)))
	settle
	agree "$1: $rate a second"
	expect 'throttlings' 0 "$(sum_of throttles)"
}

at '1 kHz on two CPUs' $((PERIOD * 1000)) 4000
# One emulator thread plays both CPUs: to reach that much, one has to be idle. And from a sample to the end of its
# interrupt no loads are counted.
systemctl stop mix.service chase.service
load pointer-chase chase1.service --property=CPUAffinity=0
at '5 kHz' $((PERIOD * 7000)) 10000
at 'as fast as it goes' 1000000000 10000
