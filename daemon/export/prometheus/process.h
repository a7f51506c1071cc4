// SPDX-License-Identifier: GPL-2.0
/* The kernel's data on this process, for the process_* metrics that every exporter has. */
#ifndef PEBSD_PROCESS_H
#define PEBSD_PROCESS_H

#include "snapshot/snapshot.h"

struct process_usage {
	struct maybe_double cpu_seconds; /* user and system time, all threads */
	struct maybe_u64 resident_bytes;
	struct maybe_double start_seconds; /* since the epoch */
	struct maybe_u64 open_fds;
};

/*
 * Reads the values of this process. A value that cannot be read is not known. The start time cannot change
 * and is read only once, so pass the same struct each time, zeroed before the first call.
 */
void process_read(struct process_usage *usage);

/*
 * Finds the start time in the text of /proc/PID/stat (field 22, proc(5)), in clock ticks since boot. The
 * command name in it may contain any character, also parentheses and spaces. Returns 0 or -EBADMSG.
 */
int process_start_ticks(const char *stat, u64 *ret);

#endif
