// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a collection in a window, one after another. Each is for one entry and event: as varints the
 * entry, the event and the length in bytes of the rest; then the pairs (collect/pairs.h). Pure functions.
 */
#ifndef PEBSD_WINDOW_RECORDS_H
#define PEBSD_WINDOW_RECORDS_H

#include <stddef.h>

#include "base/varint.h"

#define RECORD_HEADER_MAX (3 * VARINT_MAX)

/* A decoded header; `pairs` points into the data. */
struct record {
	u32 entry;
	u32 event;
	const u8 *pairs;
	size_t size;
};

/* Writes the header for `size` bytes of pairs. Returns the address for the pairs. */
u8 *record_put_header(u8 *to, u32 entry, u32 event, size_t size);

/* Decodes a record that record_put_header() began. */
struct record record_get(const u8 *from);

/* Compares by entry, then event. Returns a value below 0, 0, or above. */
int record_compare(const void *a, const void *b);
void records_sort(struct record *records, size_t n);

/* Decodes all records in `size` bytes to `to`. Returns the end of the list in `to`. */
struct record *records_find(const u8 *data, size_t size, struct record *to);

/*
 * Sums up `n` sorted records: writes one record for each entry and event to `to`, each counter saturating.
 * `to` must have space for all records and one byte more for each. Returns the number of records written, and
 * their bytes in *ret_size.
 */
size_t records_add_up(const struct record *records, size_t n, u8 *to, size_t *ret_size);

#endif
