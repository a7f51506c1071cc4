#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the output of pebsd --probe for machines made of files, and for this machine with and without the
# privileges that the probe needs.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq setpriv script

# put FILE TEXT: writes a file of the tree, under the PMU `cpu` unless it begins with /
tree=$work/tree
put() {
	local file=$tree/bus/event_source/devices/cpu/$1
	[ "${1#/}" = "$1" ] || file=$tree$1
	mkdir -p "$(dirname "$file")"
	printf '%s\n' "$2" >"$file"
}
configured() { # EVENTS [ARGUMENT...]: probes the tree with these events configured
	printf '[sampling]\nevents = %s\n' "$1" >"$work/pebsd.conf"
	shift
	"$PEBSD" --probe --sysfs-root "$tree" --config "$work/pebsd.conf" "$@"
}
# json WHAT FILTER: expects FILTER to be true for $work/probe.json
json() {
	jq -ne "input | $2" "$work/probe.json" >/dev/null || fail "$1: not $2 in: $(cat "$work/probe.json")"
}

put type 4
put caps/pmu_name skylake
put caps/max_precise 3
put format/event config:0-7
put format/umask config:8-15
put format/ldlat config1:0-15
put events/mem-loads event=0xcd,umask=0x1,ldlat=3
put /devices/system/cpu/online 0-111

exits 'a probe of a tree' 0 configured loads
cp "$work/said" "$work/text"
! grep -n '.\{101\}' "$work/text" || fail 'lines of more than 100 columns'
# Joins the lines, because line breaks do not matter here.
for words in '^pebsd can sample memory accesses on the machine of this tree' ' loads on PMU cpu opened as' \
	'config 0x1cd, config1 0x1f, config2 0, precise_ip 2' 'more than 31 cycles of use latency' 'CPUs 0-111 (112)' \
	'nothing was opened' ' here: 112 configured 112 ' ' 200 loads 200 ' 'were not measured'; do
	tr -s ' \n' ' ' <"$work/text" | grep -q -- "$words" || fail "no \"$words\" in: $(cat "$work/text")"
done

configured loads --json >"$work/probe.json"
json 'the event' '.usable and (.events[0] | .asked and .role == "loads" and .config1 == "0x1f" and .period > 0 and
	.cpus == "0-111" and .leader == null and (.sample_fields | sort) == ["ADDR", "DATA_SRC", "WEIGHT_STRUCT"])'
json 'what it costs here' '.cost.asked | .cpus == 112 and .descriptors == 112 and .ring_bytes == 112 * 2 * 4096'
json 'what it costs on 200 CPUs' '[.cost.table[] | select(.cpus == 200 and .roles == ["loads"])][0].descriptors == 200'
json 'that nothing was measured' '.cost.measured == null and ([.cost.table[] | has("start_ns")] | any | not)'

put events/mem-loads-aux event=0x03,umask=0x82
configured loads --json >"$work/probe.json"
json 'a leader' '.events[0].leader.config == "0x8203"'
json 'its descriptors' '.cost.asked.descriptors == 224'
rm -r "$tree/bus"

# No usable PMU: the output is one refusal, in lines that fit.
put /bus/event_source/devices/arm_spe_0/type 9
exits 'a probe of a machine that cannot' 3 configured loads
grep -q '^pebsd cannot sample memory accesses on the machine of this tree.$' "$work/said" || fail "$(cat "$work/said")"
! grep -n '.\{101\}' "$work/said" || fail 'lines of more than 100 columns'
script -qec "stty cols 80; '$PEBSD' --probe --sysfs-root '$tree' --config '$work/pebsd.conf'" /dev/null </dev/null |
	tr -d '\r' >"$work/screen"
! grep -n '.\{81\}' "$work/screen" || fail 'lines that do not fit into a terminal of 80 columns'
expect 'the words on a terminal of 80 columns' "$(tr -s ' \n' ' ' <"$work/said")" "$(tr -s ' \n' ' ' <"$work/screen")"
exits 'the same as JSON' 3 configured loads --json
jq -ne 'input | (.usable | not) and .events == [] and .cost == null and (.refused | length) > 0' "$work/said" >/dev/null ||
	fail "$(cat "$work/said")"

# told WHAT WORDS COMMAND...: expects WORDS in the output of this machine's probe, in the reason of a refusal or in
# a note
told() {
	local what=$1 words=$2 status=0
	shift 2
	"$@" --probe --json --config config/pebsd.conf >"$work/probe.json" 2>"$work/log" || status=$?
	expect "exit code of the probe $what" 3 "$status"
	jq -r '.refused[].reason, .notes[]' "$work/probe.json" | grep -q -- "$words" ||
		fail "the probe $what: no \"$words\" in: $(cat "$work/probe.json")"
}
told 'without rights' 'lacks CAP_BPF or CAP_PERFMON' setpriv --reuid=65534 --regid=65534 --clear-groups "$PEBSD"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	told 'without rights' 'CAP_PERFMON' setpriv --reuid=65534 --regid=65534 --clear-groups "$PEBSD"
	told 'without rights' 'kernel.perf_event_paranoid is' \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$PEBSD"
fi
told 'under a seccomp filter' 'this process has a seccomp filter, which may refuse' "$TOOLS/deny_events" 1 "$PEBSD"
told 'under one that hides it' 'this process has a seccomp filter, which hides perf_event_open' \
	"$TOOLS/deny_events" 38 "$PEBSD"
if unshare --user --map-root-user true 2>/dev/null; then
	told 'in a user namespace' 'this process runs in a user namespace' unshare --user --map-root-user "$PEBSD"
fi

# The probe also answers with few descriptors.
status=0
prlimit --nofile=24:24 "$PEBSD" --probe --json --config config/pebsd.conf >"$work/probe.json" || status=$?
expect 'exit code with 24 descriptors' 3 "$status"
json 'nothing usable' '.usable | not'
if [ "$("$PEBSD" --probe --json | jq .usable)" = true ]; then
	json 'that they are too few' '[.refused[].reason] | any(contains("too few file descriptors"))'
fi
