#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A real recording of a Xeon 8173M must pass the whole path: it is printed, served and scraped.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/../e2e/daemon.sh"
need jq curl
[ -n "${CORPUS:-}" ] || skip 'CORPUS does not name the folder of the corpus'
file=$CORPUS/perf-data/skx-8173m.perf.data

sources='{"l1":{"samples":4,"latency_sum":412},"lfb":{"samples":5,"latency_sum":729},"l2":{"samples":1,"latency_sum":77},"l3":{"samples":4,"latency_sum":507}}'
check() {
	expect "$1: samples" '[14,14,0]' "$(jq -c '.samples | [.seen, .attributed, .unattributed]' "$2")"
	expect "$1: cycles" 1725 "$(jq .total.events.loads.latency.sum "$2")"
	expect "$1: sources" "$(jq -cnS "$sources")" "$(jq -cS .total.events.loads.sources "$2")"
	expect "$1: ldlat" 64 "$(jq .total.events.loads.ldlat "$2")"
	expect "$1: locked" 2 "$(jq .total.events.loads.locked "$2")"
}

exits 'the recording' 0 "$PEBSD" --replay "$file" --once --json
cp "$work/said" "$work/once.json"
check '--once' "$work/once.json"

start --replay "$file"
replayed
ctl --json top >"$work/top.json"
check 'pebsctl' "$work/top.json"
get /metrics >"$work/metrics"
expect 'scraped sources' 'l1 4 412
l2 1 77
l3 4 507
lfb 5 729' "$(awk -F'[",{} ]+' '/^pebsd_source_(samples|latency_cycles)_total/ {
	for (i = 1; i < NF; i++) if ($i == "source=") source = $(i + 1)
	if ($1 ~ /samples/) n[source] += $NF; else sum[source] += $NF
} END { for (source in n) print source, n[source], sum[source] }' "$work/metrics" | sort)"
