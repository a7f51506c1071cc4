#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The configuration for a fleet (config/prometheus). Prometheus must accept it without complaints and its rules
# must give the right results for made-up hosts. A shard and a global server with this configuration must accept
# the metrics of a real pebsd.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
# shellcheck source=tests/e2e/prometheus.sh
. "$(dirname "$0")/prometheus.sh"
need jq curl promtool prometheus
here=$(cd "$(dirname "$0")" && pwd)

promtool check rules "$config"/*.rules.yml >"$work/said" 2>&1 || fail "$(cat "$work/said")"
promtool check config --syntax-only "$config/prometheus.yml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
promtool check config --syntax-only "$config/global.yml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
promtool test rules "$here/fleet.test.yml" "$here/fleet_global.test.yml" "$here/alerts.test.yml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"

# A path longer than Prometheus is configured to accept. The limit is lower here: paths in a recording have fewer
# than 4096 bytes, while the kernel's cgroups may have more.
long=$(printf '/%0250d' 1 2 3 4 5 6 7 8 9 10 11 12)
"$TOOLS/make_recording" "$work/long.perf.data" "$long"
start --replay "$work/long.perf.data"
replayed
get /metrics >"$work/metrics"
grep -q "cgroup=\"$long\"" "$work/metrics" || fail 'the long path is not served'
printf '[{"targets": ["127.0.0.1:%s"]}]\n' "$port" >"$work/hosts.json"
run_prometheus shard prometheus.yml
printf '[{"targets": ["%s"]}]\n' "$(cat "$work/shard/address")" >"$work/shards.json"
run_prometheus global global.yml
until_there shard 'service:pebsd_latency_cycles_bucket:rate5m{le="+Inf"}'

# Each series of a cgroup has the label `service`. Prometheus scrapes each second, with a time limit of a second.
# A busy machine may exceed that, and the series are then gone until the next scrape.
expect 'the service of a unit' postgresql \
	"$(curl --silent --data-urlencode 'match[]=pebsd_latency_cycles_count{cgroup="/system.slice/postgresql.service"}' \
		"http://$(cat "$work/shard/address")/api/v1/series" | jq -r '.data[0].service')"
expect 'series without a service' '' "$(query shard 'count({__name__=~"pebsd_.*", cgroup!="", service=""})')"
# The access flags (data_source.h) are among the series that a shard drops, whether or not this recording has any.
flags=$(sed -n '/^#define ACCESS_FLAGS/,/^$/p' "$here/../../include/pebsd/data_source.h" | grep -o 'pebsd_[a-z_]*')
[ -n "$flags" ] || fail 'data_source.h has no metric of a flag'
for flag in $flags; do
	grep -q "[(|]${flag#pebsd_}_total[|)]" "$config/prometheus.yml" || fail "prometheus.yml does not drop ${flag}_total"
done
expect 'series that are not to be kept' '' \
	"$(query shard "count({__name__=~\"(pebsd_source_latency_cycles|${flags//$'\n'/|})_total\"})")"
until_is 'series of the long path' 1 query shard 'count(pebsd_latency_cycles_count{cgroup=~"/0.*"})'
served=$(get /metrics | grep -cv '^#')
until_there shard 'scrape_samples_post_metric_relabeling{job="pebsd"} > 0'
kept=$(query shard 'max_over_time(scrape_samples_post_metric_relabeling{job="pebsd"}[5m])')
echo "$served series are served, $kept kept"
[ "$kept" -lt "$served" ] || fail 'nothing was dropped'

# The global server has the recorded series, and of single cgroups only those that wait the most.
until_there global 'fleet:pebsd_latency_cycles_p99:rate5m'
until_there global 'instance:pebsd_samples_seen:rate5m'
expect 'a cgroup on the global server' '' "$(query global 'count({__name__=~"pebsd_(latency|source|weighted).*"})')"
expect 'the shard of what the global server has' 0 "$(curl --silent \
	"http://$(cat "$work/global/address")/api/v1/label/shard/values" | jq -r '.data | join(" ")')"
