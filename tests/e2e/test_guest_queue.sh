#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/guest/run.sh and guest.sh, with a script instead of the emulator. Each kernel must run the tests that name
# it and those that name no kernel, the longest first, distributed to as many guests as there are CPUs. If a guest
# ends, its tests that did not run yet must fail.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts=$PWD/tests/guest
runner=$PWD/tests/run.sh
mkdir -p "$work/tests/guest/inside" "$work/plays"
cp "$scripts"/{run,guest,common,report,kernel,unpack}.sh "$work/tests/guest/"
cd "$work"
export BUILD=$work/build GUEST_EMULATOR=$work/emulator PLAYS=$work/plays

fail() {
	printf '%s\n' "$@"
	exit 1
}

# A script instead of QEMU. It prints the same lines as tests/guest/inside/run.sh, and sources the file of each
# test.
cat >emulator <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
	case $1 in
	-serial) [[ $2 != file:* ]] || serial=${2#file:} ;;
	-kernel) series=${2##*/kernel-} series=${series%-*} ;;
	-initrd) root=${2##*/} ;;
	-smp) cpus=${2%%,*} ;;
	-append) names=${2##*guest.tests=} words=$2 ;;
	-plugin) machine=${2#*,machine=} machine=${machine%%,*} ;;
	esac
	shift
done
kind=$series,$machine,$cpus
# A guest of the usual machine, skylake-server with one CPU, is named by the kernel's series alone.
[ "$machine,$cpus" != skylake-server,1 ] || kind=$series
[ "$root" = initrd ] || kind+=,$root
[[ " $words " != *' isolcpus=1 '* ]] || kind+=,isolated
: >"$serial"
# Count this guest and earlier ones.
exec {fd}>guests.lock
flock $fd
guest=$(($(cat guests 2>/dev/null || echo 0) + 1))
echo "$guest" >guests
exec {fd}>&-
[ ! -e "$PLAYS/boot-dies" ] || exit 1
for name in ${names//,/ }; do
	echo "$guest $kind $name" >>ran
	echo "begin $name"
	. "$PLAYS/$name"
done
echo end
END
chmod +x emulator

# test_of NAME PLAY [LINE_OF_ITS_HEAD...]: makes a test
test_of() {
	local name=$1
	printf '%s\n' "$2" >"plays/$name"
	shift 2
	printf '%s\n' '#!/bin/sh' "$@" >"tests/guest/inside/test_$name.sh"
	chmod +x "tests/guest/inside/test_$name.sh"
}

# runs ARGUMENT...: leaves the output in `out`, and GUEST KERNEL[,MACHINE,CPUS] TEST of each test in `ran`.
runs() {
	rm -f guests ran
	touch ran
	tests/guest/run.sh "$@" >out 2>&1 || fail "run.sh ended with $?:" "$(cat out)"
}

# prints LINE...: each line is in the output. ran LINE...: exactly these tests, in this order.
prints() {
	local line
	for line; do
		grep -q -x -F -e "$line" out || fail "no line \"$line\":" "$(cat out)"
	done
}
ran() {
	[ "$(printf '%s\n' "$@")" = "$(cat ran)" ] || fail 'expected these runs:' "$@" 'found:' "$(cat ran)"
}

export GUESTS=1
test_of boot 'echo passed boot 1'
test_of short 'echo passed short 2' '# takes: 5 s' '# kernels: 7 6.1'
test_of slow 'echo passed slow 4' '# takes: 4 s' '# long' '# kernels: 7'
test_of long 'echo passed long 300' '# takes: 300 s'
test_of new 'echo skipped new 0 needs more' '# kernels: 7'

# Each kernel runs these tests, in this order. One guest is enough for each kernel.
runs '7 6.1'
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '2 6.1 boot' '2 6.1 long'
prints '1..6' 'ok - 7,skylake-server,1: long (300 s)' 'ok - 7,skylake-server,1: new # SKIP needs more' \
	'ok - 7,skylake-server,1: short (2 s)' 'ok - 6.1,skylake-server,1: boot (1 s)' \
	'ok - 6.1,skylake-server,1: the kernel has no complaint'
# A short run uses the first kernel of each test and no test marked as long. A long run uses all of them.
runs '7 6.1' long
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '1 7 slow' '2 6.1 boot' '2 6.1 long' '2 6.1 short'
rm plays/slow tests/guest/inside/test_slow.sh
runs '6.1' all
ran '1 6.1 boot' '1 6.1 long' '1 6.1 new' '1 6.1 short'
runs '6.1' new
ran '1 6.1 new'
! tests/guest/run.sh 6.1 none >out 2>&1 || fail 'a test that is not there is run'
grep -q 'there is no test "none"' out || fail "$(cat out)"
# Two guests at once if there is enough work for two. Each test runs once.
GUESTS=2 runs 7
[ "$(cut -d ' ' -f 3 ran | sort | paste -s -d ' ')" = 'boot long new short' ] || fail "$(cat ran)"
[ "$(cat guests)" = 2 ] || fail "$(cat guests) guests for 335 s"

# A test that names machines runs on each of them, in a guest with the number of CPUs that it names. If run.sh gets
# a complete kind instead of a kernel, the test runs on that machine only.
test_of played 'echo passed played 9' '# takes: 9 s' '# kernels: 7' '# machines: haswell zen3' '# cpus: 2' '# root: whole'
runs '7 6.1' played
[ "$(cut -d ' ' -f 2,3 ran | paste -s -d ';')" = '7,haswell,2,initrd-whole played;7,zen3,2,initrd-whole played;6.1,haswell,2,initrd-whole played;6.1,zen3,2,initrd-whole played' ] ||
	fail "$(cat ran)"
prints '1..4' 'ok - 7,haswell,2,whole: played (9 s)' 'ok - 7,haswell,2,whole: the kernel has no complaint' 'ok - 6.1,zen3,2,whole: played (9 s)'
# Each guest gets its tests before it starts: the longest test goes to the guest with the least work.
test_of second 'echo passed second 100' '# takes: 100 s' '# kernels: 7'
test_of first 'echo passed first 100' '# takes: 100 s' '# kernels: 7'
GUESTS=2 runs 7 first second
[ "$(cut -d ' ' -f 1,3 ran | sort | paste -s -d ';')" = '1 first;2 second' ] ||
	[ "$(cut -d ' ' -f 1,3 ran | sort | paste -s -d ';')" = '1 second;2 first' ] || fail "$(cat ran)"
test_of third 'echo passed third 90' '# takes: 90 s' '# kernels: 7'
for _ in 1 2 3; do
	GUESTS=2 runs 7 first second third
	[ "$(awk '{ tests[$1] = tests[$1] "," $3 } END { for (guest in tests) print tests[guest] }' ran | sort | paste -s -d ' ')" = ',first,third ,second' ] ||
		fail 'the guests did not get the same tests each time:' "$(cat ran)"
done
rm plays/{first,second,third} tests/guest/inside/test_{first,second,third}.sh
# A test may ask for a different number of CPUs on one of its machines (":2").
test_of two 'echo passed two 9' '# kernels: 7' '# machines: haswell zen3:2'
runs '7' two
[ "$(cut -d ' ' -f 2,3 ran | paste -s -d ';')" = '7,haswell,1 two;7,zen3,2 two' ] || fail "$(cat ran)"
rm plays/two tests/guest/inside/test_two.sh
# A test may ask for a CPU that the kernel isolates.
test_of alone 'echo passed alone 9' '# kernels: 7' '# cpus: 2' '# cpu 1: isolated'
runs '7' alone short
[ "$(cut -d ' ' -f 2,3 ran | sort | paste -s -d ';')" = '7 short;7,skylake-server,2,isolated alone' ] || fail "$(cat ran)"
rm plays/alone tests/guest/inside/test_alone.sh
# A test may ask for a root with container runtimes.
test_of contained 'echo passed contained 9' '# kernels: 7' '# root: podman'
runs '7' contained
[ "$(cut -d ' ' -f 2,3 ran)" = '7,initrd-podman contained' ] || fail "$(cat ran)"
rm plays/contained tests/guest/inside/test_contained.sh
# The short run may use fewer machines than the long one.
test_of some 'echo passed some 9' '# kernels: 7' '# machines: haswell zen3' '# short machines: zen3'
runs '7'
grep -q -x '[0-9] 7,zen3,1 some' ran || fail "$(cat ran)"
! grep -q '7,haswell,1 some' ran || fail "$(cat ran)"
runs '7' long
grep -q -x '[0-9] 7,haswell,1 some' ran || fail "$(cat ran)"
rm plays/some tests/guest/inside/test_some.sh
runs '7,skylake-vm,2' played short
ran '1 7,skylake-vm,2 played' '1 7,skylake-vm,2 short'
prints '1..2' 'ok - 7,skylake-vm,2: short (2 s)'
runs '7'
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '2 7,haswell,2,initrd-whole played' '3 7,zen3,2,initrd-whole played'
rm plays/played tests/guest/inside/test_played.sh

# A failing test is reported with its reason, and the tests after it run.
test_of bad 'echo "| reason"; echo failed bad 3 exit status 1'
runs 7 bad short
ran '1 7 bad' '1 7 short'
prints 'not ok - 7,skylake-server,1: bad (3 s): exit status 1' '# reason' 'ok - 7,skylake-server,1: short (2 s)'

# The runner counts as many tests as planned.
: >ran
status=0
"$runner" -p 'tests/guest/run.sh 7 long short' >counted 2>&1 || status=$?
[ "$status $(tail -n 1 counted)" = '0 3 passed, 0 failed, 0 skipped' ] || fail "$(cat counted)"

# If a guest ends during a test, this test fails, and so do the tests that did not run yet.
# shellcheck disable=SC2016
test_of dies 'echo "Oops: 0000 [#1]" >>$serial; exit 0' '# takes: 300 s'
runs 7 dies short
ran '1 7 dies'
grep -q '^not ok - 7,skylake-server,1: dies: Oops: .* while it ran: ' out || fail "$(cat out)"
grep -q '^not ok - 7,skylake-server,1: short: not run, Oops: ' out || fail "$(cat out)"
grep -q '^not ok - 7,skylake-server,1: the kernel complained, Oops: ' out || fail "$(cat out)"
# A stalled CPU counts as a complaint of the kernel, too.
# shellcheck disable=SC2016
test_of stands 'echo "[  221.037671] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:" >>$serial; echo passed stands 60'
runs 7 stands
prints 'ok - 7,skylake-server,1: stands (60 s)'
grep -q '^not ok - 7,skylake-server,1: the kernel complained, detected stalls' out || fail "$(cat out)"

# So does a fault that the emulated PMU reports.
test_of faults 'echo "pmu: cpu 0: a general protection fault is due: wrmsr 186 0 at 0" >&2; echo passed faults 1'
runs 7 faults
grep -q '^not ok - 7,skylake-server,1: the kernel.s driver wrote or read .*wrmsr 186' out || fail "$(cat out)"

# If a guest ends before its first test, all of its tests fail.
touch plays/boot-dies
runs 7 bad short
prints 'not ok - 7,skylake-server,1: bad: not run, the guest ended' 'not ok - 7,skylake-server,1: short: not run, the guest ended'
grep -q '^not ok - 7,skylake-server,1: it did not come to its first test' out || fail "$(cat out)"
