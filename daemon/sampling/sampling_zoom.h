// SPDX-License-Identifier: GPL-2.0
/* For the origin `perf`: a zoom beside the always-on events, or in the place of those that it cannot share a
 * counter with. One at a time. */
#ifndef PEBSD_SAMPLING_ZOOM_H
#define PEBSD_SAMPLING_ZOOM_H

#include "origin/perf/perf.h"
#include "zoom/zoom_events.h"

struct sampling_zoom {
	struct zoom_events *open;   /* the caller's; NULL: no zoom */
	bool displaced[EVENTS_MAX]; /* sets that are paused for it */
};

/*
 * What a zoom opens of the always-on events: of each PMU the loads, else the stores, else the instructions.
 * `chosen` by their index. Pure.
 */
void sampling_zoom_choose(const struct pmu_opening *const *openings, size_t n,
			  bool chosen[static EVENTS_MAX]);

/*
 * Which of the always-on events must pause for the chosen ones: those that the same counter of the same PMU
 * alone can hold. Returns whether there is one. Pure.
 */
bool sampling_zoom_displaces(const struct pmu_opening *const *openings, size_t n,
			     const bool chosen[static EVENTS_MAX], bool displaced[static EVENTS_MAX]);

/*
 * The directory of a cgroup below `tree`, a descriptor, never one outside of it, whatever the path. A
 * descriptor, or -ENOENT, -errno.
 */
int sampling_zoom_directory(int tree, const char *path);

/* As sampling_zoom_open(); `tree` is a descriptor of the cgroup2 hierarchy's root. */
int sampling_zoom_begin(struct sampling_zoom *zoom, int tree, struct perf_event_set *const *sets,
			size_t n_sets, const char *path, u32 rate, struct zoom_events **ret, char **ret_note,
			char **ret_message);

/*
 * Frees its events; the displaced sets sample again, but where `paused` says that all of pebsd is paused.
 * Returns 0, or -errno of the first that did not, with `ret_message`.
 */
int sampling_zoom_end(struct sampling_zoom *zoom, struct perf_event_set *const *sets, size_t n_sets,
		      bool paused, char **ret_message);

#endif
