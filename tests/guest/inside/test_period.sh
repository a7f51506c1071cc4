#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A reload changes the period of running events. Every sample must be accounted with its own period, and none may be
# missing or extra. CPUs that the configuration does not name must not be sampled.
# long
# cpus: 2
# kernels: 6.12
# machines: skylake-server sapphirerapids
# takes: 120 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# No throttling, which is tested elsewhere.
set_max_rate 1000000

in_force() {
	status | sed -n 's/^.*"period": *\([0-9]*\).*/\1/p'
}

# change PERIOD SAMPLES: changes the period while samples come.
change() {
	settings '[sampling]' "period = $1"
	exits "a reload to $1" 0 systemctl reload pebsd.service
	expect 'the period in force' "$1" "$(in_force)"
	await_samples "$2"
}

# descriptors: prints the descriptors of pebsd's events. They change if an event is closed and opened again while
# others are open.
descriptors() {
	local fd
	for fd in /proc/"$(systemctl show --property=MainPID --value pebsd.service)"/fd/*; do
		case $(readlink "$fd") in
		*perf_event*) printf '%s ' "${fd##*/}" ;;
		esac
	done
}

# On Sapphire Rapids the event is in a group with a leader.
play_paused
settings '[sampling]' 'period = 499'
load pointer-chase chase.service -- --threads 2
start_pebsd
resume
await_samples 500
before=$(descriptors)
[ -n "$before" ] || fail 'pebsd has no event'
pebsctl watch >"$work/watched" &
watcher=$!
tells_of_a_birth() {
	mkdir /sys/fs/cgroup/watched
	# As long as an interval, so that a collection finds it.
	sleep 1
	rmdir /sys/fs/cgroup/watched
	grep -q 'born watched' "$work/watched"
}
wait_until 'pebsctl watch tells of a birth' 60 tells_of_a_birth
change 251 1000
change 1009 300
# Further changes before there are many samples of each period.
for period in 353 1511 353 1511; do
	change $period 10
done
change 499 500
expect 'descriptors of events' "$before" "$(descriptors)"
kill $watcher
wait $watcher || :
grep -q 'the period of loads is now 251 (was 499)' "$work/watched" ||
	fail "pebsctl watch does not tell: $(cat "$work/watched")"
scrape
expect 'the exported period' 499.000000 "$(metric pebsd_sample_period)"
settle
# This also compares the sum of all samples' periods with the books.
agree 'with seven changes of the period'
expect 'samples lost' 0 "$(($(figure lost) - $(figure guarded) - $(figure cut)))"
systemctl stop chase.service
stop_pebsd

# CPU 0 only.
play_paused
settings '[sampling]' 'cpus = 0'
load pointer-chase chase.service -- --threads 2
start_pebsd
resume
await_samples 1000
settle
agree 'CPU 0 alone'
grep -q '"cpus": *"0"' "$work/status" || fail "not on CPU 0 alone: $(cat "$work/status")"
pebsctl status | tr -s '[:space:]' ' ' >"$work/line"
grep -q 'pebsd samples only CPU 0 ' "$work/line" || fail "no note tells: $(pebsctl status)"
expect 'CPUs with samples' 0 "$(grep -o '"cpu":[0-9]*,.*"overflow":[1-9]' "$work/totals" |
	sed 's/^"cpu":\([0-9]*\),.*/\1/' | paste -s -d ' ')"
settings '[sampling]' 'cpus = all'
pebsctl reload >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q 'waiting for a restart: cpus' "$work/said" || fail "the reload says: $(cat "$work/said")"

# The configuration lists only CPUs that do not exist.
systemctl stop pebsd.service
settings '[sampling]' 'cpus = 5-7'
exits 'pebsd for CPUs that there are not' 2 pebsd --once --for 1s --socket "$work/socket" --listen none
grep -q 'cpus = 5-7 in \[sampling\]: none of these CPUs is online; the online CPUs are 0-1' "$work/said" ||
	fail "pebsd says: $(cat "$work/said")"
