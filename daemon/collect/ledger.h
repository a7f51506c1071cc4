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
#include "collect/held.h"
#include "collect/offcore_figures.h"
#include "pebsd/sample.h"
#include "state/state.h"

struct ledger_entry {
	char *path;
	u32 number;  /* of this entry; none is used again before 2^32 entries were made */
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
	struct offcore_figures *offcore_difference; /* not taken yet; NULL: none */

	/* The engine's: whether it may have a series, as asked of the patterns of this number; 0: not yet. */
	bool exports;
	u32 exports_as_of;

	/* The ledger's own. */
	struct ledger *ledger;
	struct ledger_entry *next_counted;  /* of those with an `offcore_difference` */
	struct ledger_entry *older, *newer; /* of those that nobody holds, by `died_ns` */
	u64 unheld;                         /* collections begun before the last holder let go */
	struct state_ref record, offcore_record;
};

struct ledger;

/* What a slot brings to an entry, of one event: its readings, until it is let go. */
struct ledger_sum {
	struct ledger_sum *next;    /* of the entry */
	struct ledger_sum *of_slot; /* the same slot's next one */
	union {
		struct held *held; /* `present`; NULL: nothing read yet */
		u8 *left;          /* not `present`: pairs that earlier slots left */
	};
	u32 size; /* of `left`, bytes */
	u16 event;
	bool present;
	struct state_ref record; /* of `left` the ledger's; of `held` of whoever reads */
};

/* 0 or -ENOMEM; free with ledger_free(). `other` and `unattributed` exist from the start. */
int ledger_new(struct ledger **ret);
struct ledger *ledger_free(struct ledger *ledger);
DEFINE_CLEANUP(struct ledger *, ledger_free)

/*
 * From now on what the ledger has is kept in `state`, which outlives it; the ledger is empty. First takes
 * back what is there: entries with what earlier slots left to them; who holds them is told by ledger_hold()
 * as before. 0; -EBADMSG: what was kept makes no sense, and the ledger can only be freed; -ENOMEM.
 */
int ledger_keep(struct ledger *ledger, struct state *state);

/* The entry of a number; NULL: none. While what was kept is taken back, and numbers are in order. */
struct ledger_entry *ledger_numbered(const struct ledger *ledger, u32 number);

/* The entry's `id` or `died_ns` was changed. */
void ledger_entry_changed(struct ledger_entry *entry);

/* Nobody holds the entry, whose cgroup is taken to have died now. */
void ledger_died(struct ledger_entry *entry, u64 now_ns);

/* An entry that nobody holds is in differences kept for the next collection. */
void ledger_keep_unheld(struct ledger_entry *entry);

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

/* Adds pairs to what is left of earlier slots. 0, or -ENOMEM with nothing added. */
int ledger_add(struct ledger_entry *entry, unsigned event, const u8 *pairs, size_t size);

/* A slot begins and ceases to have the entry's path. One that nobody holds may be folded, but not before the
 * differences that it is in are gone. */
void ledger_hold(struct ledger_entry *entry);
void ledger_unhold(struct ledger_entry *entry);

/*
 * The readings of a slot that holds the entry, of an event: found among the slot's (`*of_slot`, NULL: none
 * yet) or put there. Whoever reads the slot takes over what is in its `held`. NULL: no memory.
 */
struct ledger_sum *ledger_sum(struct ledger_entry *entry, struct ledger_sum **of_slot, unsigned event);

/* The slot is let go: what the first of its readings brought is left with the entry, and it is freed; the
 * next one takes its place in `*of_slot`. 0, or -ENOMEM with nothing changed. */
int ledger_leave(struct ledger_entry *entry, struct ledger_sum **of_slot);

/* Makes room for, and adds, what is counted of off-core responses. */
int ledger_reserve_offcore(struct ledger_entry *entry);
void ledger_add_offcore(struct ledger_entry *entry, const struct offcore_figures *difference);

/* Everybody who takes differences of off-core responses has them: they are dropped. What comes between two
 * collections is the next one's. */
void ledger_offcore_taken(struct ledger *ledger);

/* Begins a collection. */
void ledger_begin(struct ledger *ledger);

/*
 * Folds entries that nobody holds: those whose cgroup died before `before_ns`, and of the others, where there
 * are more than `most`, the longest dead until three quarters of that are left. Their totals go to `other`,
 * and they are freed: pointers to them end. Those that are in the differences of this collection or the next
 * stay for now. 0 or -ENOMEM, which folds no more. Its cost is that of what it folds.
 */
int ledger_fold(struct ledger *ledger, u64 before_ns, size_t most);

/* Marks those whose cgroup is in `ids`, ascending, as holding a virtual machine. */
void ledger_mark_guests(struct ledger *ledger, const u64 *ids, size_t n);

/* All entries but `other` and `unattributed`, by ascending number. The ledger's, valid until it changes. */
struct ledger_entry *const *ledger_entries(const struct ledger *ledger, size_t *ret_n);

#endif
