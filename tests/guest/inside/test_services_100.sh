#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 100 services that start and stop at once: each is named by its path, and has all its samples and no other's.
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

SERVICES=100

# shellcheck disable=SC2317 # called by the trap
end_services() {
	systemctl stop 'burst@*.service' 2>/dev/null || :
	leave
	rm -f /run/systemd/system/burst@.service
}
trap end_services EXIT

# The cgroups of those that run.
running() {
	find /sys/fs/cgroup -type d -name 'burst@*.service' | wc -l
}

are_running() {
	[ "$(running)" = "$1" ]
}

cat >/run/systemd/system/burst@.service <<'UNIT'
[Service]
Slice=burst.slice
CPUSchedulingPolicy=idle
ExecStart=/usr/lib/pebsd-tests/workload mix
UNIT
play loads_per_second=20000000
start_pebsd
mapfile -t units < <(seq -f 'burst@%g.service' $SERVICES)
systemctl start --no-block "${units[@]}"
wait_until "$SERVICES services" 100 are_running $SERVICES
note_cgroups
await_samples 4000
systemctl stop "${units[@]}"
expect 'services that are left' 0 "$(running)"
settle
agree "$SERVICES services"
least=
for unit in "${units[@]}"; do
	samples=$(samples_of "/burst.slice/$unit")
	[ "$samples" -gt 0 ] || fail "$unit has no sample"
	[ -n "$least" ] && [ "$least" -le "$samples" ] || least=$samples
	grep -q "\"cgroup\": *\"\\\\\\?/burst.slice\\\\\\?/$unit\"" "$work/top" || fail "$unit is not named"
done
say "$least samples in the least of them"
