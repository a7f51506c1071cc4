#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The collector's file (config/opentelemetry), as far as it can be tested without a collector, which Debian 12 does
# not have. The file must be YAML, and its pipeline must use exactly the components that the file defines.
# Prometheus must scrape a real pebsd with the configuration of the file's receiver.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl python3 promtool prometheus
python3 -c 'import yaml' 2>/dev/null || skip 'needs python3-yaml'
file=$(cd "$(dirname "$0")" && pwd)/../../config/opentelemetry/collector.yaml

python3 - "$file" >"$work/prometheus.yml" <<'END' || fail "collector.yaml is not what a collector takes"
import sys
import yaml

with open(sys.argv[1]) as file:
    collector = yaml.safe_load(file)


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, not {wanted}")


expect("sections", sorted(collector), ["exporters", "processors", "receivers", "service"])
expect("pipelines", list(collector["service"]["pipelines"]), ["metrics"])
pipeline = collector["service"]["pipelines"]["metrics"]
for kind in "receivers", "processors", "exporters":
    expect(kind + " of the pipeline", sorted(pipeline[kind]), sorted(collector[kind]))
# The collector's documentation asks for this order.
expect("the first processor", pipeline["processors"][0], "memory_limiter")
expect("the last processor", pipeline["processors"][-1], "batch")
config = yaml.safe_dump(collector["receivers"]["prometheus"]["config"])
# The collector would expand a dollar as a variable of its environment, and Prometheus as a group of a regular
# expression.
expect("dollars in the receiver's configuration", config.count("$"), 0)
print(config)
END
promtool check config "$work/prometheus.yml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q 'job_name: pebsd' "$work/prometheus.yml" || fail 'no job is called pebsd'

start --replay "$(recording)"
replayed
grep -qF -- '- 127.0.0.1:9754' "$work/prometheus.yml" || fail "another address than pebsd's is scraped"
sed -i "s/127.0.0.1:9754/127.0.0.1:$port/; s/scrape_interval: .*/scrape_interval: 1s/" "$work/prometheus.yml"
server=127.0.0.1:$(free_port)
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
# Prometheus scrapes each second, with a time limit of a second. A busy machine may exceed that, so wait for a
# scrape that succeeds.
until_is up 1 query up
until_is 'samples scraped' "$(get /metrics | grep -cv '^#')" query scrape_samples_post_metric_relabeling
