// SPDX-License-Identifier: GPL-2.0
/*
 * The deltas of one collection: for each slot and event with samples, the counters that moved, as packed counters
 * (packed.h). A path may occur more than once: a service that is stopped and started within one collection has
 * two slots. Pure; takes a few hundred bytes of memory per delta. The next collection reuses the memory,
 * except for what is far beyond the need of the last one.
 */
#ifndef PEBSD_DELTAS_H
#define PEBSD_DELTAS_H

#include "base/cleanup.h"
#include "collect/packed.h"
#include "pebsd/sample.h"

struct totals_entry;

struct delta {
	struct totals_entry *entry; /* owned by the totals; valid until the next collection begins */
	u32 event;
	u32 size;         /* of `packed`, bytes */
	const u8 *packed; /* valid until the next collection begins */
};

struct deltas;

/* Returns 0 or -ENOMEM. Free with deltas_free(). */
int deltas_new(struct deltas **ret);
struct deltas *deltas_free(struct deltas *deltas);
DEFINE_CLEANUP(struct deltas *, deltas_free)

/* Begins a collection: drops the deltas of the last one. */
void deltas_begin(struct deltas *deltas);

/*
 * deltas_room() returns PACKED_MAX bytes for the packed counters of one more delta, or NULL without memory.
 * Write them there. deltas_put() then adds the delta with the first `size` bytes, and cannot fail. Put the
 * deltas of one slot one after another, by ascending event.
 */
u8 *deltas_room(struct deltas *deltas);
void deltas_put(struct deltas *deltas, struct totals_entry *entry, u32 event, size_t size);

/* Returns the deltas in the order in which they were put. Valid until the next collection begins. */
const struct delta *deltas_list(const struct deltas *deltas, size_t *ret_n);

/* Memory used, bytes. */
size_t deltas_bytes(const struct deltas *deltas);

#endif
