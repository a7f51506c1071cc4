// SPDX-License-Identifier: GPL-2.0
/* Records everything that a replay delivers, for tests. */
#ifndef PEBSD_REPLAYED_H
#define PEBSD_REPLAYED_H

#include <stddef.h>

#include "origin/replay/replay.h"

struct replayed {
	struct sample *samples;
	size_t n;
	struct {
		u64 id;
		const char *text; /* the replay owns it */
	} * names;
	size_t n_names;
	int name_error; /* returned for the next name unless it is 0 */
};

/* Returns a target that fills `replayed`, which must be all zero at first. */
struct replay_target replayed_target(struct replayed *replayed);

/* Returns the name that was delivered for a cgroup, or NULL if there was none. */
const char *replayed_name(const struct replayed *replayed, u64 cgroup_id);

/* Returns the cgroup name of a sample, counted from 0. Fails the test if there is no such sample. */
const char *replayed_sample_name(const struct replayed *replayed, size_t sample);

/* Steps to the end, with `max_records` per step. Returns 0 or the error of replay_step(). */
int replayed_all(struct replayed *replayed, struct replay *replay, size_t max_records);

void replayed_clear(struct replayed *replayed);

#endif
