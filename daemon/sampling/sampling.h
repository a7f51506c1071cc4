// SPDX-License-Identifier: GPL-2.0
/*
 * An origin of samples and the engine that it feeds: `perf` samples this machine, `replay` reads recordings,
 * and `model` samples a computer in software. The code that exports the results need not know which it is.
 */
#ifndef PEBSD_SAMPLING_H
#define PEBSD_SAMPLING_H

#include "base/failure.h"
#include "config/config.h"
#include "engine/engine.h"
#include "symbols/shared/symbol.h"
#include "zoom/zoom_source.h"

struct sampling_settings {
	const struct config *config;   /* outlives the sampling; its `include` and `exclude` may change */
	const char *const *recordings; /* for the origin `replay` */
	size_t n_recordings;
	struct collect_listener listener;
	struct store *store; /* outlives the sampling; NULL: nothing is saved for the next process */
};

struct sampling;

/*
 * Opens and starts the origin that the configuration names; `auto` stands for `perf`. Returns 0, or -errno
 * with `ret_failure` filled in.
 */
int sampling_open(const struct sampling_settings *settings, struct sampling **ret,
		  struct failure *ret_failure);
struct sampling *sampling_free(struct sampling *sampling);
DEFINE_CLEANUP(struct sampling *, sampling_free)

struct engine *sampling_engine(const struct sampling *sampling);

/* Returns the state that is saved for the next process, or NULL. The handover belongs to the sampling. */
struct handover *sampling_handover(const struct sampling *sampling);

/*
 * For a reload: from the next collection on, the cgroups of `hot` in [cgroups] of this configuration have hot
 * tables. The configuration must outlive `sampling`.
 */
void sampling_set_hot(struct sampling *sampling, const struct config *config);

/* Returns whether there is work between the ticks: recordings to read or a model to run. */
bool sampling_has_steps(const struct sampling *sampling);

/*
 * Reads more of the recordings or runs the model, for some milliseconds. Returns 1 if there is more to do,
 * and 0 at the end. A model has no end; an origin without steps always returns 0. Returns -EAGAIN if there is
 * nothing to do until sampling_input() is readable. Returns -errno if a recording is damaged; the records
 * before the damage remain counted.
 */
int sampling_step(struct sampling *sampling);

/* Returns the descriptor that the next step waits for, or -1. The descriptor belongs to the sampling. */
int sampling_input(const struct sampling *sampling);

/*
 * Runs once an interval: follows CPUs that came online or went offline, reports cgroups without a slot, runs
 * the model up to now, and collects. Returns 0 or -errno. The next interval may succeed again.
 */
int sampling_tick(struct sampling *sampling);

/*
 * Stops sampling and makes a last collection, after which the counters of the engine are final. Returns the
 * same as sampling_tick(). After that, the sampling can only be read and freed.
 */
int sampling_stop(struct sampling *sampling);

/*
 * Returns false if a recording is cut or cannot be read to its end, as far as it has been read; true for a
 * live origin. `*ret_message` says what is wrong, or is NULL if no recording is at fault. The string belongs
 * to the sampling.
 */
bool sampling_complete(const struct sampling *sampling, const char **ret_message);

/*
 * Returns 0 if samples can come, else -errno. `*ret_reason` then says why not; the string belongs to the
 * sampling.
 */
int sampling_health(const struct sampling *sampling, const char **ret_reason);

/*
 * Changes the periods of the running events to those of the configuration. The snapshot shows which periods
 * are in force afterwards. Returns 0, also if the origin has no periods of its own (a replay). Returns -errno
 * if an event cannot have its new period, and then all keep theirs; `*ret_message` says which and why. The
 * caller frees it; NULL if memory ran out.
 */
int sampling_set_periods(struct sampling *sampling, const struct event_periods *periods, char **ret_message);

/*
 * Changes the limit for the cost of sampling: [sampling] budget. Call this before sampling_set_periods(). If
 * the budget is 0, that function sets periods that are `auto` to their usual length; else it leaves them to
 * the governor.
 */
void sampling_set_budget(struct sampling *sampling, double budget);

/*
 * Frees every counter: no event is open and no sample comes until sampling_resume(). Cgroups are still
 * followed, and the counters keep their values. The time counts as paused. During a pause this changes
 * nothing. Returns 0, -EOPNOTSUPP if the origin holds no counters, or -errno.
 */
int sampling_pause(struct sampling *sampling);

/*
 * Resumes sampling. Returns 0, or -errno after logging the error. Each tick then retries events that are not
 * open.
 */
int sampling_resume(struct sampling *sampling);

/* Return whether the origin can zoom, and whether it names its addresses itself (sampling_name()). */
bool sampling_zooms(const struct sampling *sampling);
bool sampling_names(const struct sampling *sampling);

/*
 * Opens the source of a zoom of the cgroup at `path`. The origin must be one that can zoom. With origin `model` the
 * source delivers the samples of that cgroup's cores. With origin `perf` it is events (zoom/zoom_events.h): on each PMU
 * the event of loads, else that of stores, else that of instructions. They are opened like the always-on events. If
 * only one counter can hold an event, the always-on event is paused meanwhile, which its statistics show as paused
 * time, and `*ret_note` says so.
 *
 * Returns 0; -EBUSY if sampling is paused, or another zoom is open and the origin can have only one; -ENOENT if no
 * cgroup has this path; -EOPNOTSUPP if no sampled event can record stacks; or another -errno. On failure
 * `*ret_message` says why. sampling_zoom_close() frees the source and resumes the paused ones.
 */
int sampling_zoom_open(struct sampling *sampling, const char *path, u32 rate, struct zoom_source **ret,
		       char **ret_note, char **ret_message);
void sampling_zoom_close(struct sampling *sampling, struct zoom_source *source);

/*
 * Returns the name of an address that does not belong to a process of this machine, such as those of the
 * model. NULL: the origin has no name for it. The result belongs to the sampling and is valid until the next
 * call.
 */
const struct symbol *sampling_name(struct sampling *sampling, const struct symbol_query *query);

/*
 * Returns one line for the service manager that lists the sampled events. The caller frees; NULL if memory
 * ran out.
 */
char *sampling_status(const struct sampling *sampling);

#endif
