#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a guest with a kernel of a series under plain emulation, which needs no /dev/kvm, has it run tests, and reports
# them as tests/run.sh -p reads it. pebsd must be built; what else is lacking is made first.
#   guest.sh SERIES [TEST...]   a TEST is tests/guest/inside/test_TEST.sh; all without
#   guest.sh --part K/N SERIES  the K-th of N parts of all tests
#   guest.sh --shell SERIES     a root shell in the guest, on this terminal; `poweroff -ff` or Ctrl-A X ends it
# Leaves $BUILD/guest/SERIES/serial.log (SERIES-K of a part), what the guest's kernel and systemd printed.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

# The whole life of a guest, in seconds.
: "${GUEST_SECONDS:=2400}"
here=${0%/*}
shell='' part=1 parts=1
if [ "${1:-}" = --shell ]; then
	shell=yes
	shift
elif [ "${1:-}" = --part ]; then
	part=${2%/*} parts=${2#*/}
	shift 2
fi
[ $# -ge 1 ] || fail "usage: guest.sh [--shell | --part K/N] SERIES [TEST...]"
series=$1
shift
tests=("$@")
if [ $# = 0 ]; then
	# First, for it looks at what was not touched yet.
	[ "$part" != 1 ] || tests=(boot)
	n=0
	for script in "$here"/inside/test_*.sh; do
		script=${script##*/test_} script=${script%.sh}
		[ "$script" != boot ] || continue
		n=$((n + 1))
		[ $((n % parts)) != $((part % parts)) ] || tests+=("$script")
	done
fi
for name in "${tests[@]}"; do
	[ -x "$here/inside/test_$name.sh" ] || fail "there is no test \"$name\": $here/inside/test_$name.sh is not there"
done
output=$guest/$series
[ "$parts" = 1 ] || output=$guest/$series-$part
serial=$output/serial.log

# report LINE...: in one piece, for several guests report at once.
report() {
	flock "$guest" printf '%s\n' "$@"
}

# thread=single: with a thread for each CPU, QEMU 7.2 let one run code while another patched it (static branches):
#   6.12 died of an int3 that was patched out. A boot takes 1 to 3 s more, and two guests share two CPUs better.
# No -icount, though it would make the guest's time independent of the host's load: in QEMU 7.2 a CPU that spins without
#   `pause` then keeps the others from running, and 6.1 does that as it brings up its second CPU.
# -cx16: QEMU 7.2 corrupted the flags where an NMI lands on cmpxchg16b.
# panic, oops: whatever goes wrong in the kernel ends QEMU at once.
# serial-getty would wait for a device that only udev could tell of.
words="console=ttyS0 rdinit=/sbin/init panic=-1 oops=panic mitigations=off systemd.show_status=no"
words+=" systemd.mask=serial-getty@ttyS0.service"
machine=("$guest/emulator.run" -accel "tcg,thread=single" -cpu "max,-cx16" -smp 2 -m 1024
	-nodefaults -no-user-config -no-reboot -display none -kernel "$guest/kernel-$series.vmlinuz"
	-initrd "$output/initrd" -append "$words${shell:+ guest.shell systemd.debug_shell=ttyS0}")

mkdir -p "$output"
status=0
GUEST_OUTPUT=$output "$here/image.sh" "$series" "${tests[@]}" >"$output/image.log" 2>&1 || status=$?
if [ -n "$shell" ]; then
	[ "$status" = 0 ] || fail "$(cat "$output/image.log")"
	exec "${machine[@]}" -serial mon:stdio
fi
case $status in
0) ;;
"$EXIT_SKIP")
	report '1..1' "ok - $series: the guest # SKIP $(tail -n 1 "$output/image.log")"
	exit
	;;
*)
	mapfile -t lines < <(sed 's/^/# /' "$output/image.log")
	report '1..1' "not ok - $series: the guest cannot be made" "${lines[@]}"
	exit
	;;
esac

report "1..$((${#tests[@]} + 1))" # the last is what the kernel's log tells
rm -f "$serial" "$output/ended"
done=0 running=0 explanation=()

# result "ok"|"not ok" TEXT: of the next test in order.
result() {
	report "$1 - $series: ${tests[done]}$2" "${explanation[@]}"
	done=$((done + 1)) running=0 explanation=()
}

while IFS= read -r line; do
	read -r what name took why <<<"$line"
	case $what in
	begin) running=1 ;;
	passed) result ok " ($took s)" ;;
	skipped) result ok " # SKIP $why" ;;
	failed) result 'not ok' " ($took s): $why" ;;
	'|') explanation+=("# ${line#| }") ;;
	esac
	case $what in
	passed | failed | skipped) [ "$name" = "${tests[done - 1]}" ] || fail "$series: a result of $name out of order" ;;
	esac
done < <(
	status=0
	timeout --foreground --kill-after=5 "$GUEST_SECONDS" "${machine[@]}" -serial "file:$serial" -serial stdio </dev/null ||
		status=$?
	echo "$status" >"$output/ended"
)

# What a kernel complains of is a failure, whatever test it was in.
COMPLAINT='WARNING: |BUG: |Oops: |Kernel panic'
complaint=$(grep -a -o -m 1 -E "($COMPLAINT).*" "$serial" | tr -d '\r') || :
if [ -n "$complaint" ]; then
	mapfile -t explanation < <(grep -a -A 50 -m 1 -E "$COMPLAINT" "$serial" | tr -d '\r' | sed 's/^/# /')
	report "not ok - $series: the kernel complained, $complaint: $serial" "${explanation[@]}"
	explanation=()
else
	report "ok - $series: the kernel has no complaint"
fi
[ "$done" -lt ${#tests[@]} ] || exit 0

# The guest is gone, and tests are left.
why=${complaint:-the guest ended}
[ "$(cat "$output/ended")" != 124 ] || why="the guest was not done after $GUEST_SECONDS seconds"
if [ "$running" = 1 ]; then
	mapfile -t -O ${#explanation[@]} explanation < <(tail -n 20 "$serial" | tr -d '\r' | sed 's/^/# /')
	result 'not ok' ": $why while it ran: $serial"
fi
while [ "$done" -lt ${#tests[@]} ]; do
	result 'not ok' ": not run, $why: $serial"
done
