// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the parts of the collection: reading (collect_read.c), owners and reclaim (collect_owners.c), hot
 * tables (collect_hot.c), saved state (collect_state.c).
 */
#ifndef PEBSD_COLLECT_INTERNAL_H
#define PEBSD_COLLECT_INTERNAL_H

#include <sys/queue.h>

#include "collect/collect.h"
#include "collect/read_offcore.h"

/*
 * State of one slot in the collection. All members are zero while the slot is free, except `offcore` and
 * `offcore_record`.
 */
struct slot_view {
	u64 cgroup_id;
	u64 since_ns;                 /* time at which the cgroup died or the slot was retired */
	char *path;                   /* owned until there is an entry; then use the entry's path */
	struct totals_entry *entry;   /* NULL until the first sample, unless the path already has one */
	struct totals_sum *sums;      /* the slot's readings, linked in the entry */
	struct offcore_base *offcore; /* last reading; kept after reclaim, like the records; NULL: none */
	TAILQ_ENTRY(slot_view) queue; /* link in `dead` or `retired` */
	struct state_ref record, offcore_record;
	u32 generation;
	u16 merged_events; /* bits: events whose counts are in the entry, and whose records are yet to be cleared */
	u16 merged_stripes; /* bits: the stripes of these records */
	bool merged;        /* the entry has all counts of the slot, and the slot is not read any more */
	bool learned;       /* the name of the slot's owner is in the tree of names */
	bool owned;         /* the slot's owner was noticed, and the slot is not reclaimed yet */
	bool alive;
};

TAILQ_HEAD(slot_queue, slot_view);

struct collect {
	struct collect_settings settings;
	size_t n_events;
	u32 n_slots; /* existing slots, see collect_follow_growth() */
	u32 n_stripes;
	u32 n_lines; /* lines of dirty bytes in a row */
	u8 *dirty[EVENTS_MAX][STRIPES_MAX];
	struct slot_view *slots;
	u64 *changed;              /* by line, a bit for each slot whose owner is to be checked */
	u64 *offcore_due;          /* by line, a bit for each slot whose off-core counts are to be read */
	u64 *offcore_cpus;         /* by slot, the set of CPUs for read_offcore(); NULL: off-core is off */
	struct slot_queue dead;    /* in the order in which they were noticed */
	struct slot_queue retired; /* in the order in which they were retired */
	u64 owned;
	u64 alive;
	u64 seen_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct deltas *deltas; /* of the last collection, or of the one under way */
	struct deltas *early;  /* read since that collection, for the next one */
	struct hot_choices *hot;
	bool review_hot; /* the configuration or the process changed: choose cgroups as configured */
	bool hot_short;  /* a warning was logged that tables are missing */
	bool read_all; /* a previous process may have taken dirty bytes: the next collection reads all records */
	u64 begun_ns;   /* when collect_restore() was called */
	u32 seen_moved; /* bits: events whose `seen_by_stripe` is to be saved */
	struct state_ref stripes_records[EVENTS_MAX];
	struct state_ref *early_records;
	size_t n_early_records;
};

_Static_assert(EVENTS_MAX <= 16 && STRIPES_MAX <= 16, "a bit of an u16 each");

static inline u32 slot_number(const struct collect *collect, const struct slot_view *view)
{
	return (u32)(view - collect->slots);
}

static inline u64 *offcore_cpus_of(const struct collect *collect, u32 slot)
{
	return &collect->offcore_cpus[(size_t)slot *
				      offcore_cpus_words(kernel_offcore(collect->settings.kernel))];
}

static inline const char *view_path(const struct slot_view *view)
{
	return view->entry ? view->entry->path : view->path;
}

/* Takes added slots into account. */
void collect_follow_growth(struct collect *collect);

/* Links the slot to the entry of its path: from now on, the slot's samples are added to this entry. */
void collect_hold(struct collect *collect, struct slot_view *view, struct totals_entry *entry, u64 now_ns);

/* Write a slot's owner, its reading of one event, or its off-core reading to the state. */
void collect_save_slot(struct collect *collect, struct slot_view *view);
void collect_save_last(struct collect *collect, u32 slot, struct totals_sum *sum);
void collect_save_offcore(struct collect *collect, struct slot_view *view);

/* Removes the saved early deltas: they are part of a collection now. */
void collect_forget_early(struct collect *collect);

/*
 * Reads the dirty records of all slots whose owner is known, and their off-core counts. Adds the deltas
 * to those of the collection. With `all`, also reads clean records. Returns 0, or -ENOMEM: the dirty bytes
 * of records that were not read are set again.
 */
int collect_read(struct collect *collect, u64 now_ns, bool all);

/* Same as collect_read(), but reads one slot, and adds its deltas to `deltas`. */
int collect_read_slot(struct collect *collect, u32 slot, struct deltas *deltas, u64 now_ns);

/* Checks the owners that changed: births and deaths. Returns 0, or -ENOMEM: the next call checks the rest. */
int collect_notice(struct collect *collect, u64 now_ns);

/*
 * Continues the reclaim of dead and retired slots. Adds their last readings to `deltas`. Returns 0 or
 * -ENOMEM.
 */
int collect_reclaim(struct collect *collect, struct deltas *deltas, u64 grace_ns, u64 now_ns);

/* Releases expired hot tables, clears tables that have rested, and chooses slots as configured. */
void collect_tend_hot(struct collect *collect, u64 now_ns);

#endif
