// SPDX-License-Identifier: GPL-2.0
/* What the kernel says of this process: the process_* metrics that every exporter has. */
#ifndef PEBSD_PROCESS_H
#define PEBSD_PROCESS_H

#include "snapshot/snapshot.h"

struct process_figures {
	struct maybe_double cpu_seconds; /* user and system time, all threads */
	struct maybe_u64 resident_bytes;
	struct maybe_double start_seconds; /* since the epoch */
	struct maybe_u64 open_fds;
};

/*
 * Reads them from /proc/self. What cannot be read is not known; the start, which cannot change, is read only
 * where `figures` does not have it yet: pass the same struct, zeroed at first, each time.
 */
void process_read(struct process_figures *figures);

/*
 * The start time in a /proc/PID/stat (field 22, proc(5)), in clock ticks since boot. The command's name in it
 * may hold anything, parentheses and spaces included. Returns 0 or -EBADMSG.
 */
int process_start_ticks(const char *stat, u64 *ret);

#endif
