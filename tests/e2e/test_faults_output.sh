#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd survives when the reader of its log exits, and when files may not grow (RLIMIT_FSIZE).
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need prlimit mkfifo

# The reader of the log has ended, as a pager does when its user leaves it.
configure model </dev/null
: >"$work/log"
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/log" &
reader=$!
"$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none 2>"$work/pipe" &
daemon=$!
logged 'serving: origin model'
kill "$reader"
wait "$reader" || :
for _ in 1 2 3; do
	ctl reload >/dev/null || fail 'it ended with the reader of its log'
done
still_samples 'without a reader of its log'
# The socket of the daemon must not become the standard output that is not there.
for verb in top '--json status' rules; do
	# shellcheck disable=SC2086
	exits "pebsctl $verb without a standard output" 1 sh -c '"$@" >&-' sh "$PEBSCTL" --socket "$socket" $verb
	grep -q 'cannot write to standard output: Bad file descriptor' "$work/said" || fail "$verb: $(cat "$work/said")"
done
kill "$daemon"
wait "$daemon" || fail 'without a reader of its log it does not end well'
daemon=''

# The state of two alerts is larger than the limit on the size of a file (RLIMIT_FSIZE). The log is a pipe, which
# has no such limit.
configure model < <(
	printf '[model]\nworkloads = pointer-chase\n'
	for name in first second third; do
		printf '[rule %s]\ncgroup = model:pointer*\nmetric = p99\nabove = 100\nwindow = 4s\nfor = 0\nmin-samples = 300\n' $name
	done
)
cat "$work/pipe" >"$work/log" &
reader=$!
prlimit --fsize=512:512 "$PEBSD" --config "$work/pebsd.conf" --socket "$socket" --listen none 2>"$work/pipe" &
daemon=$!
for _ in $(seq 600); do
	! grep -q 'third fires on model:pointer-chase' "$work/log" || break
	kill -0 "$daemon" 2>/dev/null || fail 'it ended where files may not grow'
	sleep 0.1
done
log_before=0
named 'files may not grow' 'cannot write the state of alerts.*File too large'
still_samples 'where files may not grow'
kill "$daemon"
wait "$daemon" || fail 'where files may not grow it does not end well'
daemon=''
wait "$reader"
