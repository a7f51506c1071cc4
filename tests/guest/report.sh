# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh's: guest
# For run.sh and guest.sh beside it, after common.sh: what they print, and what the tests' heads say.

# report LINE...: in one piece, for several guests report at once.
report() {
	flock "$guest" printf '%s\n' "$@"
}

# head_of TEST WORD: what the line "# WORD: ..." of its head says.
head_of() {
	sed -n "s/^# $2: \\(.*\\)\$/\\1/p" "${0%/*}/inside/test_$1.sh"
}

# takes TEST: about how long it takes, in seconds.
takes() {
	local said
	said=$(head_of "$1" takes)
	said=${said% s}
	echo "${said:-30}"
}
