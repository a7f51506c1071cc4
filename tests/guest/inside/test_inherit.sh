#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No sample may be lost when a pebsd under load is restarted, upgraded or reconfigured. Its counters must equal the
# emulated PMU's books over the whole test, and must never start again at 0. A stop must leave nothing behind.
# long
# time limit: 600 s
# takes: 94 s
# kernels: 7 6.12
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"
# shellcheck source=tests/guest/inside/inherit.sh
. "${0%/*}/inherit.sh"

before=$(programs) cgroups_before=$(cgroups)
bpf_objects >"$work/bpf-before"
start_under_load
[ "$(bpf_objects | diff "$work/bpf-before" - | grep -c '^> .*slot_')" -gt 0 ] || fail 'bpftool shows no map of a pebsd that runs'
for ((i = 1; i < times; i++)); do
	remember
	systemctl restart pebsd.service
	returned "restart $i"
done
expect_told 'sampled without a gap on'

# Like an upgrade: another file under the same name, then a restart.
remember
cp /usr/sbin/pebsd /usr/sbin/pebsd.new
mv /usr/sbin/pebsd.new /usr/sbin/pebsd
systemctl restart pebsd.service
returned 'an upgrade'
exact "over $times restarts"
report_inherited "$times restarts"
resume

# Other settings: each event is replaced, and the counts continue.
remember
settings '[sampling]' 'ldlat = 40'
systemctl restart pebsd.service
returned 'other settings'
expect_told 'replaced on'
exact 'over other settings'
report_inherited "$times restarts and other settings"
rm /etc/pebsd/pebsd.conf.d/guest.conf
resume

systemctl stop pebsd.service
systemctl stop chase.service mix.service
wait_until 'BPF programs are gone' 30 programs_are "$before"
expect 'what is pinned' '' "$(find /sys/fs/bpf -mindepth 1)"
# The kernel frees the maps of a program some time after the program.
are_gone() {
	bpf_objects | diff "$work/bpf-before" - >"$work/said"
}
for _ in {1..30}; do
	! are_gone || break
	sleep 1
done
[ ! -s "$work/said" ] || fail "bpftool shows what was not there before (>): $(<"$work/said")"
expect 'cgroups' "$cgroups_before" "$(cgroups)"
expect "events of pebsd's that systemd holds" '' "$(find /proc/1/fd -lname 'anon_inode:\[perf_event\]')"
