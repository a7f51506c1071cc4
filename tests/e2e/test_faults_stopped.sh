#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The process is stopped for a while (SIGSTOP; some seconds stand for a minute), as by a debugger or a suspended
# machine. What arrives in the meantime is counted over the time that it took. No rule takes it for a burst, and pebsd
# continues.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl
stand_in_pmu
own_cgroup
name=/${cgroup##*/}
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = 4096\n')

# Touches fresh memory at a constant pace all the time.
(
	echo "$BASHPID" >"$cgroup/cgroup.procs"
	while :; do
		head -c 2000000 /dev/zero | tail -c 1000000 >/dev/null
		sleep 0.02
	done
) &
others=$!

# Prints the samples per second as the kernel counts them, over the real length of the window.
rate() {
	ctl --json --window "$1" show "$name" | jq '.events.loads.weighted.samples / .window_s'
}

# rule NAME TIMES: writes a rule that fires above TIMES the usual rate.
rule() {
	printf '[rule %s]\ncgroup = %s\nmetric = rate\nwindow = 4s\nfor = 0\n' "$1" "$name"
	awk -v usual="$usual" -v times="$2" 'BEGIN { printf "above = %d\n", usual * times }'
}

firing() {
	ctl --json alerts | jq --raw-output '[.alerts[] | select(.state != "inactive").rule] | join(" ")'
}

start --config "$work/pebsd.conf"
sleep 3
usual=$(rate 3s)
configure perf < <(
	printf 'period = 100\nbudget = off\n[cgroups]\nmax = 4096\n'
	rule burst 4
	rule usual 0.1
)
ctl reload >/dev/null
get /healthz >/dev/null
for _ in $(seq 100); do
	[ "$(firing)" != usual ] || break
	sleep 0.1
done
expect 'what fires at the usual rate' usual "$(firing)"

remember
"$PEBSCTL" --socket "$socket" watch >"$work/watched" 2>&1 &
watcher=$!
others="$others $watcher"
sleep 0.3
kill -STOP "$daemon"
sleep 8
kill -CONT "$daemon"
for _ in $(seq 10); do
	# The shortest window includes the time that pebsd was stopped, with all samples of that time.
	now=$(rate 1s)
	awk -v now="$now" -v usual="$usual" 'BEGIN { exit now > 4 * usual }' ||
		fail "after it was stopped: $now samples a second, before $usual: $(ctl --json --window 1s show "$name")"
	sleep 0.1
done
expect 'what fires after it was stopped' usual "$(firing)"
sleep 2
expect 'what fires later' usual "$(firing)"
kill "$watcher"
! grep -q 'burst' "$work/watched" || fail "told of: $(cat "$work/watched")"
still_samples 'after it was stopped'
given_back 'after it was stopped'
quiet 'after it was stopped' 3
expect 'malformed' 0 "$(ctl --json status | jq .samples.lost.malformed)"
get /healthz >/dev/null || fail 'it is not healthy'
kill "$daemon"
wait "$daemon" || fail 'it does not end well'
daemon=''
