#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make test-hardware` must pass unchanged under the kernel's own driver. The chases of an emulated machine must be
# served by the cache of their size or by the node of their memory. pebsd and perf must agree, and the report must
# be complete.
# long
# cpus: 2
# root: whole
# kernels: 6.12
# init: small
# takes: 300 s
# time limit: 2400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

export PEBSD=/usr/sbin/pebsd CHASE=$here/hardware/chase REPORT=$work/report

play
# perf reads all symbols of the kernel at each start, which takes 20 seconds in a guest. perf skips this if the
# symbols have no addresses.
echo 2 >/proc/sys/kernel/kptr_restrict
status=0
set -o pipefail
"$here/hardware/run.sh" 2 2>&1 | tee "$work/said" /dev/kmsg >/dev/null || status=$?
echo 0 >/proc/sys/kernel/kptr_restrict
say "$(<"$work/said")"
say "$(<"$REPORT")"
expect 'its exit status' 0 $status
for name in L2 L3 'local DRAM' 'remote DRAM'; do
	for what in 'pebsd sees the chase' 'what was counted was seen' 'pebsd and perf mem agree'; do
		grep -q -x "ok - $name (cpu): $what" "$work/said" || fail "$name: not so: $what"
	done
done
head -n 1 "$REPORT" | grep -q -x 'pebsd on this hardware: PASSED' || fail "no verdict at its head: $(<"$REPORT")"
for line in 'samples of the chase, ' 'expected [0-9]*, seen [0-9]*; lost: malformed 0, ' 'latency: mean ' 'sources: local_dram ' \
	'pebsd --probe' 'kernel.perf_event_paranoid: ' 'loads on PMU cpu' '"ns_a_load":' '[0-9]* passed, 0 failed, '; do
	grep -q "$line" "$REPORT" || fail "the report has no line \"$line\""
done
say "measured: $(sed -n 2p "$REPORT")"
grep -E 'sources: |perf mem: |latency: ' "$REPORT" | while read -r line; do say "measured: $line"; done
! compgen -G '/sys/fs/cgroup/pebsd-test-hardware-*' >/dev/null || fail 'its cgroup is left'
! pgrep -x pointer-chase || fail 'a chase is left'
