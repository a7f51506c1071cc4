#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# VictoriaMetrics beside Prometheus, with the shipped configuration for a fleet: both scrape the same hosts and keep the
# same series, and the same rules record the same values and fire the same alerts. fleet.py compares them.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/../e2e/daemon.sh"
# shellcheck source=tests/e2e/prometheus.sh
. "$(dirname "$0")/../e2e/prometheus.sh"
need jq curl python3 prometheus promtool victoria-metrics vmalert
python3 -c 'import yaml' 2>/dev/null || skip 'needs python3-yaml'
here=$(cd "$(dirname "$0")" && pwd)

# Hosts: a pebsd with a path that is longer than the configuration accepts, an example with every metric, and one that
# does not answer.
long=$(printf '/%0250d' 1 2 3 4 5 6 7 8 9 10 11 12)
"$TOOLS/make_recording" "$work/long.perf.data" "$long"
start --replay "$work/long.perf.data"
replayed
mkdir "$work/example"
"$TOOLS/example_scrape" >"$work/example/metrics"
example=127.0.0.1:$(free_port)
python3 -m http.server --bind 127.0.0.1 --directory "$work/example" "${example#*:}" >/dev/null 2>&1 &
others=$!
printf '[{"targets": ["127.0.0.1:%s", "%s", "127.0.0.1:1"]}]\n' "$port" "$example" >"$work/hosts.json"
# Alerts fire after three seconds here.
run_prometheus shard prometheus.yml '' 's/ for: .*/ for: 3s/'
victoria=127.0.0.1:$(free_port)
# VictoriaMetrics has no rules and no limit for the length of labels in this file, and refuses it with them unless it is
# told to ignore what it does not know.
! victoria-metrics -promscrape.config="$work/shard/prometheus.yml" -promscrape.config.dryRun >"$work/said" 2>&1 ||
	fail 'VictoriaMetrics reads the file without -promscrape.config.strictParse=false'
victoria-metrics -promscrape.config="$work/shard/prometheus.yml" -promscrape.config.strictParse=false \
	-storageDataPath="$work/victoria" -httpListenAddr="$victoria" -search.latencyOffset=1s >"$work/victoria.log" 2>&1 &
others="$others $!"
until_true 'VictoriaMetrics answers' curl --silent --fail --output /dev/null "http://$victoria/health"
# Groups without an interval have that of the command line, a minute by default. Series of a second ago must be there.
vmalert -evaluationInterval=1s -remoteWrite.flushInterval=200ms -rule="$work/shard/pebsd.rules.yml" -rule="$work/shard/alerts.rules.yml" -datasource.url="http://$victoria" \
	-remoteWrite.url="http://$victoria" -remoteRead.url="http://$victoria" -notifier.url=http://127.0.0.1:1 \
	-httpListenAddr="127.0.0.1:$(free_port)" >"$work/vmalert.log" 2>&1 &
others="$others $!"
until_there shard 'pebsd_samples_seen_total'
python3 "$here/fleet.py" "$(cat "$work/shard/address")" "$victoria" "$config" >"$work/said" 2>&1 ||
	fail "$(cat "$work/said")" "vmalert: $(tail -n 3 "$work/vmalert.log")"
cat "$work/said"
