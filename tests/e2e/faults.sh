# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of faults in this folder. After each fault, pebsd must still sample, must have given its memory
# back, and must have named the fault in the log, but not a thousand times.
#
# If the test sets `mounts=yes` first, it runs in its own mount namespace, so nobody else sees its mounts. The root
# of a chroot need not be a mount, so the mounts are made private from the root of the namespace.
private_mounts='nsenter --mount=/proc/self/ns/mnt mount --make-rprivate /'
if [ "${mounts:-}" = yes ] && [ "$(id -u)" = 0 ]; then
	exec env mounts=its_own unshare --mount --propagation unchanged sh -c "$private_mounts && exec \"\$0\"" "$0"
fi
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

# The allocator gives memory back in pages and keeps some. This many KiB more than before are not a leak.
# test_faults_memory counts allocations and so finds a leak of a few bytes each time.
memory_slack=1024
# Under the address sanitizer most of the memory is the sanitizer's, not the daemon's.
! ldd "$PEBSD" | grep -q libasan || memory_slack=1000000

# configure ORIGIN: writes a configuration with loads alone and ten collections per second. Standard input has further
# lines.
configure() {
	printf '[sampling]\norigin = %s\nevents = loads\ninterval = 100ms\n' "$1" >"$work/pebsd.conf"
	cat >>"$work/pebsd.conf"
}

seen() {
	ctl --json status >"$work/status.json" 2>"$work/said" && jq .samples.seen "$work/status.json"
}

# Expects that pebsd still samples. In a crowd of the same user's clients, this client may be refused for a second,
# so it tries again.
still_samples() {
	local before='' after
	for _ in $(seq 600); do
		kill -0 "$daemon" 2>/dev/null || fail "$1: pebsd has ended"
		before=$(seen) && break
		sleep 0.1
	done
	[ -n "$before" ] || fail "$1: status is not answered: $(cat "$work/said")"
	for _ in $(seq 600); do
		kill -0 "$daemon" 2>/dev/null || fail "$1: pebsd has ended"
		after=$(seen) || after=''
		[ "${after:-0}" -le "$before" ] || return 0
		sleep 0.1
	done
	[ -n "$after" ] || fail "$1: status is not answered: $(cat "$work/said")"
	fail "$1: it samples no more: $after samples, as before"
}

# The /proc that the test itself reads.
proc=/proc

# Prints the daemon's own memory in KiB, without maps and files.
memory() {
	awk '/^RssAnon:/ { print $2 }' "$proc/$daemon/status"
}

descriptors() {
	find "$proc/$daemon/fd" -mindepth 1 | wc -l
}

# Remembers memory, descriptors and log before a fault. Waits for collections first: the first ones allocate more.
remember() {
	collections 3
	memory_before=$(memory) descriptors_before=$(descriptors) log_before=$(wc -l <"$work/log")
	remembered=$(uptime_ms)
}

# Prints the whole minutes since `remember`.
minutes() {
	echo $((($(uptime_ms) - remembered) / 60000))
}

# Waits until memory and descriptors are back: connections end a little later. The windows keep up to 2 KiB of each
# collection, which is 256 bytes for each of eight active cgroups. There are ten collections a second.
given_back() {
	local now most
	most=$((memory_before + memory_slack + ($(uptime_ms) - remembered) / 50))
	for _ in $(seq 600); do
		now=$(memory)
		[ "$now" -le "$most" ] && [ "$(descriptors)" -le "$descriptors_before" ] && return
		sleep 0.1
	done
	[ "$(descriptors)" -le "$descriptors_before" ] ||
		fail "$1: $(descriptors) descriptors, before $descriptors_before: $(ls -l "$proc/$daemon/fd")"
	fail "$1: $now KiB of its own, more than $most, before $memory_before"
}

# times_named TEXT: prints how many lines of the log contain TEXT, from `remember` on.
times_named() {
	tail -n +$((log_before + 1)) "$work/log" | grep -c -- "$1" || :
}

# named WHAT TEXT [MOST [A_MINUTE]]: waits until TEXT is in the log since `remember`, and expects it in at most MOST
# lines (default: 1), and A_MINUTE more for each whole minute since then. pebsd logs a repeated message three times in a
# minute, and one sum of the others when the minute is over.
named() {
	local times most=${3:-1}
	for _ in $(seq 600); do
		times=$(times_named "$2")
		[ "$times" = 0 ] || break
		sleep 0.1
	done
	[ "$times" -ge 1 ] || fail "$1: the log does not say: $2"
	# The minutes are computed after the lines were counted, so that no line is newer.
	[ -z "${4:-}" ] || most=$((most + $4 * $(minutes)))
	[ "$times" -le "$most" ] || fail "$1: the log says $times times, more than $most: $2"
}

# quiet WHAT MOST [A_MINUTE]: expects at most MOST lines in the log since `remember`, and A_MINUTE more for each whole
# minute since then. The stand-in for a PMU counts events that it does not sample, so the message about these lost
# samples does not count.
quiet() {
	local lines most=$2
	lines=$(tail -n +$((log_before + 1)) "$work/log" | grep -vc 'lost .* samples* of loads: unexplained' || :)
	[ -z "${3:-}" ] || most=$((most + $3 * $(minutes)))
	[ "$lines" -le "$most" ] || fail "$1: $lines lines in the log, more than $most"
}

# Prints the CPU time that pebsd has used so far, in ms. Compare it with the elapsed time, which may be long on a
# busy machine: read the clock before the first call and after the last one.
cpu() {
	awk -v hertz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hertz) }' "$proc/$daemon/stat"
}

# Prints how often a process, by default pebsd, has waited for events.
waits() {
	awk '/^voluntary_ctxt_switches:/ { print $2 }' "$proc/${1:-$daemon}/status"
}

# has_waited TIMES [PID]
has_waited() {
	[ "$(waits "${2:-$daemon}")" -ge "$1" ]
}

# In a mount namespace: makes a stand-in for a core PMU. Its load latency event is the software event of page faults,
# which every machine has. Origin perf opens this event, runs its program on it, and follows the machine's cgroups as
# usual.
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

# bind FROM NAME: mounts FROM as $work/NAME until the test ends.
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

# Makes the test's own cgroup. It is removed at the end, with everything that runs in it.
own_cgroup() {
	local root
	root=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET) || skip 'needs cgroup2'
	cgroup=$(mktemp -d "$root/pebsd-faults-XXXXXX")
	trap end_with_cgroup EXIT
}

# For tests that need a certain number of cgroups, or make many and measure memory. pebsd follows all cgroups of the
# machine, so only one of these tests runs at a time. That includes those of tests/bpf (tests/lib/cgroup_turn.h), and
# those of another run on this machine. The daemon holds the lock, too, and ends with the test.
alone_with_cgroups() {
	exec 8<"${cgroup%/*}"
	flock 8
}

# sampled PATH: waits until pebsd has samples of this cgroup, by its name.
sampled() {
	until_true "$1 is sampled" has_samples "$1"
}

has_samples() {
	ctl --json show "$1" 2>/dev/null | jq -ne 'input | .events | length > 0' >/dev/null
}

# work_in N: runs a process in the cgroup N below the test's own cgroup. The process touches fresh memory.
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
	# Killed processes leave the cgroup a little later.
	for _ in $(seq 600); do
		find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || :
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
