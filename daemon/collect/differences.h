// SPDX-License-Identifier: GPL-2.0
/*
 * The differences of one collection: for each slot and event with samples, the counters that moved, as packed counters
 * (packed.h). A path may occur more than once: a service that is stopped and started within one collection has
 * two slots. Pure; takes a few hundred bytes of memory per difference. The next collection reuses the memory,
 * except for what is far beyond the need of the last one.
 */
#ifndef PEBSD_DIFFERENCES_H
#define PEBSD_DIFFERENCES_H

#include "base/cleanup.h"
#include "collect/packed.h"
#include "pebsd/sample.h"

struct ledger_entry;

struct difference {
	struct ledger_entry *entry; /* owned by the ledger; valid until the next collection begins */
	u32 event;
	u32 size;         /* of `packed`, bytes */
	const u8 *packed; /* valid until the next collection begins */
};

struct differences;

/* Returns 0 or -ENOMEM. Free with differences_free(). */
int differences_new(struct differences **ret);
struct differences *differences_free(struct differences *differences);
DEFINE_CLEANUP(struct differences *, differences_free)

/* Begins a collection: drops the differences of the last one. */
void differences_begin(struct differences *differences);

/*
 * differences_room() returns PACKED_MAX bytes for the packed counters of one more difference, or NULL without memory.
 * Write them there. differences_put() then adds the difference with the first `size` bytes, and cannot fail. Put the
 * differences of one slot one after another, by ascending event.
 */
u8 *differences_room(struct differences *differences);
void differences_put(struct differences *differences, struct ledger_entry *entry, u32 event, size_t size);

/* Returns the differences in the order in which they were put. Valid until the next collection begins. */
const struct difference *differences_list(const struct differences *differences, size_t *ret_n);

/* Memory used, bytes. */
size_t differences_bytes(const struct differences *differences);

#endif
