#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An ordinary user, and a process under a filter that refuses bpf(2), can show the model and recordings: pebsd then
# accounts samples in its own process and says so in one line. The figures of a recording are the same bytes. Every
# verb works for that user. To profile the machine still needs the privileges.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need curl jq setpriv
own='accounts samples in its own process, because it cannot use BPF (Operation not permitted); the figures are the same'

# The programs where any user may read them, and a directory of that user.
user=65534
mkdir -p "$work/tree/build" "$work/tree/tests/tools" "$work/tree/config" "$work/run" "$work/state"
cp "$PEBSD" "$PEBSCTL" "$work/tree/build"
cp tests/tools/run.sh "$work/tree/tests/tools"
cp config/demo.conf "$work/tree/config"
cp "$(recording)" "$work/file"
chmod 755 "$work"
chmod 644 "$work/file"
chown -R "$user" "$work/run" "$work/state" "$work/tree/build"
PEBSD=$work/tree/build/pebsd PEBSCTL=$work/tree/build/pebsctl
as_user=(env -u RUNTIME_DIRECTORY -u STATE_DIRECTORY XDG_RUNTIME_DIR="$work/run" TMPDIR=/tmp
	setpriv --reuid="$user" --regid="$user" --clear-groups)
as_user() {
	"${as_user[@]}" "$@"
}
without_bpf() {
	"$TOOLS/without_bpf" --refuse "$@"
}

# said_once FILE: expects this one line in the log, besides the line that says that the model is not a measurement.
said_once() {
	grep -v 'no measurement' "$1" >"$work/lines" || :
	expect 'the log' "pebsd: $own" "$(cat "$work/lines")"
}

# A recording, once: with BPF, as the user, and under the filter.
"$PEBSD" --replay "$work/file" --once --json >"$work/bpf.json" 2>"$work/log" || fail 'a recording with BPF'
! grep -q 'its own process' "$work/log" || fail 'BPF is not used where it may be'
for who in as_user without_bpf; do
	"$who" "$PEBSD" --replay "$work/file" --once --json >"$work/own.json" 2>"$work/log" || fail "$who: a recording"
	said_once "$work/log"
	for file in bpf own; do
		jq -S 'del(.taken, .since)' "$work/$file.json" >"$work/$file.constant"
	done
	cmp "$work/bpf.constant" "$work/own.constant" || fail "$who: other figures than with BPF"
	"$who" "$PEBSD" --replay "$work/file" --once >"$work/text" 2>"$work/log" || fail "$who: a recording as text"
	grep -q '^postgresql ' "$work/text" || fail "$who: $(cat "$work/text")"
	"$who" "$PEBSD" --compare --replay "$work/file" --replay "$work/file" >"$work/text" 2>"$work/log" ||
		fail "$who: compare"
	"$who" "$PEBSD" --origin model --once --for 2s --json >"$work/model.json" 2>"$work/log" || fail "$who: the model"
	said_once "$work/log"
	expect "$who: the model's samples" '[true,0,0]' \
		"$(jq -c '.samples | [.seen > 1000, .unattributed, (.lost_unexplained // 0)]' "$work/model.json")"
done

# A recording with more cgroups than the first slots: slots are added.
"$TOOLS/make_hostile" "$work/hostile" 1000
chmod 644 "$work/hostile"
"$PEBSD" --replay "$work/hostile" --once --json 2>/dev/null | jq -S 'del(.taken, .since)' >"$work/bpf.constant"
as_user "$PEBSD" --replay "$work/hostile" --once --json 2>/dev/null | jq -S 'del(.taken, .since)' >"$work/own.constant"
cmp "$work/bpf.constant" "$work/own.constant" || fail 'other figures of many cgroups'

# To profile this machine, nothing else will do.
for who in as_user without_bpf; do
	exits "$who: perf" 3 "$who" "$PEBSD" --origin perf --once --for 1s
	! grep -q 'its own process' "$work/said" || fail "$who: perf without BPF"
done

# Served by the user, with the default socket.
port=$(free_port)
socket=$work/run/pebsd/control.sock
printf '[cgroups]\nhot = model:*\n[history]\nkeep = yes\n' >"$work/user.conf"
chmod 644 "$work/user.conf"
"${as_user[@]}" env STATE_DIRECTORY="$work/state" "$PEBSD" --origin model --config "$work/user.conf" --listen "127.0.0.1:$port" \
	>"$work/out" 2>"$work/log" &
daemon=$!
user_ctl() {
	as_user "$PEBSCTL" "$@"
}
if [ -e /run/pebsd/control.sock ]; then # of this machine's own pebsd
	user_ctl() {
		as_user "$PEBSCTL" --socket "$socket" "$@"
	}
fi
served() {
	user_ctl status >/dev/null 2>&1
}
until_true 'the user is served' served
grep -q "serving: .*$socket" "$work/log" || fail 'the default socket'
expect 'warnings' 0 "$(grep -c -e cannot -e 'not exist' <(grep -v "$own" "$work/log") || :)"
user_ctl status >"$work/text"
grep -q "of records in pebsd's process, without BPF" "$work/text" || fail "status: $(cat "$work/text")"
expect 'status' '["model",true]' "$(user_ctl status --json | jq -c '[.origin, .in_process]')"
sampled() {
	[ "$(user_ctl top --json | jq .samples.seen)" -gt 1000 ]
}
until_true 'samples' sampled
cgroup=$(user_ctl top --json | jq -r '.cgroups[0].cgroup')
user_ctl show "$cgroup" >"$work/text" || fail "show $cgroup"
user_ctl alerts >"$work/text" || fail 'alerts'
hot() {
	user_ctl hot "$cgroup" --json | jq -ne 'input | .events.loads.code | length > 0' >/dev/null
}
until_true 'hot tables' hot
user_ctl reload >"$work/text" 2>&1 || fail "the user may not reload the user's own pebsd: $(cat "$work/text")"
get /metrics >"$work/metrics"
grep -q '^pebsd_latency_cycles_bucket{cgroup="model:' "$work/metrics" || fail 'no metrics'
kill "$daemon"
status=0
wait "$daemon" || status=$?
daemon=''
expect 'exit code' 0 "$status"

# Without a runtime directory, the message says what to do.
exits 'no place for the socket' 1 as_user env -u XDG_RUNTIME_DIR "$PEBSD" --origin model --listen none
grep -q 'give another --socket' "$work/said" || fail "the way out is not told: $(cat "$work/said")"

# make run, as far as its script: the demo.
"${as_user[@]}" sh "$work/tree/tests/tools/run.sh" "$work/tree/build" >"$work/said" 2>&1 &
daemon=$!
until_true 'the demo is served' grep -q 'Ctrl-C' "$work/said"
grep -q 'sudo make run' "$work/said" || fail "it is not told how to profile: $(cat "$work/said")"
grep -q 'Origin: model' "$work/said" || fail "not the model: $(cat "$work/said")"

# Another one says how to reach the first, and leaves its history alone. After the first has ended it runs.
run=$work/tree/build/run
until_true 'what another one says' test -s "$run/running"
page=$(grep -o 'http://127.0.0.1:[0-9]*/' "$run/running" | head -n 1)
exits 'another make run' 1 as_user sh "$work/tree/tests/tools/run.sh" "$work/tree/build"
for text in "$page" 'PEBSD_SOCKET=/tmp/pebsd-run' 'make run: it runs already'; do
	grep -qF "$text" "$work/said" || fail "another one does not say '$text': $(cat "$work/said")"
done
curl -sf "$page" >/dev/null || fail 'the first one was disturbed'
kill "$daemon"
wait "$daemon" || :
[ ! -e "$run/running" ] || fail 'what ended still seems to run'
# A run that was killed could not remove the file.
printf 'killed\n' >"$run/running"
"${as_user[@]}" sh "$work/tree/tests/tools/run.sh" "$work/tree/build" >"$work/again" 2>&1 &
daemon=$!
until_true 'it starts again' test -s "$work/again"
! grep -q killed "$run/running" 2>/dev/null || fail 'what was killed still seems to run'
until_true 'it is served again' grep -q 'Ctrl-C' "$work/again"
