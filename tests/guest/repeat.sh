#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A guest with one CPU, whose time is counted in instructions, does the same twice: kernel, driver, workloads and pebsd
# leave two logs of the emulated PMU that are equal to the byte.
# Reports as tests/run.sh -p reads it.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

kind=${1:-6.12,skylake-server,1,small}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
echo 1..1
for run in first second; do
	BUILD=$BUILD GUEST_LOG=$logs/$run "${0%/*}/guest.sh" "$kind" price >"$logs/said" 2>&1 || :
	if ! grep -q '^ok - .*: price' "$logs/said"; then
		echo "not ok - $kind: the $run run failed"
		sed 's/^/# /' "$logs/said"
		exit 1
	fi
done
if cmp "$logs/first" "$logs/second" >"$logs/said" 2>&1 && [ -s "$logs/first" ]; then
	echo "ok - $kind: two runs left the same log, $(wc -l <"$logs/first") records, $(sha256sum <"$logs/first" | cut -c 1-16)"
else
	echo "not ok - $kind: two runs differ: $(<"$logs/said")"
	diff "$logs/first" "$logs/second" | head -n 20 | sed 's/^/# /'
	exit 1
fi
