#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make docs` must render every manual page and README. No link may be dead, and each name of a page must be a link
# to that page. The check must find dead links, lost pages and names that are not links.
set -eu

cd "$(dirname "$0")/../.."
for program in make mandoc cmark-gfm python3; do
	command -v $program >/dev/null || {
		echo "needs $program"
		exit 77
	}
done
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
fail() {
	printf '%s\n' "$*"
	exit 1
}

make --no-print-directory docs BUILD="$work" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
cat "$work/said"
docs=$work/docs
for page in daemon/man/*.[1-8]; do
	grep -qF "href=\"${page##*/}.html\"" "$docs/index.html" || fail "the index has no $page"
done
for page in README CONTRIBUTING; do
	grep -qF "href=\"$page.html\"" "$docs/index.html" || fail "the index has no $page"
done
grep -qF '<a href="pebsd.conf.5.html">pebsd.conf(5)</a>' "$docs/pebsctl.1.html" || fail 'pebsctl(1) has no link to pebsd.conf(5)'

# finds WHAT EXPRESSION: the check must print WHAT after sed changed pebsctl.1.html by EXPRESSION
finds() {
	cp -r "$docs" "$work/changed"
	sed -i "$2" "$work/changed/pebsctl.1.html"
	! tests/tools/docs.py --check "$work/changed" >"$work/said" || fail "not found: $1"
	grep -qF "$1" "$work/said" || fail "expected: $1; found: $(cat "$work/said")"
	rm -r "$work/changed"
}

finds 'pebsctl.1.html: nowhere.html: there is no such file' '0,/pebsd.conf.5.html/s//nowhere.html/'
finds 'pebsctl.1.html: pebsd.conf.5.html#nowhere: there is no such place' '0,/pebsd.conf.5.html/s//&#nowhere/'
finds 'pebsctl.1.html: pebsd.conf(5) is not a link' '0,/<a href="pebsd.conf.5.html">pebsd.conf(5)<.a>/s//pebsd.conf(5)/'
rm "$docs/pebsctl.1.html"
! tests/tools/docs.py --check "$docs" >"$work/said" || fail 'a page is gone, and the check does not say so'
