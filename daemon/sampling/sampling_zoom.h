// SPDX-License-Identifier: GPL-2.0
/*
 * For the origin `perf`: a zoom in addition to the always-on events. Always-on events that need the same
 * counter are paused for it. At most one zoom is open.
 */
#ifndef PEBSD_SAMPLING_ZOOM_H
#define PEBSD_SAMPLING_ZOOM_H

#include "origin/perf/perf.h"
#include "zoom/zoom_source.h"

struct sampling_zoom {
	struct zoom_source *open;   /* owned by the caller; NULL: no zoom */
	bool displaced[EVENTS_MAX]; /* sets that are paused for the zoom */
};

/*
 * Chooses which of the always-on events a zoom opens: on each PMU the loads, else the stores, else the precise
 * instructions. Events that only count have nothing that a zoom could show. `chosen` is indexed like `specs`. Pure:
 * no system call.
 */
void sampling_zoom_choose(const struct event_spec *const *specs, size_t n, bool chosen[static EVENTS_MAX]);

/*
 * Finds the always-on events that must pause during the zoom: a chosen event can run on one counter only, and
 * the always-on event needs the same counter of the same PMU. Returns whether there is any. Pure: no system
 * call.
 */
bool sampling_zoom_displaces(const struct event_spec *const *specs, size_t n,
			     const bool chosen[static EVENTS_MAX], bool displaced[static EVENTS_MAX]);

/*
 * Opens the directory of a cgroup below `tree`, which is a descriptor. Whatever the path is, the result is
 * never outside of the tree. Returns a descriptor, -ENOENT, or another -errno.
 */
int sampling_zoom_directory(int tree, const char *path);

/* Like sampling_zoom_open(). `tree` is a descriptor of the root of the cgroup2 hierarchy. */
int sampling_zoom_begin(struct sampling_zoom *zoom, int tree, struct perf_event_set *const *sets,
			size_t n_sets, const char *path, u32 rate, struct zoom_source **ret, char **ret_note,
			char **ret_message);

/*
 * Frees the events of the zoom and resumes the displaced sets, unless `paused` says that all sampling is
 * paused. Returns 0, or the -errno of the first set that failed, with `*ret_message`.
 */
int sampling_zoom_end(struct sampling_zoom *zoom, struct perf_event_set *const *sets, size_t n_sets,
		      bool paused, char **ret_message);

#endif
