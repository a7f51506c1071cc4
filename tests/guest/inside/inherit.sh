# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # of lifetime.sh: drop_in, openings, unit
# For tests of events and counters that continue in the next process, after lib.sh, books.sh and lifetime.sh. The books
# cover the whole time.

# The number of times that a process ends in the same way: few, because a start takes many seconds in a guest.
# shellcheck disable=SC2034 # the tests'
times=3

# start_under_load: starts pebsd under load, without systemd's limit on restarts, and notes the present counters.
start_under_load() {
	play
	mkdir -p "${drop_in%/*}"
	printf '%s\n' '[Unit]' 'StartLimitIntervalSec=0' '[Service]' 'RestartSec=100ms' 'WatchdogSec=6' >"$drop_in"
	load pointer-chase chase.service
	load mix mix.service
	start_pebsd
	figures 'it runs'
	more 'at first'
	exact 'at first'
	scrape
	first=$(counters) known=$(metric pebsd_samples_seen_total)
	known=${known%.*}
	first_delivered=$(delivered_by)
	figures 'it agrees'
	resume
}

# counters: prints the numbers of samples seen and lost, from the last scrape.
counters() {
	local seen lost
	seen=$(metric pebsd_samples_seen_total) lost=$(metric pebsd_samples_lost_total unexplained)
	echo "${seen%.*} ${lost%.*}"
}

# remember: notes the process that will end.
remember() {
	look
	pid=${unit[MainPID]}
}

# returned WHY: waits until another process answers. The samples seen must never decrease. `longest` has the longest
# time without an answer, in ms.
longest=0
returned() {
	local now
	wait_until "pebsd is there again after $1" 60 is_another
	[ "$(absence)" -le "$longest" ] || longest=$(absence)
	more "after $1"
	scrape
	now=$(metric pebsd_samples_seen_total)
	now=${now%.*}
	[ "$now" -ge "$known" ] || fail "$1: pebsd_samples_seen_total fell from $known to $now"
	known=$now
	figures "$1: nobody answered for $(absence) ms"
}

# report_inherited TEXT: after exact(), expects that the counters rose by the number of delivered samples.
report_inherited() {
	local delivered seen_first lost_first seen lost
	scrape
	read -r seen_first lost_first <<<"$first"
	read -r seen lost < <(counters)
	delivered=$(($(delivered_by) - first_delivered))
	expect 'what was delivered since, and what the counters rose by' "$delivered" $((seen + lost - seen_first - lost_first))
	figures "$1: of $delivered samples delivered $((seen - seen_first)) are in the counters, $((lost - lost_first)) are reported as" \
		"lost; nobody answered for $longest ms at most"
}
