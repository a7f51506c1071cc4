#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests in guests with each of several kernels, as many guests at once as there are CPUs, and reports them as
# tests/run.sh -p reads it.
#   run.sh "SERIES..." [TEST...]
set -eu

[ $# -ge 1 ] || exit 2
read -r -a kernels <<<"$1"
shift
printf '%s\n' "${kernels[@]}" | xargs -P "$(nproc)" -I SERIES "${0%/*}/guest.sh" SERIES "$@"
