// SPDX-License-Identifier: GPL-2.0
/*
 * An origin and the engine that it feeds: `perf` samples this machine, `replay` reads recordings, `model`
 * samples a computer in software. Which of them it is makes no difference to whoever serves the figures.
 */
#ifndef PEBSD_SAMPLING_H
#define PEBSD_SAMPLING_H

#include "base/failure.h"
#include "config/config.h"
#include "engine/engine.h"
#include "symbols/shared/symbol.h"
#include "zoom/zoom_events.h"

struct sampling_settings {
	const struct config *config;   /* outlives the sampling; its `include` and `exclude` may change */
	const char *const *recordings; /* with the origin `replay` */
	size_t n_recordings;
	struct collect_listener listener;
	struct store *store; /* outlives the sampling; NULL: nothing is kept for the next process */
};

struct sampling;

/*
 * Opens the origin that the configuration names, and starts it. With `auto` that is `perf`. Returns 0, or
 * -errno with `ret_failure` filled in.
 */
int sampling_open(const struct sampling_settings *settings, struct sampling **ret,
		  struct failure *ret_failure);
struct sampling *sampling_free(struct sampling *sampling);
DEFINE_CLEANUP(struct sampling *, sampling_free)

struct engine *sampling_engine(const struct sampling *sampling);

/* What it leaves to the next process; NULL: nothing. The sampling's. */
struct handover *sampling_handover(const struct sampling *sampling);

/* From the next collection on the cgroups of [cgroups] hot of that configuration, which outlives `sampling`,
 * have hot tables; for a reload. */
void sampling_set_hot(struct sampling *sampling, const struct config *config);

/* Whether there is anything to do between the ticks: recordings to read, a model to run. */
bool sampling_has_steps(const struct sampling *sampling);

/*
 * Reads on in the recordings, or runs the model on, some milliseconds' worth. Returns 1 while there is more,
 * 0 at the end (which a model has not, and where there are no steps always), -EAGAIN where there is nothing
 * to do until sampling_input() can be read, -errno where a recording is damaged: what was read before that
 * stands.
 */
int sampling_step(struct sampling *sampling);

/* The descriptor that the next step waits for; -1: none. The sampling's. */
int sampling_input(const struct sampling *sampling);

/*
 * One interval: CPUs that came or went, cgroups that found no slot, the model's time until now, a collection.
 * Returns 0 or -errno, which the next interval may mend.
 */
int sampling_tick(struct sampling *sampling);

/*
 * No more samples come, and a last collection has entered all that came: what the engine then has is final.
 * Returns as sampling_tick(). The sampling can then only be read and freed.
 */
int sampling_stop(struct sampling *sampling);

/* Whether every recording was whole and is read to its end; for a live origin true. `ret_message`, which is
 * NULL where that is not a recording's fault, says what is amiss; the sampling's. */
bool sampling_complete(const struct sampling *sampling, const char **ret_message);

/* Whether samples can come: 0, or -errno and in `ret_reason`, the sampling's, why not. */
int sampling_health(const struct sampling *sampling, const char **ret_reason);

/*
 * Gives the events other periods while they run, as the configuration has them. Their snapshot says which
 * are in force then. Returns 0, also where the origin has no periods of its own (a replay), or -errno where
 * events keep theirs; `ret_message`, the caller's, says which and why (NULL: no memory).
 */
int sampling_set_periods(struct sampling *sampling, u64 period, u64 instructions_period, char **ret_message);

/* What sampling may cost from now on: [sampling] budget. Before sampling_set_periods(), which gives periods
 * that are `auto` their usual length where it is 0, and else leaves them to the governor. */
void sampling_set_budget(struct sampling *sampling, double budget);

/*
 * Frees every counter: no event is open, and no sample comes until sampling_resume(). Cgroups are followed,
 * and the figures stay; the time goes by as paused. Again: as it is. Returns 0, -EOPNOTSUPP where the origin
 * holds no counter, or -errno.
 */
int sampling_pause(struct sampling *sampling);

/* Samples again. 0, or -errno, which was told: then each tick tries again what could not be opened. */
int sampling_resume(struct sampling *sampling);

/*
 * Opens the events of a zoom (zoom/zoom_events.h) for the cgroup of a path: those of the loads (of the stores
 * or instructions where there are none), on each PMU, as the always-on ones are opened. Where only one
 * counter can hold the event the always-on one is paused meanwhile, which its figures have as paused time;
 * `ret_note` then says so. At most one zoom at a time is open there (-EBUSY). Returns 0; -ENOENT: no such
 * cgroup; -EOPNOTSUPP: the origin has no tasks; -errno; with `ret_message`. sampling_zoom_close() frees the
 * events and resumes.
 */
int sampling_zoom_open(struct sampling *sampling, const char *path, u32 rate, struct zoom_events **ret,
		       char **ret_note, char **ret_message);
void sampling_zoom_close(struct sampling *sampling, struct zoom_events *events);

/* The name of an address that is of no process of this machine, as the model's are; NULL: the origin has none
 * for it. The sampling's, until the next call. */
const struct symbol *sampling_name(struct sampling *sampling, const struct symbol_query *query);

/* One line for the service manager: what is sampled. The caller frees; NULL: no memory. */
char *sampling_status(const struct sampling *sampling);

#endif
