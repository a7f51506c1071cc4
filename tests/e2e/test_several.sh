#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsctl with a daemon that samples several events: each is shown with the quantities that it measures. Also
# tests `pebsctl hot`.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq setpriv
# Made-up values, because no machine has all of these events at once.
"$TOOLS/fake_daemon" "$socket" several 2>"$work/log" &
daemon=$!
for _ in $(seq 600); do
	! ctl status >/dev/null 2>&1 || break
	sleep 0.1
done

ctl top >"$work/top"
expect 'the tables' 4 "$(grep -c '^CGROUP ' "$work/top")"
expect 'those without latency' 2 "$(grep -c 'SAMPLES SHARE%' "$work/top")"
# A value that was not measured must not be shown as a number.
! grep -Eiq 'nan|inf\b' "$work/top" || fail "top: $(cat "$work/top")"
expect 'the virtual machine' 2 "$(grep -c '^vm[*] ' "$work/top")"
ctl status | grep -q 'taking turns with stores, counting 62.5% of the time' || fail "status: $(ctl status)"
ctl show /machine.slice/vm.scope | grep -q 'Guest: not sampled' || fail 'show does not mark the virtual machine'
expect 'instructions in JSON' '["pmu","samples","weighted"]' \
	"$(ctl --json top | jq -c '.total.events.instructions | keys')"

exits 'hot' 0 ctl hot -n 3 /batch
expect 'three addresses of code, and three cache lines, for each of four events' '12 12' \
	"$(awk '/ CODE$/ { kind = "code" } / CACHE LINE$/ { kind = "lines" } / 0x[0-9a-f]+/ { n[kind]++ }
		END { print n["code"], n["lines"] }' "$work/said")"
expect 'root has the addresses of the kernel' 50 \
	"$(ctl --json hot /batch | jq '[.events.instructions.code[].address | select(startswith("0xffffffff"))] | length')"
exits 'hot of nothing' 2 ctl hot
exits 'hot of an unknown cgroup' 4 ctl hot /no/such.service
exits 'hot with a window' 2 ctl hot --window 10s /batch
chmod 711 "$work" "${TMPDIR:-$work}"
chmod 666 "$socket"
exits 'hot for others' 5 setpriv --reuid=65534 --regid=65534 --clear-groups "$PEBSCTL" --socket "$socket" hot /batch
grep -q 'permits this to root alone' "$work/said" || fail "hot for others: $(cat "$work/said")"
