// SPDX-License-Identifier: GPL-2.0
/* The replay of a test, and everything that it delivered. */
#ifndef PEBSD_REPLAYED_H
#define PEBSD_REPLAYED_H

#include <stddef.h>

#include "origin/replay/replay.h"

struct replayed {
	struct replay *replay;
	struct replay_report report; /* of its end */
	struct sample *samples;
	size_t n;
	struct {
		u64 id;
		const char *text; /* the replay owns it */
	} * names;
	size_t n_names;
	int name_error; /* returned for the next name unless it is 0 */
};

/* A test has one at a time. */
extern struct replayed replayed;

/* Returns a target that fills `replayed`. */
struct replay_target replayed_target(void);

/* Returns the name that was delivered for a cgroup, or NULL if there was none. */
const char *replayed_name(u64 cgroup_id);

/* Returns the cgroup name of a sample, counted from 0. Fails the test if there is no such sample. */
const char *replayed_sample_name(size_t sample);

/* Steps to the end, with `max_records` per step. Returns 0 or the error of replay_step(). */
int replayed_all(size_t max_records);

/* Replays to the end, and takes the report. Fails the test on error. `replayed` owns the replay. */
void replayed_run(struct replay *replay);

/* Expects that this note of the report contains the text. NULL: the report lacks this note. */
void replayed_expect_note(size_t note, const char *part);

/* Frees the replay and what it delivered. It is the .fini of these test suites. */
void replayed_clear(void);

#endif
