#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A CPU goes offline and comes back under load. pebsd must continue on the other CPU, and sample the returned CPU
# again without a restart. No delivered sample may be lost.
# long
# cpus: 2
# kernels: 6.1 7
# takes: 45 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

online=/sys/devices/system/cpu/cpu1/online

# shellcheck disable=SC2317 # called by the trap
end_hotplug() {
	echo 1 >"$online"
	end_lifetime
}
trap end_hotplug EXIT

# samples_cpus LIST: true if pebsd says that it samples exactly these CPUs.
samples_cpus() {
	[ "$(status | jq -r .events.loads.cpus)" = "$1" ]
}

play
settings '[sampling]' 'events = loads offcore' 'period = 499'
load pointer-chase chase.service -- --threads 2
load mix mix.service
start_pebsd
look
pid=${unit[MainPID]}
more 'on CPU 1' 1
for round in 1 2; do
	echo 0 >"$online"
	wait_until "round $round: CPU 0 alone is sampled" 60 samples_cpus 0
	echo 1 >"$online"
	wait_until "round $round: CPU 1 is sampled again" 60 samples_cpus 0-1
	more "round $round, on CPU 1" 1
done
# The CPU goes and comes back so fast that pebsd may not notice.
for round in 3 4 5; do
	echo 0 >"$online"
	echo 1 >"$online"
	more "round $round, on CPU 1" 1
done
exact 'over five times offline'
look
expect 'the process, and its restarts' "$pid/0" "${unit[MainPID]}/${unit[NRestarts]}"
expect_told 'CPUs that went online or offline'
# Off-core responses must also be counted on CPUs that came back.
jq -ne 'input | .offcore.refused == null and (.offcore.failed_readings // 0) == 0' "$work/status" >"$work/said" ||
	fail "off-core responses: $(jq .offcore "$work/status")"
scrape
[ "$(metric pebsd_offcore_reads_total | cut -d . -f 1)" -gt 100 ] || fail "off-core counters were read $(metric pebsd_offcore_reads_total) times"
figures "$(delivered_by 0) samples on CPU 0, $(delivered_by 1) on CPU 1;" \
	"$(jq .samples.lost.unexplained "$work/status") lost"
