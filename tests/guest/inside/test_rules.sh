#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each machine of the module opens what its kernel's driver opens there, and refuses the rest with the same error: loads,
# stores and instructions, on which CPUs, with which precision, period and group; and what it opened has samples.
# long
# kernels: 6.1
# takes: 35 s
# time limit: 500 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

debug=/sys/kernel/debug/$module
devices=/sys/bus/event_source/devices
# ADDR, WEIGHT_STRUCT, DATA_SRC
types=0x1008008

load_workload() {
	start_workload mix "mix$1.service" -p CPUAffinity="$1" -p CPUSchedulingPolicy=idle
}

# file PATH TEXT: below $devices; "-": there is none.
file() {
	local found=-
	[ ! -e "$devices/$1" ] || found=$(<"$devices/$1")
	expect "$machine: $1" "$2" "$found"
}

# opens PMU CPU RESULT OPTION...: RESULT is an error, or `runs`: with samples; `silent`: without.
opens() {
	local pmu=$1 cpu=$2 result=$3 said what
	shift 3
	what="$machine, $pmu on CPU $cpu, $*"
	said=$("$here/open_event" --type "$(<"$devices/$pmu/type")" --cpu "$cpu" --sample-type $types --wakeup 1 \
		--for 3 --enough 30 "$@")
	case $result in
	runs) [[ $said =~ \"ring\":[1-9][0-9] ]] || fail "$what: too few samples: $said" ;;
	silent) [[ $said == *'"ring":0,'* ]] || fail "$what: samples: $said" ;;
	*) expect "$what" "{\"error\":\"$result\"}" "$said" ;;
	esac
}

# delivered PMU CODE FIGURE...: what the samples of the last machine told: latency, instruction_latency, sources,
# locked; a figure with a dash before it was not.
delivered() {
	local pmu=$1 code=$2 figure said told
	shift 2
	said=$(grep "\"pmu\":\"$pmu\",\"event\":\"$code\"" "$debug/books" || :)
	[ -n "$said" ] || fail "$machine: the books have no event $code of $pmu"
	for figure; do
		told=yes
		[[ $said =~ \"${figure#-}\":([1-9]|\{\") ]] || told=no
		[ $told = "$([ "${figure:0:1}" = - ] && echo no || echo yes)" ] ||
			fail "$machine, $code of $pmu: $figure: $said"
	done
}

play() {
	machine=$1
	load_module cpu="$machine"
	# What was under way for the last one.
	sleep 0.2
}

unplay() {
	! grep -E -o '"(not_written|stopped|early|unclaimed|broken|full|events_full)":[1-9][0-9]*' "$debug/totals" ||
		fail "$machine: so much that should not be, above"
	unload_module
}

load_workload 0
load_workload 1

play nehalem
file cpu/caps/max_precise 2
file cpu/events/mem-stores -
opens cpu 0 runs --config 0x100b --config1 30 --precise 2
opens cpu 0 EOPNOTSUPP --config 0x100b --config1 30 --precise 3
opens cpu 0 EINVAL --config 0x100b --config1 30 --precise 2 --period 31
opens cpu 0 EINVAL --config 0x2cd --precise 2
opens cpu 0 runs --config 0xc0 --precise 2
delivered cpu 0x100b latency sources -instruction_latency
delivered cpu 0xc0 -latency -sources
unplay

# Loads and stores both need counter 3; instructions counter 1, and quiet on the others: else they are not counted.
play sandybridge
file cpu/caps/max_precise 2
opens cpu 0 runs --config 0x1cd --config1 30 --precise 2
opens cpu 0 runs --config 0x2cd --precise 2
opens cpu 0 EOPNOTSUPP --config 0x2cd --precise 3
opens cpu 0 EINVAL --config 0x1cd --config1 30 --precise 2 --leader 0x2cd
opens cpu 0 runs --config 0x1c0 --precise 2
opens cpu 0 EOPNOTSUPP --config 0x1c0 --precise 3
opens cpu 0 runs --config 0x1cd --config1 30 --precise 2 --for 4 --enough 1000000 &
sleep 1
opens cpu 0 silent --config 0x1c0 --precise 2 --for 1
wait $!
delivered cpu 0x1cd latency sources
delivered cpu 0x2cd -latency sources
unplay

play haswell
file cpu/caps/max_precise 3
opens cpu 0 runs --config 0x82d0 --precise 2
opens cpu 0 EINVAL --config 0x1c0 --precise 2 --period 127
opens cpu 0 runs --config 0x1c0 --precise 3
delivered cpu 0x82d0 -latency sources
unplay

play skylake
file cpu/events/mem-stores event=0xd0,umask=0x82
opens cpu 0 runs --config 0x82d0 --precise 2
opens cpu 0 runs --config 0x1c0 --precise 3 --sample-type 1
opens cpu 0 EINVAL --config 0x1c0 --precise 3 --leader 0x1c0
delivered cpu 0x82d0 -latency sources
delivered cpu 0x1c0 -latency -sources
unplay

# The instruction event has fixed counter 0 there.
play icelake
file cpu/events/mem-loads-aux -
opens cpu 0 runs --config 0x1cd --config1 30 --precise 2
opens cpu 0 runs --config 0x82d0 --precise 2
opens cpu 0 runs --config 0xc0 --precise 3
opens cpu 0 runs --config 0x100 --precise 3
opens cpu 0 EINVAL --config 0xc0 --precise 3 --leader 0x100
delivered cpu 0x82d0 -latency sources
unplay

# golden_cove PMU CPU: what its cores have in common.
golden_cove() {
	local loads=(--config 0x1cd --config1 30) leader=("${@:3}")
	opens "$1" "$2" runs "${loads[@]}" --precise 2 "${leader[@]}"
	opens "$1" "$2" EINVAL "${loads[@]}" --precise 3 "${leader[@]}"
	opens "$1" "$2" runs --config 0x2cd --precise 2
	opens "$1" "$2" runs --config 0x2cd --precise 3 --period 10007
	opens "$1" "$2" EINVAL --config 0x2cd --precise 3 --period 127
	opens "$1" "$2" EINVAL --config 0x2cd --precise 2 --leader 0x2cd
	opens "$1" "$2" runs --config 0xc0 --precise 3
	opens "$1" "$2" EINVAL --config 0x100 --precise 3
	delivered "$1" 0x1cd latency instruction_latency sources
	delivered "$1" 0x2cd latency instruction_latency sources
	delivered "$1" 0xc0 -latency -sources
}

# efficient_core PMU CPU
efficient_core() {
	opens "$1" "$2" runs --config 0x5d0 --config1 30 --precise 2
	opens "$1" "$2" runs --config 0x5d0 --config1 30 --precise 3
	opens "$1" "$2" EINVAL --config 0x5d0 --config1 0x10000 --precise 2
	opens "$1" "$2" runs --config 0x6d0 --precise 2
	opens "$1" "$2" runs --config 0xc0 --precise 3
	opens "$1" "$2" EINVAL --config 0xc0 --precise 3 --period 127
	delivered "$1" 0x5d0 latency instruction_latency sources
	delivered "$1" 0x6d0 latency instruction_latency sources
	delivered "$1" 0xc0 -latency -sources
}

play sapphirerapids
file cpu/events/mem-loads-aux event=0x03,umask=0x82
opens cpu 0 ENODATA --config 0x1cd --config1 30 --precise 2
golden_cove cpu 0 --leader 0x8203
unplay

play graniterapids
file cpu/caps/pmu_name granite_rapids
file cpu/events/mem-loads-aux -
golden_cove cpu 0
unplay

play sierraforest
file cpu/caps/pmu_name crestmont
file cpu/events/mem-loads event=0xd0,umask=0x5,ldlat=3
file cpu/format/snoop_rsp config1:0-63
file cpu/format/frontend -
efficient_core cpu 1
unplay

play alderlake
[ ! -e $devices/cpu ] || fail 'a hybrid machine has a PMU cpu'
file cpu_core/type 4
for pmu in cpu_core cpu_atom; do
	file $pmu/caps/pmu_name alderlake_hybrid
done
file cpu_core/cpus 0
file cpu_atom/cpus 1
file cpu_core/events/mem-loads event=0xcd,umask=0x1,ldlat=3
file cpu_atom/events/mem-loads event=0xd0,umask=0x5,ldlat=3
file cpu_core/events/mem-loads-aux event=0x03,umask=0x82
file cpu_atom/events/mem-loads-aux -
file cpu_atom/format/frontend -
opens cpu_core 1 ENOENT --config 0x1cd --config1 30 --precise 2 --leader 0x8203
opens cpu_atom 0 ENOENT --config 0x5d0 --config1 30 --precise 2
opens cpu_core 0 ENODATA --config 0x1cd --config1 30 --precise 2
golden_cove cpu_core 0 --leader 0x8203
efficient_core cpu_atom 1
# PERF_TYPE_HARDWARE, with the PMU in the upper half of the word: instructions.
atom=$(cat $devices/cpu_atom/type)
opens cpu_atom 1 runs --type 0 --config $((atom << 32 | 1)) --sample-type 1
opens cpu_atom 0 ENOENT --type 0 --config $((atom << 32 | 1)) --sample-type 1
unplay

# An address alone.
play goldmont
file cpu/events/mem-loads -
opens cpu 0 runs --config 0x81d0 --precise 2
opens cpu 0 runs --config 0xc0 --precise 3
delivered cpu 0x81d0 -latency -sources
unplay

# What is sampled of instructions is where they are: in the text of the workload that runs (daemon/model/workload.h).
play skylake
said=$("$here/open_event" --config 0x1c0 --precise 3 --sample-type 1 --wakeup 1 --for 1)
[[ $said =~ \"least_ip\":([0-9]+),\"greatest_ip\":([0-9]+) ]] || fail "no addresses: $said"
text=$((0x401000 + 6 * 0x1000))
if [ "${BASH_REMATCH[1]}" -lt $text ] || [ "${BASH_REMATCH[2]}" -ge $((text + 13 * 4)) ]; then
	fail "instructions outside of the loop at $text: $said"
fi
unplay
