#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A kernel that refuses a map or a program. At the start, pebsd reports which one and why, in the verifier's own
# words if the verifier refused, and ends. A later request that needs the program is refused, and sampling
# continues.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
own_cgroup
# Cgroups of other tests take memory here.
alone_with_cgroups

# spoiled WHAT COMMAND...: runs the command with a kernel that refuses WHAT
spoiled() {
	local what=$1
	shift
	env SPOIL_BPF="$what" LD_PRELOAD="$TOOLS/spoil_bpf.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" "$@"
}

# refused CODE WHAT TEXT...: pebsd prints a single line with all these texts (lines with `no measurement` do not
# count) and exits with CODE.
refused() {
	local code=$1 what=$2 text
	shift 2
	exits "$what" "$code" spoiled "$what" "$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none
	grep -v 'no measurement' "$work/said" >"$work/lines" || :
	expect "$what: lines" 1 "$(wc -l <"$work/lines")"
	for text; do
		grep -qF -- "$text" "$work/lines" || fail "$what: not told: $text: $(cat "$work/lines")"
	done
	[ ! -e "$socket" ] || fail "$what: the socket is left behind"
}

configure model </dev/null
refused 1 'map hot_of_choice 12' 'Cannot allocate memory'
# The maps of a block are made before the programs are loaded.
for map in latency_block owners_block; do
	refused 1 "map $map 12" 'cannot create the BPF maps of the slots' 'Cannot allocate memory' \
		'lower max-memory in [cgroups], or max if it is a number'
done
refused 3 'program inject 22' "prog 'inject'" 'Invalid argument' 'Linux 6.1'
refused 3 'program inject' "prog 'inject'" 'R9 !read_ok' "the kernel's verifier rejects the program"

# Other tests make cgroups. With a fixed number of slots, pebsd does not add slots for them, which it would log.
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = 8192\n')
for map in slot_index dirty injected; do
	refused 3 "map $map 1" "($map)" 'Operation not permitted' 'CAP_BPF'
done
# Maps of maps, and the map that stands in for an inner map when programs are verified.
for map in latency_blocks owners_blocks hot_tables; do
	refused 3 "map $map 1" "'$map'" 'Operation not permitted' 'CAP_BPF'
done
for map in latency_block owners_block; do
	refused 3 "map $map 1" 'cannot create the BPF maps of the slots' 'Operation not permitted' 'CAP_BPF'
done
refused 3 'program inject 1' "prog 'inject'" 'Operation not permitted' CAP_BPF
for program in event_0 cgroup_born cgroup_died; do
	refused 3 "program $program" "prog '$program'" 'R9 !read_ok' "the kernel's verifier rejects the program"
done

# begin WHAT: starts pebsd without HTTP, with a kernel that refuses WHAT, and waits until it serves.
begin() {
	export SPOIL_BPF=$1 LD_PRELOAD=$TOOLS/spoil_bpf.so
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
		"$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none >"$work/out" 2>"$work/log" &
	daemon=$!
	unset SPOIL_BPF LD_PRELOAD
	for _ in $(seq 600); do
		! ctl status >/dev/null 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || fail "$1: pebsd ended while starting"
		sleep 0.1
	done
	fail "$1: pebsd does not answer"
}

finish() {
	kill "$daemon"
	wait "$daemon" || :
	daemon=''
}

# Without this program pebsd does not know which cgroups hold virtual machines. pebsd logs this once and samples
# these cgroups too.
begin 'program guest_cgroups'
log_before=0
still_samples 'without the program that finds virtual machines'
named 'it' 'cannot mark cgroups with virtual machines, so any cgroup may contain one: .*guest_cgroups.*R9 !read_ok'
finish

# Without this program no zoom is possible. Each request fails with the reason, and sampling continues.
begin 'program zoom_all 1'
remember
for _ in 1 2 3; do
	exits 'a zoom whose program is refused' 1 ctl zoom --for 1s "/${cgroup##*/}"
	grep -q "prog 'zoom_all'.*Operation not permitted.*CAP_BPF" "$work/said" || fail "a zoom: $(cat "$work/said")"
done
still_samples 'after a zoom that was refused'
given_back 'after a zoom that was refused'
quiet 'a zoom that was refused' 3
finish
