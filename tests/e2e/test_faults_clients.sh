#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Clients of the control socket that are slow, silent, too many or too busy must not stop pebsd or keep others out.
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need setpriv mkfifo socat curl
crowd=$TOOLS/crowd

status_call='{"method":"io.pebsd.GetStatus"}'
reload_call='{"method":"io.pebsd.Reload"}'
watch_call='{"method":"io.pebsd.Watch","more":true}'

# background NAME COMMAND...: runs the command until `finished` ends its input.
background() {
	mkfifo "$work/$1.input"
	"${@:2}" <"$work/$1.input" >"$work/$1.said" &
	others=$!
	exec 5>"$work/$1.input"
}

finished() {
	exec 5>&-
	wait "$others" || :
	others=''
}

value() {
	tr ' ' '\n' <"$work/$1.said" | sed -n "s/^$2=//p"
}

wait_for() {
	until_true "$1 is done" [ -s "$work/$1.said" ]
}

configure model </dev/null
start --config "$work/pebsd.conf"

# A thousand clients are silent: a client with a request still gets in.
remember
background silent "$crowd" "$socket" hold 1000
wait_for silent
expect 'connections of 1000 that got in' 1000 "$(value silent connected)"
still_samples '1,000 silent connections'
began=$(uptime_ms) before=$(cpu)
collections 10
took=$(($(cpu) - before)) ms=$(($(uptime_ms) - began))
[ $((took * 10)) -le $((ms * 3)) ] || fail "1,000 silent connections cost $took ms of CPU time in $ms ms"
[ "$(descriptors)" -le $((descriptors_before + 70)) ] || fail "pebsd has $(descriptors) descriptors open for silent clients"
finished
still_samples 'after 1,000 silent connections'
given_back 'after 1,000 silent connections'
quiet '1,000 silent connections' 1

# Watching clients are not silent and stay connected. Others must get in nevertheless.
remember
background watchers "$crowd" "$socket" hold 200 "$watch_call"
wait_for watchers
still_samples '200 watchers'
finished
given_back 'after 200 watchers'
quiet '200 watchers' 1

# Another user's crowd must never keep root out, however busy it is.
chmod 711 "$work" "${TMPDIR:-$work}"
chmod 666 "$socket"
remember
background crowd setpriv --reuid=65534 --regid=65534 --clear-groups "$crowd" "$socket" hold 300 "$status_call"
for _ in $(seq 40); do
	ctl status >/dev/null || fail 'a crowd keeps root out'
done
wait_for crowd
finished
chmod 600 "$socket"
still_samples "after another user's crowd"
given_back "after another user's crowd"
quiet "another user's crowd" 1

# Each of a thousand clients with a request at the same time gets an answer or is disconnected; none gets an error.
remember
"$crowd" "$socket" call 1000 "$status_call" >"$work/asking.said"
[ "$(value asking answered)" -gt 0 ] || fail "none of 1,000 is answered: $(cat "$work/asking.said")"
expect 'replies with an error' 0 "$(value asking refused)"
still_samples 'after 1,000 questions'
given_back 'after 1,000 questions'
quiet '1,000 questions' 1

# A message of 100 MB without an end.
remember
"$crowd" "$socket" send 100000000 >"$work/long.said"
[ "$(value long taken)" -lt 10000000 ] || fail "it took $(value long taken) bytes of one message"
expect 'a message of 100 MB is refused' 1 "$(value long refused)"
expect 'and its connection closed' 1 "$(value long closed)"
[ "$(memory)" -lt $((memory_before + memory_slack + 4096)) ] || fail "a message of 100 MB takes $(memory) KiB"
still_samples 'after 100 MB'
given_back 'after 100 MB'
quiet '100 MB' 1

# If a client sends requests and reads no replies, pebsd stops reading from it.
remember
background deaf "$crowd" "$socket" deaf 100000 "$status_call"
wait_for deaf
[ "$(value deaf taken)" -lt 10000000 ] || fail "pebsd accepted $(value deaf taken) bytes from a client that reads nothing"
still_samples 'a client that does not read'
[ "$(memory)" -lt $((memory_before + memory_slack + 4096)) ] || fail "a client that does not read takes $(memory) KiB"
finished
given_back 'after a client that does not read'
quiet 'a client that does not read' 1

# Three clients request and read without end. Everybody else must get a turn, also over HTTP. One scrape comes
# first, because its body stays in memory.
get /metrics >"$work/body"
remember
for _ in $(seq 500); do
	printf '%s\0' "$status_call"
done >"$work/calls"
for _ in 1 2 3; do
	while cat "$work/calls"; do
		:
	done 2>/dev/null | socat - "UNIX-CONNECT:$socket" >/dev/null 2>&1 &
	others="${others:-} $!"
done
collections 5
for _ in 1 2 3 4 5; do
	get /healthz >"$work/body" || fail 'clients that ask without an end keep HTTP waiting'
	expect 'health' ok "$(cat "$work/body")"
	get /metrics >"$work/body" || fail 'clients that ask without an end keep a scrape waiting'
done
still_samples 'beside clients that ask without an end'
for pid in $others; do
	kill "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || :
done
others=''
given_back 'after clients that ask without an end'
quiet 'clients that ask without an end' 1

# A storm of reloads: the log must have the first ones one by one. The number of the others follows after a minute,
# or when pebsd ends.
remember
reloads=0
for _ in $(seq 25); do
	"$crowd" "$socket" call 40 "$reload_call" >"$work/storm.said"
	reloads=$((reloads + $(value storm answered)))
done
expect 'reloads that were answered' 1000 "$reloads"
still_samples 'after 1,000 reloads'
given_back 'after 1,000 reloads'
named '1,000 reloads' 'configuration read again; nothing has changed' 3 4
quiet '1,000 reloads' 6 4

kill -TERM "$daemon"
code=0
wait "$daemon" || code=$?
daemon=''
expect 'exit code' 0 "$code"
named 'the rest of 1,000 reloads' 'more times*: configuration read again' 1 1
expect 'logged reloads and the number of those not logged' 1000 "$(tail -n +$((log_before + 1)) "$work/log" | awk '
	/configuration read again; nothing has changed/ { n += match($0, /[0-9]+ more times?: /) ? substr($0, RSTART) + 0 : 1 }
	END { print n }')"
