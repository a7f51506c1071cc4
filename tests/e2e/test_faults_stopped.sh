#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The process is stopped for a while (SIGSTOP; some seconds stand for a minute), as a debugger does, or a machine that is
# suspended: what comes in meanwhile is counted over the time that it took, no rule takes it for a burst, and it goes on.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl
stand_in_pmu
own_cgroup
name=/${cgroup##*/}
configure perf < <(printf 'period = 100\nbudget = off\n[rule burst]\ncgroup = %s\nmetric = rate\nabove = 10000000\nwindow = 1s\nfor = 0\n' "$name")
stopped_s=5

# Touches fresh memory at an even pace all the time.
(
	echo "$BASHPID" >"$cgroup/cgroup.procs"
	while :; do
		head -c 2000000 /dev/zero | tail -c 1000000 >/dev/null
		sleep 0.02
	done
) &
others=$!

rate() {
	ctl --json status | jq '.events.loads.samples'
}

start --config "$work/pebsd.conf"
sleep 2
ctl --json status | jq . | head -80
ctl --json show "$name" | jq . | head -120
