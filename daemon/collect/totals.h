// SPDX-License-Identifier: GPL-2.0
/*
 * Totals: the counts of each cgroup since the start, by path. A path keeps its entry when its cgroup is removed
 * and created again. An entry whose cgroup was removed long ago is folded into `other`: memory is bounded, and no
 * sample is ever lost from the sum of all entries. Pure.
 */
#ifndef PEBSD_TOTALS_H
#define PEBSD_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "collect/counters.h"
#include "collect/last_reading.h"
#include "collect/offcore_counts.h"
#include "pebsd/sample.h"
#include "state/state.h"

/* Names of the two entries that are not cgroups: the sum of folded entries, and the samples of SLOT_UNATTRIBUTED. */
#define TOTALS_OTHER        "other"
#define TOTALS_UNATTRIBUTED "unattributed"

/*
 * Maximum memory of the entries without holders after a fold. Entries in the deltas of the last two
 * collections cannot be folded: they count, and may exceed it.
 */
#define TOTALS_UNHELD_BYTES (64UL << 20)

struct totals_entry {
	char *path;
	u32 number;  /* of this entry; a process reuses a number only after 2^32 entries */
	u64 id;      /* of the last cgroup with this path; 0: none */
	u32 holders; /* slots with this path: more than one while a removed cgroup's slot rests */
	u32 living;  /* holders whose cgroup exists */
	bool guest;  /* a cgroup of this path has held a virtual machine */
	u64 died_ns; /* CLOCK_MONOTONIC; when `living` last became 0 */
	/*
	 * The counts of the entry's slots, by event: the sum of former slots, as packed counters, and the last
	 * readings of the present slots (last_reading.h). Use totals_counters() to read them.
	 */
	struct totals_sum *sums;              /* NULL until the first sample */
	struct offcore_counts *offcore_total; /* NULL until something was counted */
	struct offcore_counts *offcore_delta; /* not consumed yet; NULL: none */

	/*
	 * Owned by the engine. `exports`: the path may have a series. `exports_as_of`: the number of the set of
	 * patterns by which `exports` was decided; 0: not decided yet.
	 */
	bool exports;
	u32 exports_as_of;

	/* Owned by the totals. */
	struct totals *totals;
	struct totals_entry *next_offcore;  /* list of entries with an `offcore_delta` */
	struct totals_entry *older, *newer; /* entries without holders, by `died_ns` */
	u64 unheld;   /* without holders: the last collection whose deltas may refer to the entry */
	size_t bytes; /* memory of the entry, without readings of present slots and `offcore_delta` */
	struct state_ref record, offcore_record, offcore_delta_record;
};

struct totals;

/*
 * The counts of one event in an entry: the last reading of one present slot, or the sum of former
 * slots.
 */
struct totals_sum {
	struct totals_sum *next;    /* in the list of the entry */
	struct totals_sum *of_slot; /* next one of the same slot */
	union {
		struct last_reading *last; /* if `present`; NULL: nothing read yet */
		u8 *former;                /* if not `present`: packed counters, the sum of former slots */
	};
	u32 size; /* of `former`, bytes */
	u16 event;
	bool present;
	struct state_ref record; /* for `former`, written by the totals; for `last`, by the collection */
};

/* Returns 0 or -ENOMEM. Free with totals_free(). `other` and `unattributed` exist from the start. */
int totals_new(struct totals **ret);
struct totals *totals_free(struct totals *totals);
DEFINE_CLEANUP(struct totals *, totals_free)

/*
 * Restores the entries, and the sums of former slots, from `state`. From now on saves changes there. The
 * totals must be empty, and `state` must outlive them. The caller restores holders with totals_hold(). Returns 0
 * or -ENOMEM; -EBADMSG: the saved state is not valid, and the totals can only be freed.
 */
int totals_restore(struct totals *totals, struct state *state);

/*
 * The entry of a number; NULL: none. Numbers ascend until 2^32 entries were created. After that, a search may find
 * nothing.
 */
struct totals_entry *totals_numbered(const struct totals *totals, u32 number);

/* Saves an entry whose `id` or `died_ns` was changed. */
void totals_entry_changed(struct totals_entry *entry);

/* Sets the time of death of an entry without holders to `now_ns`. */
void totals_died(struct totals_entry *entry, u64 now_ns);

/*
 * Protects an entry without holders from being folded, because deltas of the next collection refer to the
 * entry.
 */
void totals_protect(struct totals_entry *entry);

/*
 * Finds or creates the entry of a path, which has fewer than PATH_MAX bytes (cgroup/names.h). The totals own the
 * entry. Returns 0 or -ENOMEM.
 */
int totals_get(struct totals *totals, const char *path, struct totals_entry **ret);

/* Returns the entry of a path, or NULL if there is none. */
struct totals_entry *totals_find(const struct totals *totals, const char *path);

/* `other` has the counts of folded entries, `unattributed` the samples of slot 0. */
struct totals_entry *totals_other(const struct totals *totals);
struct totals_entry *totals_unattributed(const struct totals *totals);

/* Returns true if the entry ever had a sample of the event. */
bool totals_has(const struct totals_entry *entry, unsigned event);

/* Sets `ret` to the counts of an event since the start; all zero if there are none. */
void totals_counters(const struct totals_entry *entry, unsigned event, struct counters *ret);

/* Adds packed counters to the sum of former slots. Returns 0, or -ENOMEM with nothing added. */
int totals_add(struct totals_entry *entry, unsigned event, const u8 *packed, size_t size);

/*
 * Call these when a slot gets or loses the entry's path. An entry without holders may be folded, but not before
 * the deltas that refer to it are dropped.
 */
void totals_hold(struct totals_entry *entry);
void totals_unhold(struct totals_entry *entry);

/*
 * Returns the reading of an event for a slot that holds the entry: finds it in the slot's list (*of_slot; NULL:
 * empty), or adds it there. The caller reads the slot into `last` of the result. NULL: no memory.
 */
struct totals_sum *totals_sum(struct totals_entry *entry, struct totals_sum **of_slot, unsigned event);

/*
 * Releases the reading at the head of a slot's list: adds its counts to the sum of former slots of the
 * entry, frees the reading, and sets *of_slot to the next one. Returns 0, or -ENOMEM with nothing changed.
 */
int totals_merge(struct totals_entry *entry, struct totals_sum **of_slot);

/* Allocates memory for off-core counts, and adds them. Reserve first, then adding cannot fail. */
int totals_reserve_offcore(struct totals_entry *entry);
void totals_add_offcore(struct totals_entry *entry, const struct offcore_counts *delta);

/*
 * Drops the off-core deltas. Call it after all consumers have read them. Later counts belong to the next
 * collection.
 */
void totals_offcore_taken(struct totals *totals);

/*
 * Writes the off-core deltas that are not consumed yet to the state: the first collection of the next process
 * consumes them. Everything else is saved when it changes.
 */
void totals_save(struct totals *totals);

/* Begins a collection. */
void totals_begin(struct totals *totals);

/*
 * Folds entries without holders: all whose cgroup died before `before_ns`. If there are more than `most`
 * entries without holders, or if they take more than TOTALS_UNHELD_BYTES, also folds the longest dead of the
 * others, until three quarters of that are left. Adds their counts to `other` and frees them, so pointers to them
 * become invalid. Entries in the deltas of this collection or the next stay for now. Returns 0, or -ENOMEM,
 * which stops folding. If it folds any entry, it also walks the array of all entries once.
 */
int totals_fold(struct totals *totals, u64 before_ns, size_t most);

/* Returns the memory of the entries without holders. */
size_t totals_unheld_bytes(const struct totals *totals);

/* Marks the entries whose cgroup is in `ids` (ascending) as holding a virtual machine. */
void totals_mark_guests(struct totals *totals, const u64 *ids, size_t n);

/*
 * All entries except `other` and `unattributed`, by ascending number (see totals_numbered()). Owned by the totals,
 * valid until they change.
 */
struct totals_entry *const *totals_entries(const struct totals *totals, size_t *ret_n);

#endif
