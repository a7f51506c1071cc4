#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# cgroup2 or /proc is missing, or disappears while pebsd runs. pebsd must report the data that depend on them as
# missing, and everything else must continue.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl findmnt
usual_sample_rate
stand_in_pmu
own_cgroup
# Cgroups of other tests would take memory here, and pebsd would log that it adds slots for them.
alone_with_cgroups
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = 8192\n')
tree=${cgroup%/*} name=/${cgroup##*/}

# work_in CGROUP: runs a process in this cgroup. The process touches fresh memory.
work_in() {
	(
		echo "$BASHPID" >"$1/cgroup.procs"
		head -c 20000000 /dev/zero | tail -c 10000000 >/dev/null
	)
}

# The test keeps mounts of the cgroup tree and of /proc for itself, and takes the usual ones away from pebsd only.
bind "$tree" tree
bind /proc proc
cgroup=$work/tree$name
away() {
	while mountpoint -q "$1"; do
		umount --lazy "$1"
	done
}

# The processes that find names and look at neighbours start at their first use and stay.
first_uses() {
	work_in "$cgroup"
	sampled "$name"
	ctl zoom --for 1s "$name" >/dev/null
	ctl neighbours "$name" >/dev/null
	ctl reload >/dev/null
	get /metrics >/dev/null
}

# cgroup2 disappears while pebsd runs: cgroups are distinguished and named as before, even new ones.
start --config "$work/pebsd.conf"
first_uses
remember
away "$tree"
collections 1
mkdir "$cgroup/later"
work_in "$cgroup/later"
work_in "$cgroup"
still_samples 'without cgroup2'
sampled "$name"
sampled "$name/later"
expect 'malformed' 0 "$(ctl --json status | jq .samples.lost.malformed)"
get /metrics | grep -q "cgroup=\"$name\"" || fail 'without cgroup2: not exported'
for verb in "zoom --for 1s $name" "neighbours $name" 'reload' "hot $name" 'rules' 'alerts'; do
	code=0
	# shellcheck disable=SC2086 # words
	ctl $verb >"$work/said" 2>&1 || code=$?
	[ "$code" -le 1 ] || fail "without cgroup2: $verb: exit code $code: $(cat "$work/said")"
	echo "without cgroup2: $verb: $code: $(tail -n 1 "$work/said" | cut -c 1-160)"
done
rmdir "$cgroup/later"
still_samples 'without cgroup2'
given_back 'without cgroup2'
quiet 'without cgroup2' 3
kill "$daemon"
wait "$daemon" || fail 'without cgroup2 it does not end well'
daemon=''

# cgroup2 is missing at the start.
# shellcheck disable=SC2016 # the inner shell's
exits 'no cgroup2 at the start' 3 timeout 60 unshare --mount --propagation unchanged sh -c \
	"$private_mounts"' && umount --all --lazy --types cgroup2; exec "$@"' sh \
	"$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none
grep -q 'no cgroup2 file system is mounted.*mount it' "$work/said" || fail "no cgroup2 at the start: $(cat "$work/said")"
expect 'lines' 1 "$(wc -l <"$work/said")"

# /proc disappears while pebsd runs: pebsd leaves out the data from it, and everything else continues.
proc=$work/proc
start --config "$work/pebsd.conf"
get /metrics >"$work/before"
first_uses
remember
work_in "$cgroup"
# The leak detector reads the threads of the process in /proc, so switch it off.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
mount -t tmpfs none /proc
still_samples 'without /proc'
get /metrics >"$work/metrics"
for metric in pebsd_samples_seen_total pebsd_cgroups pebsd_collection_duration_seconds; do
	grep -q "^$metric" "$work/metrics" || fail "without /proc: no $metric"
done
for verb in "zoom --for 1s $name" "profile --for 1s -o $work/profile $name" "neighbours $name" reload status top; do
	code=0
	# shellcheck disable=SC2086 # words
	ctl $verb >"$work/said" 2>&1 || code=$?
	[ "$code" -le 1 ] || fail "without /proc: $verb: exit code $code: $(cat "$work/said")"
	echo "without /proc: $verb: $code: $(tail -n 1 "$work/said" | cut -c 1-160)"
done
still_samples 'without /proc'
given_back 'without /proc'
quiet 'without /proc' 5
kill "$daemon"
wait "$daemon" || fail 'without /proc it does not end well'
daemon=''

# /proc is empty from the start. HTTP needs it, because its process is started through /proc.
configure model </dev/null
exits 'HTTP without /proc' 1 timeout 60 "$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen "127.0.0.1:$(free_port)"
grep -q 'cannot serve HTTP.*/proc/self/exe.*mount /proc.*listen = none' "$work/said" || fail "HTTP without /proc: $(cat "$work/said")"
start --config "$work/pebsd.conf" --listen none
still_samples 'started without /proc'
until_is 'lines of one started without /proc' 3 grep -c '' "$work/log"
kill "$daemon"
wait "$daemon" || fail 'started without /proc it does not end well'
daemon=''
configure perf </dev/null
exits 'origin perf without /proc' 3 timeout 60 "$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none
grep -q '/proc/self/mountinfo: .*mount /proc' "$work/said" || fail "origin perf without /proc: $(cat "$work/said")"
expect 'lines' 1 "$(wc -l <"$work/said")"
umount /proc
