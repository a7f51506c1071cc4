#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest must be what the other tests expect: a machine with systemd, one cgroup hierarchy of version 2, a PMU under
# the kernel's own driver, all units started, and pebsd installed but not running. Process 1 must start within 10 s of
# the guest's time.
# kernels: 6.12 6.1 7
# takes: 5 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

expect 'process 1' systemd "$(cat /proc/1/comm)"
expect 'the file system of cgroups' cgroup2fs "$(stat --file-system --format=%T /sys/fs/cgroup)"
expect 'the kernel' "$(cat "$here/release")" "$(uname -r)"
expect 'multi-user.target' active "$(systemctl is-active multi-user.target || :)"
expect 'failed units' '' "$(systemctl list-units --failed --plain --no-legend)"
dmesg | grep -q 'Performance Events: PEBS fmt3+, Skylake events, .* Intel PMU driver' ||
	fail "the kernel's driver says: $(dmesg | grep 'Performance Events')"
[ -r /sys/kernel/btf/vmlinux ] || fail 'the kernel has no BTF'
expect 'pebsd.service' inactive "$(systemctl is-active pebsd.service || :)"
started=$(dmesg | sed -n 's/^\[ *\([0-9.]*\)\] Run .* as init process.*/\1/p')
say "measured: process 1 started after $started s"
awk -v started="$started" 'BEGIN { exit !(started > 0 && started <= 10) }' || fail "process 1 started after $started s"
