#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module that plays the PMU goes into this kernel, and out of it again.
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

loaded() {
	grep -q '^guest_pmu ' /proc/modules
}

insmod "$here/guest_pmu.ko"
loaded || fail 'the module is not in /proc/modules'
rmmod guest_pmu
! loaded || fail 'the module stays after rmmod'
! dmesg | grep -E 'BUG:|WARNING:|Oops' || fail 'the kernel complains'
