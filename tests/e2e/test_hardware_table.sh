#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of processors in daemon/origin/perf/README.md and the entries of PROCESSORS in pebsd-hardware(7) must
# say the same, in the same order. The output that the page quotes must be what the program prints.
set -eu

cd "$(dirname "$0")/../.."
page=daemon/man/pebsd-hardware.7 table=daemon/origin/perf/README.md

plain() {
	sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\e/\\\\/g"
}

in_table=$(sed -n '/^| CPU /,/^$/{/^| CPU /d; /^|---/d; s/^| \(.*\) |$/\1/p}' "$table")
in_page=$(sed -n '/^\.SS Entries$/,/^\.SH /p' "$page" | plain | awk '
	/^\.B / { if (row) print row; row = substr($0, 4); next }
	/^[a-z-]+: / { sub(/^[a-z-]+: /, ""); row = row " | " $0 }
	END { if (row) print row }')
rows=$(wc -l <<<"$in_table")
[ "$rows" -ge 15 ] || { echo "$table: only $rows rows were found"; exit 1; }
diff <(echo "$in_table") <(echo "$in_page") || { echo "$page (>) is not as $table (<)"; exit 1; }
for word in loads stores instructions off-core tested; do
	found=$(sed -n '/^\.SS Entries$/,/^\.SH /p' "$page" | plain | grep -c "^$word: ") || :
	[ "$found" = "$rows" ] || { echo "$page: \"$word\" stands $found times for $rows processors"; exit 1; }
done

# The page says what the program prints, and its exit status, where there is no core PMU. The name of the tree is as
# long as /sys, so that the lines break at the same words.
: "${PEBSD:=build/pebsd}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/bus/event_source/devices"
printf '[sampling]\nevents = loads\n' >"$work/pebsd.conf"
program=$(realpath "$PEBSD")
status=0
printed=$(cd "$work" && "$program" --probe --sysfs-root tree --config pebsd.conf) || status=$?
printed=$(sed '/^Notes:$/,$d; s/ on the machine of this tree\.$/ here./; s/ tree\// \/sys\//' <<<"$printed")
quoted=$(sed -n '/^pebsd cannot sample memory accesses here/,/^\.EE$/{/^\.EE$/!p}' "$page" | plain)
[ -n "$quoted" ] || { echo "$page quotes no refusal"; exit 1; }
diff <(echo "$printed") <(echo "$quoted") || { echo "$page (>) does not quote what the program prints (<)"; exit 1; }
grep -q "and the exit status is $status:\$" "$page" || { echo "$page: pebsd exits with $status"; exit 1; }
