#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every sample must be accounted at a low rate, at a high rate, and as fast as the guest can go.
# cpus: 2
# kernels: 6.12
# init: small
# takes: 50 s
# time limit: 400 s
# long
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# No throttling, which is tested elsewhere.
set_max_rate 1000000
play_paused
settings '[sampling]' 'period = 101'
load pointer-chase chase.service -- --threads 2
load mix mix.service
start_pebsd

# at WHAT WINDOWS INTERVAL SAMPLES: one slot in WINDOWS is a window, in which one load in INTERVAL is tagged.
at() {
	local since before rate
	pmu window "$2"
	pmu interval "$3"
	resume
	since=$(date +%s%N) before=$(delivered)
	await_samples "$4"
	rate=$((($(delivered) - before) * 1000000000 / ($(date +%s%N) - since)))
	settle
	agree "$1: $rate a second"
	expect 'throttlings' 0 "$(sum_of throttles)"
}

at 'few' 20 10 100
at 'many' 4 2 2000
at 'as fast as it goes' 1 1 5000
