#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IBS cannot exclude guests (perf_ibs_init()), so a cgroup that holds a KVM virtual machine has samples and no mark. On
# Intel machines, guests are excluded and a mark says so. The emulator cannot run a virtual machine there. Only
# tests/bpf/test_guests.c and tests/unit/test_guest_marks.c test that.
# machines: zen3
# long
# kernels: 6.12 6.1 7
# takes: 20 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

for name in irqbypass kvm kvm-amd; do
	[ -e "$here/kvm/$name.ko" ] || skip "this kernel has no module $name"
	insmod "$here/kvm/$name.ko" || skip "$name cannot be loaded here"
done

# shellcheck disable=SC2317 # called by the trap
end_guests() {
	leave
	rmmod kvm-amd kvm irqbypass
}
trap end_guests EXIT

is_marked() {
	pebsctl --json show "$1" | jq -ne 'input | .guest_not_sampled == true' >/dev/null
}

# has_run_guest: true if KVM has counted time of the guest.
has_run_guest() {
	local pid
	pid=$(pgrep -x vm) || return 1
	[ "$(cut -d ' ' -f 43 "/proc/$pid/stat")" -gt 0 ]
}

play
settings '[sampling]' 'period = 20011'
load mix plain.service
# Next to the virtual machine runs a load on the host's side, which is sampled.
systemd-run --quiet --collect --unit=machine.service --property=CPUSchedulingPolicy=idle \
	sh -c "$here/workload mix & exec $here/vm"
workloads+=(machine.service)
wait_until 'time of the virtual machine' 100 has_run_guest
start_pebsd
await_samples 100
machine=$(cgroup_of machine.service) plain=$(cgroup_of plain.service)
await_collections 3
has_samples() {
	pebsctl --json show "$1" --window all | jq -ne 'input | .events.loads.samples > 0' >/dev/null
}
wait_until 'samples of the machine' 60 has_samples "$machine"
for cgroup in "$machine" "$plain"; do
	! is_marked "$cgroup" || fail "$cgroup is marked, whose guest IBS samples"
done
! journalctl --quiet --no-pager --unit=pebsd.service | grep -q 'virtual machines run in' ||
	fail 'the journal says that virtual machines are left out'
