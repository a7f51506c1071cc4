#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# .github/SECURITY.md: each claim must have existing tests, and each process the user, the privileges and the score
# of its unit. As installed, no socket may be open to other machines.
set -eu

cd "$(dirname "$0")/../.."
text=.github/SECURITY.md
wrong=0 parts=0 claims=0

complain() {
	echo "$text: $*"
	wrong=1
}

# of UNIT KEY: prints the setting's value, if it has one.
of() {
	sed -n "s/^$2=//p" "units/$1" | tail -n 1
}

# part UNIT USER RIGHTS SCORE: this row of the table must match its unit and the manual.
part() {
	local user
	[ -f "units/$1" ] || {
		complain "there is no units/$1"
		return
	}
	user=$(of "$1" User)
	[ "$(of "$1" DynamicUser)" != yes ] || user='its own'
	[ "$2" = "$user" ] || complain "$1 runs as $user, not as $2"
	[ "$(tr ' ' '\n' <<<"${3//,/}" | sort)" = "$(of "$1" CapabilityBoundingSet | sed 's/^$/none/' | tr ' ' '\n' | sort)" ] ||
		complain "$1 has other rights than $3"
	sed 's/\\-/-/g' daemon/man/pebsd.8 | grep -qxF ".IR $1 : $4" || complain "$1: pebsd(8) does not say $4"
}

# claim CLAIM TESTS: these tests must exist
claim() {
	local word file='' n=0 kind=''
	[ -n "$1" ] || complain "a row without a claim: $2"
	for word in ${2//,/}; do
		[[ $word == '`'*'`' ]] || {
			complain "$1: $word is neither a file nor a test"
			continue
		}
		word=${word//\`/}
		case $word in
		*.c | *.sh)
			[ "$kind" != unnamed ] || complain "$1: none of the tests in $file is named"
			n=$((n + 1)) file=tests/$word kind=whole
			[[ $word == */* ]] || file=tests/unit/$word
			[[ $word != *.c || $word == fuzz/* ]] || kind=unnamed
			[ -f "$file" ] || complain "$1: there is no $file"
			;;
		*)
			kind=named
			grep -Eqs "^Test\([a-z_0-9]+, ${word}[,)]" "$file" || complain "$1: $file has no test \"$word\""
			;;
		esac
	done
	[ "$kind" != unnamed ] || complain "$1: none of the tests in $file is named"
	[ "$n" -gt 0 ] || complain "$1: without a test"
}

while IFS='|' read -r _ first second third fourth fifth rest; do
	read -r first <<<"$first"
	read -r second <<<"${second-}"
	case $second in
	unit | test | ---*) continue ;;
	esac
	if [ -n "$rest" ]; then
		read -r third <<<"${third//\`/}"
		read -r fourth <<<"$fourth"
		read -r fifth <<<"$fifth"
		if [[ $second == '`'*.service'`' ]]; then
			part "${second//\`/}" "$third" "$fourth" "$fifth"
			parts=$((parts + 1))
		elif [ "$fifth" != – ]; then
			complain "$first is no unit, and has a score"
		fi
	else
		[ -z "${third-}" ] || complain "$first: the row has more than two columns"
		claim "$first" "$second"
		claims=$((claims + 1))
	fi
done < <(grep '^|' "$text")

[ "$parts" = "$(find units -name '*.service' | wc -l)" ] || complain "$parts units stand there"
[ "$claims" -gt 25 ] || complain "only $claims claims were found"
while read -r file; do
	[ -f "tests/$file" ] || complain "there is no tests/$file"
done < <(grep -v '^|' "$text" | grep -o 'e2e/[a-z_]*\.sh')
while read -r file; do
	[ -f "tests/unit/$file" ] || [ -f "tests/$file" ] || complain "there is no $file"
done < <(grep -v '^|' "$text" | grep -oE '(bpf/)?test_[a-z_]*\.c')

# "As installed, other machines do not reach it". pebsd queries the kernel through netlink, to which nobody
# connects.
while read -r address; do
	[[ $address == /* || $address == 127.0.0.1:* ]] || complain "a socket unit listens on $address"
done < <(sed -n '/^ListenNetlink=inet-diag$/d; s/^Listen[A-Za-z]*=//p' units/*.socket)
listen=$(sed -n 's/^listen = *//p' config/pebsd.conf)
[[ $listen == 127.0.0.1:* ]] || complain "pebsd listens on ${listen:-nothing that config/pebsd.conf names} by default"
exit "$wrong"
