// SPDX-License-Identifier: GPL-2.0
/*
 * The collection: from slots to deltas to totals. It reads the dirty records through the mapping, adds
 * their deltas to the totals under the cgroup's path, notices births and deaths, and returns the slots
 * of removed cgroups to the free ones.
 */
#ifndef PEBSD_COLLECT_H
#define PEBSD_COLLECT_H

#include "cgroup/names.h"
#include "collect/deltas.h"
#include "collect/totals.h"
#include "hot/hot_choices.h"
#include "kernel/kernel.h"

/*
 * Called when the collection notices that a cgroup was created or removed. `path` is valid during the call. Any
 * callback may be NULL.
 */
struct collect_listener {
	void (*born)(void *userdata, const char *path, u64 id);
	void (*gone)(void *userdata, const char *path, u64 id);
	void *userdata;
};

struct collect_settings {
	struct kernel *kernel; /* this and the other pointers are borrowed and outlive the collection */
	struct names *names;
	struct totals *totals;
	bool names_from_slots; /* slots of new cgroups contain names; else the adopter adds the names (replay) */
	u64 grace_ns;          /* time for which a removed cgroup keeps its slot in the index */
	u64 (*clock_ns)(void); /* CLOCK_MONOTONIC, read when a slot is retired; NULL: use now_ns */
	struct collect_listener listener;
	/*
	 * The saved state of the collection and the totals. The caller commits it after each collect_run(),
	 * collect_last(), collect_reclaim_now() and collect_restore(), before the next such call. NULL: nothing
	 * is saved.
	 */
	struct state *state;
	/*
	 * Returns true if the configuration chooses the cgroups of a path for hot tables. A chosen cgroup gets
	 * tables only while some are free. May be NULL.
	 */
	bool (*hot)(const char *path, void *userdata);
	void *hot_userdata;
};

/* Exiting tasks still run under the id of a removed cgroup for a moment. */
#define COLLECT_GRACE_NS (2 * NSEC_PER_SEC)

struct collect;

/* Returns 0 or -ENOMEM. Free with collect_free(). */
int collect_new(const struct collect_settings *settings, struct collect **ret);
struct collect *collect_free(struct collect *collect);
DEFINE_CLEANUP(struct collect *, collect_free)

/*
 * Restores the saved state. Call it before anything else, but after totals_restore(). `same_maps`: the maps
 * are those that the state describes, and slots continue from their last reading. Otherwise the counts of the
 * saved slots are added to the counts of their paths, whose cgroups count as removed at `now_ns`. Returns 0 or
 * -ENOMEM; -EBADMSG: the saved state is not valid or does not match the maps. Then collection and totals can only
 * be freed.
 */
int collect_restore(struct collect *collect, bool same_maps, u64 now_ns);

/* Writes the parts that have not been written yet to the state. The caller commits the state afterwards. */
void collect_save(struct collect *collect);

/*
 * Deltas that were read since the last collection. The next collection includes them. They are valid for
 * as long as those of collect_deltas().
 */
const struct deltas *collect_early(const struct collect *collect);

/*
 * Runs one collection at `now_ns` (CLOCK_MONOTONIC): reads dirty records, and continues the reclaim of
 * slots. Then collect_deltas() returns the deltas. Returns 0, or -ENOMEM: the next collection reads
 * the rest. The cost is that of the dirty records and of a scan of the dirty bytes.
 */
int collect_run(struct collect *collect, u64 now_ns);
const struct deltas *collect_deltas(const struct collect *collect);

/* The final collection: also reads clean records. */
int collect_last(struct collect *collect, u64 now_ns);

/*
 * Call it when free slots run short. Reclaims the slots of removed cgroups, with a grace time for their tasks
 * of at most COLLECT_SHORT_GRACE_NS, and reads the slots first. Their deltas are part of the next
 * collection; those of the present one stay valid. Sets *ret_again_ns to the time from which another call is
 * useful (CLOCK_MONOTONIC; 0: not before the next collection). Returns 0, or -ENOMEM: a later call continues.
 */
#define COLLECT_SHORT_GRACE_NS (50 * NSEC_PER_MSEC)
int collect_reclaim_now(struct collect *collect, u64 now_ns, u64 *ret_again_ns);

/* Samples of an event since the start, by stripe: STRIPES_MAX values, owned by the collection. */
const u64 *collect_seen_by_stripe(const struct collect *collect, unsigned event);

/*
 * Hot tables of the cgroups of a path: the same as engine_hot_choose() and engine_hot_places(). collect_hot()
 * returns the present choices (hot_choices.h).
 */
int collect_hot_choose(struct collect *collect, const char *path, u64 until_ns, u64 now_ns);
int collect_hot_places(const struct collect *collect, const char *path, unsigned event, enum hot_kind kind,
		       struct hot_places *ret);
const struct hot_choices *collect_hot(const struct collect *collect);

/* Same as engine_set_hot(). */
void collect_set_hot(struct collect *collect, bool (*chosen)(const char *path, void *userdata),
		     void *userdata);

/*
 * Call it when a cgroup has got a slot and a path. If the configuration chooses the cgroup, it gets hot tables
 * now, so that they have its first samples. Without this call, the next collection gives them.
 */
void collect_adopted(struct collect *collect, u32 slot, const char *path, u64 now_ns);

/* The numbers at the last collection or collect_reclaim_now(). */
u64 collect_slots_free(const struct collect *collect);
u64 collect_cgroups_alive(const struct collect *collect);

#endif
