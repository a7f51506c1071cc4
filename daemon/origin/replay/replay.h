// SPDX-License-Identifier: GPL-2.0
/*
 * The origin `replay`: samples out of perf.data recordings made elsewhere.
 *
 * A sample counts where its event is one of loads or stores and records a data source or a weight. Its cgroup
 * is the recorded one where there is one (PERF_SAMPLE_CGROUP), by path, or "cgroup:ID" where the path was not
 * recorded; else "comm:NAME", NAME being what its thread was called at that time, as perf script prints it.
 */
#ifndef PEBSD_REPLAY_H
#define PEBSD_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "origin/replay/replay_notes.h"
#include "pebsd/records.h"

struct replay;

/* When a sample was taken. */
struct replay_moment {
	u32 recording; /* its number, in the order given, from 0 on */
	bool known;    /* the recording tells the time */
	u64 time;      /* the recording's clock, ns. Growing, but where perf itself could not sort it */
};

/* Where the samples go. All return 0 or -errno, which ends the step. */
struct replay_target {
	/* A cgroup's name, once, before its first sample. `name` is the replay's, until replay_free(). */
	int (*name)(void *userdata, u64 cgroup_id, const char *name);
	/* 1 to INJECT_MAX samples, valid during the call. */
	int (*samples)(void *userdata, const struct sample *samples, size_t n);
	/* In the place of `samples`, where it is not NULL: with the moment of each. */
	int (*timed_samples)(void *userdata, const struct sample *samples,
			     const struct replay_moment *moments, size_t n);
	void *userdata;
};

/* What came of the recordings so far; nothing is counted twice. */
struct replay_report {
	u64 records; /* read */
	u64 samples; /* taken */
	struct replay_left_out left_out;
	const char
		*cut; /* one of `notes`: the first recording that ends before its end, and where; else NULL */
	bool time_known;
	u64 first_time; /* of the samples taken, the recording's clock, ns; of several files, the least */
	u64 last_time;
	const char *const *notes; /* NULL-terminated; what a reader of the figures must know; the replay's,
				     valid until the next step or replay_add_note() */
};

/*
 * Opens the recordings `paths`, "-" being standard input, and reads each up to its first sample, so that the
 * events are known. Waits for pipes. Returns 0; -EBADMSG where one can not be read for what is in it, or none
 * has an event with memory data; -EINVAL for "-" more than once; -errno. Then *ret_message, the caller's
 * (NULL where memory is short), says what failed, on which file, why, and what to do.
 */
int replay_open(const char *const *paths, size_t n, struct replay **ret, char **ret_message);
struct replay *replay_free(struct replay *replay);
DEFINE_CLEANUP(struct replay *, replay_free);

/* The events, at least one and at most EVENTS_MAX; their settings but for `first_record`. The replay's. */
const struct event *replay_events(const struct replay *replay, size_t *ret_n);

/*
 * Reads at most `max_records` further records, over all files in order, and hands over the samples. Returns 1
 * while there is more, 0 when all is read; -EAGAIN where a pipe does not have the next record yet: to be
 * called again when replay_fd() can be read; -EBADMSG where a recording is damaged (its records before that
 * have been handed over), else the target's or the system's -errno. After any other error than -EAGAIN it is
 * not to be called again.
 */
int replay_step(struct replay *replay, const struct replay_target *target, size_t max_records);

/* A recording's name for messages, and what is to be added to its clock for CLOCK_REALTIME, where it tells
 * (it does after perf record --clockid). `recording` as in struct replay_moment. */
const char *replay_name(const struct replay *replay, u32 recording);
bool replay_real_time(const struct replay *replay, u32 recording, s64 *ret_offset_ns);

/* What the next step reads; -1 where all is read. The replay's. */
int replay_fd(const struct replay *replay);

/* Of an error of a recording, or of reading it: as that of replay_open(). NULL where there is none, and where
 * replay_step() failed for another reason: its target, or the lack of memory. */
const char *replay_message(const struct replay *replay);

void replay_report(const struct replay *replay, struct replay_report *ret);

/* Adds a note of the caller's to those of the report. Returns 0 or -ENOMEM. */
int replay_add_note(struct replay *replay, const char *note);

/* Whether a cgroup id is no recorded one, but the replay's own numbering: it is shown as 0. */
bool replay_synthetic_id(u64 id);

#endif
