#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two runs of a guest with one CPU must be identical: kernel, driver, workloads and pebsd must leave two logs of the
# emulated PMU that are equal to the byte, also if systemd runs in the guest. Reports in the form that tests/run.sh -p
# reads.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# repeats KIND TEST: compares two runs
repeats() {
	local kind=$1 test=$2 run
	for run in first second; do
		BUILD=$BUILD GUEST_LOG=$logs/$run "${0%/*}/guest.sh" "$kind" "$test" >"$logs/said" 2>&1 || :
		if ! grep -q "^ok - .*: $test" "$logs/said"; then
			echo "not ok - $kind: the $run run of $test failed"
			sed 's/^/# /' "$logs/said"
			return
		fi
	done
	if cmp "$logs/first" "$logs/second" >"$logs/said" 2>&1 && [ -s "$logs/first" ]; then
		echo "ok - $kind: two runs of $test left the same log, $(wc -l <"$logs/first") records, $(sha256sum <"$logs/first" | cut -c 1-16)"
	else
		echo "not ok - $kind: two runs of $test differ: $(<"$logs/said")"
		diff "$logs/first" "$logs/second" | head -n 20 | sed 's/^/# /'
	fi
}

echo 1..3
repeats 6.12,skylake-server,1,small price
repeats 6.12,skylake-server,1,small machine
repeats 6.12,skylake-server,1 accounts
