#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The model's table in daemon/model/README.md. Each row must name an existing file of daemon/model/ and an existing
# test. The comments of the file or of its header must name the section. Sections must be in order, and no test
# file may be missing.
set -eu

cd "$(dirname "$0")/../.."
table=$(grep '^| ' daemon/model/README.md | tail -n +2) || table=''
wrong=0 rows=0

complain() {
	echo "daemon/model/README.md: $*"
	wrong=1
}

while IFS='|' read -r _ section mechanism file test rest; do
	rows=$((rows + 1))
	read -r section <<<"$section"
	read -r mechanism <<<"$mechanism"
	read -r file <<<"${file//\`/}"
	read -r program name <<<"${test//\`/}"
	row="$section, $mechanism:"
	[ -z "$rest" ] || complain "$row the row has more than four columns"
	if [ ! -f "daemon/model/$file" ]; then
		complain "$row there is no daemon/model/$file"
	elif [[ $section == [0-9]* ]]; then
		cat "daemon/model/${file%.c}".[ch] | grep -Eq "(^|[^0-9.])${section//./\\.}([^0-9.]|\.?\$|\.[^0-9])" ||
			complain "$row no comment of daemon/model/${file%.c}.[ch] names section $section"
	fi
	if [ ! -f "tests/unit/$program" ]; then
		complain "$row there is no tests/unit/$program"
	else
		suite=${program#test_}
		grep -Fqx "Test(${suite%.c}, $name)" "tests/unit/$program" ||
			complain "$row tests/unit/$program has no test \"$name\""
	fi
done <<<"$table"

[ "$rows" -gt 50 ] || complain "only $rows rows were found"
sections=$(awk -F'|' '$2 ~ /^ [0-9]/ { print $2 }' <<<"$table")
[ "$sections" = "$(sort -s -V <<<"$sections")" ] || complain 'the sections are not in order'
for program in tests/unit/test_model_*.c; do
	case $program in
	*_machine.c | *_random.c | *_registers.c) continue ;; # these test the basis of all mechanisms
	esac
	grep -q "${program##*/}" <<<"$table" || complain "$program is in no row"
done
exit "$wrong"
