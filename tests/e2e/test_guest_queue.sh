#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/guest/run.sh and guest.sh, with a script in the place of the emulator: each kernel runs the tests that name it or
# name none, the longest first; a test that failed while its guest stalled runs once more in a new guest, and both are
# told; one that fails without a stall, or twice, has failed; and what a guest that ended left is run in another.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts=$PWD/tests/guest
runner=$PWD/tests/run.sh
mkdir -p "$work/tests/guest/inside" "$work/plays"
cp "$scripts"/{run,guest,common,report,stalls}.sh "$work/tests/guest/"
cd "$work"
export BUILD=$work/build GUEST_EMULATOR=$work/emulator PLAYS=$work/plays

fail() {
	printf '%s\n' "$@"
	exit 1
}

# What the kernels print.
rcu='[  221.037671] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[  221.041619] rcu: 	(detected by 0, t=10252 jiffies, g=34897, q=75 ncpus=2)'
soft='[  300.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [khugepaged:43]'
hung='[  400.000000] INFO: task systemd:1 blocked for more than 120 seconds.'

# shellcheck source=tests/guest/stalls.sh
. "$scripts/stalls.sh"
# seconds EXPECTED TEXT
seconds() {
	local found
	found=$(printf '%s\n' "$2" | stall_seconds)
	[ "$found" = "$1" ] || fail "expected a stall of $1 s, found $found: $2"
}
seconds 0 ''
seconds 0 '[    1.000000] rcu: Hierarchical RCU implementation. t=5000 jiffies'
seconds 41 "$rcu"
seconds 26 "$soft"
seconds 120 "$hung"
seconds 120 "$soft
$hung
$rcu"
seconds 1 '[  1.000000] rcu: INFO: rcu_sched self-detected stall on CPU'
# said EXPECTED KERNEL WAITED TOOK
said() {
	[ "$(stalled "${@:2}")" = "$1" ] || fail "expected \"$1\" of ${*:2}, found \"$(stalled "${@:2}")\""
}
said '' 0 0 100
said '' 0 19 20
said '' 0 50 100
said "the guest's kernel stalled for 3 s" 3 90 100
said 'the emulator waited 51 of 100 s for a CPU of the host' 0 51 100
[ -n "$(waited_ns $$)" ] || [ ! -e "/proc/$$/schedstat" ] || fail 'this shell has waited for nothing'

# What stands in the place of QEMU: asks as tests/guest/inside/run.sh does, and plays a test as its file has it.
cat >emulator <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
	case $1 in
	-serial) [[ $2 != file:* ]] || serial=${2#file:} ;;
	-kernel) series=${2##*/kernel-} series=${series%.vmlinuz} ;;
	-smp) cpus=${2%%,*} ;;
	-append) [[ $2 != *guest.tests=* ]] || told=${2##*guest.tests=} ;;
	-plugin) machine=${2#*,machine=} machine=${machine%%,*} ;;
	esac
	shift
done
kind=$series,$machine,$cpus
# The usual one.
[ "$machine,$cpus" != skylake-server,2 ] || kind=$series
: >"$serial"
# Of this and of earlier guests.
guest=$(($(cat guests 2>/dev/null || echo 0) + 1))
echo "$guest" >guests
[ ! -e "$PLAYS/boot-dies" ] || exit 1
# The names of a guest whose time is counted came with its kernel's words.
next() {
	echo next
	if [ -n "${told:-}" ]; then
		name=${told%%,*} told=${told#"$name"}
		told=${told#,}
		[ -n "$told" ] || told=end
	else
		read -r name
	fi
	[ "$name" != end ]
}
while next; do
	runs=$(grep -c "^[0-9]* $kind $name\$" ran)
	echo "$guest $kind $name" >>ran
	echo "begin $name"
	. "$PLAYS/$name"
done
echo end
END
chmod +x emulator

# test_of NAME PLAY [LINE_OF_ITS_HEAD...]
test_of() {
	local name=$1
	printf '%s\n' "$2" >"plays/$name"
	shift 2
	printf '%s\n' '#!/bin/sh' "$@" >"tests/guest/inside/test_$name.sh"
	chmod +x "tests/guest/inside/test_$name.sh"
}

# runs ARGUMENT...: leaves the output in `out`, and GUEST KERNEL[,MACHINE,CPUS] TEST of each in `ran`.
runs() {
	rm -f guests ran
	touch ran
	tests/guest/run.sh "$@" >out 2>&1 || fail "run.sh ended with $?:" "$(cat out)"
}

# prints LINE...: each stands in the output. ran LINE...: these in this order and no others.
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

# Which kernel runs which, in which order; one guest suffices each.
runs '7 6.1'
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '2 6.1 boot' '2 6.1 long'
prints '1..6' 'ok - 7,skylake-server,2: long (300 s)' 'ok - 7,skylake-server,2: new # SKIP needs more' \
	'ok - 7,skylake-server,2: short (2 s)' 'ok - 6.1,skylake-server,2: boot (1 s)' \
	'ok - 6.1,skylake-server,2: the kernel has no complaint'
# A short run takes the first of a test's kernels and none that is marked as long; a long one all of them.
runs '7 6.1' long
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '1 7 slow' '2 6.1 boot' '2 6.1 long' '2 6.1 short'
rm plays/slow tests/guest/inside/test_slow.sh
runs '6.1' all
ran '1 6.1 boot' '1 6.1 long' '1 6.1 new' '1 6.1 short'
runs '6.1' new
ran '1 6.1 new'
! tests/guest/run.sh 6.1 none >out 2>&1 || fail 'a test that is not there is run'
grep -q 'there is no test "none"' out || fail "$(cat out)"
# Two at once, where there is enough for two; each test once. Guests with two CPUs run alone where there are no more.
GUESTS=2 runs 7
[ "$(cut -d ' ' -f 3 ran | sort | paste -s -d ' ')" = 'boot long new short' ] || fail "$(cat ran)"
[ "$(cat guests)" = $(($(nproc) < 4 ? 1 : 2)) ] || fail "$(cat guests) guests for 335 s"

# A test that names machines runs on each of them, in a guest with the CPUs that it names; one that names a whole kind
# as its kernel, on that one alone.
test_of played 'echo passed played 9' '# takes: 9 s' '# kernels: 7' '# machines: haswell zen3' '# cpus: 1'
runs '7 6.1' played
[ "$(cut -d ' ' -f 2,3 ran | paste -s -d ';')" = '7,haswell,1 played;7,zen3,1 played;6.1,haswell,1 played;6.1,zen3,1 played' ] ||
	fail "$(cat ran)"
prints '1..4' 'ok - 7,haswell,1: played (9 s)' 'ok - 7,haswell,1: the kernel has no complaint' 'ok - 6.1,zen3,1: played (9 s)'
# Guests of one CPU share out what there is before they start.
test_of second 'echo passed second 100' '# takes: 100 s' '# kernels: 7' '# cpus: 1'
test_of first 'echo passed first 100' '# takes: 100 s' '# kernels: 7' '# cpus: 1'
GUESTS=2 runs 7 first second
[ "$(cut -d ' ' -f 1,3 ran | sort | paste -s -d ';')" = '1 first;2 second' ] ||
	[ "$(cut -d ' ' -f 1,3 ran | sort | paste -s -d ';')" = '1 second;2 first' ] || fail "$(cat ran)"
rm plays/{first,second} tests/guest/inside/test_{first,second}.sh
# A machine may have another number of CPUs than the test.
test_of two 'echo passed two 9' '# kernels: 7' '# machines: haswell zen3:2' '# cpus: 1'
runs '7' two
[ "$(cut -d ' ' -f 2,3 ran | paste -s -d ';')" = '7,haswell,1 two;7,zen3,2 two' ] || fail "$(cat ran)"
rm plays/two tests/guest/inside/test_two.sh
# The short run may have fewer machines than the long one.
test_of some 'echo passed some 9' '# kernels: 7' '# machines: haswell zen3' '# short machines: zen3' '# cpus: 1'
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
ran '1 7 boot' '1 7 long' '1 7 new' '1 7 short' '2 7,haswell,1 played' '3 7,zen3,1 played'
rm plays/played tests/guest/inside/test_played.sh

# A failure is one.
test_of bad 'echo "| reason"; echo failed bad 3 exit status 1'
runs 7 bad short
ran '1 7 bad' '1 7 short'
prints 'not ok - 7,skylake-server,2: bad (3 s): exit status 1' '# reason' 'ok - 7,skylake-server,2: short (2 s)'

# Of a guest that stalled it is none yet; the new one goes on with the rest.
# shellcheck disable=SC2016 # the play's own
test_of stalls 'if [ $runs = 0 ]; then
	echo "'"$rcu"'" >>$serial; echo "| reason"; echo failed stalls 60 exit status 1
else
	echo passed stalls 20
fi' '# takes: 200 s'
runs 7 stalls short
ran '1 7 stalls' '2 7 stalls' '2 7 short'
prints "# 7,skylake-server,2: stalls failed (60 s): exit status 1; but the guest's kernel stalled for 41 s: it runs again, in a new guest" \
	'# reason' \
	"ok - 7,skylake-server,2: stalls (20 s); run again, for in a first run, which failed, the guest's kernel stalled for 41 s"
! grep -q '^not ok' out || fail "$(cat out)"
[ "$(grep -c '^ok' out)" = 4 ] || fail "$(cat out)" # and each kernel's log
# Counted as planned.
: >ran
status=0
"$runner" -p 'tests/guest/run.sh 7 stalls short' >counted 2>&1 || status=$?
[ "$status $(tail -n 1 counted)" = '0 4 passed, 0 failed, 0 skipped' ] || fail "$(cat counted)"

# Nor does a soft lockup count as the kernel's complaint.
# shellcheck disable=SC2016
test_of twice 'echo "'"$soft"'" >>$serial; echo failed twice 60 exit status 1'
runs 7 twice
ran '1 7 twice' '2 7 twice'
prints "not ok - 7,skylake-server,2: twice (60 s): exit status 1; run again, for in a first run, which failed, the guest's kernel stalled for 26 s; the guest's kernel stalled for 26 s" \
	'ok - 7,skylake-server,2: the kernel has no complaint' 'ok - 7,skylake-server,2, guest 2: the kernel has no complaint'

# One that passes all the same is told, and runs once. A stall before a test is not the test's.
# shellcheck disable=SC2016
test_of slow 'echo "'"$hung"'" >>$serial; echo passed slow 130' '# takes: 300 s'
runs 7 slow bad
ran '1 7 slow' '1 7 bad'
prints "ok - 7,skylake-server,2: slow (130 s); the guest's kernel stalled for 120 s" 'not ok - 7,skylake-server,2: bad (3 s): exit status 1'

# A guest that ends in a test: the test has failed, the others run in another.
# shellcheck disable=SC2016
test_of dies 'echo "Oops: 0000 [#1]" >>$serial; exit 0' '# takes: 300 s'
runs 7 dies short
ran '1 7 dies' '2 7 short'
grep -q '^not ok - 7,skylake-server,2: dies: Oops: .* while it ran: ' out || fail "$(cat out)"
grep -q '^not ok - 7,skylake-server,2: the kernel complained, Oops: ' out || fail "$(cat out)"
prints 'ok - 7,skylake-server,2: short (2 s)'

# One that does not come to its tests: none of them has run.
touch plays/boot-dies
runs 7 bad short
prints 'not ok - 7,skylake-server,2: bad: not run, the guest ended' 'not ok - 7,skylake-server,2: short: not run, the guest ended'
grep -q '^not ok - 7,skylake-server,2: it did not come to its first test' out || fail "$(cat out)"
