// SPDX-License-Identifier: GPL-2.0
/* Two sides compared (estimate/compare.h), as JSON with the conventions of json.h: the reply of Compare. Pure. */
#ifndef PEBSD_EXPORT_JSON_COMPARE_H
#define PEBSD_EXPORT_JSON_COMPARE_H

#include <json-c/json.h>

#include "base/cleanup.h"
#include "estimate/window_samples.h"
#include "export/json/json_writer.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_waits.h"

struct compare_event {
	char key[EVENT_KEY_MAX];
	struct event event;
	bool sampled; /* `counters` has a sample */
	struct counters counters;
};

/* A side, with all that is compared of it. About 450 KB, and independent of the snapshot that it was made from. */
struct compared_side {
	char *name; /* path or other name, not in its shown form; NULL: all cgroups */
	bool subtree;
	const char *origin; /* a constant */
	struct timespec since, taken;
	struct maybe_double seconds;
	size_t n_events;
	struct compare_event events[EVENTS_MAX];
	struct snapshot_wait_parts waits;
	struct window_samples
		samples; /* without parts: nothing is known about bursts, so nothing has bounds */
};

/*
 * Copies the side from a snapshot. `cgroup` is one of its cgroups or a sum (snapshot_view.h); NULL: all cgroups
 * together. Returns 0 or -ENOMEM. Free it with compared_side_free().
 */
int compared_side_new(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      struct compared_side **ret);
/* Takes the samples of a side from its counters, which have no order of time: then nothing is known about bursts. */
void compared_side_take_sums(struct compared_side *side);

struct compared_side *compared_side_free(struct compared_side *side);
DEFINE_CLEANUP(struct compared_side *, compared_side_free)

/*
 * Compares the events that both sides have with the same settings: another threshold (ldlat), kind of latency or PMU
 * makes samples that cannot be compared, and a note says so. `extra_a` and `extra_b` have members to add to "a" and
 * "b", are taken, and may be NULL. Returns a new object that the caller owns, or NULL if memory runs out.
 */
json_object *json_compare(const struct compared_side *a, const struct compared_side *b, json_object *extra_a,
			  json_object *extra_b);

#endif
