#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemd must restart a pebsd that dies or no longer answers its watchdog. Here the next process takes nothing
# over (test_inherit_kill.sh tests one that does), and its counters must be exact from its start on. The PMU's books
# show how many samples the previous process lost.
# long
# kernels: 6.12
# takes: 74 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

play
# The installed unit restarts pebsd in the same cases, but after a longer time.
adapt_unit RestartSec=100ms WatchdogSec=6
load pointer-chase chase.service
load mix mix.service
start_pebsd

# dies WHY SIGNAL: sends the signal and waits until pebsd is back.
dies() {
	local restarts read_last all
	look
	restarts=${unit[NRestarts]} pid=${unit[MainPID]}
	more "before its end: $1"
	read_last=$(counted)
	kill "-$2" "$pid"
	wait_until 'pebsd is there again' 60 is_another
	expect 'how the one before ended, and restarts that systemd counts' "$1/$((restarts + 1))" \
		"$(<"$openings/result")/${unit[NRestarts]}"
	all=$(delivered_before)
	[ "$all" -ge "$read_last" ] || fail "$read_last samples were read, and $all delivered"
	figures "$1: $(readiness) ms from its start to READY, not sampled for $(absence) ms;" \
		"of $all samples $((all - read_last)) came after the last reading and died with it"
	more "after its return: $1"
	exact "after its return: $1"
	resume
}

dies signal KILL
dies watchdog STOP
# A process that answers is left alone.
look
pid=${unit[MainPID]}/${unit[NRestarts]}
sleep 8
look
expect 'the process after more than a watchdog interval, and the restarts' "$pid" "${unit[MainPID]}/${unit[NRestarts]}"
expect_told 'Watchdog timeout'
