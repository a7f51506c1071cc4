#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# AMD's instruction based sampling, on Zen 3 and Zen 5 as this kernel's driver has them.
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
