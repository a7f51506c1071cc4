#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests in guests with each of several kernels, as many guests at once as there are CPUs, and reports them as
# tests/run.sh -p reads it. All tests of a kernel are shared by two guests, so that the CPUs end together.
#   run.sh "SERIES..." [TEST...]
set -eu

[ $# -ge 1 ] || exit 2
read -r -a kernels <<<"$1"
shift
if [ $# = 0 ]; then
	for part in 1/2 2/2; do
		printf -- "--part\n%s\n" "${kernels[@]/#/$part$'\n'}"
	done | xargs -P "$(nproc)" -n 3 "${0%/*}/guest.sh"
else
	printf '%s\n' "${kernels[@]}" | xargs -P "$(nproc)" -I SERIES "${0%/*}/guest.sh" SERIES "$@"
fi
