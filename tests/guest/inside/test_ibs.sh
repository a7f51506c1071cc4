#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# AMD's instruction based sampling, on Zen 3 and Zen 5 as this kernel's driver has them.
# long
# kernels: 6.1 7
# takes: 60 s
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

devices=/sys/bus/event_source/devices
# ADDR, DATA_SRC, WEIGHT_STRUCT; operations are counted, not cycles
types=0x1008008
ops=0x80000

# From 6.15 on the driver has filters: ldlat, and swfilt for what is excluded.
IFS=.- read -r major minor _ <<<"$(uname -r)"
filters=$((major > 6 || (major == 6 && minor >= 15)))

open_op() {
	"$here/open_event" --type "$(cat $devices/ibs_op/type)" --config $ops --sample-type $types --period 10000 "$@"
}

# refused WHAT ERROR OPTION...
refused() {
	local what=$1 error=$2
	shift 2
	expect "$what" "{\"error\":\"$error\"}" "$(open_op "$@")"
}

# taken WHAT OPTION...
accepted() {
	local what=$1
	shift
	! open_op "$@" | grep error || fail "$what is refused"
}

at_least() {
	[ "$3" -ge "$2" ] || fail "$1: expected at least $2, found $3"
}

# files of ibs_op, by folder
files() {
	(cd $devices/ibs_op && find format caps -type f | sort | tr '\n' ' ')
}

# of_kind CODE: samples that went to perf core
of_kind() {
	jq -s "map(.events[\"$1\"].overflow // 0) | add" "$debug/totals"
}

load_module cpu=zen3
start_workload pointer-chase first.service -p CPUAffinity=0
expect 'files of Zen 3' "$([ $filters = 0 ] && echo 'format/cnt_ctl ' || echo 'format/cnt_ctl format/swfilt ')" "$(files)"
[ ! -e $devices/cpu/events/mem-loads ] || fail 'a PMU cpu of AMD has no mem-loads'
[ -e $devices/ibs_fetch/type ] || fail 'ibs_fetch is missing'
refused 'a guest excluded' EINVAL --exclude-guest 1
refused 'a kernel excluded' EINVAL --exclude-kernel 1
refused 'L3 misses alone, on Zen 3' EINVAL --config 0x90000
refused 'a maximum beside a period' EINVAL --config 0x80001
accepted 'a period that is no multiple of 16' --period 10007
# Count, ring buffer and books agree: a sample for each period, of operations of each kind.
echo 1 >"$debug/reset"
open_op --wakeup 1 --for 3 >"$work/op"
loads=$(of_kind 0x2) others=$(of_kind 0x1)
at_least 'loads of a pointer chase' 50 "$loads"
at_least 'other operations' "$loads" "$others"
expect 'samples in the ring' $((loads + others + $(of_kind 0x4))) "$(jq .ring "$work/op")"
expect 'periods of the count' "$(jq .ring "$work/op")" $(($(jq .count "$work/op") / 10000))
if [ $filters = 1 ]; then
	refused 'a period below the least' EINVAL --period 128
	accepted 'the least period' --period 144
	echo 1 >"$debug/reset"
	open_op --config2 1 --exclude-kernel 1 --for 1 >"$work/op"
	at_least 'samples without the kernel' 50 "$(jq .ring "$work/op")"
else
	accepted 'a period below 16' --period 7
fi
systemctl stop first.service
unload_module
[ ! -e $devices/ibs_op ] || fail 'ibs_op stays after rmmod'

load_module cpu=zen5
start_workload remote-numa second.service -p CPUAffinity=0
zen5='caps/zen4_ibs_extensions format/cnt_ctl format/l3missonly '
[ $filters = 0 ] || zen5='caps/ldlat caps/zen4_ibs_extensions format/cnt_ctl format/l3missonly format/ldlat format/swfilt '
expect 'files of Zen 5' "$zen5" "$(files)"
echo 1 >"$debug/reset"
open_op --config 0x90000 --wakeup 1 --for 2 >"$work/op"
at_least 'loads that missed L3' 20 "$(of_kind 0x2)"
expect 'operations that are no access, of L3 misses' 0 "$(of_kind 0x1)"
if [ $filters = 1 ]; then
	refused 'ldlat of 127' EINVAL --config1 127
	refused 'ldlat of 2049' EINVAL --config1 2049
	accepted 'ldlat of 2048' --config1 2048
	echo 1 >"$debug/reset"
	open_op --config1 640 --wakeup 1 --for 3 >"$work/op"
	at_least 'loads over 640 cycles' 10 "$(of_kind 0x2)"
	jq -e -s 'map(select(.event == "0x2")) | (map(.latency) | add) / (map(.samples) | add) > 640' "$debug/books" \
		>"$work/said" || fail "loads at or below 640 cycles: $(cat "$debug/books")"
	expect 'periods of the count' $(($(jq .ring "$work/op") + $(jq -s 'map(.ibs.discarded) | add' "$debug/totals"))) \
		$(($(jq .count "$work/op") / 10000))
else
	accepted 'ldlat, which this driver does not look at' --config1 200
fi
systemctl stop second.service
unload_module

# pebsd on both: loads are seen, everything else is filtered, and every sample of the unit is one or the other.
sampled=('loads ibs_op 0x2 0x1 0x4')

# in_top FILTER: a figure of the last comparison's loads
in_top() {
	jq ".total.events.loads | $1" "$work/top"
}

load pointer-chase chase.service -- --threads 2
load false-sharing sharing.service
load locked-counters locked.service
quiet
for cpu in zen3 zen5; do
	play cpu=$cpu paused=Y
	settings '[sampling]' 'period = 10000' '[export]' 'detail-metrics = yes'
	exits "pebsd --probe on $cpu" 0 pebsd --probe
	cat "$work/said"
	grep -q 'ibs_op' "$work/said" || fail "the probe of $cpu does not name ibs_op"
	pebsd --probe --json >"$work/probe"
	expect "what is opened on $cpu" '["ibs_op","loads","0x80000","0x0"]' \
		"$(jq --compact-output '.events[] | [.pmu, .role, .config, .config1]' "$work/probe")"
	start_pebsd
	resume
	await_samples 2000
	settle
	agree "$cpu"
	[ "$(figure filtered)" -gt "$(figure seen)" ] || fail "$cpu: no more than loads are sampled"
	expect "$cpu: the kind of latency" dc_miss "$(jq -r .events.loads.latency_kind "$work/status")"
	# A load that hit L1 has no latency, and does not count where a mean is made.
	expect "$cpu: the latency of L1 hits" 0 "$(in_top '.sources.l1.latency_sum // 0')"
	expect "$cpu: the mean" true \
		"$(in_top '(.latency.sum / (.samples - .sources.l1.samples) - .latency.mean) | fabs < 0.1')"
	[ "$(in_top .sources.l1.samples)" -gt 100 ] || fail "$cpu: no L1 hits"
	scrape
	while IFS=$'\t' read -r what name label value; do
		[ "$what" != metric ] || expect "$cpu: $name $label" "$value.000000" "$(metric "$name" "$label")"
	done <"$work/compared"
	expect "$cpu: pebsd_samples_filtered_total" "$(figure filtered).000000" "$(metric pebsd_samples_filtered_total)"
	unplay
done

# Stores in the place of loads: without latency.
play cpu=zen5 paused=Y
settings '[sampling]' 'events = stores' 'period = 10000'
sampled=('stores ibs_op 0x4 0x1 0x2')
start_pebsd
resume
await_samples 1000
settle
agree 'stores of zen5'
expect 'a latency of stores' null "$(jq '.total.events.stores.latency' "$work/top")"
unplay
sampled=('loads ibs_op 0x2 0x1 0x4')

# A threshold, where the driver has it: the unit's next step above it.
play cpu=zen5 paused=Y
settings '[sampling]' 'period = 10000' 'ldlat = 200'
exits 'pebsd --probe with ldlat' 0 pebsd --probe
cat "$work/said"
if [ $filters = 1 ]; then
	start_pebsd
	resume
	await_samples 150
	settle
	agree 'zen5 with ldlat = 200'
	expect 'the threshold' 256 "$(jq .events.loads.ldlat "$work/status")"
	expect 'samples below it' '0' "$(in_top '[.sources | .l1, .l2 | select(.) | .samples] | add // 0')"
	expect 'loads with a latency, and all' "$(in_top .samples)" "$(figure delivered)"
	expect 'the quantile of the least, above 256' true "$(in_top '.latency.p50.low > 256')"
else
	grep -q 'ldlat = 200 is not applied' "$work/said" || fail 'nothing tells that ldlat is not applied'
fi
unplay
settings '[sampling]' 'period = 99'
exits 'a period of 99' 2 pebsd --check-config
