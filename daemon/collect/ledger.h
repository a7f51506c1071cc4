// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger: the counts of each cgroup since the start, by path. A path keeps its entry when its cgroup is
 * removed and created again. An entry whose cgroup was removed long ago is folded into `other`: memory is
 * bounded, and no sample is ever lost from the total. Pure.
 */
#ifndef PEBSD_LEDGER_H
#define PEBSD_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "collect/counters.h"
#include "collect/last_reading.h"
#include "collect/offcore_counters.h"
#include "pebsd/sample.h"
#include "state/state.h"

/* Names of the two entries that are not cgroups: the sum of folded entries, and the samples of SLOT_UNATTRIBUTED. */
#define LEDGER_OTHER        "other"
#define LEDGER_UNATTRIBUTED "unattributed"

/*
 * Maximum memory of the entries without holders after a fold. Entries in the deltas of the last two
 * collections cannot be folded: they count, and may exceed it.
 */
#define LEDGER_UNHELD_BYTES (64UL << 20)

struct ledger_entry {
	char *path;
	u32 number;  /* of this entry; a process reuses a number only after 2^32 entries */
	u64 id;      /* of the last cgroup with this path; 0: none */
	u32 holders; /* slots with this path: more than one while a removed cgroup's slot rests */
	u32 living;  /* holders whose cgroup exists */
	bool guest;  /* a cgroup of this path has held a virtual machine */
	u64 died_ns; /* CLOCK_MONOTONIC; when `living` last became 0 */
	/*
	 * The counts of the entry's slots, by event: the sum of former slots, as packed counters, and the last
	 * readings of the present slots (last_reading.h). Use ledger_total() to read them.
	 */
	struct ledger_sum *sums;                /* NULL until the first sample */
	struct offcore_counters *offcore_total; /* NULL until something was counted */
	struct offcore_counters *offcore_delta; /* not consumed yet; NULL: none */

	/*
	 * Owned by the engine. `exports`: the path may have a series. `exports_as_of`: the number of the set of
	 * patterns by which `exports` was decided; 0: not decided yet.
	 */
	bool exports;
	u32 exports_as_of;

	/* Owned by the ledger. */
	struct ledger *ledger;
	struct ledger_entry *next_offcore;  /* list of entries with an `offcore_delta` */
	struct ledger_entry *older, *newer; /* entries without holders, by `died_ns` */
	u64 unheld;   /* without holders: the last collection whose deltas may refer to the entry */
	size_t bytes; /* memory of the entry, without readings of present slots and `offcore_delta` */
	struct state_ref record, offcore_record, offcore_delta_record;
};

struct ledger;

/*
 * The counts of one event in an entry: the last reading of one present slot, or the sum of former
 * slots.
 */
struct ledger_sum {
	struct ledger_sum *next;    /* in the list of the entry */
	struct ledger_sum *of_slot; /* next one of the same slot */
	union {
		struct last_reading *last; /* if `present`; NULL: nothing read yet */
		u8 *former;                /* if not `present`: packed counters, the sum of former slots */
	};
	u32 size; /* of `former`, bytes */
	u16 event;
	bool present;
	struct state_ref record; /* for `former`, written by the ledger; for `last`, by the collection */
};

/* Returns 0 or -ENOMEM. Free with ledger_free(). `other` and `unattributed` exist from the start. */
int ledger_new(struct ledger **ret);
struct ledger *ledger_free(struct ledger *ledger);
DEFINE_CLEANUP(struct ledger *, ledger_free)

/*
 * Restores the entries, and the sums of former slots, from `state`. From now on saves changes there. The
 * ledger must be empty, and `state` must outlive it. The caller restores holders with ledger_hold(). Returns 0
 * or -ENOMEM; -EBADMSG: the saved state is not valid, and the ledger can only be freed.
 */
int ledger_restore(struct ledger *ledger, struct state *state);

/*
 * The entry of a number; NULL: none. Numbers ascend until 2^32 entries were created. After that, a search may find
 * nothing.
 */
struct ledger_entry *ledger_numbered(const struct ledger *ledger, u32 number);

/* Saves an entry whose `id` or `died_ns` was changed. */
void ledger_entry_changed(struct ledger_entry *entry);

/* Sets the time of death of an entry without holders to `now_ns`. */
void ledger_died(struct ledger_entry *entry, u64 now_ns);

/*
 * Protects an entry without holders from being folded, because deltas of the next collection refer to the
 * entry.
 */
void ledger_keep_unheld(struct ledger_entry *entry);

/*
 * Finds or creates the entry of a path, which has fewer than PATH_MAX bytes (cgroup/names.h). The ledger owns the
 * entry. Returns 0 or -ENOMEM.
 */
int ledger_get(struct ledger *ledger, const char *path, struct ledger_entry **ret);

/* Returns the entry of a path, or NULL if there is none. */
struct ledger_entry *ledger_find(const struct ledger *ledger, const char *path);

/* `other` has the counts of folded entries, `unattributed` the samples of slot 0. */
struct ledger_entry *ledger_other(const struct ledger *ledger);
struct ledger_entry *ledger_unattributed(const struct ledger *ledger);

/* Returns true if the entry ever had a sample of the event. */
bool ledger_has(const struct ledger_entry *entry, unsigned event);

/* Sets `ret` to the counts of an event since the start; all zero if there are none. */
void ledger_total(const struct ledger_entry *entry, unsigned event, struct counters *ret);

/* Adds packed counters to the sum of former slots. Returns 0, or -ENOMEM with nothing added. */
int ledger_add(struct ledger_entry *entry, unsigned event, const u8 *packed, size_t size);

/*
 * Call these when a slot gets or loses the entry's path. An entry without holders may be folded, but not before
 * the deltas that refer to it are dropped.
 */
void ledger_hold(struct ledger_entry *entry);
void ledger_unhold(struct ledger_entry *entry);

/*
 * Returns the reading of an event for a slot that holds the entry: finds it in the slot's list (*of_slot; NULL:
 * empty), or adds it there. The caller reads the slot into `last` of the result. NULL: no memory.
 */
struct ledger_sum *ledger_sum(struct ledger_entry *entry, struct ledger_sum **of_slot, unsigned event);

/*
 * Releases the reading at the head of a slot's list: adds its counts to the sum of former slots of the
 * entry, frees the reading, and sets *of_slot to the next one. Returns 0, or -ENOMEM with nothing changed.
 */
int ledger_merge(struct ledger_entry *entry, struct ledger_sum **of_slot);

/* Allocates memory for off-core counts, and adds them. Reserve first, then adding cannot fail. */
int ledger_reserve_offcore(struct ledger_entry *entry);
void ledger_add_offcore(struct ledger_entry *entry, const struct offcore_counters *delta);

/*
 * Drops the off-core deltas. Call it after all consumers have read them. Later counts belong to the next
 * collection.
 */
void ledger_offcore_taken(struct ledger *ledger);

/*
 * Writes the off-core deltas that are not consumed yet to the state: the first collection of the next process
 * consumes them. The ledger saves everything else when it changes.
 */
void ledger_save(struct ledger *ledger);

/* Begins a collection. */
void ledger_begin(struct ledger *ledger);

/*
 * Folds entries without holders: all whose cgroup died before `before_ns`. If there are more than `most`
 * entries without holders, or if they take more than LEDGER_UNHELD_BYTES, also folds the longest dead of the
 * others, until three quarters of that are left. Adds their totals to `other` and frees them, so pointers to them
 * become invalid. Entries in the deltas of this collection or the next stay for now. Returns 0, or -ENOMEM,
 * which stops folding. If it folds any entry, it also walks the array of all entries once.
 */
int ledger_fold(struct ledger *ledger, u64 before_ns, size_t most);

/* Returns the memory of the entries without holders. */
size_t ledger_unheld_bytes(const struct ledger *ledger);

/* Marks the entries whose cgroup is in `ids` (ascending) as holding a virtual machine. */
void ledger_mark_guests(struct ledger *ledger, const u64 *ids, size_t n);

/*
 * All entries except `other` and `unattributed`, by ascending number (see ledger_numbered()). Owned by the ledger,
 * valid until it changes.
 */
struct ledger_entry *const *ledger_entries(const struct ledger *ledger, size_t *ret_n);

#endif
