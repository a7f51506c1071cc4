#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd on Intel machines of each generation: its probe says what the table below says, it samples what opens there, and
# its figures are the module's books; it refuses by name what cannot be. AMD's machines are those of test_ibs.sh.
# long
# kernels: 6.1
# takes: 180 s
# time limit: 600 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# MACHINE open PMU ROLE CONFIG CONFIG1 PRECISE_IP LEADER CPUS LATENCY_KIND: what the probe opens, and of what kind the
# latency of it is in `pebsctl status`; a leader or a kind of "-": none.
# MACHINE refuses PMU ROLE WORDS: what it refuses, and what its reason has to say.
# `events` are those that MACHINE's row of that name asks for.
table() {
	cat <<-'END'
		nehalem events loads stores instructions
		nehalem open cpu loads 0x100b 0x1e 1 - 0-1 use
		nehalem open cpu instructions 0xc0 0x0 2 - 0-1 -
		nehalem refuses cpu stores nehalem

		sandybridge events loads stores instructions
		sandybridge open cpu loads 0x1cd 0x1e 1 - 0-1 use
		sandybridge open cpu stores 0x2cd 0x0 1 - 0-1 -
		sandybridge refuses cpu instructions 18.9.4.4

		sandybridge-ep events instructions
		sandybridge-ep open cpu instructions 0x1c0 0x0 2 - 0-1 -

		ivybridge events loads stores instructions
		ivybridge open cpu loads 0x1cd 0x1e 1 - 0-1 use
		ivybridge open cpu stores 0x2cd 0x0 1 - 0-1 -
		ivybridge open cpu instructions 0x1c0 0x0 3 - 0-1 -

		haswell events loads stores instructions
		haswell open cpu loads 0x1cd 0x1e 2 - 0-1 use
		haswell open cpu stores 0x82d0 0x0 2 - 0-1 -
		haswell open cpu instructions 0x1c0 0x0 3 - 0-1 -

		broadwell events loads stores instructions
		broadwell open cpu loads 0x1cd 0x1e 2 - 0-1 use
		broadwell open cpu stores 0x82d0 0x0 2 - 0-1 -
		broadwell open cpu instructions 0x1c0 0x0 3 - 0-1 -

		skylake events loads stores instructions
		skylake open cpu loads 0x1cd 0x1e 2 - 0-1 use
		skylake open cpu stores 0x82d0 0x0 2 - 0-1 -
		skylake open cpu instructions 0x1c0 0x0 3 - 0-1 -

		icelake events loads stores instructions
		icelake open cpu loads 0x1cd 0x1e 2 - 0-1 use
		icelake open cpu stores 0x82d0 0x0 2 - 0-1 -
		icelake open cpu instructions 0xc0 0x0 3 - 0-1 -

		sapphirerapids events loads stores instructions
		sapphirerapids open cpu loads 0x1cd 0x1e 2 0x8203 0-1 cache
		sapphirerapids open cpu stores 0x2cd 0x0 2 - 0-1 cache
		sapphirerapids open cpu instructions 0xc0 0x0 3 - 0-1 -

		graniterapids events loads stores instructions
		graniterapids open cpu loads 0x1cd 0x1e 2 - 0-1 cache
		graniterapids open cpu stores 0x2cd 0x0 2 - 0-1 cache
		graniterapids open cpu instructions 0xc0 0x0 3 - 0-1 -

		sierraforest events loads stores instructions
		sierraforest open cpu loads 0x5d0 0x1e 2 - 0-1 cache
		sierraforest open cpu stores 0x6d0 0x0 2 - 0-1 cache
		sierraforest open cpu instructions 0xc0 0x0 3 - 0-1 -

		alderlake events loads stores instructions
		alderlake open cpu_core loads 0x1cd 0x1e 2 0x8203 0 cache
		alderlake open cpu_core stores 0x2cd 0x0 2 - 0 cache
		alderlake open cpu_core instructions 0xc0 0x0 3 - 0 -
		alderlake open cpu_atom loads 0x5d0 0x1e 2 - 1 cache
		alderlake open cpu_atom stores 0x6d0 0x0 2 - 1 cache
		alderlake open cpu_atom instructions 0xc0 0x0 3 - 1 -

		goldmont events loads
		goldmont refuses cpu loads neither latency nor
	END
}

rows_of() {
	table | sed -n "s/^$1 $2 //p"
}

# The settings that ask for the machine's events, often enough for a test.
ask() {
	settings '[sampling]' "events = $(rows_of "$1" events)" 'period = 10007' 'instructions-period = 10007'
}

# Leaves $work/probe.
probe() {
	local cpu=$1 status=0
	exits "pebsd --probe on $cpu" "$2" pebsd --probe --json
	# Of what is asked for: it tells the rest too.
	jq --raw-output --arg asked "$(rows_of "$cpu" events)" '
		(.events[] | select(.asked != false)
		| "open \(.pmu) \(.role) \(.config) \(.config1) \(.precise_ip) \(if .leader then .leader.config else "-" end) \(.cpus)"),
		(.refused[] | select(.role as $role | $asked | split(" ") | index($role))
		| "refused \(.pmu) \(.role) \(.reason)")' "$work/said" >"$work/probe" || status=$?
	[ "$status" = 0 ] || fail "pebsd --probe --json on $cpu: $(cat "$work/said")"
}

# Whether the probe of the machine is its rows, no more and no less.
expect_probe() {
	local cpu=$1 pmu role words
	expect "what the probe on $cpu opens" "$(rows_of "$cpu" open | sed 's/^/open /; s/ [^ ]*$//' | sort)" \
		"$(grep '^open ' "$work/probe" | sort || :)"
	expect "the number of refusals on $cpu" "$(rows_of "$cpu" refuses | wc -l)" \
		"$(grep -c '^refused ' "$work/probe" || :)"
	while read -r pmu role words; do
		grep "^refused $pmu $role " "$work/probe" | grep -q -F -e "$words" ||
			fail "$cpu: $role are not refused with \"$words\": $(cat "$work/probe")"
	done < <(rows_of "$cpu" refuses)
}

# Sets `sampled` to the machine's events, and `kinds` to the lines "KEY LATENCY_KIND".
events_of() {
	local pmu role config rest key
	local -a pmus
	mapfile -t pmus < <(rows_of "$1" open | cut -d ' ' -f 1 | sort -u)
	sampled=() kinds=()
	while read -r pmu role config rest; do
		key=$role
		[ ${#pmus[@]} = 1 ] || key=$role:$pmu
		sampled+=("$key $pmu $config")
		kinds+=("$key ${rest##* }")
	done < <(rows_of "$1" open)
}

# Each event of the last comparison was sampled, and is told as what it is.
expect_events() {
	local cpu=$1 key rest
	for key in "${sampled[@]%% *}"; do
		[ "$(figure delivered "$key")" -gt 50 ] ||
			fail "$cpu: only $(figure delivered "$key") samples of $key"
	done
	rest=$(jq --raw-output '.events | to_entries[] | "\(.key) \(.value.latency_kind // "-")"' "$work/status" | sort)
	expect "the kinds of latency on $cpu" "$(printf '%s\n' "${kinds[@]}" | sort)" "$rest"
	# What a machine does not tell is not there.
	rest=$(jq --raw-output '.total.events | to_entries[] | "\(.key) \(if .value.latency then "" else "no " end)latency"' \
		"$work/top" | sort)
	expect "who has a latency on $cpu" \
		"$(printf '%s\n' "${kinds[@]}" | sed 's/ -$/ no latency/; t; s/ [^ ]*$/ latency/' | sort)" "$rest"
}

# On Sandy and Ivy Bridge loads and stores have one counter: neither runs all the time, and it is told.
expect_turns() {
	jq --exit-status '
		.events | .loads.takes_turns_with == ["stores"] and .stores.takes_turns_with == ["loads"]
		and .loads.running_ratio < 0.9 and .stores.running_ratio < 0.9' "$work/status" >/dev/null ||
		fail "loads and stores do not take turns: $(cat "$work/status")"
}

load false-sharing sharing.service -- --threads 2
load mix mix.service -- --threads 2
quiet

for cpu in nehalem sandybridge sandybridge-ep ivybridge haswell broadwell skylake icelake sapphirerapids graniterapids \
	sierraforest alderlake; do
	play cpu=$cpu paused=Y
	ask $cpu
	probe $cpu 0
	expect_probe $cpu
	events_of $cpu
	start_pebsd
	resume
	await_samples $((${#sampled[@]} * 400))
	settle
	agree "$cpu"
	expect_events $cpu
	case $cpu in sandybridge | ivybridge) expect_turns ;; esac
	unplay
done

cpu=goldmont
play cpu=$cpu paused=Y
ask $cpu
probe $cpu 3
expect_probe $cpu
! systemctl start pebsd.service || fail "pebsd starts on $cpu"
expect "its exit status on $cpu" 3 "$(systemctl show --property=ExecMainStatus --value pebsd.service)"
systemctl reset-failed pebsd.service

# It has instructions with reduced skid all the same.
settings '[sampling]' 'events = instructions' 'instructions-period = 10007'
sampled=('instructions cpu 0xc0')
start_pebsd
resume
await_samples 400
settle
agree "$cpu"
[ "$(figure delivered instructions)" -gt 50 ] || fail "$cpu: only $(figure delivered instructions) instructions"
