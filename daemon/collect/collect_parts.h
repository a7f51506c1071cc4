// SPDX-License-Identifier: GPL-2.0
/* What the parts of the collection share: reading (collect_read.c), owners and their way back
 * (collect_owners.c), hot tables (collect_hot.c). */
#ifndef PEBSD_COLLECT_PARTS_H
#define PEBSD_COLLECT_PARTS_H

#include <sys/queue.h>

#include "collect/collect.h"
#include "collect/read_offcore.h"

/* What the collection knows of a slot. All zero while it is free, but for `offcore`. */
struct slot_view {
	u64 cgroup_id;
	u64 since_ns;                 /* died, or was retired */
	char *path;                   /* while there is no entry; then it is the entry's */
	struct ledger_entry *entry;   /* NULL until the first sample, unless the path has one already */
	struct ledger_sum *sums;      /* its readings, in the entry */
	struct offcore_base *offcore; /* NULL: nothing counted yet. Its records are not cleared: it stays */
	TAILQ_ENTRY(slot_view) way;   /* of one that is dead or retired */
	struct state_ref record, offcore_record;
	u32 generation;
	u16 left_events;  /* bits; with `left`: of these the records are to be cleared */
	u16 left_stripes; /* likewise */
	bool left;        /* all that it brought is left with its path, and nothing is read any more */
	bool learned;     /* its owner's name is in the tree of names */
	bool owned;       /* has an owner that was noticed and not yet let go */
	bool alive;
};

TAILQ_HEAD(way_back, slot_view);

struct collect {
	struct collect_settings settings;
	size_t n_events;
	u32 n_slots; /* that there are: collect_follow_growth() */
	u32 n_stripes;
	u32 n_lines; /* of marks */
	u8 *marks[EVENTS_MAX][STRIPES_MAX];
	struct slot_view *slots;
	u64 *changed;            /* a bit for each slot whose owner is to be looked at */
	u64 *counted;            /* and for each that was counted for, and is to be read; by line */
	struct way_back dead;    /* as noticed */
	struct way_back retired; /* by time */
	u64 owned;
	u64 alive;
	u64 seen_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct differences *differences; /* of the last collection, or the one under way */
	struct differences *early;       /* read since then: the next one's */
	struct hot_choices *hot;
	bool review_hot; /* what the configuration chooses may be other cgroups than those that have tables */
	bool hot_short;  /* told of: it chooses more than there are tables */
	bool read_all;   /* marks may have been taken by another process: the next collection reads all */
	u64 begun_ns;    /* when collect_go_on() was called */
	u32 seen_moved;  /* bits: events whose `seen_by_stripe` is to be saved */
	struct state_ref stripes_records[EVENTS_MAX];
	struct state_ref *early_records;
	size_t n_early_records;
};

_Static_assert(EVENTS_MAX <= 16 && STRIPES_MAX <= 16, "a bit of an u16 each");

static inline u32 slot_number(const struct collect *collect, const struct slot_view *view)
{
	return (u32)(view - collect->slots);
}

static inline const char *view_path(const struct slot_view *view)
{
	return view->entry ? view->entry->path : view->path;
}

/* Slots may have been added. */
void collect_follow_growth(struct collect *collect);

/* The slot's cgroup counts to the entry from now on. */
void collect_hold(struct collect *collect, struct slot_view *view, struct ledger_entry *entry, u64 now_ns);

/* Puts into the state whose a slot is, or what was read of it. */
void collect_save_slot(struct collect *collect, struct slot_view *view);
void collect_save_held(struct collect *collect, u32 slot, struct ledger_sum *sum);
void collect_save_offcore(struct collect *collect, struct slot_view *view);

/* What was read early is with a collection now. */
void collect_forget_early(struct collect *collect);

/*
 * Reads what is marked, of all slots whose owner is known, or with `all` also what is not marked, into
 * `differences`. 0, or -ENOMEM: what was not read is marked again.
 */
int collect_read(struct collect *collect, u64 now_ns, bool all);

/* The same of one slot, into these differences. */
int collect_read_slot(struct collect *collect, u32 slot, struct differences *differences, u64 now_ns);

/* Looks at the owners that changed: births and deaths. 0 or -ENOMEM: what was not entered is by the next. */
int collect_notice(struct collect *collect, u64 now_ns);

/* Goes on with dead and retired slots; what is still read of them goes to these differences. 0 or -ENOMEM. */
int collect_reclaim(struct collect *collect, struct differences *differences, u64 grace_ns, u64 now_ns);

/* Chooses a slot that has just got its path, where the configuration says so. */
void collect_choose_hot(struct collect *collect, u32 slot, const char *path, u64 now_ns);

/* Ends, clears and chooses what the time and the configuration ask for. */
void collect_tend_hot(struct collect *collect, u64 now_ns);

#endif
