// SPDX-License-Identifier: GPL-2.0
/* A record of an event's ring, as the kernel wrote it. Pure over bytes; what they hold is not trusted. */
#ifndef PEBSD_ZOOM_PARSE_H
#define PEBSD_ZOOM_PARSE_H

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

#endif
