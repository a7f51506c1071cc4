#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# readelf must show the hardening of pebsd, pebsctl and pebsd-opener. The check (tests/tools/hardening.sh) must
# complain about a program that is built without one of the options.
set -eu

fail() {
	echo "$*"
	exit 1
}

for tool in cc readelf objdump; do
	command -v $tool >/dev/null || {
		echo "needs $tool to look at programs"
		exit 77
	}
done
tests/tools/hardening.sh "$PEBSD" "$PEBSCTL" "$PEBSD-opener"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/tiny.c" <<'END'
#include <stdio.h>
#include <string.h>

int main(int argc, char *argv[])
{
	char text[16];

	strcpy(text, argv[argc - 1]);
	return puts(text) < 0;
}
END
compiler=(-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
linker=(-pie "-Wl,-z,relro,-z,now,-z,noexecstack,--build-id")
case $(uname -m) in
x86_64) without_control_flow=-fcf-protection=none compiler+=(-fcf-protection=full) ;;
aarch64) without_control_flow=-mbranch-protection=none compiler+=(-mbranch-protection=standard) ;;
*) without_control_flow='' ;;
esac

# look COMPILER_OPTION... : builds a tiny program with these options after the others; the result is in $work/said.
look() {
	cc "${compiler[@]}" "${linker[@]}" "$@" -o "$work/tiny" "$work/tiny.c"
	tests/tools/hardening.sh "$work/tiny" >"$work/said"
}

look || fail "of a hardened program it is said: $(cat "$work/said")"

# refused WORDS COMPILER_OPTION... : expects exactly one complaint, with these words.
refused() {
	local words=$1
	shift
	! look "$@" || fail "nothing is missed in a program built with $*"
	[ "$(wc -l <"$work/said")" = 1 ] || fail "of a program built with $* it is said: $(cat "$work/said")"
	grep -q -F -e "$words" "$work/said" || fail "of a program built with $* it is said: $(cat "$work/said")"
}

refused '(-fPIE -pie)' -fno-pie -no-pie
refused '(-z relro)' -Wl,-z,norelro
refused '(-z now)' -Wl,-z,lazy
refused '(-z noexecstack)' -Wl,-z,execstack
refused '(RPATH)' -Wl,-rpath,/tmp
refused '(-fstack-protector-strong)' -fno-stack-protector
refused '(-D_FORTIFY_SOURCE)' -U_FORTIFY_SOURCE
refused 'build ID' -Wl,--build-id=none
[ -z "$without_control_flow" ] || refused '-protection)' $without_control_flow
! tests/tools/hardening.sh "$work/tiny.c" >"$work/said" 2>&1 || fail 'a text is taken for a hardened program'
