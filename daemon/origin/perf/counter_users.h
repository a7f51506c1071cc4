// SPDX-License-Identifier: GPL-2.0
/*
 * The other users of the CPUs' counters, as far as they can be known: the NMI watchdog, processes that have
 * perf events open, and virtual machines whose virtual PMU KVM backs with events of the host.
 *
 * A process shows its perf events only as descriptors, "anon_inode:[perf_event]". They do not say what is
 * counted: software events, tracepoints and output buffers of BPF programs use no counter. Reading another
 * user's descriptors needs CAP_SYS_PTRACE, and pebsd.service does not even see other users' processes
 * (ProtectProc=invisible). The members `hidden`, `unread` and `cut` say what remains unknown.
 */
#ifndef PEBSD_COUNTER_USERS_H
#define PEBSD_COUNTER_USERS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/*
 * How the NMI watchdog uses the counters. Its event is pinned, on each CPU (wd_hw_attr, kernel/watchdog_perf.c,
 * Linux 6.12; watchdog_hld.c before 6.5):
 * - COUNTER_WATCHDOG_OFF: it is off, or it is the buddy detector, which uses no counter (Linux 6.5 and later).
 * - COUNTER_WATCHDOG_MAYBE: it is on, and the kernel's configuration cannot be read.
 * - COUNTER_WATCHDOG_CYCLES: an event of CPU cycles.
 * - COUNTER_WATCHDOG_RAW: a raw event, nmi_watchdog=rCONFIG of the kernel's command line (6.10 and later).
 */
enum counter_watchdog {
	COUNTER_WATCHDOG_OFF,
	COUNTER_WATCHDOG_MAYBE,
	COUNTER_WATCHDOG_CYCLES,
	COUNTER_WATCHDOG_RAW,
};

/* A process that has perf events open. */
struct counter_user {
	u32 pid;
	u64 events;
	char name[64]; /* as in /proc/PID/comm: any bytes that the process chose */
};

/* Maximum number of processes with names. */
#define COUNTER_USERS_MAX 8

struct counter_users {
	enum counter_watchdog watchdog;
	u64 watchdog_config; /* of COUNTER_WATCHDOG_RAW */
	size_t n;
	struct counter_user users[COUNTER_USERS_MAX]; /* those with the most events, in descending order */
	u64 more;                                     /* number of further processes that have events */
	u64 more_events;                              /* their events */
	u64 unread;   /* processes whose descriptors this process may not read */
	bool hidden;  /* /proc does not show all processes of the machine */
	bool cut;     /* the search ended at its limit of processes and descriptors */
	u64 machines; /* virtual machines of KVM that were seen */
	bool kvm_pmu; /* KVM gives guests a virtual PMU (kvm.enable_pmu) */
};

/*
 * Limits of the processes and descriptors, in sum, that one search looks at. A descriptor took 5 to 7 microseconds
 * (measured in a virtual machine with 9,000 of them, Linux 6.18). A search must not hold up a collection of the
 * daemon.
 */
#define COUNTER_USERS_LOOK_PROBE  200000
#define COUNTER_USERS_LOOK_DAEMON 2000

/*
 * Reads all from `root` ("/", or the root of a copy for tests). The process `self` is left out. Whatever cannot be
 * read stays unknown.
 */
void counter_users_gather(const char *root, u32 self, u64 look_most, struct counter_users *ret);

/* Reads only the watchdog; the other members become 0. */
void counter_users_gather_watchdog(const char *root, struct counter_users *ret);

/*
 * Pure: derives the watchdog from the texts of /proc/sys/kernel/nmi_watchdog, /proc/cmdline and the kernel's
 * configuration file. NULL: the file cannot be read.
 */
enum counter_watchdog counter_users_watchdog(const char *nmi_watchdog, const char *cmdline,
					     const char *kernel_config, u64 *ret_config);

/* Pure: enters a process that has at least one event. */
void counter_users_add(struct counter_users *users, const struct counter_user *user);

/* Returns "cycles", "raw" or "unknown"; NULL: the watchdog uses no counter. */
const char *counter_watchdog_name(enum counter_watchdog watchdog);

#endif
