// SPDX-License-Identifier: GPL-2.0
/* A record of an event's ring, as the kernel wrote it. Pure over bytes; what they hold is not trusted. */
#ifndef PEBSD_ZOOM_PARSE_H
#define PEBSD_ZOOM_PARSE_H

#include <stdbool.h>

#include <linux/perf_event.h>

#include "origin/event.h"
#include "zoom/zoom_sample.h"

/* Room for the stacks of one sample. */
struct zoom_stacks {
	u64 kernel[ZOOM_STACK_MAX];
	u64 user[ZOOM_STACK_MAX];
};

/*
 * Parses one record of `size` bytes that begins with its header, of an event with these attributes. 0, or
 * -EBADMSG where it is not as long as it must be. What `ret` points to is in `record` or in `stacks`.
 */
int zoom_parse(const struct perf_event_attr *attr, const struct event *event, const u8 *record, size_t size,
	       struct zoom_stacks *stacks, struct zoom_record *ret);

/*
 * The id of the event that wrote a record, where several write into one ring: all have
 * PERF_SAMPLE_IDENTIFIER and sample_id_all, which put it first in a sample and last in any other record. 0 or
 * -EBADMSG.
 */
int zoom_parse_id(const u8 *record, size_t size, u64 *ret);

/*
 * Puts the user stack of the LBR's call stack in the place of `user` where it goes further. Its branches, the
 * newest first, are calls that have not returned: the outer frames are where they were made from. `user` is
 * as in a struct zoom_sample; `in_kernel`: the sampled instruction is the kernel's, and user[0] then where
 * the kernel was entered, which no call has made. An address from the LBR is one beyond the call's first
 * byte: in the call, as one less than a return address is. `user` holds ZOOM_STACK_MAX. Returns whether it
 * did.
 */
bool zoom_parse_lbr(const struct perf_branch_entry *entries, size_t n, bool in_kernel, u64 *user,
		    size_t *n_user);

#endif
