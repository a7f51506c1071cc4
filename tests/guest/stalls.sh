# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Whether a guest stood still while a test ran in it: by what its kernel says of itself, and by how long the emulator had
# to wait for a CPU of the host. Such a test shows nothing of pebsd where it fails.

# What a kernel says that found its tasks or CPUs standing: RCU's stall detector, the watchdogs of CPUs and of work
# queues, the one of hung tasks.
STALL='rcu.*(detected (expedited )?stalls|self-detected stall)|soft lockup|workqueue lockup|blocked for more than'

# stall_seconds: of the kernel's log on standard input, how long the longest stall was that it tells of, in seconds; 0
# where it tells of none. RCU says it in jiffies, of which Debian's kernels have 250 a second.
stall_seconds() {
	awk -v stall="$STALL" '
		$0 ~ stall { found = 1 }
		match($0, /t=[0-9]+ jiffies/) { longest(substr($0, RSTART + 2) / 250) }
		$0 ~ stall && match($0, /stuck for [0-9]+s/) { longest(substr($0, RSTART + 10) + 0) }
		$0 ~ stall && match($0, /blocked for more than [0-9]+/) { longest(substr($0, RSTART + 22) + 0) }
		function longest(seconds) { if (seconds > most) most = seconds }
		END { printf "%.0f\n", found && most < 1 ? 1 : found * most }'
}

# waited_ns PROCESS: how long that of its threads which waited longest was ready and had no CPU of the host: the one that
# plays the guest's CPUs. Nothing where it is not known.
waited_ns() {
	cat "/proc/$1/task"/*/schedstat 2>/dev/null | awk '$2 > most { most = $2 } END { if (NR) printf "%.0f\n", most }'
}

# stalled KERNEL_SECONDS WAITED_SECONDS TOOK_SECONDS: says what kept the guest from its test, or nothing. An emulator that
# waited for most of the time, and long enough for the waits within a guest to run out, is one that stood still.
stalled() {
	if [ "$1" -gt 0 ]; then
		echo "the guest's kernel stalled for $1 s"
	elif [ "$2" -ge 20 ] && [ $(($2 * 2)) -gt "$3" ]; then
		echo "the emulator waited $2 of $3 s for a CPU of the host"
	fi
}
