// SPDX-License-Identifier: GPL-2.0
/* What the parts of the engine share: opening and what it is asked (engine.c), collections
 * (engine_collect.c), snapshots (engine_snapshot.c). */
#ifndef PEBSD_ENGINE_PARTS_H
#define PEBSD_ENGINE_PARTS_H

#include <time.h>

#include "collect/ledger.h"
#include "engine/engine.h"
#include "engine/engine_offcore.h"
#include "state/state.h"

/* How far back a window reaches: as long as the entry of a removed cgroup is kept. */
#define ENGINE_WINDOW_NS SERIES_KEEP_NS

/*
 * In so much memory, and more with what is busy: what many busy cgroups bring in ten minutes is far more;
 * older collections are added up then (window.h), and of thousands it reaches less far back
 * (tests/bench/window_reach).
 */
#define ENGINE_WINDOW_BYTES ((size_t)3 << 20)

struct engine {
	struct engine_settings settings;
	struct kernel *kernel;
	struct names *names;
	struct ledger *ledger;
	struct collect *collect;
	struct series_table *series;
	struct window *window;
	struct trend *trend; /* NULL: none is kept */
	struct readings *readings;
	struct engine_offcore *offcore;           /* NULL: none are counted */
	struct reading now[EVENTS_MAX];           /* of the last collection */
	struct snapshot_cpu *per_cpu[EVENTS_MAX]; /* the head's */
	u64 filtered_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct figures *totals; /* of each event, since the start */
	double active;          /* differences a collection, the most of late */
	u32 exports_as_of;      /* number of the patterns that `exported` goes by */
	u64 collected_ns;       /* CLOCK_MONOTONIC of the last collection */
	struct snapshot head;
	struct snapshot *all;            /* of the last collection; NULL: not asked for yet */
	struct snapshot *summary;        /* likewise */
	struct snapshot *windowed;       /* the last one asked for */
	u64 births_without_slot;         /* when the last adoption began */
	u64 without_slot;                /* cgroups that found none in it */
	struct no_slot no_slot;          /* these, as far as they may be exported */
	u64 walk_deaths;                 /* removals when it began */
	u64 walk_ns, walk_again_ns;      /* when it began, and when another may be worth its time */
	u64 grow_again_ns;               /* after a failure; 0: none */
	bool limit_told;                 /* that slots are short, and no more can be added */
	struct reading base[EVENTS_MAX]; /* what processes before counted: beside what is counted now */
	struct state_ref head_record, event_records[EVENTS_MAX], reading_records[EVENTS_MAX];
	u64 *guests; /* ids of cgroups with virtual machines, ascending */
	size_t n_guests;
};

/* CLOCK_MONOTONIC. */
static inline u64 engine_clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/*
 * Takes the books up where another process left them, if it did. 0; -EBADMSG: what it left makes no sense, or
 * is of other events or another kernel side than `same_kernel` says; the books can only be freed. -ENOMEM.
 */
int engine_go_on(struct engine *engine, bool same_kernel);

/* All that changed is there for the next process from now on. */
void engine_save(struct engine *engine);

/* What the head says of slots. */
void engine_describe_slots(struct engine *engine);

/* Adds slots where they are short or missing, and gives them to cgroups that have none. */
void engine_keep_up(struct engine *engine);

/* They were of another collection. */
void engine_forget_snapshots(struct engine *engine);

#endif
