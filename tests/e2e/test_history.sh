#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The history must have exactly what was counted: after an end, and after pebsd and the process that keeps the history
# were killed. Time without pebsd must be a gap. A directory that cannot be written, and a recording, must cost only the
# history.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl pgrep

mkdir "$work/state"
export STATE_DIRECTORY=$work/state
printf '[sampling]\norigin = model\nevents = loads\ninterval = 250ms\n[history]\nkeep = yes\nsize = 20M\nage = 2h\n' >"$work/pebsd.conf"

# begin BEFORE: with a clock that is about BEFORE seconds before the machine's. A pane ends at each full ten seconds, so
# the first one ends soon.
begin() {
	set_clock $((7 - $(date +%s) % 10 - $1))
	start_with_clock --config "$work/pebsd.conf"
}

stop() {
	kill "$daemon"
	wait "$daemon" || fail 'pebsd did not end well'
	daemon=''
}

# state FIELD: of the history
state() {
	ctl --json status | jq -c ".history.$1"
}

# The samples of each cgroup in a range of time.
samples_of() {
	ctl --json top --since "$1" --until "$2" | jq -cS '[.cgroups[] | {(.cgroup): .events.loads.samples}] | add'
}

# now [SECONDS]: prints the time by the clock of pebsd, or the time SECONDS later.
now() {
	date -u -d "$((stepped + ${1:-0})) seconds" +%Y-%m-%dT%H:%M:%S.%6NZ
}

pane_stored() {
	[ "$(state panes_stored)" -gt "$1" ]
}

stored() {
	[ "$(ctl --json top --since "$1" --until "$2" | jq '.samples.seen')" -gt 0 ]
}

# An end stores everything, also the pane that is not complete.
set_clock -70
first=$(now)
begin 60
until_true 'a pane of the first process is stored' pane_stored 0
collections 1
stop
total=$(sed -n 's/^pebsd: total: \([0-9,]*\) samples of loads seen.*/\1/p' "$work/log" | tr -d ,)
[ "${total:-0}" -gt 0 ] || fail 'pebsd did not log the total'
# Times are whole seconds: the fraction of one that is given is dropped, and with it a pane that ends there.
ended=$(now 1)
[ -s "$work/state/history.sqlite" ] || fail 'no history was made'
# Panes on both sides of a gap below 10 s may be added up to one: they are added up by bins of 10 s.
begin 40
until_true 'the history of the first process is there' stored "$first" "$ended"
busiest=$(ctl --json top --since "$first" --until "$ended" | jq -r '.cgroups[0].cgroup')
ctl show --since 1970-01-01 "$busiest" >"$work/said" 2>&1 || fail "show since 1970: $(cat "$work/said")"
expect 'samples of the first process' "$total" "$(ctl --json top --since "$first" --until "$ended" | jq .samples.seen)"
sum=$(samples_of "$first" "$ended" | jq add)
expect 'samples of all cgroups of the first process' "$total" "$sum"

# Killed: what was acknowledged is there, and the time without pebsd is a gap.
until_true 'a pane of the second process is stored' pane_stored 0
killed=$(now)
before=$(samples_of "$first" "$killed")
kill -9 "$daemon"
wait "$daemon" || :
begin 20
until_true 'the history is there again' stored "$first" "$killed"
expect 'samples that were acknowledged before the kill' "$before" "$(samples_of "$first" "$killed")"
until_true 'a pane of the third process is stored' pane_stored 0
gaps=$(ctl --json top --since "$first" --until "$(now)" | jq -r '[.gaps[]? | (.until | sub("\\.[0-9]+"; "") | fromdate) - (.since | sub("\\.[0-9]+"; "") | fromdate)] | map(select(. >= 2)) | length')
[ "$gaps" -ge 2 ] || fail "expected a gap of each time without pebsd: $(ctl --json top --since "$first" | jq -c .gaps)"

# The process that keeps the history is killed: it is started again, and nothing is lost.
keeper=$(pgrep -P "$daemon" -f -- --keeper) || fail 'no process keeps the history'
kill -9 "$keeper"
until_true 'the process that keeps the history runs again' pgrep -P "$daemon" -f -- --keeper
until_true 'a pane is stored again' pane_stored "$(state panes_stored)"
get /metrics >"$work/metrics"
grep -q '^pebsd_history_restarts_total 1' "$work/metrics" || fail "metrics: $(grep pebsd_history "$work/metrics")"
grep -q '^pebsd_history_panes_lost_total 0' "$work/metrics" || fail 'panes were lost'
grep -q '^pebsd_history_bytes [1-9]' "$work/metrics" || fail 'the size of the history is not exported'

# A reload changes the limits.
sed -i 's/size = 20M/size = 30M/' "$work/pebsd.conf"
ctl reload | grep -q 'applied: size' || fail 'the size was not applied'
expect 'the limit' $((30 << 20)) "$(state bytes_max)"
stop

# A directory that is missing and cannot be made costs only the history.
STATE_DIRECTORY=/proc/none start --config "$work/pebsd.conf"
grep -q 'no history is kept' "$work/log" || fail 'the directory that cannot be made was not logged'
expect 'status without a history' '"it could not be started"' "$(state off_reason)"
[ "$(ctl --json top | jq '.cgroups | length')" -gt 0 ] || fail 'no figures without a history'
! "$PEBSCTL" --socket "$socket" top --since -1m >"$work/said" 2>&1 || fail 'top --since works without a history'
stop

start --config "$work/pebsd.conf" --replay "$(recording)"
grep -q 'no history is kept: a replay has the times of its recording' "$work/log" ||
	fail 'a history of a recording was not refused'
stop
