#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module that plays the PMU goes into this kernel, and out of it again, twice.
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

for _ in 1 2; do
	# shellcheck disable=SC2119 # without parameters
	load_module
	module_is_loaded || fail "$module is not in /proc/modules"
	unload_module
	! module_is_loaded || fail "$module is in /proc/modules after rmmod"
done
