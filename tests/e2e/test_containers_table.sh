#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of cgroup paths in pebsd-containers(7) must match the one in tests/unit/test_container_path.c, row by row.
set -eu

cd "$(dirname "$0")/../.."
tested=$(sed -n '/table begins/,/table ends/s/^\t*{"\(.*\)", "\(.*\)"},$/\1|\2/p' tests/unit/test_container_path.c |
	sed 's/\\\\/\\/g')
shown=$(sed -n '/^\.SH PATHS$/,/^\.SH /p' daemon/man/pebsd-containers.7 | awk '
	/^\.I \// { path = substr($0, 4); next }
	path { print path "|" $0; path = "" }' | sed 's/\\-/-/g; s/\\e/\\/g; s/\\://g')
rows=$(wc -l <<<"$tested")
[ "$rows" -ge 30 ] || { echo "only $rows rows were found"; exit 1; }
diff <(echo "$tested") <(echo "$shown") || { echo 'the table in the manual (>) is not the one that is tested (<)'; exit 1; }
