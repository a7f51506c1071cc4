// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which accesses belong to the same cache line. In one process (or the kernel), the address decides.
 * Accesses of several processes belong together if these are known to share the memory:
 * - For mapped files and shared memory, the physical line must be the same.
 * - For heap, stack and other private memory (shared after a fork), the physical line and the address must be
 *   the same. The address matters because all pages that were never written are the same physical page.
 * - For POSIX and System V shared memory without physical addresses, the name and the offset must be the
 *   same.
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

/* Makes an item for each access with samples. The caller frees `*ret`. Returns 0 or -ENOMEM. */
int line_items(const struct profile *profile, struct line_item **ret, size_t *ret_n);

#endif
