// SPDX-License-Identifier: GPL-2.0
/*
 * Tests rules: judges the collections of a recording or of the model in their own time, as the daemon judges its
 * collections. All of it happens in this process, without BPF, privileges or a clock. The result is a report
 * (trial_report.h).
 */
#ifndef PEBSD_TRIAL_H
#define PEBSD_TRIAL_H

#include "config/config.h"
#include "origin/event.h"
#include "trial/account_totals.h"
#include "trial/trial_report.h"
#include "window/sliding.h"

struct trial;

struct trial_settings {
	const struct config *config; /* for rules and cgroups; must outlive the trial */
	const char *origin;          /* must outlive the trial */
	const struct event *events;  /* copied */
	size_t n_events;
	double frequency_hz; /* running frequency of the cores whose cycles are sampled; 0: not known */
};

/* Returns 0, -EINVAL or -ENOMEM. Free `*ret` with trial_free(). */
int trial_new(const struct trial_settings *settings, struct trial **ret);
struct trial *trial_free(struct trial *trial);
DEFINE_CLEANUP(struct trial *, trial_free)

/*
 * Begins a stretch: a recording, or a run of the model. Its clock starts at `start_ns`. Windows, baselines and
 * states start again. `name` is that of the recording, and is copied; NULL: the model. `real_time` is
 * CLOCK_REALTIME at `start_ns`; NULL: not known. Returns 0 or -ENOMEM.
 */
int trial_begin(struct trial *trial, const char *name, u64 start_ns, const struct timespec *real_time);

/* Names a cgroup. Call it before its first sample. Returns 0 or -ENOMEM. */
int trial_name(struct trial *trial, u64 cgroup_id, const char *path);

/* Adds samples to the next collection. Returns 0 or -ENOMEM. */
int trial_add(struct trial *trial, const struct sample *samples, size_t n);

/*
 * Makes a collection at `now_ns`, on the clock of trial_begin(). `now_ns` must not decrease. `times` has an
 * item for each event; this function sets their `elapsed_ns`. Returns 0 or -ENOMEM.
 */
int trial_collect(struct trial *trial, u64 now_ns, struct sliding_time times[EVENTS_MAX]);

/*
 * Returns how long after its last sample a target can still change its state. If no sample came for that long,
 * nothing changes until the next one, so the rest of the time up to it may be one collection.
 */
u64 trial_memory_ns(const struct trial *trial);

/* Ends the stretch. After that, only notes can be added. The trial owns the report. */
const struct trial_report *trial_finish(struct trial *trial);

/*
 * Adds a note for readers of the report. Takes ownership of `note`, also on failure. Returns 0, or -ENOMEM,
 * also if `note` is NULL.
 */
int trial_note(struct trial *trial, char *note);

/* Adds a note about malformed samples, if there were any. Returns 0 or -ENOMEM. */
int trial_note_malformed(struct trial *trial);

#endif
