#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module that plays a CPU with PEBS does as the kernel's driver does: what it takes and refuses, which samples reach
# a BPF program and which the ring alone, who gets a counter, throttling, CPUs that go and come; and it leaves the kernel.
# long
# kernels: 6.1 7
# takes: 70 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

parameters=/sys/module/$module/parameters
books=/sys/kernel/debug/$module
device=/sys/bus/event_source/devices/cpu
# ADDR, WEIGHT, DATA_SRC
types=0xc008
loads=(--config 0x1cd --config1 30 --precise 2 --sample-type "$types")

load() {
	load_module cpu="$1" "${@:2}"
}

open_event() {
	"$here/open_event" "$@"
}

# refused WHAT ERROR OPTION...
refused() {
	local what=$1 error=$2
	shift 2
	expect "$what" "{\"error\":\"$error\"}" "$(open_event "$@")"
}

# total FIELD: of event 0x1cd, over the CPUs.
total() {
	jq -s "map(.events[\"0x1cd\"].$1 // 0) | add" "$books/totals"
}

# at_least WHAT LEAST FOUND
at_least() {
	[ "$3" -ge "$2" ] || fail "$1: expected at least $2, found $3"
}

load skylake
for file in format/ldlat:config1:0-15 events/mem-loads:event=0xcd,umask=0x1,ldlat=3 caps/pmu_name:skylake type:4; do
	expect "$file" "${file#*:}" "$(cat "$device/${file%%:*}")"
done
start_workload streaming streaming.service -p CPUAffinity=0

refused 'a threshold of 17 bits' EINVAL "${loads[@]}" --config1 0x10000
refused 'PEBS without sampling' EINVAL "${loads[@]}" --period 0
refused 'weight of both kinds' EINVAL "${loads[@]}" --sample-type 0x100c008
refused 'a CPU that is not there' EINVAL "${loads[@]}" --cpu 4096

# One record an interrupt with wakeup_events, many without: then all but the last go by the BPF programs.
echo 1 >"$books"/reset
open_event "${loads[@]}" --wakeup 1 --for 2 >"$work/single"
at_least 'samples of single records' 100 "$(total overflow)"
expect 'samples that went to the ring alone' 0 "$(total ring)"
expect 'samples in the ring' "$(total overflow)" "$(jq .ring "$work/single")"
echo 1 >"$books"/reset
open_event "${loads[@]}" --for 3 >"$work/large"
at_least 'samples that went to the ring alone' $((50 * $(total overflow))) "$(total ring)"
at_least 'samples that went to the ring alone' 100 "$(total ring)"
expect 'samples in the ring' $(($(total overflow) + $(total ring))) "$(jq .ring "$work/large")"
count=$(jq .count "$work/large")
at_least 'the count' $((10007 * $(jq .ring "$work/large"))) "$count"
at_least 'samples for the count' $((count / 10007 - 1)) "$(jq .ring "$work/large")"

# Stopped again and again: each whole period in the count is a sample, or one that a stop cut off. Over the greatest
# threshold there is no load, so that each is.
for threshold in 30 65535; do
	echo 1 >"$books"/reset
	open_event "${loads[@]}" --config1 $threshold --period 997 --wakeup 1 --stops 10 --for 3 >"$work/stopped"
	expect "whole periods in the count, over $threshold cycles" $(($(jq .count "$work/stopped") / 997)) \
		$(($(total overflow) + $(total cut)))
done
at_least 'samples that stops cut off' 5 "$(total cut)"

# In frequency mode the kernel steers the period; a callchain is the interrupted task's.
open_event "${loads[@]}" --freq 500 --for 3 >"$work/frequency"
at_least 'samples at 500 Hz' 200 "$(jq .ring "$work/frequency")"
echo 1 >"$books"/reset
open_event "${loads[@]}" --sample-type 0xc029 --for 2 >"$work/chains"
at_least 'samples with a callchain' 100 "$(jq .ring "$work/chains")"
# A callchain cannot wait in a buffer: each record is an interrupt of its own.
expect 'samples with a callchain that went to the ring alone' 0 "$(total ring)"

# Two thresholds have one register: flexible events take turns, a pinned one that comes second has an error.
open_event "${loads[@]}" --config1 60 --wakeup 1 --for 4 >"$work/other" &
open_event "${loads[@]}" --wakeup 1 --for 4 >"$work/one"
wait
for of in one other; do
	jq -e '.running < .enabled * 9 / 10 and .running > 0' "$work/$of" >"$work/said" || fail "turns of $of: $(cat "$work/$of")"
done
open_event "${loads[@]}" --config1 60 --wakeup 1 --pinned 1 --for 4 >"$work/holds" &
sleep 1
open_event "${loads[@]}" --wakeup 1 --pinned 1 --for 1 >"$work/error"
wait
expect 'a reading of a pinned event in error' null "$(jq .count "$work/error")"
at_least 'the samples of the one that holds the register' 10 "$(jq .ring "$work/holds")"

# Throttled: at most so many a tick.
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
echo 100 >/proc/sys/kernel/perf_event_max_sample_rate
echo 1 >"$books"/reset
echo 30000000 >"$parameters"/loads_per_second
open_event "${loads[@]}" --wakeup 1 --for 2 >"$work/throttled"
echo 10000000 >"$parameters"/loads_per_second
echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
at_least 'throttles' 1 "$(total throttles)"
at_least 'time throttled' 1000000 "$(total throttled_ns)"
at_least 'throttles in the ring' 1 "$(jq .throttles "$work/throttled")"

# Paused, nothing moves.
open_event "${loads[@]}" --wakeup 1 --for 8 >"$work/paused" &
sleep 1
echo Y >"$parameters"/paused
before=$(total overflow)
sleep 1
expect 'samples while paused' "$before" "$(total overflow)"
echo N >"$parameters"/paused
wait
at_least 'samples after the pause' $((before + 10)) "$(total overflow)"

# A CPU that goes takes its events along, and can be sampled again.
open_event "${loads[@]}" --cpu 1 --wakeup 1 --for 3 >/dev/null &
sleep 1
echo 0 >/sys/devices/system/cpu/cpu1/online
sleep 0.5
echo 1 >/sys/devices/system/cpu/cpu1/online
wait
echo 1 >"$books"/reset
start_workload mix mix.service -p CPUAffinity=1
open_event "${loads[@]}" --cpu 1 --wakeup 1 --for 2 >/dev/null
at_least 'samples of the CPU that came back' 50 "$(total overflow)"
systemctl stop mix.service
unload_module
[ ! -e $device ] || fail 'the PMU stays after rmmod'

load sapphirerapids
refused 'load latency without its auxiliary' ENODATA "${loads[@]}" --wakeup 1
refused 'load latency with precise distribution' EINVAL "${loads[@]}" --precise 3 --leader 0x8203
open_event "${loads[@]}" --wakeup 1 --leader 0x8203 --for 2 >"$work/led"
at_least 'samples beside the auxiliary' 100 "$(jq .ring "$work/led")"
unload_module

# Both on counter 3.
load ivybridge
systemctl stop streaming.service
start_workload false-sharing sharing.service -p CPUAffinity=0
open_event --config 0x2cd --precise 2 --sample-type "$types" --wakeup 1 --for 4 >"$work/stores" &
open_event "${loads[@]}" --wakeup 1 --for 4 >"$work/one"
wait
for of in one stores; do
	jq -e '.running < .enabled * 9 / 10 and .ring > 0' "$work/$of" >"$work/said" ||
		fail "turns of $of on counter 3: $(cat "$work/$of")"
done
unload_module

for machine in nehalem:0x100b haswell:0x1cd icelake:0x1cd; do
	event=${machine#*:} machine=${machine%:*}
	load "$machine"
	open_event "${loads[@]}" --config "$event" --wakeup 1 >"$work/any"
	at_least "samples of $machine" 50 "$(jq .ring "$work/any")"
	unload_module
done
exits 'a machine that the model does not have' 1 insmod "$here/$module.ko" cpu=none
