// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of all events of one cgroup in one span, as the column `data` of the table `figures` has them
 * (pebsd-history(7)). For each event by ascending id: the id and the number of bytes, both as varints
 * (base/varint.h), then as many bytes of packed counters (collect/packed.h). Pure functions.
 */
#ifndef PEBSD_HISTORY_ROW_DATA_H
#define PEBSD_HISTORY_ROW_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "history/shared/history_pane.h"

/* State of a reader; begins as {.from = data, .end = data + size}. */
struct row_reader {
	const u8 *from;
	const u8 *end;
};

struct row_part {
	u64 event; /* id */
	const u8 *packed;
	u32 size;
};

/* Reads the next event of sound data. Returns false at the end. */
bool row_data_get(struct row_reader *reader, struct row_part *ret);

/* Most bytes that an event takes besides its packed counters. */
#define ROW_PART_HEAD 20

/* Writes an event at `to`. Returns the end of the written bytes. */
u8 *row_data_put(u8 *to, const struct row_part *part);

/*
 * Returns true if row_data_put() could have written these bytes, with ascending ids. Use it for untrusted
 * data.
 */
bool row_data_sound(const u8 *data, size_t size);

/* The sum of rows. Begins as all zero; free it with row_sum_done(). */
struct row_sum {
	struct row_sum_event *events; /* by ascending id; those without counters have no rows */
	size_t n;
	size_t room;
	size_t size; /* bytes of the rows: the sum has at most as many */
};

/* Adds a sound row. Counters saturate at 2^64 - 1. Returns 0 or -ENOMEM: then the sum can only be freed. */
int row_sum_add(struct row_sum *sum, const u8 *data, size_t size);

/* Writes the sum at `to`, which has room for `size` bytes, and empties it. Returns the end of the written bytes. */
u8 *row_sum_take(struct row_sum *sum, u8 *to);

void row_sum_done(struct row_sum *sum);

#endif
