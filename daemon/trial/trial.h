// SPDX-License-Identifier: GPL-2.0
/*
 * Rules on trial: collections whose time has long gone by, or goes by in a model, are judged as the daemon
 * judges its own. In this process alone: no BPF, no privilege, no clock. What comes of it is a report
 * (trial_report.h).
 */
#ifndef PEBSD_TRIAL_H
#define PEBSD_TRIAL_H

#include "config/config.h"
#include "origin/event.h"
#include "trial/account_books.h"
#include "trial/trial_report.h"
#include "window/sliding.h"

struct trial;

struct trial_settings {
	const struct config *config; /* rules, cgroups; outlives the trial, as does `origin` */
	const char *origin;
	const struct event *events; /* copied */
	size_t n_events;
};

/* 0, -EINVAL or -ENOMEM; free with trial_free(). */
int trial_new(const struct trial_settings *settings, struct trial **ret);
struct trial *trial_free(struct trial *trial);
DEFINE_CLEANUP(struct trial *, trial_free)

/*
 * A clock begins at `start_ns`: windows, baselines and states begin anew. `name` is copied, NULL: of none;
 * `real_time`: what time of day `start_ns` was; NULL: not known. 0 or -ENOMEM.
 */
int trial_begin(struct trial *trial, const char *name, u64 start_ns, const struct timespec *real_time);

/* A cgroup, before its first sample. 0 or -ENOMEM. */
int trial_name(struct trial *trial, u64 cgroup_id, const char *path);

/* Samples of the next collection. 0 or -ENOMEM. */
int trial_add(struct trial *trial, const struct sample *samples, size_t n);

/*
 * A collection at `now_ns` of the clock that was begun, not before the last one's. `times` has an entry for
 * each event; `elapsed_ns` is filled in here. 0 or -ENOMEM.
 */
int trial_collect(struct trial *trial, u64 now_ns, struct sliding_time times[EVENTS_MAX]);

/* For how long a subject that has no sample any more can still change its state: from then on a collection
 * may be as long as the silence. */
u64 trial_memory_ns(const struct trial *trial);

/* The clock ends. The report is the trial's; nothing more can be added. */
const struct trial_report *trial_finish(struct trial *trial);

/* Something that a reader of the report must know; taken, also on failure. 0 or -ENOMEM. */
int trial_note(struct trial *trial, char *note);

#endif
