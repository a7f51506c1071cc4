#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of machines in tests/guest/README.md has a row for each guest of test_machine.sh. What a passed test
# measured replaces the cell of its machine and kernel, and nothing else.
set -eu

cd "$(dirname "$0")/../.."
tool=$PWD/tests/tools/machine_table.py
readme=tests/guest/README.md test=tests/guest/inside/test_machine.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	printf '%s\n' "$*"
	exit 1
}

rows=$(sed -n '/make machine-table: begin/,/make machine-table: end/s/^| \([^|]*\) | \([12]\) |.*/\1:\2/p' "$readme")
read -r -a machines < <(sed -n "s/^# machines: //p" "$test")
for machine in "${machines[@]}"; do
	[[ $machine == *:* ]] || machine+=:1
	grep -q -x "$machine" <<<"$rows" || fail "$readme has no row of $machine"
done

measured() {
	printf '         table: {"driver":"PEBS  fmt3+","opened":["open cpu loads 0x1cd 0x1f 2 0x8203 0-1"],"events":%s}\n' "$1"
}
table() {
	printf '%s\n' 'Text before.' '<!-- make machine-table: begin -->' '| machine | CPUs | its driver says | opened | 6.1 | 6.12 | 7 |' \
		'|---|--:|---|---|---|---|---|' '| skylake | 1 | PEBS fmt3+ | loads 0x1cd ldlat 31 pp after 0x8203 | old | old | old |' \
		'| skylake | 2 | the same | the same | old | '"$1"' | old |' '<!-- make machine-table: end -->' 'Text after.'
}
table old >"$work/README.md"
{
	echo 'passed   6.12,skylake,2,small: machine (80 s)'
	measured '{"loads":{"samples":1234,"latency":45881,"sources":{"l3":1200,"l1":34},"hitm":0,"filtered":0}}'
	measured '{"stores":{"samples":7,"latency":null,"sources":{},"hitm":0,"filtered":3}}'
	echo 'FAILED   6.1,skylake,2,small: machine (80 s): exit status 1'
	measured '{"loads":{"samples":9,"latency":9,"sources":{},"hitm":0,"filtered":0}}'
	echo 'passed   7,skylake,2,small: counts (80 s)'
	measured '{"loads":{"samples":8,"latency":8,"sources":{},"hitm":0,"filtered":0}}'
} >"$work/results"
"$tool" "$work/README.md" "$work/results"
diff <(table 'loads 1,234 (45,881 cycles; l3 1,200, l1 34; HITM 0); stores 7, 3 others filtered') "$work/README.md" ||
	fail 'the table (>) is not as expected (<)'
"$tool" "$work/README.md" /dev/null 2>/dev/null && fail 'results without a test of a machine are accepted'
exit 0
