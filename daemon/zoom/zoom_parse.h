// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the records that the kernel writes into an event's ring. Pure functions. The content is not trusted.
 */
#ifndef PEBSD_ZOOM_PARSE_H
#define PEBSD_ZOOM_PARSE_H

#include <stdbool.h>

#include <linux/perf_event.h>

#include "origin/event.h"
#include "zoom/zoom_sample.h"

/* Storage for the stacks of one sample. */
struct zoom_stacks {
	u64 kernel[ZOOM_STACK_MAX];
	u64 user[ZOOM_STACK_MAX];
};

/*
 * Parses one record of `size` bytes, starting at its header, that an event with these attributes wrote.
 * Returns 0, or -EBADMSG if the record is shorter than its fields require, has another size, or has unknown
 * fields. Pointers in `ret` point into `record` or `stacks`.
 */
int zoom_parse(const struct perf_event_attr *attr, const struct event *event, const u8 *record, size_t size,
	       struct zoom_stacks *stacks, struct zoom_record *ret);

/*
 * Finds the id of the event that wrote a record, if several events write into one ring. All of them need
 * PERF_SAMPLE_IDENTIFIER and sample_id_all. These put the id first in a sample and last in any other record.
 * Returns 0 or -EBADMSG.
 */
int zoom_parse_id(const u8 *record, size_t size, u64 *ret);

/*
 * Replaces `user` with the call stack of the LBR if the latter is deeper. Returns whether it did.
 *
 * The LBR's entries are calls that have not returned, the newest first. The outer frames are the places that
 * these calls were made from. `user` is as in struct zoom_sample and has room for ZOOM_STACK_MAX addresses.
 * If `in_kernel` is set, the sampled instruction is in the kernel. user[0] is then the place where the kernel
 * was entered, which is not a call, so user[0] is kept. An address from the LBR is stored as the first byte
 * of the call plus 1. Like a return address, it lies inside the call instruction after subtracting 1.
 */
bool zoom_parse_lbr(const struct perf_branch_entry *entries, size_t n, bool in_kernel, u64 *user,
		    size_t *n_user);

#endif
