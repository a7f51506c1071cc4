// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger: what was counted for each cgroup since the start, by path. A path keeps its entry when its
 * cgroup is removed and made again; an entry whose cgroup is long gone is folded into `other`, so that memory
 * is bounded and no sample ever leaves the total. Pure.
 */
#ifndef PEBSD_LEDGER_H
#define PEBSD_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "collect/figures.h"
#include "collect/offcore_figures.h"
#include "pebsd/sample.h"

struct ledger_entry {
	char *path;
	u32 number;  /* of this entry; never used twice in a ledger's life */
	u64 id;      /* of the cgroup that last had the path; 0: none */
	u32 holders; /* slots that have this path: more than one while a removed cgroup's slot rests */
	u32 living;  /* those of them whose cgroup exists */
	bool guest;  /* it holds a virtual machine, or did since its first sample */
	u64 died_ns; /* CLOCK_MONOTONIC; when `living` last fell to 0 */
	/*
	 * What its slots brought, of each event: what is left of slots that it has no more, as pairs, and the
	 * present slots' last readings (held.h). Read by ledger_total().
	 */
	struct ledger_sum *sums;                    /* NULL until the first sample */
	struct offcore_figures *offcore_total;      /* NULL until something was counted */
	struct offcore_figures *offcore_difference; /* of the collection under way; NULL: none */

	/* The engine's: whether it may have a series, as asked of the patterns of this number; 0: not yet. */
	bool exports;
	u32 exports_as_of;
};

struct ledger;

/* 0 or -ENOMEM; free with ledger_free(). `other` and `unattributed` exist from the start. */
int ledger_new(struct ledger **ret);
struct ledger *ledger_free(struct ledger *ledger);
DEFINE_CLEANUP(struct ledger *, ledger_free)

/* The entry of a path, made if there is none. The ledger's. 0 or -ENOMEM. */
int ledger_get(struct ledger *ledger, const char *path, struct ledger_entry **ret);

/* NULL if there is none. */
struct ledger_entry *ledger_find(const struct ledger *ledger, const char *path);

/* What stays when an entry is folded, and the samples of slot 0. */
struct ledger_entry *ledger_other(const struct ledger *ledger);
struct ledger_entry *ledger_unattributed(const struct ledger *ledger);

/* Whether an event ever had a sample there. */
bool ledger_has(const struct ledger_entry *entry, unsigned event);

/* What an event counted there since the start, in `ret`, all zero where that is nothing. */
void ledger_total(const struct ledger_entry *entry, unsigned event, struct figures *ret);

/* Makes room for, and adds, what is counted of off-core responses. */
int ledger_reserve_offcore(struct ledger_entry *entry);
void ledger_add_offcore(struct ledger_entry *entry, const struct offcore_figures *difference);

/* Begins a collection: drops the differences of the last one, of off-core responses. */
void ledger_begin(struct ledger *ledger);

/*
 * Folds entries that nobody holds: those whose cgroup died before `before_ns`, and of the others, where there
 * are more than `most`, the longest dead until three quarters of that are left. Their totals go to `other`,
 * and they are freed: pointers to them end. 0 or -ENOMEM, which folds no more.
 */
int ledger_fold(struct ledger *ledger, u64 before_ns, size_t most);

/* Marks those whose cgroup is in `ids`, ascending, as holding a virtual machine. */
void ledger_mark_guests(struct ledger *ledger, const u64 *ids, size_t n);

/* All entries but `other` and `unattributed`, by ascending number. The ledger's, valid until it changes. */
struct ledger_entry *const *ledger_entries(const struct ledger *ledger, size_t *ret_n);

#endif
