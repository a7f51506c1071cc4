// SPDX-License-Identifier: GPL-2.0
/*
 * The collection: slots to differences to totals. Reads what has a mark through the mapping, enters what came
 * into the ledger under the cgroup's path, notices births and deaths, and leads the slots of removed cgroups
 * back to use.
 */
#ifndef PEBSD_COLLECT_H
#define PEBSD_COLLECT_H

#include "cgroup/names.h"
#include "collect/differences.h"
#include "collect/hot_choices.h"
#include "collect/ledger.h"
#include "kernel/kernel.h"

/* Told of cgroups as the collection notices them; `path` is valid during the call. Any may be NULL. */
struct collect_listener {
	void (*born)(void *userdata, const char *path, u64 id);
	void (*gone)(void *userdata, const char *path, u64 id);
	void *userdata;
};

struct collect_settings {
	struct kernel *kernel; /* not owned, nor are the others; they outlive the collection */
	struct names *names;
	struct ledger *ledger;
	bool names_from_slots; /* names come with births; else whoever adopts also names (a replay) */
	u64 grace_ns;          /* how long a removed cgroup keeps its slot in the index */
	u64 (*clock_ns)(void); /* CLOCK_MONOTONIC, from which a slot rests; NULL: as the collection is told */
	struct collect_listener listener;
	/* Where it is kept beyond the process, the ledger too: committed after each call of what collects,
	 * makes room or goes on from it, before the next such call. NULL: it is not. */
	struct state *state;
	/* Whether the cgroups of a path have hot tables as long as there are some; may be NULL. */
	bool (*hot)(const char *path, void *userdata);
	void *hot_userdata;
};

/* Tasks on their way out still run under a removed cgroup's id for a moment. */
#define COLLECT_GRACE_NS (2 * NSEC_PER_SEC)

/* What a slot that nobody can find any more rests, so that programs under way have ended. */
#define COLLECT_REST_NS (100 * NSEC_PER_MSEC)

struct collect;

/* 0 or -ENOMEM; free with collect_free(). */
int collect_new(const struct collect_settings *settings, struct collect **ret);
struct collect *collect_free(struct collect *collect);
DEFINE_CLEANUP(struct collect *, collect_free)

/*
 * Goes on from what was kept, before anything else is done; the ledger did already (ledger_keep()).
 * `same_kernel`: the kernel side is the one that it was of, and slots go on where they were read last; else
 * what they had brought is left with their paths. 0; -EBADMSG: what was kept makes no sense or is not of this
 * kernel side, and collection and ledger can only be freed; -ENOMEM.
 */
int collect_go_on(struct collect *collect, bool same_kernel, u64 now_ns);

/* Puts what is not there yet into the state, which is to be committed then. */
void collect_save(struct collect *collect);

/* What was read since the last collection: the next one's differences begin with it. As
 * collect_differences(). */
const struct differences *collect_early(const struct collect *collect);

/*
 * One collection at `now_ns` (CLOCK_MONOTONIC): reads what is marked, and goes on with slots on their way
 * back. Then collect_differences() has what came. 0 or -ENOMEM: what could not be entered is taken by the
 * next. Its cost is that of what has a mark, and of a look at the marks.
 */
int collect_run(struct collect *collect, u64 now_ns);
const struct differences *collect_differences(const struct collect *collect);

/* The last collection of all: also what has no mark is read. */
int collect_last(struct collect *collect, u64 now_ns);

/*
 * Free slots run short: leads those of removed cgroups back, whose tasks get a shorter grace
 * (COLLECT_SHORT_GRACE_NS), and reads them before. Their differences go with those of the next collection;
 * the present one's stand. Returns in `*ret_again_ns` when it is worth calling again (CLOCK_MONOTONIC; 0: not
 * before the next collection). 0 or -ENOMEM.
 */
#define COLLECT_SHORT_GRACE_NS (50 * NSEC_PER_MSEC)
int collect_make_room(struct collect *collect, u64 now_ns, u64 *ret_again_ns);

/* Samples of an event since the start, by stripe: the collection's, STRIPES_MAX of them. */
const u64 *collect_seen_by_stripe(const struct collect *collect, unsigned event);

/*
 * Hot tables of the cgroups of a path: as engine_hot_choose(), engine_hot_places(). By hot_choices.h what is
 * chosen now.
 */
int collect_hot_choose(struct collect *collect, const char *path, u64 until_ns, u64 now_ns);
int collect_hot_places(const struct collect *collect, const char *path, unsigned event, enum hot_kind kind,
		       struct hot_places *ret);
const struct hot_choices *collect_hot(const struct collect *collect);

/* As engine_set_hot(). */
void collect_set_hot(struct collect *collect, bool (*chosen)(const char *path, void *userdata),
		     void *userdata);

/* A cgroup has been given a slot and a path: where that is configured it has tables from its first sample on,
 * not from when a collection notices it. */
void collect_adopted(struct collect *collect, u32 slot, const char *path, u64 now_ns);

/* As last noticed, by a collection or by making room. */
u64 collect_slots_free(const struct collect *collect);
u64 collect_cgroups_alive(const struct collect *collect);

enum slot_step { SLOT_STEP_NONE, SLOT_STEP_RETIRE, SLOT_STEP_GIVE };

/*
 * What is next on the way back of a slot that has just been read. Pure. Times are CLOCK_MONOTONIC; `since_ns`
 * is when its cgroup died (SLOT_DEAD) or when it was retired (SLOT_RETIRED).
 */
enum slot_step collect_next_step(enum slot_state state, u64 since_ns, u64 now_ns, u64 grace_ns);

#endif
