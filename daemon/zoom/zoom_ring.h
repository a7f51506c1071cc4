// SPDX-License-Identifier: GPL-2.0
/* The mapped ring that the kernel writes the records of a CPU's events into. */
#ifndef PEBSD_ZOOM_RING_H
#define PEBSD_ZOOM_RING_H

#include <stddef.h>

#include <linux/perf_event.h>

#include "pebsd/types.h"

struct zoom_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const u8 *data;
	size_t size; /* of the data, a power of two */
	u64 tail;    /* read up to here, as the kernel counts */
	u8 *whole;   /* room for a record that goes over the end: ZOOM_RECORD_BYTES_MAX */
};

#define ZOOM_RECORD_BYTES_MAX 65536 /* a header's `size` has 16 bits */

/*
 * Bytes of each ring where `n` share `all` bytes, a power of two: `least` where that is more, for all the
 * sum, and no more than `most`. Pure.
 */
size_t zoom_ring_size(size_t n, size_t all, size_t least, size_t most);

/*
 * Maps that of the event `fd` with `size` bytes, or fewer where the kernel gives this user no more locked
 * memory. 0 or -errno.
 */
int zoom_ring_open(int fd, size_t size, struct zoom_ring *ret);
void zoom_ring_close(struct zoom_ring *ring);

/* Up to where there are records now. */
u64 zoom_ring_head(const struct zoom_ring *ring);

/*
 * The next record before `head`. Returns 1 and the record, valid until zoom_ring_free_up(); 0: there is
 * none; -EBADMSG: what is there is no record, and nothing is known of where the next one begins: all is
 * passed over.
 */
int zoom_ring_next(struct zoom_ring *ring, u64 head, const u8 **ret_record, size_t *ret_size);

/* The kernel may write over what was read. */
void zoom_ring_free_up(struct zoom_ring *ring);

#endif
