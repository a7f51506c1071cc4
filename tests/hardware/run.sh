#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks on a machine with PEBS or IBS whether pebsd's values are right. A program chases pointers through memory
# that fits into L2, L3, this node's DRAM and another node's DRAM, in its own cgroup. First pebsd and then `perf
# mem record` sample the machine. The values of both are compared with the expected values, and with each other.
#
# Prints a report of several tests, as tests/run.sh -p reads it. Leaves everything in one text, $REPORT, which can
# be mailed or attached to a bug. The text begins with the verdict.
#   PEBSD=FILE CHASE=FILE REPORT=FILE [PEBSCTL=FILE] run.sh [SECONDS]
# SECONDS: how long each chase is sampled at first. If that gives too few samples, it is sampled again for longer,
# at most twice and at most for six times as long. If there are still too few, the result is undecided, which is not
# a failure.
set -eu

here=${0%/*}
seconds=${1:-10}
: "${PEBSD:?}" "${CHASE:?}" "${REPORT:?}"
[ -n "${PEBSCTL:-}" ] || PEBSCTL=${PEBSD%/*}/pebsctl
[ -x "$PEBSCTL" ] || PEBSCTL=pebsctl
LONGEST=$((6 * seconds))
# With fewer samples the shares of sources are random.
LEAST=100
work=$(mktemp -d)
chase='' cgroup='' daemon=''

# The parts of the report, which are joined at the end.
touch "$work"/{machine,figures,results,details}
part=machine

report() {
	printf '%s\n' "$*" >>"$work/$part"
}

# Includes standard input in the report, indented.
include() {
	sed 's/^/    /' >>"$work/$part"
}

passed=0 failed=0 undecided=0 skipped=0

# Prints the verdict in a word, with the reason.
verdict_of_all() {
	if [ $failed != 0 ]; then
		echo 'FAILED: pebsd told something that is not so, or not all of it'
	elif [ $((passed + undecided)) = 0 ]; then
		echo 'NOT TRIED: see the reasons below'
	elif [ $undecided != 0 ]; then
		echo "UNDECIDED: too few samples. Run it again for longer: make test-hardware HARDWARE_SECONDS=$LONGEST"
	else
		echo 'PASSED'
	fi
}

write_report() {
	{
		printf 'pebsd on this hardware: %s\n' "$(verdict_of_all)"
		printf '%s passed, %s failed, %s undecided, %s skipped\n\n' $passed $failed $undecided $skipped
		cat <<'END'
This file is all there is to send. It names the processor, the kernel, and what pebsd and perf measured of a test program.
It has no host name, and no names of users, programs or services of this machine.

END
		printf 'Machine\n'
		cat "$work/machine"
		printf '\nFigures\n'
		cat "$work/figures"
		printf '\nResults\n'
		cat "$work/results"
		cat "$work/details"
	} >"$REPORT"
}

# shellcheck disable=SC2317 # called by the trap
leave() {
	[ -z "$chase" ] || kill -KILL "$chase" 2>/dev/null || :
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || :
	[ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null || :
	write_report
	rm -rf "$work"
}
trap leave EXIT

# verdict RESULT WHAT [WHY]
verdict() {
	echo 1..1
	case $1 in
	passed) passed=$((passed + 1)) && printf 'ok - %s\n' "$2" ;;
	skipped) skipped=$((skipped + 1)) && printf 'ok - %s # SKIP %s\n' "$2" "$3" ;;
	undecided) undecided=$((undecided + 1)) && printf 'ok - %s # SKIP undecided: %s\n' "$2" "$3" ;;
	failed) failed=$((failed + 1)) && printf 'not ok - %s\n# %s\n' "$2" "$3" ;;
	esac
	printf '    %s: %s%s\n' "$1" "$2" "${3:+: $3}" >>"$work/results"
}

# Ends the test because nothing can be tried.
give_up() {
	verdict skipped 'pebsd on this hardware' "$1"
	exit 0
}

# check WHAT WHETHER WHY_NOT: passes if the jq expression WHETHER is true.
check() {
	if [ "$(jq -n "$2")" = true ]; then
		verdict passed "$1"
	else
		verdict failed "$1" "$3"
	fi
}

[ "$(id -u)" = 0 ] || give_up 'needs root: sampling all CPUs, and a cgroup of its own'
command -v jq >/dev/null || give_up 'jq is missing: apt-get install jq'

{
	date -u '+measured: %Y-%m-%dT%H:%M:%SZ'
	"$PEBSD" --version
	uname -srvm
	grep -m 1 '^PRETTY_NAME=' /etc/os-release || :
	grep -m 6 -E '^(vendor_id|cpu family|model|model name|stepping|microcode)[[:space:]]*:' /proc/cpuinfo || :
	printf 'CPUs online: %s, nodes: %s\n' "$(cat /sys/devices/system/cpu/online)" \
		"$(cat /sys/devices/system/node/online 2>/dev/null || echo '?')"
	for file in perf_event_paranoid perf_event_max_sample_rate perf_cpu_time_max_percent nmi_watchdog; do
		printf 'kernel.%s: %s\n' $file "$(cat /proc/sys/kernel/$file 2>/dev/null || echo '?')"
	done
	command -v perf >/dev/null && perf --version || echo 'perf: none'
} 2>/dev/null | include
part=details
report ''
report 'pebsd --probe'
"$PEBSD" --probe >"$work/probe" 2>&1 || :
include <"$work/probe"
# Use the period of the chases instead of the one in this machine's configuration.
printf '[sampling]\norigin = perf\nevents = loads\n' >"$work/pebsd.conf"
"$PEBSD" --probe --config "$work/pebsd.conf" --json >"$work/probe.json" 2>/dev/null || :
jq -c '[.events[] | select(.role == "loads")]' "$work/probe.json" >"$work/loads" 2>/dev/null || echo '[]' >"$work/loads"
if [ "$(cat "$work/loads")" = '[]' ]; then
	reason=$(jq -r '[.refused[] | select(.role == "loads") | "\(.pmu): \(.reason)"] | join(". ")' "$work/probe.json")
	give_up "loads cannot be sampled here. ${reason:-pebsd --probe says nothing}"
fi

mount=$(awk '{ for (i = 1; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
[ -n "$mount" ] || give_up 'no cgroup2 file system is mounted'
cgroup=$(mktemp -d "$mount/pebsd-test-hardware-XXXXXX" 2>&1) || {
	why=$cgroup cgroup=''
	give_up "cannot make a cgroup: $why"
}

# bytes_of CPU LEVEL: prints the size of the data or unified cache, or 0 if there is none.
bytes_of() {
	local cache size
	for cache in /sys/devices/system/cpu/cpu"$1"/cache/index*; do
		if [ "$(cat "$cache/level" 2>/dev/null)" = "$2" ] && [ "$(cat "$cache/type")" != Instruction ]; then
			size=$(cat "$cache/size")
			echo $((${size%K} * 1024))
			return
		fi
	done
	echo 0
}

first_of() {
	local list=${1%%,*}
	echo "${list%%-*}"
}

node_of_cpu() {
	local folder
	for folder in /sys/devices/system/cpu/cpu"$1"/node*; do
		[ ! -e "$folder" ] || { echo "${folder##*node}" && return; }
	done
	echo 0
}

# other_node NODE: prints another node with at least 100000 kB of free memory, or nothing.
other_node() {
	local node
	for node in /sys/devices/system/node/node*; do
		[ -e "$node/meminfo" ] || continue
		if [ "${node##*node}" != "$1" ] && grep -q 'MemFree: *[1-9][0-9]\{5,\}' "$node/meminfo"; then
			echo "${node##*node}"
			return
		fi
	done
}

# start_chase BYTES CPU NODE
start_chase() {
	local until=$((SECONDS + 120))
	# Output of the previous chase must not count for this one.
	: >"$work/chase"
	# The chase enters its cgroup before it has memory: memory is charged to the cgroup of the first write.
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' bash "$cgroup" \
		"$CHASE" --bytes "$1" --cpu "$2" --node "$3" >"$work/chase" 2>"$work/chase.said" &
	chase=$!
	until grep -q ready "$work/chase"; do
		if ! kill -0 $chase 2>/dev/null || [ $SECONDS -ge $until ]; then
			return 1
		fi
		sleep 0.1
	done
}

end_chase() {
	kill -TERM "$chase" 2>/dev/null || :
	wait "$chase" 2>/dev/null || :
	chase=''
}

# ask_pebsd PMU SECONDS: writes pebsd's values of the chase's cgroup, see figures.jq
ask_pebsd() {
	"$PEBSD" --config "$work/pebsd.conf" --socket "$work/control.sock" --listen none --once --for "${2}s" --json \
		>"$work/pebsd.json" 2>"$work/pebsd.said" &&
		jq -c --arg cgroup "${cgroup#"$mount"}" --arg pmu "$1" --argjson seconds "$2" --argjson period "$period" \
			-f "$here/figures.jq" "$work/pebsd.json" >"$work/said.json"
}

# longer SAMPLES SECONDS: prints how long to sample again, if SECONDS gave SAMPLES: one and a half times the time
# that would have been enough.
longer() {
	local wanted=$LONGEST
	[ "$1" = 0 ] || wanted=$((($2 * LEAST * 3 / 2 + $1 - 1) / $1))
	[ "$wanted" -gt "$2" ] || wanted=$(($2 + 1))
	echo $((wanted < LONGEST ? wanted : LONGEST))
}

# ask_enough PMU: like ask_pebsd, but asks again for longer if there are too few samples. Sets $took, in seconds.
ask_enough() {
	local again samples
	took=$seconds
	ask_pebsd "$1" "$took" || return 1
	for again in 1 2; do
		samples=$(value .samples)
		[ "$samples" -lt $LEAST ] && [ "$took" -lt $LONGEST ] || return 0
		report "    $samples samples in $took s are too few: measured again for longer, the time number $again"
		took=$(longer "$samples" "$took")
		ask_pebsd "$1" "$took" || return 1
	done
}

# Samples the chase with perf, for the same time, without build ids (-B) and without loads of the kernel (-U).
record_by_perf() {
	rm -f "$work/perf.data"
	! command -v perf >/dev/null ||
		perf mem -t load record --ldlat="$ldlat" -c "$period" -a -B -U -o "$work/perf.data" -- sleep "$took" >"$work/perf.said" 2>&1 ||
		rm -f "$work/perf.data"
}

# Reads the chase's part of perf's recording, by the program's name.
read_perf() {
	[ -e "$work/perf.data" ] || return 1
	perf script -i "$work/perf.data" --comms pointer-chase -F weight,data_src 2>/dev/null >"$work/perf.script" || return 1
	awk -f "$here/perf_script.awk" "$work/perf.script" >"$work/perf.json"
}

value() {
	jq -r "$1" "$work/said.json"
}

hold_against_perf() {
	local name=$1
	if ! command -v perf >/dev/null; then
		verdict skipped "$name: pebsd and perf mem agree" 'perf is missing: apt-get install linux-perf'
		return
	fi
	if ! read_perf || [ "$(jq .samples "$work/perf.json")" -lt 100 ]; then
		tail -n 5 "$work/perf.said" | include
		verdict skipped "$name: pebsd and perf mem agree" \
			"perf mem record did not sample the chase: $(tail -n 1 "$work/perf.said")"
		return
	fi
	include <"$work/perf.json"
	part=figures
	jq -r '"        perf mem: \(.samples) samples, mean \(.mean // "?") cycles, " + (.samples as $n | .sources | to_entries
		| sort_by(-.value) | map("\(.key) \(.value * 1000 / $n | round / 10) %") | join(", "))' "$work/perf.json" >>"$work/figures"
	part=details
	# Compares sources by their shares and latencies by their means, because these are two runs with different
	# samples.
	jq -n --slurpfile ours "$work/said.json" --slurpfile theirs "$work/perf.json" '
		$ours[0] as $a | $theirs[0] as $b
		| ([($a.sources + $b.sources | keys[]) as $source
			| (($a.sources[$source] // 0) / $a.samples - ($b.sources[$source] // 0) / $b.samples) | fabs] | max) as $apart
		| (if $a.mean and $b.mean then ($a.mean / $b.mean - 1 | fabs) else 0 end) as $mean
		| {sources_apart: ($apart * 1000 | round / 10), means_apart: ($mean * 1000 | round / 10),
			agree: ($apart <= 0.10 and $mean <= 0.15)}' >"$work/apart.json"
	check "$name: pebsd and perf mem agree" "$(jq .agree "$work/apart.json")" \
		"a source's share differs by $(jq .sources_apart "$work/apart.json") points (10 are allowed), the means by \
$(jq .means_apart "$work/apart.json") % (15 are allowed)"
}

# tell_figures NAME LDLAT CPU BYTES NODE SOURCES...: adds pebsd's values of one chase to the report, as text for people
tell_figures() {
	local name=$1 ldlat=$2 cpu=$3 bytes=$4 node=$5
	shift 5
	jq -r --arg name "$name" --arg ldlat "$ldlat" --arg cpu "$cpu" --arg bytes "$bytes" --arg node "$node" '
		def or_none: if . == null then "?" else . end;
		. as $f |
		"    \($name): \($bytes) bytes on node \($node), chased on CPU \($cpu); loads of more than \($ldlat) cycles",
		"        sampled for \(.seconds) s, period \(.period); \(.samples) samples of the chase, \(.all) of loads in all",
		"        expected \(.expected), seen \(.seen); lost: malformed \(.malformed), unexplained \(.unexplained)" +
			(if .filtered > 0 then "; of other operations \(.filtered)" else "" end),
		"        unsampled: " + ((.unsampled_seconds // {}) | to_entries
			| map("\(.key) \(.value) s") | join(", ") | if . == "" then "none" else . end),
		"        latency: mean \(.mean | or_none), p50 \(.p50 | or_none), p90 \(.p90 | or_none), p99 \(.p99 | or_none) cycles",
		"        sources: " + ((.sources // {}) | to_entries | sort_by(-.value)
			| map("\(.key) \(.value * 1000 / $f.samples | round / 10) %") | join(", ") | if . == "" then "none" else . end)
			+ "; expected 60 % and more: " + ($ARGS.positional | join(", "))' --args "$@" <"$work/said.json" >>"$work/figures"
}

# judge NAME SOURCES...
judge() {
	local name=$1 result what why
	shift
	jq -r --argjson expected "$(jq -n '$ARGS.positional' --args "$@")" --argjson least $LEAST -f "$here/judge.jq" \
		"$work/said.json" | jq -r '.[] | [.result, .what, .why] | join("\u0001")' >"$work/judged"
	while IFS=$'\001' read -r result what why; do
		[ "$result" != passed ] || why=''
		verdict "$result" "$name: $what" "$why"
	done <"$work/judged"
}

# try NAME LDLAT PMU CPU BYTES NODE SOURCES...: most of the chase's loads must come from one of SOURCES. (perf 6.1
# adds the bits of the ldlat in sysfs, 3, to any request. With 31 that changes nothing.)
try() {
	local name=$1 ldlat=$2 pmu=$3 cpu=$4 bytes=$5 node=$6
	shift 6
	report ''
	report "$name: $bytes bytes on node $node, chased on CPU $cpu; loads of more than $ldlat cycles"
	printf '[sampling]\norigin = perf\nevents = loads\nldlat = %s\nbudget = off\n' "$ldlat" >"$work/pebsd.conf"
	if ! start_chase "$bytes" "$cpu" "$node"; then
		verdict skipped "$name" "the chase did not start: $(tail -n 1 "$work/chase.said")"
		return
	fi
	if ! ask_enough "$pmu"; then
		end_chase
		verdict failed "$name: pebsd samples" "$(tail -n 1 "$work/pebsd.said")"
	else
		record_by_perf
		# The chase is no longer needed, and would take CPU time from the steps below.
		end_chase
		include <"$work/said.json"
		tell_figures "$name" "$ldlat" "$cpu" "$bytes" "$node" "$@"
		judge "$name" "$@"
		[ "$(value .samples)" -lt $LEAST ] || hold_against_perf "$name"
	fi
	grep bytes "$work/chase" | include || :
	grep bytes "$work/chase" | jq -r '"        the chase itself: \(.ns_a_load) ns a load"' >>"$work/figures" || :
}

# try_cost BYTES CPU NODE: measures what a sample costs, with a daemon that has the default budget, on a chase that
# gives samples.
try_cost() {
	local until=$((SECONDS + LONGEST + 60)) known=''
	printf '[sampling]\norigin = perf\nevents = loads\ninterval = 1s\n' >"$work/pebsd.conf"
	start_chase "$@" || :
	"$PEBSD" --config "$work/pebsd.conf" --socket "$work/control.sock" --listen none >"$work/daemon.said" 2>&1 &
	daemon=$!
	while [ $SECONDS -lt $until ] && kill -0 $daemon 2>/dev/null; do
		sleep 1
		"$PEBSCTL" --socket "$work/control.sock" --json status >"$work/status.json" 2>/dev/null || continue
		known=$(jq -r '[.events[] | select(.cost.interrupt_ns and .cost.program_ns)] | length > 0' "$work/status.json")
		[ "$known" != true ] || break
		! jq -ne 'input | .notes | any(contains("cannot measure how long an interrupt"))' "$work/status.json" >/dev/null || break
	done
	kill -TERM $daemon 2>/dev/null || :
	wait $daemon 2>/dev/null || :
	daemon=''
	end_chase
	if [ "$known" = true ]; then
		jq -r '.events | to_entries[] | ("    cost of a sample of \(.key): interrupt \(.value.cost.interrupt_ns // "?") ns, " +
			"program \(.value.cost.program_ns // "?") ns; period \(.value.period)"),
			"    its interrupt at \(.value.cost.dense_interrupt.per_second // "?") samples a second: " +
			"\(.value.cost.dense_interrupt.ns // "?") ns; " +
			"at \(.value.cost.sparse_interrupt.per_second // "?"): \(.value.cost.sparse_interrupt.ns // "?") ns"' "$work/status.json" >>"$work/figures"
		verdict passed 'what a sample costs is known'
		return
	fi
	verdict skipped 'what a sample costs is known' "$(jq -r '[.notes[] | select(contains("cannot measure how long an interrupt"))][0] //
		"no sample was timed"' "$work/status.json" 2>/dev/null || tail -n 1 "$work/daemon.said")"
}

period=$(jq '.[0].period // 10007' "$work/loads")

while read -r pmu cpus; do
	cpu=$(first_of "$cpus")
	node=$(node_of_cpu "$cpu")
	remote=$(other_node "$node")
	l1=$(bytes_of "$cpu" 1) l2=$(bytes_of "$cpu" 2) l3=$(bytes_of "$cpu" 3)
	last=$((l3 > l2 ? l3 : l2))
	# In a buffer of eight times the last cache, at most one access in eight hits that cache.
	large=$((8 * last > 268435456 ? 8 * last : 268435456))

	[ "$l2" -le $((2 * l1)) ] || try "L2 ($pmu)" 3 "$pmu" "$cpu" $((l2 / 2)) "$node" l2
	# The buffer is eight times L2, but at most half of L3, which all CPUs share.
	if [ "$l3" -gt $((4 * l2)) ]; then
		try "L3 ($pmu)" 31 "$pmu" "$cpu" $((8 * l2 < l3 / 2 ? 8 * l2 : l3 / 2)) "$node" l3 local_cache
	else
		verdict skipped "L3 ($pmu)" "its L3 ($l3 bytes) is no four times its L2 ($l2 bytes)"
	fi
	try "local DRAM ($pmu)" 31 "$pmu" "$cpu" "$large" "$node" local_dram lfb pmem msc
	if [ -n "$remote" ]; then
		try "remote DRAM ($pmu)" 31 "$pmu" "$cpu" "$large" "$remote" remote_dram
	else
		verdict skipped "remote DRAM ($pmu)" 'there is no second NUMA node with free memory'
	fi
done < <(jq -r '.[] | "\(.pmu) \(.cpus // "0")"' "$work/loads")

# Most of the memory of this chase is not in L2, and loads that miss L2 take longer than the default ldlat.
try_cost $((4 * l2)) "$cpu" "$node"

write_report
echo "# $(head -n 1 "$REPORT")"
echo "# the report, one file to mail or to attach to a bug: $REPORT"
[ $failed = 0 ]
