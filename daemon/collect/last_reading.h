// SPDX-License-Identifier: GPL-2.0
/*
 * The last reading of one slot and event: the sum of its stripes. Only the 16-byte cells that were ever
 * nonzero are stored, so that a cgroup costs what it uses. A slot begins at zero (records.h), so this is also
 * everything that the slot has counted. Pure: records are passed as plain memory.
 */
#ifndef PEBSD_LAST_READING_H
#define PEBSD_LAST_READING_H

#include "base/cleanup.h"
#include "collect/packed.h"

struct last_reading;

/*
 * Reads the records of the stripes whose bits are set in `stripes`, and writes the values of struct counters
 * that moved since the last reading to `packed` (PACKED_MAX bytes). Sets *ret_size to the number of bytes, 0 if
 * none moved.
 *
 * `records[stripe]` is a struct latency_record if `has_latency`, else a struct plain_record. Writers may add to
 * it during the call; each counter is read whole. `*last` is created by the first reading that finds a count,
 * and then holds the newest reading. From then on, each call reads the stripes of all earlier readings, even if
 * their bits are not set. The samples of each stripe are added to `by_stripe`. Returns 0, or -ENOMEM with
 * nothing changed.
 */
int last_reading_read(struct last_reading **last, const void *const *records, u32 stripes, bool has_latency,
		      u8 *packed, size_t *ret_size, u64 by_stripe[STRIPES_MAX]);

/* Prefetches a reading that is used soon. Does not wait. */
void last_reading_prefetch(const struct last_reading *last);

/* The stripes that the readings so far have read, as bits. */
u32 last_reading_stripes(const struct last_reading *last);

/* sum += everything that the slot has counted. */
void last_reading_add(const struct last_reading *last, struct counters *sum);

size_t last_reading_bytes(const struct last_reading *last);
void last_reading_free(struct last_reading *last);
DEFINE_CLEANUP(struct last_reading *, last_reading_free)

/* Large enough for any reading. */
#define LAST_READING_STATE_MAX (12U << 10)

/* Writes the reading to `to`, LAST_READING_STATE_MAX bytes. Returns the number of bytes written. */
size_t last_reading_save(const struct last_reading *last, u8 *to);

/*
 * Restores a saved reading of an event with or without latency. The caller frees it with last_reading_free(). Returns 0
 * or -ENOMEM; -EBADMSG: the bytes are not such a reading.
 */
int last_reading_restore(const u8 *bytes, size_t size, bool has_latency, struct last_reading **ret);

#endif
