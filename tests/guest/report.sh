# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh's: guest
# For run.sh and guest.sh, after common.sh: prints their reports and reads the heads of tests.

# report LINE...: prints all lines at once, because several guests report at the same time.
report() {
	flock "$guest" printf '%s\n' "$@"
}

# head_of TEST WORD: prints the text after "# WORD:" in the test's head.
head_of() {
	sed -n "s/^# $2: \\(.*\\)\$/\\1/p" "${0%/*}/inside/test_$1.sh"
}

# takes TEST: prints the approximate number of seconds that the test takes.
takes() {
	local said
	said=$(head_of "$1" takes)
	said=${said% s}
	echo "${said:-30}"
}
