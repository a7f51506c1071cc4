# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of faults beside it: what holds after each of them. It still samples, it has its memory back, and the
# fault is named, but not a thousand times.
#
# With `mounts=yes` set before, in a mount namespace of the test's own: what it mounts is seen by nobody else. The root
# of a chroot need not be a mount, so it is from the namespace's own root that its mounts are made private.
private_mounts='nsenter --mount=/proc/self/ns/mnt mount --make-rprivate /'
if [ "${mounts:-}" = yes ] && [ "$(id -u)" = 0 ]; then
	exec env mounts=its_own unshare --mount --propagation unchanged sh -c "$private_mounts && exec \"\$0\"" "$0"
fi
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

# The allocator gives memory back by the page, and keeps some: so many KiB more than before are no leak. What leaks a
# few bytes each time is found where allocations are counted, by test_faults_memory.
memory_slack=1024
# Under the address sanitizer memory is its, not the daemon's.
! ldd "$PEBSD" | grep -q libasan || memory_slack=1000000

# configure ORIGIN: collected ten times a second. Further lines come on standard input.
configure() {
	printf '[sampling]\norigin = %s\ninterval = 100ms\n' "$1" >"$work/pebsd.conf"
	cat >>"$work/pebsd.conf"
}

seen() {
	ctl --json status >"$work/status.json" 2>"$work/said" && jq .samples.seen "$work/status.json"
}

# Among a crowd of its own user's, whoever comes may be sent away for a second.
still_samples() {
	local before='' after
	for _ in $(seq 30); do
		kill -0 "$daemon" 2>/dev/null || fail "$1: pebsd has ended"
		before=$(seen) && break
		sleep 0.1
	done
	[ -n "$before" ] || fail "$1: status is not answered: $(cat "$work/said")"
	for _ in $(seq 50); do
		after=$(seen) || fail "$1: status is not answered: $(cat "$work/said")"
		[ "$after" -le "$before" ] || return 0
		sleep 0.1
	done
	fail "$1: it samples no more: $after samples, as before"
}

# Where the test itself reads of processes.
proc=/proc

# Of its own, in KiB: neither the maps nor files.
memory() {
	awk '/^RssAnon:/ { print $2 }' "$proc/$daemon/status"
}

descriptors() {
	find "$proc/$daemon/fd" -mindepth 1 | wc -l
}

# Remembers what is held before a fault, once all that is made at its first use has been.
remember() {
	ctl status >/dev/null
	sleep 0.3
	memory_before=$(memory) descriptors_before=$(descriptors) log_before=$(wc -l <"$work/log")
}

# Waits for it: connections end, and windows are written, a little later.
given_back() {
	local now
	for _ in $(seq 50); do
		now=$(memory)
		[ "$now" -le $((memory_before + memory_slack)) ] && [ "$(descriptors)" -le "$descriptors_before" ] && return
		sleep 0.1
	done
	[ "$(descriptors)" -le "$descriptors_before" ] ||
		fail "$1: $(descriptors) descriptors, before $descriptors_before: $(ls -l "$proc/$daemon/fd")"
	fail "$1: $now KiB of its own, before $memory_before"
}

# named WHAT TEXT [MOST]: in the log since `remember`, at least once.
named() {
	local times
	times=$(tail -n +$((log_before + 1)) "$work/log" | grep -c -- "$2" || :)
	[ "$times" -ge 1 ] || fail "$1: the log does not say: $2"
	[ "$times" -le "${3:-1}" ] || fail "$1: the log says $times times: $2"
}

# quiet WHAT MOST: so many lines since `remember`. What a stand-in for a PMU counts and does not sample is no fault.
quiet() {
	local lines
	lines=$(tail -n +$((log_before + 1)) "$work/log" | grep -vc 'lost .* samples of loads: unexplained' || :)
	[ "$lines" -le "$2" ] || fail "$1: $lines lines in the log, more than $2"
}

# CPU time taken by now, in ms.
cpu() {
	awk -v hertz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hertz) }' "$proc/$daemon/stat"
}

# In a mount namespace: a core PMU that is none. Its load latency event is the software event of page faults, which any
# machine has: origin perf opens it, has its program run by it, and follows the machine's cgroups, as ever.
stand_in_pmu() {
	local devices=/sys/bus/event_source/devices
	[ "${mounts:-}" = its_own ] || fail 'this would hide the PMU of the machine'
	mount -t tmpfs none "$devices"
	mkdir -p "$devices/cpu/events" "$devices/cpu/format" "$devices/cpu/caps"
	echo 1 >"$devices/cpu/type" # PERF_TYPE_SOFTWARE
	echo event=0x2 >"$devices/cpu/events/mem-loads" # PERF_COUNT_SW_PAGE_FAULTS
	echo config:0-7 >"$devices/cpu/format/event"
	echo config1:0-15 >"$devices/cpu/format/ldlat"
	echo 3 >"$devices/cpu/caps/max_precise"
	echo skylake >"$devices/cpu/caps/pmu_name"
}

# bind FROM NAME: FROM as $work/NAME, until the test ends.
bind() {
	mkdir "$work/$2"
	mount --bind "$1" "$work/$2"
	bound="${bound:-} $work/$2"
}

let_go() {
	local place
	for place in ${bound:-}; do
		umount --lazy "$place" 2>/dev/null || :
	done
}

# A cgroup of the test's own, gone with it and with all that runs there.
own_cgroup() {
	local root
	root=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET) || skip 'needs cgroup2'
	cgroup=$root/pebsd-faults-$$
	mkdir "$cgroup"
	trap end_with_cgroup EXIT
}

# In the cgroup N below that: a process that touches fresh memory.
work_in() {
	(
		echo "$BASHPID" >"$cgroup/$1/cgroup.procs"
		head -c 20000000 /dev/zero | tail -c 10000000 >/dev/null
	)
}

# shellcheck disable=SC2317 # called by the trap
end_with_cgroup() {
	local status=$?
	echo 1 >"$cgroup/cgroup.kill"
	# Who is killed leaves a little later.
	for _ in $(seq 50); do
		find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null
		[ -d "$cgroup" ] || break
		sleep 0.1
	done
	if [ -d "$cgroup" ]; then
		echo "$cgroup is left behind: $(cat "$cgroup/cgroup.procs")"
		status=1
	fi
	let_go
	end
	exit "$status"
}
