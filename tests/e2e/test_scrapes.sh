#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Many clients scrape at the same time, and some never read the answer. Clients that read must get a complete body
# at once. The body is made once per collection, and collections continue.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need curl gzip
printf '[sampling]\ninterval = 500ms\n' >"$work/pebsd.conf"
start --replay "$(recording)" --config "$work/pebsd.conf"
replayed

# Clients that request without reading.
deaf=()
for _ in $(seq 40); do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$fd"
	deaf+=("$fd")
done

# All values of a body belong to one collection, including the process metrics. Requests before the next collection
# get the same bytes in any encoding. A collection may fall between the two scrapes of a pair, but not of every
# pair, so at least one pair must be equal. If each request had a body of its own, process_cpu_seconds_total would
# differ.
cpu() {
	sed -n 's/^process_cpu_seconds_total //p' "$1"
}
alike=0 made=0
for _ in $(seq 200); do
	get /metrics >"$work/plain"
	get /metrics --header 'Accept-Encoding: gzip' | gzip -d >"$work/gzip"
	! cmp -s "$work/plain" "$work/gzip" || alike=$((alike + 1))
	cpu "$work/plain" >>"$work/cpu"
	made=$(sort -u "$work/cpu" | wc -l)
	[ "$alike" -lt 1 ] || [ "$made" -lt 3 ] || break
	sleep 0.3
done
[ "$alike" -ge 1 ] || fail 'no two scrapes of one collection were alike'
[ "$made" -ge 3 ] || fail "only $made bodies were made in all that time"

# Twenty clients scrape at the same time, in both formats and encodings.
pids=()
for i in $(seq 20); do
	headers=()
	[ $((i % 2)) = 0 ] || headers+=(--header 'Accept: application/openmetrics-text; version=1.0.0')
	[ $((i / 2 % 2)) = 0 ] || headers+=(--compressed)
	get /metrics "${headers[@]}" >"$work/body$i" &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || fail 'a scrape among many failed'
done
for i in $(seq 20); do
	grep -q '^pebsd_latency_cycles_bucket{cgroup="/system.slice/postgresql.service"' "$work/body$i" ||
		fail "scrape $i lacks a cgroup"
	[ $((i % 2)) = 0 ] || [ "$(tail -n 1 "$work/body$i")" = '# EOF' ] || fail "scrape $i is cut"
done

for fd in "${deaf[@]}"; do
	exec {fd}>&-
done
expect 'health' ok "$(get /healthz)"
