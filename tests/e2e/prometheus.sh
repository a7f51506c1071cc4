# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests in this folder that run Prometheus servers with the configuration for a fleet. Source it after
# daemon.sh.
# shellcheck disable=SC2154 # work is daemon.sh's
config=$(cd "$(dirname "$0")" && pwd)/../../config/prometheus

# run_prometheus NAME FILE [EDIT [RULES_EDIT]]: runs the shipped configuration FILE with short intervals, the test's own
# files of hosts and a single shard. EDIT and RULES_EDIT are further commands for sed.
run_prometheus() {
	local address
	address=127.0.0.1:$(free_port)
	mkdir "$work/$1"
	cp "$config"/*.rules.yml "$work/$1/"
	sed -i "s/interval: 1m/interval: 1s/; ${4:-}" "$work/$1/"*.rules.yml
	sed "s,\(_interval\): .*,\1: 1s,; s,/etc/prometheus/pebsd-\(.*\).json,$work/\1.json,; s,modulus: 40,modulus: 1,; \
		s,length_limit: 4096,length_limit: 2048,; ${3:-}" \
		"$config/$2" >"$work/$1/prometheus.yml"
	prometheus --config.file="$work/$1/prometheus.yml" --storage.tsdb.path="$work/$1/tsdb" \
		--web.listen-address="$address" >"$work/$1/log" 2>&1 &
	others="${others:-} $!"
	echo "$address" >"$work/$1/address"
}

# query NAME EXPRESSION: prints the values, one per line
query() {
	curl --silent --max-time 30 --data-urlencode "query=$2" "http://$(cat "$work/$1/address")/api/v1/query" |
		jq -r '.data.result[].value[1]' 2>/dev/null || :
}

# until_there NAME EXPRESSION: waits until the expression has a value
until_there() {
	for _ in $(seq 600); do
		[ -z "$(query "$1" "$2")" ] || return 0
		sleep 0.2
	done
	fail "$1 has no $2: $(tail -n 3 "$work/$1/log")"
}
