#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A thousand slow clients of each kind, run by another user, must not keep anybody from scraping, make the process
# that speaks HTTP grow, or delay the daemon.
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl setpriv mkfifo
clients=1000 scrapes=4

configure model </dev/null
start --config "$work/pebsd.conf"

[ "$(get /healthz)" = ok ] || fail 'HTTP does not answer'
http=$(pgrep -P "$daemon" -f -- --http) || fail 'no process speaks HTTP'
http_memory() {
	awk '/^RssAnon:/ { print $2 }' "/proc/$http/status"
}

for kind in silent drip deaf sip; do
	mkfifo "$work/$kind.input"
	"$TOOLS/http_crowd" "$port" "$kind" "$clients" 65534 <"$work/$kind.input" >"$work/$kind.said" &
	others=$!
	exec 5>"$work/$kind.input"
	until_true "$kind clients are there" [ -s "$work/$kind.said" ]
	expect "$kind clients that were taken in" "connected=$clients" "$(cat "$work/$kind.said")"
	# `get` waits up to a minute, because this machine may be busy. `make bench-scrape-crowd` shows how long a
	# scrape takes.
	for i in $(seq "$scrapes"); do
		get /metrics >"$work/body" || fail "scrape $i is not answered beside $clients $kind clients"
		grep -q '^pebsd_' "$work/body" || fail "scrape $i has no metrics beside $clients $kind clients"
	done
	# Under the address sanitizer most of the memory is the sanitizer's.
	ldd "$PEBSD" | grep -q libasan || [ "$(http_memory)" -le 32768 ] || fail "HTTP takes $(http_memory) KiB for $clients $kind clients"
	still_samples "beside $clients $kind clients"
	exec 5>&-
	wait "$others" || :
	others=''
done
expect 'the process that speaks HTTP' "$http" "$(pgrep -P "$daemon" -f -- --http)"
expect 'health' ok "$(get /healthz)"
