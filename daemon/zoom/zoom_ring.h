// SPDX-License-Identifier: GPL-2.0
/* The mapped ring into which the kernel writes the records of one CPU's events. */
#ifndef PEBSD_ZOOM_RING_H
#define PEBSD_ZOOM_RING_H

#include <stddef.h>

#include <linux/perf_event.h>

#include "pebsd/types.h"

struct zoom_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const u8 *data;
	size_t size; /* of the data, a power of two */
	u64 tail;    /* read up to here, in the units of data_head */
	u8 *copy;    /* borrowed; ZOOM_RECORD_BYTES_MAX bytes, for a record that wraps around */
};

#define ZOOM_RECORD_BYTES_MAX 65536 /* a header's `size` has 16 bits */

/*
 * Returns the bytes of each ring if `n` rings share `all` bytes. The size is `least`, a power of two, doubled
 * as long as all rings fit into `all` and one ring is at most `most`. Never returns less than `least`, even
 * if the rings then need more than `all`. Pure.
 */
size_t zoom_ring_size(size_t n, size_t all, size_t least, size_t most);

/*
 * Maps the ring of the event `fd` with `size` bytes, or with fewer if the user may not lock that much memory
 * or memory is short. Rings that are read one record at a time may share `copy`, which outlives them. Returns 0
 * or -errno: -EPERM if not even a page may be locked.
 */
int zoom_ring_open(int fd, size_t size, u8 *copy, struct zoom_ring *ret);
void zoom_ring_close(struct zoom_ring *ring);

/* Returns the position up to which records are available now. */
u64 zoom_ring_head(const struct zoom_ring *ring);

/*
 * Reads the next record before `head`. Returns 1 and the record, which is valid until zoom_ring_free_up() or the
 * next call, also that of another ring with the same `copy`. Returns 0 if there is none. Returns -EBADMSG if the
 * data is not a valid record. The start of the next record is then unknown, so everything up to `head` is skipped.
 */
int zoom_ring_next(struct zoom_ring *ring, u64 head, const u8 **ret_record, size_t *ret_size);

/* Lets the kernel overwrite the records that were read. */
void zoom_ring_free_up(struct zoom_ring *ring);

#endif
