#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Static analysis of one C file: prints all findings at once, and nothing if there are none.
#   tidy.sh FILE COMPILER_OPTION...
set -u

file=$1
shift
! grep -q -E '\bcr_(assert|expect)' "$file" || set -- "$@" -include tests/lib/analysed_criterion.h
status=0
said=$(clang-tidy --quiet "$file" -- "$@" 2>&1) || status=$?
# Drop the number of warnings, because it includes those in other headers.
said=$(grep -v -E '^[0-9]+ (warning|error)s?( and [0-9]+ errors?)? generated\.$' <<<"$said")
[ -z "$said" ] || printf '%s\n' "$said"
[ "$status" = 0 ] || printf '%s: clang-tidy ended with status %s\n' "$file" "$status"
exit "$status"
