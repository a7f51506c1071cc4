// SPDX-License-Identifier: GPL-2.0
/*
 * The origin `replay`: reads samples from perf.data recordings made elsewhere.
 *
 * A sample counts if its event is one of loads or stores and records a data source or a weight, or if it is one of
 * cycles, instructions, stalls or misses (replay_count.h).
 *
 * The sample's cgroup is the recorded one (PERF_SAMPLE_CGROUP), named by its path, or "cgroup:ID" if the path was not
 * recorded. Without a recorded cgroup it is "comm:NAME". NAME is the name that the sample's thread had at that time, as
 * perf script prints it.
 */
#ifndef PEBSD_REPLAY_H
#define PEBSD_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "origin/recording.h"
#include "pebsd/records.h"

struct replay;

/* The time of a sample. */
struct replay_moment {
	u32 recording; /* index of the recording in the order given, from 0 */
	bool known;    /* the recording contains the time */
	u64 time;      /* ns of the recording's clock; ascending, unless perf could not sort it */
};

/* The receiver of the samples. All callbacks return 0 or -errno, which ends the step. */
struct replay_target {
	/*
	 * Called once with a cgroup's name, before its first sample. The replay owns `name`, which is valid
	 * until replay_free().
	 */
	int (*name)(void *userdata, u64 cgroup_id, const char *name);
	/* Called with 1 to INJECT_MAX samples, which are valid during the call. */
	int (*samples)(void *userdata, const struct sample *samples, size_t n);
	/* Called instead of `samples`, if it is not NULL, with the time of each sample. */
	int (*timed_samples)(void *userdata, const struct sample *samples,
			     const struct replay_moment *moments, size_t n);
	void *userdata;
};

/*
 * The samples of a recording that the results do not include, each counted once. `lost` also counts other
 * records.
 */
struct replay_left_out {
	u64 other_events;     /* of events that pebsd does not count */
	u64 unknown_event;    /* the recording does not say of which event */
	u64 late;             /* the event was announced too late or exceeded the maximum number */
	u64 not_mixed;        /* the event must not be counted together with another */
	u64 unreadable;       /* fields of a newer kernel allow two ways to decode it */
	u64 other_operations; /* IBS samples that are not loads */
	u64 lost;             /* samples and other records that the recording reports as lost */
};

/* The results of the recordings so far. Nothing is counted twice. */
struct replay_report {
	u64 records; /* records read */
	u64 samples; /* samples accepted */
	struct replay_left_out left_out;
	const char *cut; /* the note about the first recording that ends early, and where; NULL: none */
	bool time_known;
	/*
	 * Times of the accepted samples, in ns of the recording's clock. With several files, their minimum
	 * and maximum.
	 */
	u64 first_time;
	u64 last_time;
	/*
	 * The facts that a reader of the results must know. NULL-terminated. The replay owns the list, which
	 * is valid until the next step or replay_add_note().
	 */
	const char *const *notes;
};

/*
 * Opens the recordings `paths` and reads each up to its first sample, so that the events are known. "-" is
 * standard input. Waits for pipes. Returns 0; -EBADMSG if the contents of a recording cannot be read, or if
 * no recording has such an event; -EINVAL for no path or several "-"; or another -errno. On an
 * error *ret_message says what failed, on which file, why, and what to do. The caller frees it. It is NULL if
 * memory is short.
 */
int replay_open(const char *const *paths, size_t n, struct replay **ret, char **ret_message);
struct replay *replay_free(struct replay *replay);
DEFINE_CLEANUP(struct replay *, replay_free);

/*
 * Returns the events, at least one and at most EVENTS_MAX. Their settings are complete except for
 * `first_record`. The replay owns them.
 */
const struct event *replay_events(const struct replay *replay, size_t *ret_n);

/*
 * Reads at most `max_records` further records, over all files in order, and delivers the samples. Returns:
 * - 1 if there is more to read, 0 at the end.
 * - -EAGAIN if a pipe does not have the next record yet. Call it again when replay_fd() is readable.
 * - -EBADMSG if a recording is damaged. The samples before the damage have been delivered.
 * - Another -errno of the target or the system.
 *
 * Do not call it again after an error other than -EAGAIN.
 */
int replay_step(struct replay *replay, const struct replay_target *target, size_t max_records);

/*
 * replay_name() returns the name of a recording for messages. replay_real_time() returns false if the
 * recording does not say how its clock relates to CLOCK_REALTIME. A recording by perf record --clockid does.
 * The sum of a time in the recording and *ret_offset_ns is then a time of CLOCK_REALTIME. `recording` is the
 * index in struct replay_moment.
 */
const char *replay_name(const struct replay *replay, u32 recording);
bool replay_real_time(const struct replay *replay, u32 recording, s64 *ret_offset_ns);

/* Returns the metadata of each recording. The replay owns it. */
const struct recording *replay_recordings(const struct replay *replay, size_t *ret_n);

/* Returns the descriptor that the next step reads, or -1 at the end. The replay owns it. */
int replay_fd(const struct replay *replay);

/*
 * Returns the message for an error of a recording or of reading it, like that of replay_open(). Returns NULL
 * if there is no error, or if replay_step() failed for another reason: because of its target or a lack of
 * memory.
 */
const char *replay_message(const struct replay *replay);

void replay_report(const struct replay *replay, struct replay_report *ret);

/* Adds a note of the caller to those of the report. Returns 0 or -ENOMEM. */
int replay_add_note(struct replay *replay, const char *note);

/*
 * Returns true if a cgroup id was assigned by the replay instead of being recorded. Such an id is shown as 0.
 */
bool replay_synthetic_id(u64 id);

#endif
