#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsctl pause and resume, on the model. During a pause nothing is sampled and nothing is lost, and every output
# says so. A pause with a duration ends by itself. Also tests who may pause, and what is refused.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl setpriv

status() {
	ctl --json status
}

seen() {
	status | jq .samples.seen
}

# readyz CODE: leaves the text in $work/said. A pause leaves /healthz as it is, so that nothing restarts pebsd for it.
readyz() {
	expect 'healthz' '200 ok' "$(fetch "$work/said" --write-out '%{http_code} ' "http://127.0.0.1:$port/healthz")$(cat "$work/said")"
	expect 'readyz' "$1" "$(fetch "$work/said" --write-out '%{http_code}' "http://127.0.0.1:$port/readyz")"
}

# metric NAME [LABEL]: prints the sum of the series of this metric, or `absent`
metric() {
	get /metrics | awk -v name="$1" -v label="${2:-}" '
		(index($0, name "{") == 1 || index($0, name " ") == 1) && index($0, label) { sum += $NF; found = 1 }
		END { print found ? sum : "absent" }'
}

paused_seconds() {
	status | jq '.samples.unsampled_seconds.paused'
}

paused_a_second() {
	status | jq '.samples.unsampled_seconds.paused >= 1'
}

is_paused() {
	status | jq .paused
}

accounted() {
	expect "$1: losses" '{"malformed":0,"unexplained":0}' "$(status | jq -c .samples.lost)"
	expect "$1: expected" true "$(status | jq '.events.loads | .samples.seen > 0 and .samples.unattributed == 0')"
}

as_other() {
	setpriv --reuid=65534 --regid=65534 "$1" "$PEBSCTL" --socket "$socket" "${@:2}"
}

more_seen() {
	[ "$(seen)" -gt "$before" ]
}

printf '[sampling]\norigin = model\nevents = loads\ninterval = 200ms\n[model]\nworkloads = all\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf"
before=0
until_true 'samples come' more_seen
expect 'paused before' false "$(status | jq .paused)"
expect 'time paused before' 0 "$(paused_seconds)"
expect 'the metric before' 0 "$(metric pebsd_paused)"
readyz 200
ctl watch >"$work/watched" &
others=$!
# pebsctl is watching as soon as it has shown something.
for _ in $(seq 600); do
	[ ! -s "$work/watched" ] || break
	ctl reload >/dev/null
	sleep 0.1
done

# A pause until `pebsctl resume`.
exits 'pause' 0 ctl pause
grep -q '^Paused until .pebsctl resume.: ' "$work/said" || fail "pause does not say how it ends: $(cat "$work/said")"
before=$(seen)
expect 'status while paused' '[true,null]' "$(status | jq -c '[.paused, .paused_until]')"
expect 'the metric while paused' 1 "$(metric pebsd_paused)"
readyz 503
grep -q '^paused until .pebsctl resume.$' "$work/said" || fail "readyz does not say why: $(cat "$work/said")"
ctl status | grep -qi 'paused' || fail "status does not say it: $(ctl status)"
until_is 'the time that goes by is told' true paused_a_second
expect 'samples while paused' "$before" "$(seen)"
exits 'reload while paused' 0 ctl reload
expect 'paused after a reload' true "$(status | jq .paused)"
exits 'resume' 0 ctl resume
# shellcheck disable=SC2016 # the backticks are part of the output
expect 'what resume says' 'The pause has ended; `pebsctl status` shows what is sampled.' "$(cat "$work/said")"
expect 'paused after' false "$(status | jq .paused)"
readyz 200
until_true 'it samples after the pause' more_seen
accounted 'after a pause'
exits 'resume again' 0 ctl resume
expect 'what it says' 'Sampling was not paused.' "$(cat "$work/said")"
expect 'for programs' '{"was_paused":false}' "$(ctl --json resume | jq -c .)"

# A pause that ends by itself. The later of two requests counts.
taken=$(paused_seconds)
first=$(uptime_ms)
exits 'a long pause' 0 ctl pause --for 1h
ctl --json pause --for 2m | jq -r .paused_until >"$work/until"
expect 'until when' "$(cat "$work/until")" "$(status | jq -r .paused_until)"
readyz 503
grep -q "^paused until $(cat "$work/until")" "$work/said" || fail "readyz does not say until when: $(cat "$work/said")"
begin=$(uptime_ms)
ctl --json pause --for 2s | jq -r .paused_until >"$work/until"
until_is 'paused when its time is over' false is_paused
end=$(uptime_ms)
[ $((end - begin)) -ge 1990 ] || fail "a pause of 2 s was over after $((end - begin)) ms"
# The model has seven CPUs, one per workload, and the time of all of them is summed.
taken=$(status | jq --argjson before "$taken" '(.samples.unsampled_seconds.paused - $before) / 7 * 1000 | floor')
[ "$taken" -ge 1990 ] || fail "$taken ms of 2000 are told"
[ "$taken" -le $((end - first + 500)) ] || fail "$taken ms are told, after $((end - first))"
metric_has_time() {
	[ "$(metric pebsd_unsampled_seconds_total 'reason="paused"' | cut -d . -f 1)" -ge 14 ]
}
until_true 'the metric has the time' metric_has_time
before=$(seen)
until_true 'it samples after the pause that ended by itself' more_seen
accounted 'after a pause that ended by itself'

# A pause ends at its time even if the client that asked for it is gone.
"$PEBSCTL" --socket "$socket" pause --for 1s | true
until_is 'paused when nobody is left' false is_paused
shown=$(LC_ALL=C date -d "$(cat "$work/until")" '+%a %F %T %Z')
for line in 'pause .*paused until resumed' "pause .*paused until $shown" 'resume .*sampling again'; do
	until_true "watch has a line $line" grep -q "$line" "$work/watched"
done
logged 'paused until'

# Repeated pauses, each until another time, are logged a few times and then only counted.
before=$(grep -c 'paused until' "$work/log") begin=$(uptime_ms)
for i in $(seq 20); do
	exits 'another pause' 0 ctl pause --for "${i}m"
done
exits 'resume' 0 ctl resume
lines=$(($(grep -c 'paused until' "$work/log") - before)) minutes=$((($(uptime_ms) - begin) / 60000))
[ "$lines" -le $((3 + 4 * minutes)) ] || fail "20 pauses flood the log: $lines lines in $minutes minutes"

exits 'for no time' 2 ctl pause --for 0s
exits 'for more than a year' 2 ctl pause --for 366d
exits 'for what is no time' 2 ctl pause --for ever
exits 'another verb with --for' 2 ctl status --for 3s

# Permission to pause depends on the user.
chmod 711 "$work"
chmod 666 "$socket"
exits 'pause by another' 5 as_other --clear-groups pause
grep -q 'permits this to root alone (.detail. in \[control\]' "$work/said" || fail "who may: $(cat "$work/said")"
printf '[sampling]\norigin = model\nevents = loads\ninterval = 200ms\n[control]\ndetail = adm\n' >"$work/pebsd.conf"
exits 'reload' 0 ctl reload
grep -q 'applied: detail' "$work/said" || fail "what changed is not told: $(cat "$work/said")"
exits 'pause by one who is not in the group' 5 as_other --clear-groups pause
grep -q 'permits this to root and the group adm' "$work/said" || fail "who may: $(cat "$work/said")"
expect 'paused by one who may not' false "$(status | jq .paused)"
exits 'pause by a member of the group' 0 as_other "--groups=$(getent group adm | cut -d : -f 3)" pause
exits 'resume by another' 5 as_other --clear-groups resume
expect 'still paused' true "$(status | jq .paused)"
exits 'reload by a member of the group' 5 as_other "--groups=$(getent group adm | cut -d : -f 3)" reload
grep -q 'root alone; use sudo' "$work/said" || fail "who may reload: $(cat "$work/said")"

# A paused pebsd can be stopped.
kill -TERM "$daemon"
code=0
wait "$daemon" || code=$?
daemon=''
expect 'exit code when stopped while paused' 0 "$code"

# A replay holds no counter that a pause could free.
start --replay "$(recording)"
exits 'pause of a replay' 1 ctl pause
grep -q 'cannot pause: a replay holds no counter' "$work/said" || fail "why not: $(cat "$work/said")"
exits 'resume of a replay' 0 ctl resume
