// SPDX-License-Identifier: GPL-2.0
/* Reading hot tables (pebsd/hot.h): what an owner's items came to on all CPUs together. Pure over memory. */
#ifndef PEBSD_COLLECT_HOT_H
#define PEBSD_COLLECT_HOT_H

#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/hot.h"

/* Really came: at least `samples`, at most `samples` + `error`. */
struct hot_item {
	u64 item;
	u64 samples;
	u64 error;
};

struct hot_list {
	u64 samples; /* of the owner, its items or not */
	size_t n;
	struct hot_item *items; /* most samples first, then the smaller error, then by item */
};

void hot_list_done(struct hot_list *list);

/*
 * Adds an owner's items to `list`, which is in no order until hot_list_finish(). `tables`: `n_tables` of
 * HOT_SETS sets each, one after the other; they may be written to meanwhile. 0 or -ENOMEM.
 */
int hot_list_add(struct hot_list *list, const struct hot_set *tables, u32 n_tables, u64 seed, u64 owner);

/*
 * Puts items of several owners together and orders them. `samples`: what these owners have in all, which
 * bounds the errors too; where the items have more (samples came in between), that.
 */
void hot_list_finish(struct hot_list *list, u64 samples);

#endif
