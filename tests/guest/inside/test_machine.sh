#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd on a machine whose PMU the emulator imitates, under the kernel's own driver. Its probe must agree with the
# table below, and it must sample each event that opens there. Each value must equal the emulator's books, for each
# event, CPU and cgroup. On a machine that cannot be sampled, pebsd must say so and exit with 3. A hybrid has a CPU
# of each kind. One machine of each form of records is compared a second time with two CPUs, which share a line, so
# that there is HITM.
# kernels: 6.12 6.1 7
# machines: nehalem sandybridge sandybridge-ep ivybridge haswell haswell:2 broadwell skylake skylake-server skylake-server:2 icelake icelake-server sapphirerapids sapphirerapids:2 graniterapids alderlake:2 gracemont sierraforest goldmont zen3 zen5 zen5:2 skylake-server-vm generic-vm zen3-vm
# time limit: 900 s
# init: small
# short machines: haswell skylake-server sapphirerapids zen3 goldmont skylake-server-vm
# takes: 50 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# MACHINE events WORDS: the configured events.
#
# MACHINE open PMU ROLE CONFIG CONFIG1 PRECISE_IP LEADER CPUS LATENCY_KIND: an event that the probe opens, and the kind
# of its latency in `pebsctl status`. A leader or a kind of "-" means none.
#
# MACHINE refuses PMU ROLE WORDS: a refused event, with words of the reason.
#
# MACHINE driver WORDS: words that the kernel's driver prints when it starts.
#
# MACHINE ibs WORDS: words that it prints about IBS.
table() {
	cat <<-'END'
		nehalem events loads stores instructions
		nehalem open cpu loads 0x100b 0x1f 1 - 0-1 use
		nehalem open cpu instructions 0xc0 0x0 2 - 0-1 -
		nehalem refuses cpu stores nehalem

		sandybridge events loads stores
		sandybridge open cpu loads 0x1cd 0x1f 1 - 0-1 use
		sandybridge open cpu stores 0x2cd 0x0 1 - 0-1 -

		sandybridge-ep events instructions
		sandybridge-ep open cpu instructions 0x1c0 0x0 2 - 0-1 -

		ivybridge events loads stores instructions
		ivybridge open cpu loads 0x1cd 0x1f 1 - 0-1 use
		ivybridge open cpu stores 0x2cd 0x0 1 - 0-1 -
		ivybridge open cpu instructions 0x1c0 0x0 3 - 0-1 -

		haswell events loads stores instructions
		haswell open cpu loads 0x1cd 0x1f 2 - 0-1 use
		haswell open cpu stores 0x82d0 0x0 2 - 0-1 -
		haswell open cpu instructions 0x1c0 0x0 3 - 0-1 -

		broadwell events loads stores instructions
		broadwell open cpu loads 0x1cd 0x1f 2 - 0-1 use
		broadwell open cpu stores 0x82d0 0x0 2 - 0-1 -
		broadwell open cpu instructions 0x1c0 0x0 3 - 0-1 -

		skylake events loads stores instructions
		skylake open cpu loads 0x1cd 0x1f 2 - 0-1 use
		skylake open cpu stores 0x82d0 0x0 2 - 0-1 -
		skylake open cpu instructions 0x1c0 0x0 3 - 0-1 -

		icelake events loads stores instructions
		icelake open cpu loads 0x1cd 0x1f 2 - 0-1 use
		icelake open cpu stores 0x82d0 0x0 2 - 0-1 -
		icelake open cpu instructions 0xc0 0x0 3 - 0-1 -

		skylake-server events loads stores instructions
		skylake-server open cpu loads 0x1cd 0x1f 2 - 0-1 use
		skylake-server open cpu stores 0x82d0 0x0 2 - 0-1 -
		skylake-server open cpu instructions 0x1c0 0x0 3 - 0-1 -

		icelake-server events loads stores instructions
		icelake-server open cpu loads 0x1cd 0x1f 2 - 0-1 use
		icelake-server open cpu stores 0x82d0 0x0 2 - 0-1 -
		icelake-server open cpu instructions 0xc0 0x0 3 - 0-1 -

		sapphirerapids events loads stores instructions
		sapphirerapids open cpu loads 0x1cd 0x1f 2 0x8203 0-1 cache
		sapphirerapids open cpu stores 0x2cd 0x0 2 - 0-1 cache
		sapphirerapids open cpu instructions 0xc0 0x0 3 - 0-1 -

		graniterapids events loads stores instructions
		graniterapids open cpu loads 0x1cd 0x1f 2 - 0-1 cache
		graniterapids open cpu stores 0x2cd 0x0 2 - 0-1 cache
		graniterapids open cpu instructions 0xc0 0x0 3 - 0-1 -

		sierraforest events loads stores instructions
		sierraforest open cpu loads 0x5d0 0x1f 2 - 0-1 cache
		sierraforest open cpu stores 0x6d0 0x0 2 - 0-1 cache
		sierraforest open cpu instructions 0xc0 0x0 3 - 0-1 -

		alderlake events loads stores instructions
		alderlake open cpu_core loads 0x1cd 0x1f 2 0x8203 0 cache
		alderlake open cpu_core stores 0x2cd 0x0 2 - 0 cache
		alderlake open cpu_core instructions 0xc0 0x0 3 - 0 -
		alderlake open cpu_atom loads 0x5d0 0x1f 2 - 1 cache
		alderlake open cpu_atom stores 0x6d0 0x0 2 - 1 cache
		alderlake open cpu_atom instructions 0xc0 0x0 3 - 1 -

		goldmont events loads instructions
		goldmont open cpu instructions 0xc0 0x0 3 - 0-1 -
		goldmont refuses cpu loads neither latency nor

		gracemont events loads stores instructions
		gracemont open cpu loads 0x5d0 0x1f 2 - 0-1 cache
		gracemont open cpu stores 0x6d0 0x0 2 - 0-1 cache
		gracemont open cpu instructions 0xc0 0x0 3 - 0-1 -

		unknown events loads
		unknown refuses cpu loads mem-loads

		zen3 events loads
		zen5 events loads

		skylake-server-vm events loads
		skylake-server-vm refuses cpu loads virtual

		generic-vm events loads
		generic-vm refuses cpu loads whose virtual PMU has no PEBS

		zen3-vm events loads
		zen3-vm refuses cpu loads there is no PMU ibs_op

		nehalem driver PEBS fmt1+, Nehalem events
		sandybridge driver PEBS fmt1+, SandyBridge events
		sandybridge-ep driver PEBS fmt1+, SandyBridge events
		ivybridge driver PEBS fmt1+, IvyBridge events
		haswell driver PEBS fmt2+, Haswell events
		broadwell driver PEBS fmt2+, Broadwell events
		skylake driver PEBS fmt3+, Skylake events
		icelake driver PEBS fmt4+-baseline
		skylake-server driver PEBS fmt3+, Skylake events
		icelake-server driver PEBS fmt4+-baseline
		sapphirerapids driver Sapphire Rapids events
		graniterapids driver Granite Rapids events
		alderlake driver Alderlake Hybrid events
		gracemont driver Gracemont events
		sierraforest driver Crestmont events
		goldmont driver Goldmont events
		zen3 driver AMD PMU driver
		zen5 driver AMD PMU driver
		zen3 ibs AMD IBS detected (0x000003ff)
		zen5 ibs AMD IBS detected (0x00001bff)
		unknown driver generic architected perfmon
		skylake-server-vm driver Skylake events
		generic-vm driver generic architected perfmon
		zen3-vm driver AMD PMU driver
	END
}

# Linux 6.1 does not know these machines.
known=$emulated
case $(uname -r):$emulated in
6.1.*:graniterapids | 6.1.*:sierraforest) known=unknown ;;
esac

# rows KIND: prints the rows of this machine. "0-1" in the table stands for all CPUs.
rows() {
	table | sed -n "s/^$known $1 //p" | sed "s/ 0-1 / $(</sys/devices/system/cpu/online) /"
}

dmesg | tr -d '\0' | grep -m 1 'Performance Events:' | sed 's/.*Performance Events: //' >"$work/driver" || :
grep -q -F "$(rows driver)" "$work/driver" || fail "the driver says: $(<"$work/driver")"
[[ $emulated != *-vm ]] || ! grep -q PEBS "$work/driver" || fail "a machine without PEBS has it: $(<"$work/driver")"
say "measured: $(<"$work/driver")"
case $emulated in
zen*-vm) ! dmesg | grep 'IBS detected' >"$work/ibs" || fail "a machine without IBS has it: $(<"$work/ibs")" ;;
zen*) dmesg | grep -q -F "$(rows ibs)" || fail "the driver of IBS says: $(dmesg | grep IBS)" ;;
esac

# IBS samples all operations, so the same rate needs a longer period.
period=1009
[[ $emulated != zen* ]] || period=20011
settings "[sampling]" "events = $(rows events)" "period = $period" "instructions-period = 1000003" "budget = off"

# -- what it opens, and what it refuses --

refused=0
case $known in unknown | *-vm) refused=3 ;; esac
found=0
pebsd --probe --json >"$work/said" 2>"$work/errors" || found=$?
expect 'the exit code of the probe' $refused $found
jq --raw-output --arg asked "$(rows events)" '
	(.events[] | select(.asked != false)
	| "open \(.pmu) \(.role) \(.config) \(.config1) \(.precise_ip) \(if .leader then .leader.config else "-" end) \(.cpus)"),
	(.refused[] | select(.role as $role | $asked | split(" ") | index($role))
	| "refused \(.pmu) \(.role) \(.reason)")' "$work/said" >"$work/probe" 2>>"$work/errors" || fail "the probe: $(<"$work/errors") $(head -c 300 "$work/said")"
say "$(<"$work/probe")"

# table_row FILTER: prints a part of a row for tests/tools/machine_table.py. The filter gets the output of pebsctl top
# and status.
table_row() {
	say "measured: table: $(jq -n -c --rawfile driver "$work/driver" --rawfile probe "$work/probe" --slurpfile top "$work/top" \
		--slurpfile status "$work/status" '
		{driver: ($driver | rtrimstr("\n")), opened: ($probe | split("\n") | map(select(startswith("open "))))} + '"$1")"
}

while read -r pmu role words; do
	grep "^refused $pmu $role " "$work/probe" | grep -q -F -e "$words" || fail "$role are not refused with \"$words\""
done < <(rows refuses)
if [ $refused = 3 ]; then
	exits 'pebsd' 3 pebsd
	while read -r pmu role words; do
		grep -q -F -e "$words" "$work/said" || fail "pebsd does not say \"$words\": $(<"$work/said")"
	done < <(rows refuses)
	say "measured: refused: $(<"$work/said")"
	touch "$work/top" "$work/status"
	table_row '{refused: true}'
	exit
fi
if [ "$known" = goldmont ]; then
	settings '[sampling]' 'events = loads'
	exits 'pebsd with nothing but loads' 3 pebsd
	settings "[sampling]" "events = $(rows events)" "instructions-period = 1000003" "budget = off"
fi
case $emulated in
zen*)
	sampled=('loads ibs_op 0x2 0x1 0x4')
	expect 'what is opened' 'ibs_op loads 0x80000' "$(jq -r '.events[] | select(.asked != false) | "\(.pmu) \(.role) \(.config)"' "$work/said")"
	;;
*)
	expect 'what is opened' "$(rows open | sed 's/^/open /; s/ [^ ]*$//' | sort)" "$(grep '^open ' "$work/probe" | sort || :)"
	while read -r pmu role config _; do
		[ "$(rows open | cut -d ' ' -f 1 | sort -u | wc -l)" = 1 ] || role=$role:$pmu
		sampled+=("$role $pmu $config")
	done < <(rows open)
	;;
esac

# -- sampling --

# records_of CODE: prints the number of records of an event on all CPUs.
records_of() {
	pmu totals | grep -o "\"$1\":{\"overflow\":[0-9]*" | awk -F : '{ sum += $3 } END { print sum + 0 }'
}

has_records() {
	local code
	while read -r _ _ code _; do
		[ "$(records_of "$code")" -ge 100 ] || return 1
	done < <(printf '%s\n' "${sampled[@]}")
}

# kinds: prints the sampled events' kinds of latency, as in the table. An event that is not in the table has none.
kinds() {
	local pmu role rest key
	printf '%s\n' "${sampled[@]}" | while read -r key _; do
		while read -r pmu role rest; do
			[ "$(rows open | cut -d ' ' -f 1 | sort -u | wc -l)" = 1 ] || role=$role:$pmu
			[ "$role" != "$key" ] || echo "$key ${rest##* }"
		done < <(rows open) | grep . || echo "$key -"
	done | sort
}

# has_hitm: true if the books have a HITM.
has_hitm() {
	pmu books | grep -q '"hitm":[1-9]'
}

# sample: samples the events in `sampled` and compares with the books.
sample() {
	local shares=no hitm
	[ "$(nproc)" = 1 ] || [[ ${sampled[*]} != *loads* ]] || shares=yes
	play
	stop_counting
	start_pebsd
	load pointer-chase chase
	load false-sharing sharing -- --threads "$(nproc)"
	load mix mixed
	count_again
	wait_until 'a hundred samples of each event' 200 has_records
	[ "$shares" = no ] || wait_until 'HITM' 200 has_hitm
	settle
	agree "$emulated"
	# shellcheck disable=SC2016 # jq's variables
	table_row '{events: ($top[0].total.events | with_entries(.key as $name | .value |= {samples, latency: (.latency.sum // null),
		sources: (.sources // {} | map_values(.samples) | with_entries(select(.value > 0))), hitm: (.snoop.hitm // 0),
		filtered: ($status[0].events[$name].samples.filtered // 0)}))}'
	if [ "$shares" = yes ]; then
		hitm=$(jq '[.total.events | to_entries[] | select(.key | startswith("loads")) | .value.snoop.hitm // 0] | add' "$work/top")
		say "measured: HITM: $hitm"
		[ "$hitm" -gt 0 ] || fail 'two CPUs share a line, but no load is HITM'
	fi
	[[ $emulated == zen* ]] || expect 'the kinds of latency' "$(kinds)" \
		"$(jq --raw-output '.events | to_entries[] | "\(.key) \(.value.latency_kind // "-")"' "$work/status" | sort)"
}

# sample_only "ROLE PMU CODE"...: samples these events alone.
sample_only() {
	sampled=("$@")
	settings "[sampling]" "events = ${sampled[*]%% *}" "period = $period" "instructions-period = 1000003" "budget = off"
	sample
	pkill -KILL -f "^$here/workload " || :
}

case $emulated in
nehalem | sandybridge | ivybridge | haswell | broadwell)
	# Events that run at the same time collide: see test_collision.sh. Therefore each event is sampled alone,
	# and no sample may be missing.
	all=("${sampled[@]}")
	for line in "${all[@]}"; do
		sample_only "$line"
	done
	# On Sandy Bridge and Ivy Bridge, loads and stores share a counter and take turns, so they cannot collide.
	# Neither runs all the time.
	case $emulated in sandybridge | ivybridge)
		sample_only "${all[@]:0:2}"
		jq -ne 'input | .events | .loads.takes_turns_with == ["stores"] and .stores.takes_turns_with == ["loads"]
			and .loads.running_ratio < 0.9 and .stores.running_ratio < 0.9' "$work/status" >/dev/null ||
			fail "loads and stores do not take turns: $(jq -c .events "$work/status")"
		;;
	esac
	# Sandy Bridge can sample instructions precisely only while loads and stores are not sampled.
	[ "$emulated" != sandybridge ] || sample_only 'instructions cpu 0x1c0'
	;;
*) sample ;;
esac
pmu price | jq -r -s '
	(map(.programs) | add) as $programs | (map(.nmis) | add) as $nmis
	| "measured: instructions: \((map(.program_instructions) | add) / $programs * 10 | round / 10) a program, \(
		(map(.nmi_instructions) | add) / $nmis | round) an NMI, \($nmis) NMIs, \($programs) programs"'
