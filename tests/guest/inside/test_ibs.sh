#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# AMD's instruction based sampling under the kernel's own driver. Loads must be seen, other operations must be filtered,
# and each sample of the unit must be one or the other. Also tests stores instead of loads, and a latency threshold if
# the driver and the unit have one. (test_machine.sh also compares each value on these machines.)
# long
# cpus: 2
# kernels: 7 6.1
# machines: zen5 zen3
# machines for 6.1: zen3
# machines for 7: zen5
# init: small
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

ibs=/sys/bus/event_source/devices/ibs_op

# in_top FILTER: prints a value of the last comparison's loads
in_top() {
	jq ".total.events.loads | $1" "$work/top"
}

# sample EVENT SAMPLES SETTING...: samples the three workloads and compares with the books.
sample() {
	local more=$2
	play_paused
	settings '[sampling]' "events = $1" 'period = 20011' 'budget = off' "${@:3}"
	start_pebsd
	resume
	await_samples "$more"
	settle
	agree "$emulated: $1 ${*:3}"
}

[ ! -e /sys/bus/event_source/devices/cpu/events/mem-loads ] || fail 'a PMU cpu of AMD has mem-loads'
settings '[sampling]' 'period = 20011'
exits "pebsd --probe on $emulated" 0 pebsd --probe
grep -q 'ibs_op' "$work/said" || fail "the probe of $emulated does not name ibs_op"
pebsd --probe --json >"$work/probe"
expect "what is opened on $emulated" '["ibs_op","loads","0x80000","0x0"]' \
	"$(jq --compact-output '.events[] | select(.asked != false) | [.pmu, .role, .config, .config1]' "$work/probe")"

load pointer-chase chase -- --threads 2
load false-sharing sharing
load locked-counters locked
quiet
sampled=('loads ibs_op 0x2 0x1 0x4')
sample loads 1500 '[export]' 'detail-metrics = yes'
[ "$(figure filtered)" -gt "$(figure seen)" ] || fail 'no more than loads are sampled'
expect 'the kind of latency' dc_miss "$(jq -r .events.loads.latency_kind "$work/status")"
# A load that hit L1 has no latency and must not count for a mean.
expect 'the latency of L1 hits' 0 "$(in_top '.sources.l1.latency_sum // 0')"
expect 'the mean' true \
	"$(in_top '(.latency.sum / (.samples - .sources.l1.samples) - .latency.mean) | fabs < 0.1')"
[ "$(in_top .sources.l1.samples)" -gt 20 ] || fail 'no L1 hits'
scrape
while IFS=$'\t' read -r what name label value; do
	[ "$what" != metric ] || expect "$name $label" "$value.000000" "$(metric "$name" "$label")"
done <"$work/compared"
expect pebsd_samples_filtered_total "$(figure filtered).000000" "$(metric pebsd_samples_filtered_total)"

# Stores instead of loads: without latency.
sampled=('stores ibs_op 0x4 0x1 0x2')
sample stores 1000
expect 'a latency of stores' null "$(jq '.total.events.stores.latency' "$work/top")"

# If the driver and the unit have a threshold, pebsd must use the unit's next step above the configured value.
sampled=('loads ibs_op 0x2 0x1 0x4')
settings '[sampling]' 'ldlat = 200'
exits 'pebsd --probe with ldlat' 0 pebsd --probe
if [ -e $ibs/format/ldlat ]; then
	sample loads 100 'ldlat = 200'
	expect 'the threshold' 256 "$(jq .events.loads.ldlat "$work/status")"
	expect 'samples below it' 0 "$(in_top '[.sources | .l1, .l2 | select(.) | .samples] | add // 0')"
	expect 'the quantile of the least, above 256' true "$(in_top '.latency.p50.low > 256')"
else
	grep -q 'ldlat = 200 is not applied' "$work/said" || fail 'nothing tells that ldlat is not applied'
fi
settings '[sampling]' 'period = 99'
exits 'a period of 99' 2 pebsd --check-config
