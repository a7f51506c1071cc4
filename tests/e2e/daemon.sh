# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests in this folder: starts a pebsd in $TMPDIR with its own socket and endpoint, and ends it with the test.
set -eu

: "${PEBSD:=build/pebsd}" "${PEBSCTL:=build/pebsctl}" "${TOOLS:=build/tests/tools}"
work=$(mktemp -d)
socket=$work/control.sock
daemon=''
port=''

# shellcheck disable=SC2317 # called by the trap
end() {
	local pid
	for pid in $daemon ${others:-}; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	rm -rf --one-file-system "$work"
}
trap end EXIT

fail() {
	printf '%s\n' "$*"
	[ ! -s "$work/log" ] || sed 's/^/pebsd: /' "$work/log"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

need() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
}

[ "$(id -u)" = 0 ] || skip 'needs root: it loads BPF programs'

# Prints a TCP port of the loopback address that is free now.
free_port() {
	local candidate
	for candidate in $(shuf -i 20000-29999 -n 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null || {
			echo "$candidate"
			return
		}
	done
	fail 'no free port'
}

# Starts pebsd with these arguments and waits until it serves.
start() {
	port=$(free_port)
	"$PEBSD" --socket "$socket" --listen "127.0.0.1:$port" "$@" >"$work/out" 2>"$work/log" &
	daemon=$!
	for _ in $(seq 100); do
		! "$PEBSCTL" --socket "$socket" status >/dev/null 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || fail "pebsd ended while starting"
		sleep 0.1
	done
	fail 'pebsd does not answer'
}

# Waits until pebsd has read the whole recording.
replayed() {
	for _ in $(seq 100); do
		! grep -q 'all records were read' "$work/log" || return 0
		sleep 0.1
	done
	fail 'the recording is not read to its end'
}

ctl() {
	"$PEBSCTL" --socket "$socket" "$@"
}

get() {
	curl --silent --show-error --fail --max-time 10 "http://127.0.0.1:$port$1" "${@:2}"
}

# expect WHAT EXPECTED FOUND
expect() {
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

# exits WHAT CODE COMMAND...: expects this exit code and leaves the output in $work/said
exits() {
	local what=$1 code=$2 status=0
	shift 2
	"$@" >"$work/said" 2>&1 || status=$?
	[ "$status" = "$code" ] || fail "$what: exit code $status instead of $code: $(cat "$work/said")"
}

recording() {
	"$TOOLS/make_recording" "$work/recording.perf.data"
	echo "$work/recording.perf.data"
}
