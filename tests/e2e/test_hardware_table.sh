#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of processors in daemon/origin/perf/README.md and the entries of PROCESSORS in pebsd-hardware(7) must
# say the same, in the same order. The refusal that the page quotes must contain reasons that the program also has.
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

# The quoted output, its lines joined.
quoted=$(sed -n '/^  loads, stores/,/^\.EE/{/^\.EE/!p}' "$page" | plain | tr -s ' \n' ' ' | sed 's/.*PMU cpu: //; s/ *$//')
[ -n "$quoted" ] || { echo "$page quotes no refusal"; exit 1; }
for part in 'there is no core PMU (no folder cpu in' 'a virtual machine without a virtual PMU' 'or a CPU that this kernel has no driver for'; do
	[[ $quoted == *"$part"* ]] || { echo "$page does not quote: $part"; exit 1; }
done
# The text in the sources is split over lines.
code=$(cat daemon/origin/pmu/*.c daemon/origin/probe/*.c | tr -d '\n\t' | sed 's/""//g')
for part in 'there is no core PMU' 'a virtual machine without a virtual PMU' 'kernel has no driver for'; do
	[[ $code == *"$part"* ]] || { echo "no refusal of the program says: $part"; exit 1; }
done
