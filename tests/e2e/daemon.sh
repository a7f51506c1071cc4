# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests in this folder: starts a pebsd in $TMPDIR with its own socket and endpoint, and ends it with the
# test.
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

# Prints a TCP port of the loopback address that is free now. No other test of the same run gets it (tests/run.sh).
free_port() {
	local candidate
	for candidate in $(shuf -i 20000-29999 -n 50); do
		mkdir "${TEST_PORTS:-$work}/port-$candidate" 2>/dev/null || continue
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
	for _ in $(seq 600); do
		! "$PEBSCTL" --socket "$socket" status >/dev/null 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || fail "pebsd ended while starting"
		sleep 0.1
	done
	fail 'pebsd does not answer'
}

# Waits until pebsd has read the whole recording.
replayed() {
	until_true 'the recording is read to its end' grep -q 'all records were read' "$work/log"
}

# pebsctl waits ten seconds for an answer. A daemon may get no CPU for longer, so the request is repeated then.
ctl() {
	local status errors=$work/ctl.$BASHPID
	for _ in 1 2 3 4 5 6; do
		status=0
		"$PEBSCTL" --socket "$socket" "$@" 2>"$errors" || status=$?
		if [ "$status" = 0 ] || ! grep -q 'has not answered for' "$errors"; then
			break
		fi
	done
	cat "$errors" >&2
	rm -f "$errors"
	return "$status"
}

# The process that speaks HTTP waits five seconds for pebsd and then answers with an error. A daemon may get no CPU
# for longer, so the request is repeated then, at most twice.
# fetch FILE CURL_ARGUMENT...: runs curl and leaves the body in FILE.
fetch() {
	local status said file=$1
	shift
	for _ in 1 2 3; do
		status=0
		: >"$file"
		said=$(curl --silent --show-error --max-time 60 --output "$file" "$@") || status=$?
		grep -q 'pebsd does not answer now' "$file" || break
	done
	printf '%s' "$said"
	return "$status"
}

# get PATH CURL_ARGUMENT...: prints the body.
get() {
	local status=0 body=$work/get.$BASHPID
	fetch "$body" --fail-with-body "http://127.0.0.1:$port$1" "${@:2}" || status=$?
	[ "$status" != 0 ] || cat "$body"
	rm -f "$body"
	return "$status"
}

# expect WHAT EXPECTED FOUND
expect() {
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

# until_true and until_is wait for an effect that comes with time. Other tests may take the CPUs for seconds, so a
# test waits for the effect itself, and never for a fixed time. Both wait up to a minute, or longer on a busy
# machine.
# until_true WHAT COMMAND...: waits until the command succeeds.
until_true() {
	local what=$1
	shift
	for _ in $(seq 600); do
		! "$@" || return 0
		sleep 0.1
	done
	fail "not in a minute: $what"
}

# until_is WHAT EXPECTED COMMAND...: waits until COMMAND prints EXPECTED.
until_is() {
	local found=''
	for _ in $(seq 600); do
		found=$("${@:3}") || :
		[ "$found" != "$2" ] || return 0
		sleep 0.1
	done
	expect "$1" "$2" "$found"
}

# Prints the time of the last collection.
collected() {
	ctl --json status | jq -r .taken
}

another_collection() {
	[ "$(collected)" != "$1" ]
}

# collections N: waits until pebsd has collected N more times.
collections() {
	for _ in $(seq "$1"); do
		until_true 'a collection' another_collection "$(collected)"
	done
}

# Starts pebsd with these arguments, and with a clock that set_clock moves. Durations are measured by another one.
start_with_clock() {
	export STEP_CLOCK=$work/step STEP_BOOTTIME=$work/step.boottime
	[ -e "$STEP_CLOCK" ] || printf '0\n' >"$STEP_CLOCK"
	[ -e "$STEP_BOOTTIME" ] || printf '0\n' >"$STEP_BOOTTIME"
	LD_PRELOAD="$TOOLS/step_clock.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" start "$@"
}

# set_clock SECONDS: sets that clock so much before or after the machine's, and remembers it in `stepped`.
# shellcheck disable=SC2034 # the tests read it
set_clock() {
	printf '%s\n' "$1" >"$work/step.new"
	mv "$work/step.new" "$work/step"
	stepped=$1
}

# logged TEXT [TIMES]: waits until TIMES lines (default: 1) of pebsd's log have the text.
logged() {
	until_true "the log says: $1" has_lines "$1" "${2:-1}"
}

has_lines() {
	[ "$(grep -c -- "$1" "$work/log" || :)" -ge "$2" ]
}

# Prints a time in ms that only goes forward. mawk cannot print it after 24 days, when it exceeds 31 bits. A test that
# hides /proc has another mount of it in `proc`.
uptime_ms() {
	local seconds
	read -r seconds _ <"${proc:-/proc}/uptime" # with two decimals
	echo $((10#${seconds/./} * 10))
}

# Waits until the kernel's limit on samples is the usual one, and keeps it so until this test and its daemon end.
# test_once_losses.sh lowers the limit for a moment, with an exclusive lock. pebsd reports a low limit.
usual_sample_rate() {
	need flock
	exec 9</proc/sys/kernel/perf_event_max_sample_rate
	flock --shared 9
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

# panes_stored N: true if the history of pebsd has stored at least N spans of time
panes_stored() {
	local stored
	stored=$(ctl --json status | jq .history.panes_stored)
	[ "$stored" -ge "$1" ]
}
