#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the data that Prometheus reads from the endpoint. promtool must not complain, a real server must scrape the
# endpoint, and a quantile that the server computes must be in the exported bucket that contains pebsctl's
# quantile.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl promtool prometheus
start --replay "$(recording)"
replayed

complaints=$(get /metrics | promtool check metrics 2>&1) || fail "promtool: $complaints"
[ -z "$complaints" ] || fail "promtool: $complaints"
get /metrics --header 'Accept: application/openmetrics-text; version=1.0.0' | tail -n 1 | grep -qx '# EOF' ||
	fail 'OpenMetrics does not end with # EOF'

server=127.0.0.1:$(free_port)
cat >"$work/prometheus.yml" <<C
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: pebsd
    static_configs:
      - targets: ["127.0.0.1:$port"]
C
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" --web.listen-address="$server" \
	>"$work/prometheus.log" 2>&1 &
others=$!

# query EXPRESSION: prints the value if there is exactly one
query() {
	curl --silent --max-time 30 --data-urlencode "query=$1" "http://$server/api/v1/query" |
		jq -r '.data.result | if length == 1 then .[0].value[1] else empty end' 2>/dev/null || :
}

for _ in $(seq 600); do
	[ "$(query up)" != 1 ] || break
	kill -0 "$others" 2>/dev/null || fail "prometheus ended: $(tail -n 3 "$work/prometheus.log")"
	sleep 0.2
done
# Prometheus scrapes each second, with a time limit of a second. A busy machine may exceed that, and the series are then
# gone until the next scrape.
until_is up 1 query up

cgroup=/system.slice/postgresql.service
until_is 'samples of a cgroup' \
	"$(ctl --json show "$cgroup" | jq '.events.loads.samples')" \
	query "sum(pebsd_source_samples_total{cgroup=\"$cgroup\"})"
# their_quantile Q: sets `theirs` to the quantile that Prometheus computes. Fails if there is none.
their_quantile() {
	theirs=$(query "histogram_quantile($1, pebsd_latency_cycles_bucket{cgroup=\"$cgroup\"})")
	[ -n "$theirs" ]
}

edges='16 32 64 128 256 512 1024 2048 4096 8192 inf'
for quantile in 0.5 0.9 0.99; do
	name=p$(awk "BEGIN { print 100 * $quantile }")
	ours=$(ctl --json show "$cgroup" | jq ".events.loads.latency.$name.value")
	until_true "Prometheus has $name" their_quantile "$quantile"
	# Prints the exported bucket of a value, named by its upper edge: the first edge that is not below the
	# value.
	bucket() { awk -v value="$1" -v edges="$edges" 'BEGIN { n = split(edges, e, " ")
		for (i = 1; i < n; i++) if (value <= e[i]) { print e[i]; exit } print "inf" }'; }
	echo "$name: pebsctl $ours, histogram_quantile $theirs"
	expect "the bucket of $name" "$(bucket "$ours")" "$(bucket "$theirs")"
done

# No counter may decrease in a second scrape of the same snapshot.
get /metrics | grep -v '^#' | sort >"$work/first"
collections 1
get /metrics | grep -v '^#' | sort >"$work/second"
join -j 1 <(awk '{ v = $NF; $NF = ""; gsub(/ /, "_"); print $0, v }' "$work/first" | sort) \
	<(awk '{ v = $NF; $NF = ""; gsub(/ /, "_"); print $0, v }' "$work/second" | sort) |
	awk '/_total|_bucket|_sum|_count/ && $3 < $2 { print; bad = 1 } END { exit bad }' || fail 'a counter decreased'
