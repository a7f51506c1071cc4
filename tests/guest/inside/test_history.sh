#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The packaged service keeps a history with the rights that its unit leaves, and no setting for it. What was stored
# is there after a restart, and adds up to all samples that pebsd saw. An incident that is over is found by its time.
# kernels: 6.12 6.1 7
# takes: 60 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

now() {
	date -u +%Y-%m-%dT%H:%M:%S.%6NZ
}

# state FIELD: of the history
state() {
	status | jq -c ".history.$1"
}

panes_stored() {
	[ "$(state panes_stored)" -ge "$1" ]
}

# seen SINCE UNTIL: samples in the history
seen() {
	pebsctl --json top --since "$1" --until "$2" | jq .samples.seen
}

has_past() {
	[ "$(seen "$1" "$2" 2>/dev/null || echo 0)" -gt 0 ]
}

play
rm -rf /var/lib/pebsd
begun=$(date +%s)
first=$(now)
start_pebsd
expect 'the directory' 'pebsd:pebsd 700' "$(stat --format '%U:%G %a' /var/lib/pebsd/)"

# The incident: a service that waits for memory for two panes.
load pointer-chase incident.service
incident=$(now)
wait_until 'two panes are stored' 300 panes_stored 2
incident_over=$(now)
systemctl stop incident.service
wait_until 'two more panes are stored' 300 panes_stored 4
expect 'the file' 'pebsd:pebsd 600' "$(stat --format '%U:%G %a' /var/lib/pebsd/history.sqlite)"

cgroups_of() {
	pebsctl --json top --since "$1" --until "$2" | jq -r '.cgroups[].cgroup'
}
cgroups_of "$incident" "$incident_over" | grep -qx '/system.slice/incident.service' ||
	fail "the incident is not found by its time: $(cgroups_of "$incident" "$incident_over")"
pebsctl show incident --since "$incident" --until "$incident_over" >"$work/said" || fail 'show of the incident'
grep -q 'Latency' "$work/said" || fail "show of the incident: $(cat "$work/said")"

# A restart keeps it, and the last pane, which was not complete, is in it.
stop_counting
systemctl stop pebsd.service
ended=$(now)
total=$(pebsd_log "$begun" | sed -n 's/.*total: \([0-9,]*\) samples of loads seen.*/\1/p' | tail -n 1 | tr -d ,)
[ "${total:-0}" -gt 0 ] || fail 'pebsd did not log the total'
start_pebsd
wait_until 'the history is there after a restart' 100 has_past "$first" "$ended"
expect 'samples in the history' "$total" "$(seen "$first" "$ended")"
pebsd_log "$begun" | grep -i 'history' >"$work/said" || :
grep -qiE 'cannot|fail|lost|refused' "$work/said" && fail "$(cat "$work/said")"
say "$total samples in $(state panes_stored) and earlier panes, $(state bytes) bytes"
