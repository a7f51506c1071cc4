// SPDX-License-Identifier: GPL-2.0
/*
 * What one collection brought: for each slot and event that had samples, the counters that moved, as pairs
 * (pairs.h). A path may be in it more than once: a service stopped and started within one collection has two
 * slots. Pure; in memory of some hundred bytes a difference, which is kept for the next collection and given
 * back where that needs much less.
 */
#ifndef PEBSD_DIFFERENCES_H
#define PEBSD_DIFFERENCES_H

#include "base/cleanup.h"
#include "collect/pairs.h"
#include "pebsd/sample.h"

struct ledger_entry;

struct difference {
	struct ledger_entry *entry; /* the ledger's; valid until the next collection begins */
	u32 event;
	u32 size;        /* of `pairs`, bytes */
	const u8 *pairs; /* valid until the next collection begins */
};

struct differences;

/* 0 or -ENOMEM; free with differences_free(). */
int differences_new(struct differences **ret);
struct differences *differences_free(struct differences *differences);
DEFINE_CLEANUP(struct differences *, differences_free)

/* A collection begins: forgets the last one's. */
void differences_begin(struct differences *differences);

/*
 * Room for one more, PAIRS_MAX bytes; NULL: no memory. Then differences_put() takes the first `size` bytes of
 * it, which can't fail. The differences of one entry come one after another, by ascending event.
 */
u8 *differences_room(struct differences *differences);
void differences_put(struct differences *differences, struct ledger_entry *entry, u32 event, size_t size);

/* In the order of putting. Valid until the next collection begins. */
const struct difference *differences_list(const struct differences *differences, size_t *ret_n);

/* Memory held, bytes. */
size_t differences_bytes(const struct differences *differences);

#endif
