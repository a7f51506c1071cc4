// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the parts of the engine: opening and queries (engine.c), collections (engine_collect.c), slots
 * (engine_growth.c), snapshots (engine_snapshot.c), saved state (engine_state.c).
 */
#ifndef PEBSD_ENGINE_INTERNAL_H
#define PEBSD_ENGINE_INTERNAL_H

#include <time.h>

#include "collect/no_slot.h"
#include "collect/totals.h"
#include "engine/engine.h"
#include "engine/engine_offcore.h"
#include "state/state.h"

/* The longest window. The entries of removed cgroups are kept for the same time. */
#define ENGINE_WINDOW_NS SERIES_KEEP_NS

/* Memory of the window, besides the memory that each active cgroup adds (engine_window_bytes()). */
#define ENGINE_WINDOW_BYTES ((size_t)3 << 20)

struct engine {
	struct engine_settings settings;
	struct kernel *kernel;
	struct names *names;
	struct totals *totals;
	struct collect *collect;
	struct series_table *series;
	struct window *window;
	struct trend *trend; /* NULL: no trends */
	struct readings *readings;
	struct engine_offcore *offcore;           /* NULL: not counted */
	struct reading now[EVENTS_MAX];           /* as of the last collection */
	struct snapshot_cpu *per_cpu[EVENTS_MAX]; /* referenced by `head` */
	u64 filtered_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct counters *sums; /* of each event, since the start */
	double active;         /* recent maximum of deltas per collection */
	u32 exports_as_of;     /* incremented when `exported` may return other values */
	u64 collected_ns;      /* CLOCK_MONOTONIC of the last collection */
	struct snapshot head;
	struct snapshot *all;                 /* of the last collection; NULL: not built yet */
	struct snapshot *summary;             /* of the last collection; NULL: not built yet */
	struct snapshot *windowed;            /* the last one that was requested; NULL: none */
	u64 births_without_slot;              /* at the start of the last adoption */
	u64 without_slot;                     /* cgroups that found no free slot in the last adoption */
	struct no_slot no_slot;               /* the cgroups of `without_slot` that may be exported */
	u64 walk_deaths;                      /* number of removals when the walk began */
	u64 walk_ns, walk_again_ns;           /* start of the walk; earliest useful time of the next */
	u64 grow_again_ns;                    /* after a failure; 0: none */
	bool limit_logged;                    /* logged that slots are short and none can be added */
	struct reading base[EVENTS_MAX];      /* counts of earlier processes, which `now` includes */
	struct clocks began;                  /* see engine_began() */
	struct clocks windows_began;          /* see engine_windows_began_ns() */
	void (*on_collected)(void *userdata); /* NULL: nobody is called */
	void *on_collected_userdata;
	struct state_ref collected_record, offcore_record;
	u64 offcore_hash; /* that of the off-core counts that are saved; 0: there were none */
	struct state_ref head_record, event_records[EVENTS_MAX], reading_records[EVENTS_MAX];
	u64 *guests; /* ids of cgroups with virtual machines, ascending */
	size_t n_guests;
};

/*
 * Restores when another process collected last, if one did: `began` and `windows_began`. Returns `same_maps`, or false
 * if the maps are not those of the saved state: their slots began at zero. Call it before engine_restore().
 */
bool engine_restore_times(struct engine *engine, bool same_maps);

/*
 * Restores the totals, collection, series and readings that another process saved, if any. Returns 0 or -ENOMEM;
 * -EBADMSG: the saved state is not valid, is for other events, or does not match the maps. After an error the caller
 * must free all of these.
 */
int engine_restore(struct engine *engine, bool same_maps);

/* Saves and commits all changes for the next process. */
void engine_save(struct engine *engine);

/* Fills in the members of `head` that describe slots. */
void engine_describe_slots(struct engine *engine);

/*
 * Adds slots if they are short, or if `missing` cgroups have none, up to `memory_max`. Logs how many it added, and once
 * that `memory_max` allows no more. Returns the number of slots added. After a failure, returns 0 and does not try
 * again for a while. Of several failures in a row, only the first is logged.
 */
u32 engine_grow(struct engine *engine, u64 missing);

/* Returns true if a walk can give slots: a cgroup has none, and more than an eighth of the slots is free. */
bool engine_should_adopt(const struct engine *engine);

/* Adds slots if they are short or missing, and gives them to cgroups that have none. */
void engine_keep_up(struct engine *engine);

/* Frees the snapshots of the previous collection. */
void engine_forget_snapshots(struct engine *engine);

#endif
