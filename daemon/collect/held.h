// SPDX-License-Identifier: GPL-2.0
/*
 * What is held of one slot and event between two readings: the sum of its stripes as last read, of which only
 * the cache lines that ever held anything, so that a cgroup costs what it uses. As a slot begins at zero
 * (records.h), that is also what the slot has brought in all. Pure: records come as plain memory.
 */
#ifndef PEBSD_HELD_H
#define PEBSD_HELD_H

#include "base/cleanup.h"
#include "collect/pairs.h"

struct held;

/*
 * Reads the records of the stripes whose bits are set (`records[stripe]`: struct latency_record where
 * `has_latency`, else struct plain_record; shared with writers, each counter read whole) and writes to
 * `pairs`, PAIRS_MAX bytes, the counters of struct figures that moved since the last reading; `*ret_size` is
 * how many bytes: 0 where none. `*held` is created with the first, and takes the reading over. A stripe once
 * read is read with each further one, whatever bits are set. Samples by stripe are added to `by_stripe`. 0,
 * or -ENOMEM with nothing taken.
 */
int held_read(struct held **held, const void *const *records, u32 stripes, bool has_latency, u8 *pairs,
	      size_t *ret_size, u64 by_stripe[STRIPES_MAX]);

/* It is read soon: fetches it, and waits for nothing. */
void held_prefetch(const struct held *held);

/* Which stripes it ever read. */
u32 held_stripes(const struct held *held);

/* sum += all that it has brought. */
void held_add(const struct held *held, struct figures *sum);

size_t held_bytes(const struct held *held);
void held_free(struct held *held);
DEFINE_CLEANUP(struct held *, held_free)

/* Room for whatever is held. */
#define HELD_STATE_MAX (12U << 10)

/* Writes it to `to`, HELD_STATE_MAX bytes. Returns how many it took. */
size_t held_save(const struct held *held, u8 *to);

/*
 * The same taken back, of an event with or without latency and of stripes below `n_stripes`; the caller frees
 * it with held_free(). 0; -EBADMSG: these are no such bytes; -ENOMEM.
 */
int held_restore(const u8 *bytes, size_t size, bool has_latency, u32 n_stripes, struct held **ret);

#endif
