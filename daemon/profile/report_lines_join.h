// SPDX-License-Identifier: GPL-2.0
/*
 * Which accesses are of one cache line. Those of one process (or of the kernel) at addresses of one line are;
 * and of several processes, where it can be told that they share the memory:
 *   - files and shared memory that are mapped, where the physical line is the same;
 *   - heap, stack and other memory of the process alone (shared after a fork), where the physical line and
 *     the address are the same: all pages that were never written to are one physical page;
 *   - POSIX and System V shared memory of one name, at the same offset, where no physical addresses are
 * known.
 */
#ifndef PEBSD_REPORT_LINES_JOIN_H
#define PEBSD_REPORT_LINES_JOIN_H

#include "profile/profile_parts.h"

#define LINE_BYTES 64U

struct line_item {
	u64 address; /* of the line */
	u32 pid;
	u32 access;
	u32 line; /* number of the line */
};

/* An item for each access that has samples; the caller frees. 0 or -ENOMEM. */
int line_items(const struct profile *profile, struct line_item **ret, size_t *ret_n);

#endif
