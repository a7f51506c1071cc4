#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of cgroup paths in pebsd-containers(7) must match the one in tests/unit/test_container_path.c, row by row.
# Each test that its table of tested runtimes names must be one of the long run, and each test of runtimes must have a
# row.
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

named=$(sed -n '/^\.SH TESTED RUNTIMES$/,/^\.TE$/p' daemon/man/pebsd-containers.7 | awk -F '\t' 'table && NF > 1 { print $NF }
	/^_$/ { table = 1 }' | sort -u)
there=$(cd tests/guest/inside && grep -l -x '# root: \(podman\|docker\|machines\)' test_*.sh | xargs grep -l -x '# long' |
	xargs grep -l '/runtimes.sh"$' | sed 's/^test_\(.*\)\.sh$/\1/' | sort)
[ -n "$there" ] || { echo 'no test of runtimes was found'; exit 1; }
diff <(echo "$there") <(echo "$named") || { echo 'the tests in the manual (>) are not those that run (<)'; exit 1; }
