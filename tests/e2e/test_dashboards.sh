#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The dashboards (config/grafana) and the rules (config/prometheus) must query only series that exist. A shard and
# a global server scrape a real pebsd. Each query must find series by existing names, labels and values. If a query
# has a name that does not exist, the check must complain.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
# shellcheck source=tests/e2e/prometheus.sh
. "$(dirname "$0")/prometheus.sh"
need jq curl python3 prometheus
python3 -c 'import yaml' 2>/dev/null || skip 'needs python3-yaml'
here=$(cd "$(dirname "$0")" && pwd)
grafana=$here/../../config/grafana

for board in "$grafana"/*.json; do
	jq . "$board" | cmp - "$board" || fail "${board##*/} is not as jq writes it"
done

# The model lacks some metrics, such as the cost of sampling, because it has no interrupts. The example below has
# them. Its counts grow, so that their rates are not 0.
cat >"$work/pebsd.conf" <<'C'
[rule slow]
cgroup = model:*
event = loads
metric = mean
above = 40
window = 5s
for = 0s
min-samples = 101
[model]
workloads = all
C
start --config "$work/pebsd.conf" --origin model
mkdir "$work/example"
"$TOOLS/example_scrape" >"$work/example/metrics"
(for ((second = 61; ; second++)); do
	sleep 1
	"$TOOLS/example_scrape" "$second" >"$work/next"
	mv "$work/next" "$work/example/metrics"
done) &
growing=$!
example=127.0.0.1:$(free_port)
python3 -m http.server --bind 127.0.0.1 --directory "$work/example" "${example#*:}" >/dev/null 2>&1 &
others="$growing $!"
printf '[{"targets": ["127.0.0.1:%s", "%s"]}]\n' "$port" "$example" >"$work/hosts.json"
run_prometheus shard prometheus.yml
printf '[{"targets": ["%s"]}]\n' "$(cat "$work/shard/address")" >"$work/shards.json"
run_prometheus global global.yml
# A single server for everything, as in config/prometheus/README.md.
run_prometheus one prometheus.yml 's/^  - pebsd.rules.yml/&\n  - global.rules.yml/'

# No series of alerts exists before the first alert fires.
until_there shard 'pebsd_alert == 1'
get /metrics >"$work/metrics"

CONTAINER_LABELS=$(sed -n 's/.*X([A-Z_]*, "\([a-z_]*\)").*/\1/p' "$here/../../daemon/cgroup/container_label.h")
export CONTAINER_LABELS

# check SERVER FILE...: checks the queries of these files
check() {
	python3 "$here/dashboards.py" "$(cat "$work/$1/address")" "127.0.0.1:$port" "$work/metrics" "$example" "${@:2}" \
		>"$work/said" 2>&1
}

check shard "$grafana/host.json" "$config/pebsd.rules.yml" "$config/alerts.rules.yml" || fail "$(cat "$work/said")"
cat "$work/said"
check global "$grafana/fleet.json" "$config/global.rules.yml" || fail "$(cat "$work/said")"
check one "$grafana/fleet.json" || fail "one server for all: $(cat "$work/said")"

# refused SERVER FILE [EDIT COMPLAINT]...: after each edit, the check must complain. On a busy machine, a scrape may not
# end within its second. Series are then missing, and other complaints replace some of these. So the check is repeated
# until it has all of them.
refused() {
	local server=$1 file=$2 name=${2##*/} edit missing
	shift 2
	cp "$file" "$work/$name"
	for ((edit = 1; edit < $#; edit += 2)); do
		cp "$work/$name" "$work/before"
		sed -i "${!edit}" "$work/$name"
		! cmp -s "$work/before" "$work/$name" || fail "${!edit} changes nothing in $name"
	done
	for _ in $(seq 30); do
		! PATIENCE=0 check "$server" "$work/$name" || fail "$name is taken after $*"
		missing=''
		for ((edit = 2; edit <= $#; edit += 2)); do
			grep -qF "${!edit}" "$work/said" || missing=${!edit}
		done
		[ -n "$missing" ] || return 0
		sleep 1
	done
	fail "$name: not found: $missing: $(cat "$work/said")"
}
refused shard "$grafana/host.json" \
	's/pebsd_hitm_samples_total/pebsd_hitm_total/' 'there is no metric pebsd_hitm_total' \
	's/pebsd_stalled_cycles_total/pebsd_stall_cycles_total/' 'there is no metric pebsd_stall_cycles_total' \
	's/pebsd_cost_ratio/pebsd_overhead_ratio/' 'there is no metric pebsd_overhead_ratio' \
	's/sum by (reason)/sum by (cause)/' 'no metric of it has the label cause' \
	's/{{source}}/{{place}}/' 'its legend names place' \
	's/source=~\\"local_dram|remote_dram|pmem|cxl\\"/source=\\"dram\\"/' 'nothing is selected by' \
	's/Value #E/Value #Z/' 'there is no column Value #Z' \
	's/topk(10, histogram/topk(10 histogram/' 'Prometheus does not take'
refused shard "$config/alerts.rules.yml" \
	's/origin="perf"/origin="pebs"/' 'nothing is selected by pebsd_sampler_info{origin="pebs"}' \
	's/pebsd_paused ==/pebsd_resting ==/' 'there is no metric pebsd_resting'
# shellcheck disable=SC2016 # Grafana's variables
refused global "$grafana/fleet.json" \
	's/service:pebsd_hitm_samples:rate5m/service:pebsd_hitm:rate5m/' 'there is no metric service:pebsd_hitm:rate5m' \
	's/${__data.fields.instance:/${__data.fields.host:/' 'there is no column host'
refused global "$config/global.rules.yml" \
	's/by (service, event, le)/by (unit, event, le)/' 'no metric of it has the label unit'
