#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All manual pages must have the right form, and the tool that checks the form must find each kind of mistake.
set -eu

cd "$(dirname "$0")/../.."
for program in groff python3; do
	command -v $program >/dev/null || {
		echo "needs $program"
		exit 77
	}
done
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

tests/tools/manual.py daemon/man/*.[1-8]

# finds WHAT: expects the tool to report WHAT for the page on standard input
finds() {
	cat >"$work/page.7"
	! tests/tools/manual.py "$work/page.7" >"$work/said" || {
		echo "not found: $1"
		exit 1
	}
	grep -q "$1" "$work/said" || {
		echo "expected: $1; found: $(cat "$work/said")"
		exit 1
	}
}

version=$(sed -n 's/^VERSION = //p' Makefile)
page() {
	printf '.TH A 7 "" "pebsd %s" "B"\n.SH NAME\na \\- b\n.SH DESCRIPTION\n' "$1"
	cat
}
lines() {
	for ((i = 0; i < $1; i++)); do
		echo 'These are about as many words as fill one line of a page of eighty'
	done
}

{ echo 'A page.' && lines 10; } | page "$version" >"$work/good.7"
tests/tools/manual.py "$work/good.7"
lines 13 | page "$version" | finds "page.7:4: a paragraph of 1[3-9] lines, more than 12: DESCRIPTION These"
{ echo 'A.' && echo .PP && lines 13; } | page "$version" | finds 'page.7:6: a paragraph of'
{ printf '.PD 0\n.TP\nkey\nvalue\n.TP\nkey\n' && lines 14; } | page "$version" | finds 'page.7:9: a paragraph of'
echo 'A page.' | page 0.0.9 | finds "the heading lacks \"pebsd $version\""
printf 'A page.\n.SH OPTIONS\nNone.\n.SH EXAMPLES\nNone.\n' | page "$version" | finds 'page.7:8: EXAMPLES do not stand'
printf '.XX\n' | page "$version" | finds "XX"
