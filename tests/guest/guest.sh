#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a guest with a kernel of a series under plain emulation, which needs no /dev/kvm, and runs tests in it. pebsd
# must be built. Everything else that is missing is made first.
#   guest.sh KIND TEST...            the tests one after the other, reported as by run.sh
#   guest.sh --queue DIRECTORY KIND NUMBER
#                                    for run.sh: one of the guests of this kind, which runs the tests named in
#                                    $DIRECTORY/KIND.NUMBER
#   guest.sh --shell KIND            a root shell in the guest, on this terminal; `poweroff -ff` or Ctrl-A X ends it
#   guest.sh --layout SERIES         prints `pmu layout` of that kernel: for image.sh, which has made its initrd
# KIND is SERIES[,MACHINE[,CPUS[,small][,whole|,RUNTIMES][,isolated]]]: a kernel series, the machine of daemon/model
# whose PMU the emulator imitates with tests/guest/pmu/ (default skylake-server), and the number of CPUs (1 or 2,
# default 1). With "small", process 1 is inside/small_init.sh instead of systemd. With "whole", the root is the complete
# one of image.sh. With podman, docker or machines for RUNTIMES, it has that group of container runtimes (root.sh). With
# "isolated", the kernel isolates CPU 1. SERIES@RELEASE is the root of a series with another kernel, which kernels.sh
# has fetched. The guest's time is counted in instructions: two runs of the same tests are identical.
#
# Leaves $BUILD/guest/SERIES/serial-KIND.log (KIND with - for ,), which has the output of the guest's kernel and
# systemd, and serial-KIND-2.log and so on for further guests of that kind in one run.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
# shellcheck source=tests/guest/report.sh
. "${0%/*}/report.sh"
# shellcheck source=tests/guest/unpack.sh
. "${0%/*}/unpack.sh"

ICOUNT=3
# GUEST_SECONDS: time limit of a guest, in seconds of the host. SOAK_SECONDS: the time of a soak, if set, which is
# added to the default limit.
: "${GUEST_SECONDS:=$((14400 + ${SOAK_SECONDS:-0}))}"
here=${0%/*}
shell='' queue='' layout=''
case ${1:-} in
--layout)
	layout=yes
	set -- "$2,skylake-server,1,small"
	;;
--shell)
	shell=yes
	shift
	;;
--queue)
	queue=$2
	shift 2
	;;
esac
[ $# -ge 1 ] || fail "usage: guest.sh [--shell | --layout] SERIES[,MACHINE[,CPUS[,small][,whole|,RUNTIMES][,isolated]]] [TEST...]"
kind=$1
IFS=, read -r series machine_name cpus words_of_kind <<<"$kind"
runtimes=$(tr , '\n' <<<"$words_of_kind" | grep -x -E 'podman|docker|machines') || :
: "${machine_name:=skylake-server}" "${cpus:=1}"
shift
if [ -z "$shell$queue$layout" ]; then
	export GUESTS=1
	exec "$here/run.sh" "$kind" "$@"
fi
kernel=$(cached kernel "${series%@*}")
[[ $series != *@* ]] || kernel=$(kernel_place "${series#*@}")
series=${series%@*}
output=$guest/$series

# - -icount: time is the count of instructions, so nothing depends on other work of the host. With shift=3 an
#   instruction takes 8 ns of the guest's time, which is about the emulator's speed. sleep=off: time jumps while all
#   CPUs are halted. clock=vm and the seed: nothing else comes from the host. thread=single: the CPUs take turns in one
#   thread of the host.
# - -monitor: intel_idle would use MWAIT in a way that TCG does not support.
# - -erms, -fsrm: TCG copies one byte at a time for `rep movsb`. With these features, a guest with its root in
#   memory booted in 35 s instead of 22 s.
# - level: hybrids have leaf 1AH. ucode-rev: Sandy Bridge's PEBS is enabled with newer microcode only.
# - -hypervisor: with this bit the kernel would probe branch records and find none. Machines that end in "-vm" have it.
# panic, oops: any failure in the kernel ends QEMU at once.
# transparent_hugepage: khugepaged copies two megabytes at a time, which takes long under emulation.
# init_on_alloc, cryptomgr.notests, initcall_blacklist: ten of a boot's eighteen seconds of the guest's time went to
#   clearing pages, tests of cryptography, random numbers from jitter, certificates of modules, and names of trace
#   events and TCP's BPF functions.
# serial-getty would wait for a device that only udev can announce. Nobody logs in at tty1. Files that the timers would
#   clean disappear with the guest. systemd starts ldconfig.service if it takes /usr for newer than /etc, but the small
#   root has no ldconfig.
words="console=ttyS0 panic=-1 oops=panic mitigations=off transparent_hugepage=never"
words+=" nokaslr norandmaps random.trust_cpu=off"
words+=" init_on_alloc=0 cryptomgr.notests initcall_blacklist=jent_mod_init,crypto_kdf108_init,init_encrypted"
words+=",load_system_certificate_list,trace_eval_init,bpf_tcp_ca_kfunc_init,bpf_dummy_struct_ops_init"
words+=" systemd.show_status=no systemd.mask=serial-getty@ttyS0.service systemd.mask=getty@tty1.service"
words+=" systemd.mask=ldconfig.service"
# test_soak.sh reads its duration from the kernel's command line.
words+="${SOAK_SECONDS:+ guest.soak=$SOAK_SECONDS}"
words+=" systemd.mask=systemd-tmpfiles-clean.timer systemd.mask=fstrim.timer systemd.mask=dpkg-db-backup.timer"
first_process=/sbin/init
[[ ,$words_of_kind, != *,small,* ]] || first_process=/usr/lib/pebsd-tests/small_init.sh
root=$output/initrd
[[ ,$words_of_kind, != *,whole,* ]] || root=$output/initrd-whole
[ -z "$runtimes" ] || root=$output/initrd-$runtimes
words+=" rdinit=$first_process"
[[ ,$words_of_kind, != *,isolated,* ]] || words+=' isolcpus=1'
case $machine_name in
zen*) cpu=max,-cx16,-monitor,-erms,-fsrm,model-id=Emulated,vendor=AuthenticAMD,xlevel=0x80000022 ;;
*) cpu=max,-cx16,-monitor,-erms,-fsrm,model-id=Emulated,level=0x20,vendor=GenuineIntel,ucode-rev=0x7fffffff00000000 ;;
esac
[[ $machine_name == *-vm ]] || cpu+=,-hypervisor
pmu=$BUILD/tests/guest/pmu_plugin.so,machine=$machine_name,cpus=$cpus,icount=$ICOUNT
# Megabytes. A root in memory takes its space from the first node, and test_hardware.sh needs another 300.
memory=1024
[[ ,$words_of_kind, != *,whole,* ]] || memory=1536
[ -z "$runtimes" ] || memory=2048
# Two sockets with one CPU and half of the memory each. Memory of the other socket is remote.
topology=("$cpus")
if [ "$cpus" = 2 ]; then
	topology=("$cpus,sockets=2")
	for node in 0 1; do
		topology+=(-object "memory-backend-ram,id=node$node,size=$((memory / 2))M" -numa "node,cpus=$node,memdev=node$node")
	done
	pmu+=,node-bytes=$((memory << 19))
fi
machine=("${GUEST_EMULATOR:-$(cached emulator)/qemu}" -accel "tcg,thread=single" -cpu "$cpu" -smp "${topology[@]}" -m "$memory"
	-nodefaults -no-user-config -no-reboot -display none -kernel "$kernel/vmlinux" -initrd "$root"
	-icount "shift=$ICOUNT,sleep=off" -seed 1 -rtc "base=2026-01-01,clock=vm")
# GUEST_LOG: the file where the emulated PMU writes a line for each record.
machine+=(-plugin "$pmu${GUEST_LOG:+,log=$GUEST_LOG}")

if [ -n "$layout" ]; then
	timeout --foreground --kill-after=5 1800 "${machine[@]}" -append "$words guest.layout" \
		-serial "file:$output/serial-layout.log" -serial stdio </dev/null | tr -d '\r'
	exit
fi

# make_image: makes the image once per run of run.sh.
make_image() {
	local made=0 mark=$queue/$series${runtimes:+-$runtimes}.image
	[ -z "${GUEST_EMULATOR:-}" ] || return 0
	[ -z "$queue" ] || [ ! -e "$mark" ] || return "$(cat "$mark")"
	"$here/image.sh" "$series" ${runtimes:+"$runtimes"} >"$output/image.log" 2>&1 || made=$?
	[ -z "$queue" ] || echo "$made" >"$mark"
	return $made
}

mkdir -p "$output"
status=0
exec {image_fd}>"$output/image.lock"
flock "$image_fd"
make_image || status=$?
exec {image_fd}>&-
if [ -n "$shell" ]; then
	[ "$status" = 0 ] || fail "$(cat "$output/image.log")"
	exec "${machine[@]}" -append "$words guest.shell systemd.debug_shell=ttyS0" -serial mon:stdio
fi

number=$1
mapfile -t tests <"$queue/$kind.$number"

# give_up "ok"|"not ok" WHY: reports this for all tests that the guest still had to run.
give_up() {
	local name why=$2
	for name in "${tests[@]}"; do
		report "$1 - $kind: $name$why"
	done
}

case $status in
0) ;;
"$EXIT_SKIP")
	give_up ok " # SKIP the guest: $(tail -n 1 "$output/image.log")"
	exit
	;;
*)
	mapfile -t lines < <(sed 's/^/# /' "$output/image.log")
	report '1..1' "not ok - $kind: the guest cannot be made" "${lines[@]}"
	give_up 'not ok' ': not run, the guest cannot be made'
	exit
	;;
esac

label=${kind//,/-}
serial=$output/serial-$label.log
[ "$number" = 1 ] || serial=$output/serial-$label-$number.log
life=$output/life-$label-$number
rm -rf "$serial" "$life"
mkdir "$life"
trap 'rm -rf "$life"' EXIT

# The guest gets the names of its tests at the start: if it had to wait for the host, its clock would run on.
machine+=(-append "$words guest.tests=$(IFS=, && echo "${tests[*]}")")

name='' asked='' explanation=()

# result "ok"|"not ok" TEXT: reports the result of the running test.
result() {
	report "$1 - $kind: $name$2" "${explanation[@]}"
	name='' explanation=()
}

while IFS= read -r line; do
	read -r what of took why <<<"$line"
	case $what in
	passed | skipped | failed)
		[ "$of" = "$name" ] || fail "$kind: a result of $of, when ${name:-nothing} runs"
		;;
	esac
	case $what in
	begin)
		name=$of asked=yes
		[ "$name" = "${tests[0]:-}" ] || fail "$kind: $name runs, when it was to be ${tests[0]:-nothing}"
		tests=("${tests[@]:1}")
		;;
	passed) result ok " ($took s)" ;;
	skipped) result ok " # SKIP $why" ;;
	failed) result 'not ok' " ($took s): $why" ;;
	'|') explanation+=("# ${line#| }") ;;
	esac
done < <(
	status=0
	timeout --foreground --kill-after=5 "$GUEST_SECONDS" "${machine[@]}" \
		-serial "file:$serial" -serial stdio </dev/null 2>"$life/errors" || status=$?
	echo "$status" >"$life/ended"
)
cat "$life/errors" >&2

# A complaint of the kernel is a failure, whichever test was running.
COMPLAINT='WARNING: |BUG: |Oops: |Kernel panic|detected stalls|self-detected stall|blocked for more than'
COMPLAINT+='|NMI received for unknown reason|Dazed and confused'
complaints() {
	tr -d '\r' <"$serial" | grep -a -m 1 "$@" -E "($COMPLAINT).*"
}

ended=$(cat "$life/ended")
who=$kind
[ "$number" = 1 ] || who="$kind, guest $number"
complaint=$(complaints -o) || :
# The emulated PMU cannot refuse a bad value with a fault. It reports one on standard error.
fault=$(grep -m 1 'a general protection fault is due' "$life/errors") || :
if [ -n "$complaint" ]; then
	mapfile -t lines < <(complaints -A 50 | sed 's/^/# /')
	report '1..1' "not ok - $who: the kernel complained, $complaint: $serial" "${lines[@]}"
elif [ -n "$fault" ]; then
	report '1..1' "not ok - $who: the kernel's driver wrote or read what the PMU does not have, $fault"
else
	report '1..1' "ok - $who: the kernel has no complaint"
fi
why=${complaint:-the guest ended}
[ "$ended" != 124 ] || why="the guest was not done after $GUEST_SECONDS seconds"
if [ -n "$name" ]; then
	mapfile -t -O ${#explanation[@]} explanation < <(tail -n 20 "$serial" | tr -d '\r' | sed 's/^/# /')
	result 'not ok' ": $why while it ran: $serial"
elif [ -z "$asked" ]; then
	mapfile -t lines < <(tail -n 20 "$serial" | tr -d '\r' | sed 's/^/# /')
	report '1..1' "not ok - $who: it did not come to its first test, $why: $serial" "${lines[@]}"
fi
give_up 'not ok' ": not run, $why"
