#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A cgroup that holds a virtual machine of KVM is marked: what its guest loads is not sampled. Others are not.
# On a machine of AMD's, for the emulator can play one in the guest there alone.
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
	pebsctl --json show "$1" | jq -e '.guest_not_sampled == true' >/dev/null
}

# has_run_guest: KVM has counted time of its guest.
has_run_guest() {
	local pid
	pid=$(pgrep -x vm) || return 1
	[ "$(cut -d ' ' -f 43 "/proc/$pid/stat")" -gt 0 ]
}

play
settings '[sampling]' 'period = 20011'
load mix plain.service
# Beside the machine a load on the host's side, which is sampled. It runs before pebsd looks for the first time: between two
# looks are a thousand times what one takes, which is a minute and more in a guest.
systemd-run --quiet --collect --unit=machine.service --property=CPUSchedulingPolicy=idle \
	sh -c "$here/workload mix & exec $here/vm"
workloads+=(machine.service)
wait_until 'time of the virtual machine' 100 has_run_guest
start_pebsd
await_samples 100
machine=$(cgroup_of machine.service) plain=$(cgroup_of plain.service)
wait_until 'the mark' 100 is_marked "$machine"
! is_marked "$plain" || fail 'a service without a virtual machine is marked'
journalctl --quiet --no-pager --unit=pebsd.service | grep -q 'virtual machines run in 1 cgroup:' ||
	fail 'the journal does not tell of virtual machines'
pebsctl top >"$work/top"
say "$(cat "$work/top")"
