#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# METRICS in pebsd(8) must list exactly the metrics that the sources have, under the names that a scrape shows.
set -eu

cd "$(dirname "$0")/../.."

# In prometheus*.c a family is one string literal followed by its FAMILY_ kind, which determines the suffix of its
# series. The rows of two tables are counters, and so are the access flags (data_source.h).
served() {
	{
		kinds_of_families
		sed -n 's/.*\.family = "\(.*\)".*/\1_total/p' daemon/series/cgroup_counters.c daemon/snapshot/event_figures.c
		sed -n '/^#define ACCESS_FLAGS/,/^$/p' include/pebsd/data_source.h | grep -o 'pebsd_[a-z_]*' | sed 's/$/_total/'
	} | sort -u
}

kinds_of_families() {
	cat daemon/export/prometheus/prometheus*.c | tr -s '[:space:]' ' ' |
		grep -o '"\(pebsd\|process\)_[a-z_]*", FAMILY_[A-Z]*' |
		sed -e 's/^"\(.*\)", FAMILY_COUNTER$/\1_total/' -e 's/^"\(.*\)", FAMILY_INFO$/\1_info/' \
			-e 's/^"\(.*\)", FAMILY_[A-Z]*$/\1/'
}

documented() {
	sed -n '/^\.SH METRICS$/,/^\.SH VIRTUAL/p' daemon/man/pebsd.8 | grep -o '\(pebsd\|process\)_[a-z_]*' | sort -u
}

[ "$(served | wc -l)" -ge 40 ] || {
	echo "only $(served | wc -l) metrics are found in daemon/export/prometheus/"
	exit 1
}
diff <(served) <(documented) || {
	echo 'pebsd(8) lacks metrics (<) or has unknown ones (>)'
	exit 1
}
