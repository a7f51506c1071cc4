// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates a node with cgroups that share its L3 and memory, to test the ranking of neighbours that slow
 * others down.
 *
 * The latency and data source of a cgroup's loads are sampled from the workloads of the hardware model. The
 * number of loads varies from bin to bin. Loads served beyond the core's own caches wait longer the more all
 * cgroups request, as in a queue (M/M/1). The simulation is deterministic for a seed.
 */
#ifndef PEBSD_NEIGHBOUR_FIXTURE_H
#define PEBSD_NEIGHBOUR_FIXTURE_H

#include "neighbours/neighbours.h"

#define NEIGHBOUR_FIXTURE_CGROUPS 20  /* including the victim, which is number 0 */
#define NEIGHBOUR_FIXTURE_BINS    120 /* of 5 s */

#define NEIGHBOUR_STORIES(X)                                                              \
	X(CULPRIT, "one bursts, and all slow down")                                       \
	X(CULPRIT_LATER, "one bursts, and all slow down a bin later")                     \
	X(CULPRIT_CLOSED, "one bursts, and all slow down and so do less")                 \
	X(CULPRIT_AND_TREND, "one bursts, all slow down, and all grow and fall together") \
	X(CULPRIT_STREAMS, "one streams through its memory at times, and all slow down")  \
	X(IDLE, "all burst, memory has room, and the victim's latency moves by itself")   \
	X(CROWD, "all vary, and none more than the others")                               \
	X(COMMON, "all grow and fall together")                                           \
	X(OWN, "the victim bursts and slows itself")                                      \
	X(FOLLOWED, "the victim bursts and slows itself, and another one follows it")     \
	X(STEADY, "nothing moves but by chance")

#define NEIGHBOUR_STORY_ENUM_(name, text) STORY_##name,
enum neighbour_story { NEIGHBOUR_STORIES(NEIGHBOUR_STORY_ENUM_) STORY_COUNT };
#undef NEIGHBOUR_STORY_ENUM_

extern const char *const neighbour_story_texts[STORY_COUNT];

/* Returns whether the story contains a culprit. */
bool neighbour_story_has_culprit(enum neighbour_story story);

/* Loads of the model's workloads above a threshold, shared by all fixtures. */
struct neighbour_loads;
/* Returns 0 or -ENOMEM. */
int neighbour_loads_new(struct neighbour_loads **ret);
void neighbour_loads_free(struct neighbour_loads **loads);

struct neighbour_fixture {
	size_t culprit; /* a cgroup; 0: there is no culprit */
	double traffic[NEIGHBOUR_FIXTURE_CGROUPS][NEIGHBOUR_FIXTURE_BINS];
	double latency[NEIGHBOUR_FIXTURE_BINS];
	double error[NEIGHBOUR_FIXTURE_BINS];
	char names[NEIGHBOUR_FIXTURE_CGROUPS][16];
	/* As neighbours_rank() expects them: series[0] belongs to the victim. */
	struct neighbour_series series[NEIGHBOUR_FIXTURE_CGROUPS];
};

void neighbour_fixture_make(const struct neighbour_loads *loads, enum neighbour_story story, u64 seed,
			    struct neighbour_fixture *ret);

#endif
