#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make test-hardware` runs, on a machine of which is known what it must find: the module plays one chase, past
# L3 in most of what takes long, whatever the size of its memory. So those for L2 and L3 have to be found wrong, and
# all else right.
# long
# kernels: 6.1
# takes: 120 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

export PEBSD=/usr/sbin/pebsd CHASE=$here/hardware/chase REPORT=$work/report

# On a machine without PEBS it says why it does nothing.
exits 'without a PMU' 0 "$here/hardware/run.sh" 5
[[ $(<"$work/said") == *'# SKIP loads cannot be sampled here. cpu: there is no core PMU'* ]] ||
	fail "without a PMU: $(<"$work/said")"

# shellcheck disable=SC2119 # without parameters
play
exits 'on a machine that has but one latency' 1 "$here/hardware/run.sh" 5
say "$(<"$work/said")"
say "$(<"$REPORT")"
for name in L2 L3 'local DRAM'; do
	for what in 'pebsd sees the chase' 'what was counted was seen'; do
		grep -q -x "ok - $name (cpu): $what" "$work/said" || fail "$name: not so: $what"
	done
done
grep -q -x 'not ok - L2 (cpu): served by l2' "$work/said" || fail 'L2: the wrong source is not noticed'
grep -q -x 'not ok - L3 (cpu): served by l3 local_cache' "$work/said" || fail 'L3: the wrong source is not noticed'
grep -q -x '# [0-9]* % of its samples are, most are local_dram' "$work/said" || fail 'L3: the source is not named'
grep -q -x 'ok - local DRAM (cpu): served by local_dram lfb pmem msc' "$work/said" || fail 'local DRAM: the wrong source'
grep -q '^ok - remote DRAM (cpu) # SKIP there is no second NUMA node' "$work/said" || fail 'remote DRAM is not skipped'
head -n 1 "$REPORT" | grep -q -x 'pebsd on this hardware: FAILED: .*' || fail "no verdict at its head: $(<"$REPORT")"
for line in 'samples of the chase, ' 'expected [0-9]*, seen [0-9]*; lost: malformed 0, ' 'latency: mean ' 'sources: local_dram ' \
	'pebsd --probe' 'kernel.perf_event_paranoid: ' 'loads on PMU cpu' '"ns_a_load":' '[0-9]* passed, 2 failed, '; do
	grep -q "$line" "$REPORT" || fail "the report has no line \"$line\""
done
[ ! -e /sys/fs/cgroup/pebsd-test-hardware ] || fail 'its cgroup is left'
! pgrep -x pointer-chase || fail 'a chase is left'
