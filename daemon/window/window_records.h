// SPDX-License-Identifier: GPL-2.0
/*
 * What a window holds of a collection: records one after another, of an entry and event each. Their numbers
 * are varints: entry, event, length in bytes of what follows; then the pairs (collect/pairs.h). Pure.
 */
#ifndef PEBSD_WINDOW_RECORDS_H
#define PEBSD_WINDOW_RECORDS_H

#include <stddef.h>

#include "base/varint.h"

#define RECORD_HEADER_MAX (3 * VARINT_MAX)

/* A record where it lies. */
struct record {
	u32 entry;
	u32 event;
	const u8 *pairs;
	size_t size;
};

/* Writes what stands before `size` bytes of pairs; returns where these go. */
u8 *record_put_header(u8 *to, u32 entry, u32 event, size_t size);

/* Reads one that record_put_header() and its pairs made. */
struct record record_get(const u8 *from);

/* By entry, then event: below 0, 0 or above. */
int record_compare(const void *a, const void *b);
void records_sort(struct record *records, size_t n);

/* All that are in `size` bytes, to `to`; returns where the next goes. */
struct record *records_find(const u8 *data, size_t size, struct record *to);

/*
 * Writes one record for each entry and event among the `n`, sorted, each counter their sum, saturating: to
 * `to`, which has room for all of them and a byte for each. Returns how many; `*ret_size`: their bytes.
 */
size_t records_add_up(const struct record *records, size_t n, u8 *to, size_t *ret_size);

#endif
