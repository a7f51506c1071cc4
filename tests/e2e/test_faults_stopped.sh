#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The process is stopped for a while (SIGSTOP; some seconds stand for a minute), as by a debugger or a suspended
# machine. Samples that arrive in the meantime are counted over the whole time. No rule takes them for a burst, and
# pebsd continues.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl
# With a low limit the kernel leaves out samples, and the usual rate would be too low.
usual_sample_rate
stand_in_pmu
own_cgroup
# Cgroups of other tests take memory here.
alone_with_cgroups
name=/${cgroup##*/}
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = 8192\n')

# Touches fresh memory all the time: at most ten times a second, and more slowly if others take the CPUs.
# `$work/turns` has a byte for each time.
(
	echo "$BASHPID" >"$cgroup/cgroup.procs"
	while :; do
		head -c 2000000 /dev/zero | tail -c 1000000 >/dev/null
		printf . >>"$work/turns"
		sleep 0.1
	done
) &
work_loop=$!
others=$work_loop

turns() {
	stat -c %s "$work/turns" 2>/dev/null || echo 0
}

# more_turns N: waits until the work has been done N more times
more_turns() {
	local until
	until=$(($(turns) + $1))
	for _ in $(seq 1200); do
		[ "$(turns)" -lt "$until" ] || return 0
		sleep 0.1
	done
	fail "the work goes on too slowly: $(turns) times"
}

# Prints the weighted samples since the start.
counted() {
	ctl --json show "$name" | jq .events.loads.weighted.samples
}

# Prints the weighted samples per second, over the real length of the window. If the work had no CPU in that time, there
# are no samples.
rate() {
	ctl --json --window "$1" show "$name" | jq '(.events.loads.weighted.samples // 0) / .window_s'
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
sampled "$name"
# The highest possible rate on any machine is that of ten turns a second. The samples are counted before the first of
# these turns and after the last one, so that no delay in between makes the computed rate too low. With many turns, the
# few others in between do not count.
before=$(counted)
turns_before=$(turns)
more_turns 60
turns_after=$(turns)
collections 1
usual=$(awk -v counted="$(counted)" -v before="$before" -v turns=$((turns_after - turns_before)) \
	'BEGIN { print 10 * (counted - before) / turns }')
configure perf < <(
	printf 'period = 100\nbudget = off\n[cgroups]\nmax = 8192\n'
	rule burst 1.5
	rule usual 0.1
)
ctl reload >/dev/null
get /healthz >/dev/null
until_is 'what fires at the usual rate' usual firing

"$PEBSCTL" --socket "$socket" watch >"$work/watched" 2>&1 &
watcher=$!
others="$others $watcher"
# pebsctl is watching as soon as it has shown something.
for _ in $(seq 600); do
	[ ! -s "$work/watched" ] || break
	ctl reload >/dev/null
	sleep 0.1
done
remember
kill -STOP "$daemon"
more_turns 80
kill -CONT "$daemon"
for _ in $(seq 10); do
	# The shortest window includes the time that pebsd was stopped, with all samples of that time.
	now=$(rate 1s)
	awk -v now="$now" -v usual="$usual" 'BEGIN { exit now > 4 * usual }' ||
		fail "after it was stopped: $now samples a second, before $usual: $(ctl --json --window 1s show "$name")"
	sleep 0.1
done
# The alert may have resolved, because the work had no CPU for some seconds. Then it fires again.
until_is 'what fires after it was stopped' usual firing
more_turns 20
until_is 'what fires later' usual firing
kill "$watcher"
wait "$watcher" || :
others=$work_loop
! grep -q 'burst' "$work/watched" || fail "told of: $(cat "$work/watched")"
[ "$(times_named burst)" = 0 ] || fail 'a burst is told of'
still_samples 'after it was stopped'
given_back 'after it was stopped'
# The lines of an alert that resolved and fired again do not count.
quiet 'after it was stopped' $((3 + $(times_named ': usual [a-z]* on ')))
expect 'malformed' 0 "$(ctl --json status | jq .samples.lost.malformed)"
get /healthz >/dev/null || fail 'it is not healthy'
kill "$daemon"
wait "$daemon" || fail 'it does not end well'
daemon=''
