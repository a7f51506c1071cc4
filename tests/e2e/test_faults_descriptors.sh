#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With few descriptors, pebsd either serves, or says why it cannot and ends. A pebsd that runs out of descriptors
# later continues to sample, logs this once, and accepts the waiting clients as soon as there are descriptors
# again.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need prlimit setpriv curl
usual_sample_rate
stand_in_pmu
own_cgroup
# Cgroups of other tests take memory here.
alone_with_cgroups

# begins_with LIMIT: runs pebsd with this many descriptors
begins_with() {
	code=0
	prlimit --nofile="$1:$1" "$PEBSD" --config "$work/pebsd.conf" --once --for 100ms --json \
		>"$work/once.json" 2>"$work/log" || code=$?
	case $code in
	0) jq -ne 'input | .samples' "$work/once.json" >/dev/null || fail "with $1 descriptors: $(cat "$work/once.json")" ;;
	1 | 3)
		grep -q 'Too many open files' "$work/log" || fail "with $1 descriptors it does not say why"
		[ "$(wc -l <"$work/log")" -le 3 ] || fail "with $1 descriptors it says too much"
		;;
	*) fail "with $1 descriptors: exit code $code" ;;
	esac
	echo "with $1 descriptors: exit code $code: $(tail -n 1 "$work/log" | cut -c 1-150)"
}

# Under the lower limits, different steps of the start may fail. 256 must be enough. The lowest limit is 4, because
# the dynamic loader needs one descriptor besides the standard streams.
configure model </dev/null
for limit in 4 8 16 128 256; do
	begins_with "$limit"
done
expect 'exit code of the model' 0 "$code"
configure perf < <(printf 'period = 100\nbudget = off\n')
for limit in 4 8 16 128 256; do
	begins_with "$limit"
done
expect 'exit code of perf' 0 "$code"

# pebsd runs out of descriptors after its start. Other tests make cgroups. With a fixed number of slots, pebsd does not
# add slots for them, which take descriptors.
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = 8192\n')
start --config "$work/pebsd.conf"
get /metrics >/dev/null
remember
limit=$(prlimit --pid "$daemon" --nofile --noheadings --output SOFT)
# A connection that the client has ended stays open until pebsd gets CPU time. pebsd waits after each collection when it
# has handled all events, and may wait for something else, too.
until_true 'pebsd has closed earlier connections' has_waited $(($(waits) + 30))
# RLIMIT_NOFILE limits descriptor numbers: no descriptor can be opened if the limit is the lowest free number. A
# collection may open a descriptor for a moment, so the lowest of several readings counts.
lowest_free() {
	find "$proc/$daemon/fd" -mindepth 1 -printf "%f\n" | sort -n | awk '$1 != NR - 1 { exit } { free = NR } END { print free + 0 }'
}
held=$(for _ in $(seq 10); do lowest_free && sleep 0.1; done | sort -n | head -n 1)
prlimit --pid "$daemon" --nofile="$held:"
began=$(uptime_ms) before=$(cpu)
"$TOOLS/crowd" "$socket" hold 20 </dev/null >"$work/crowd.said" &
others=$!
ctl status >"$work/asked" 2>&1 &
others="$others $!"
fetch "$work/scraped" --max-time 100 --fail-with-body "http://127.0.0.1:$port/metrics" &
others="$others $!"
until_true 'pebsd goes on' has_waited $(($(waits) + 30))
named 'without descriptors' 'control socket: cannot accept a connection'
named 'the reason' 'control socket: .*Too many open files'
quiet 'without descriptors' 3
took=$(($(cpu) - before)) ms=$(($(uptime_ms) - began))
[ $((took * 5)) -le "$ms" ] || fail "without descriptors it takes $took ms of CPU time in $ms ms"
[ ! -s "$work/asked" ] || fail "answered without a descriptor: $(cat "$work/asked")"
prlimit --pid "$daemon" --nofile="$limit:"
for pid in $others; do
	wait "$pid" || fail 'who waited is not answered'
done
others=''
[ -s "$work/asked" ] || fail 'who waited is not answered'
[ -s "$work/scraped" ] || fail 'who waited to scrape is not answered'
taken_in_again() {
	ctl status >/dev/null && [ "$(times_named 'control socket: connections are accepted again')" != 0 ]
}
until_true 'connections are accepted again' taken_in_again
named 'descriptors again' 'control socket: connections are accepted again'
still_samples 'with descriptors again'
given_back 'with descriptors again'
