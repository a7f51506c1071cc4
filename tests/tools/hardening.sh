#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks programs for the hardening of compiler and linker. Prints each missing part of each program on a line, and
# exits with 1 if there is any.
#   hardening.sh PROGRAM...
set -u
export LC_ALL=C

lacking=0
lack() {
	printf '%s: %s\n' "$program" "$*"
	lacking=1
}

# The start files of Debian's C library have no notes on control flow, so the linker omits the notes from the
# program. In that case, look into main() itself for what the compiler has added.
check_control_flow() {
	local start
	case $(uname -m) in
	x86_64)
		start=$(cc -print-file-name=Scrt1.o 2>/dev/null || :)
		if readelf --notes "$start" 2>/dev/null | grep -q 'IBT.*SHSTK'; then
			readelf --notes "$program" | grep -q 'IBT.*SHSTK' || lack 'no note on IBT and SHSTK (-fcf-protection)'
		elif ! objdump --disassemble=main "$program" | grep -q endbr64; then
			lack 'main() does not begin with endbr64 (-fcf-protection)'
		fi
		;;
	aarch64)
		objdump --disassemble=main "$program" | grep -q -E 'paciasp|bti' ||
			lack 'main() signs no return address (-mbranch-protection)'
		;;
	esac
}

check() {
	local segments dynamic symbols
	# A file that is not a program, or a static program, has no dynamic section.
	segments=$(readelf --segments --wide "$program")
	dynamic=$(readelf --dynamic --wide "$program")
	symbols=$(readelf --dyn-syms --wide "$program")
	grep -q '(FLAGS_1).*\bPIE\b' <<<"$dynamic" || lack 'it has one fixed address (-fPIE -pie)'
	grep -q GNU_RELRO <<<"$segments" || lack 'relocated pointers stay writable (-z relro)'
	grep -q '(FLAGS_1).*\bNOW\b' <<<"$dynamic" || lack 'symbols are bound late, in a writable table (-z now)'
	grep -q 'GNU_STACK.* RW ' <<<"$segments" || lack 'its stack is executable (-z noexecstack)'
	! grep -q ' LOAD .* RWE ' <<<"$segments" || lack 'a segment is writable and executable'
	! grep -q TEXTREL <<<"$dynamic" || lack 'its code is relocated (TEXTREL)'
	! grep -q -E '\((RPATH|RUNPATH)\)' <<<"$dynamic" || lack 'it looks for libraries in a path of its own (RPATH)'
	grep -q ' __stack_chk_fail\b' <<<"$symbols" || lack 'no function has a canary (-fstack-protector-strong)'
	grep -q -E ' __(memcpy|memset|snprintf|sprintf|strcpy|read|printf|fprintf|vfprintf|vsnprintf|asprintf)_chk\b' \
		<<<"$symbols" || lack 'no function of the C library is a checked one (-D_FORTIFY_SOURCE)'
	readelf --notes "$program" | grep -q 'Build ID' || lack 'it bears no build ID'
	check_control_flow
}

[ $# -gt 0 ] || {
	sed -n '3,5s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
for program; do
	check
done
exit $lacking
