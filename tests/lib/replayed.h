// SPDX-License-Identifier: GPL-2.0
/* Takes down what a replay delivers, for tests to look at. */
#ifndef PEBSD_REPLAYED_H
#define PEBSD_REPLAYED_H

#include <stddef.h>

#include "origin/replay/replay.h"

struct replayed {
	struct sample *samples;
	size_t n;
	struct {
		u64 id;
		const char *text; /* the replay's */
	} * names;
	size_t n_names;
	int name_error; /* returned for the next name, where it is not 0 */
};

/* A target that fills `replayed`, which starts all zero. */
struct replay_target replayed_target(struct replayed *replayed);

/* The name that came before its first sample; NULL where none did. */
const char *replayed_name(const struct replayed *replayed, u64 cgroup_id);

/* The name of the cgroup that a sample, counted from 0, is of. Fails the test where there is no such sample.
 */
const char *replayed_sample_name(const struct replayed *replayed, size_t sample);

/* Steps to the end, `max_records` at a time. Returns 0 or the error of replay_step(). */
int replayed_all(struct replayed *replayed, struct replay *replay, size_t max_records);

void replayed_clear(struct replayed *replayed);

#endif
