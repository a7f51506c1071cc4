// SPDX-License-Identifier: GPL-2.0
/*
 * The past: panes of the history as the structs that the present is read from. So whatever reads a snapshot, a
 * window, a trend or the sources of a report of neighbours also reads the past. Pure.
 *
 * The settings of an event are those of the newest pane that has the event. If an event had other settings earlier
 * (all but its period), or if a pane does not have it, its figures lack that time: it counts as time in which the
 * event was enabled and did not run, and a note says so.
 *
 * A pane counts as one collection. The clock of the window and the readings begins at 0 and has only the time that
 * the panes cover: gaps have no length in it. The trend has the time since the start of the range, with gaps, and
 * divides a pane among the bins that it reaches into.
 */
#ifndef PEBSD_PAST_H
#define PEBSD_PAST_H

#include "history/shared/history_pane.h"
#include "neighbours/neighbours_report.h"
#include "snapshot/snapshot.h"

/* A part of the range: (since, until], CLOCK_REALTIME in microseconds. */
struct past_span {
	u64 since_us, until_us;
};

struct past_settings {
	struct past_span range; /* as it was asked for, but up to the newest pane if it ends now */
	const char *note;       /* one more note for the reader; NULL: none */
};

struct past;

/*
 * Makes the past of `n` panes, in ascending order. The panes must outlive it. Returns 0;
 * -ENODATA: no pane was given, or none has an event whose settings can be read; or -ENOMEM. Free it with past_free().
 */
int past_new(const struct past_settings *settings, const struct history_pane *panes, size_t n,
	     struct past **ret);
struct past *past_free(struct past *past);
DEFINE_CLEANUP(struct past *, past_free)

/*
 * The snapshot of all panes, owned by the past. `since` is the start of the first pane, `taken` the end of the last
 * one, and `window_seconds` the time that the panes cover. Its window has a collection for each pane. `notes` are
 * those of the past. Members that describe the daemon itself are 0, not known or NULL.
 */
const struct snapshot *past_snapshot(const struct past *past);

/* The range of the settings. */
struct past_span past_range(const struct past *past);

/* The end of the range in the trend's time, in which the range begins at 0. */
u64 past_trend_end_ns(const struct past *past);

/*
 * The parts of the range that no pane covers, or in which sampling was paused, ascending; owned by the past. Shorter
 * ones than a second are left out, because panes do not end exactly at the ends of a range.
 */
const struct past_span *past_gaps(const struct past *past, size_t *ret_n);

/* One pane, or one bin of the range if bins were requested. */
struct past_bin {
	struct past_span span;
	u64 covered_ns;
};
size_t past_bins(const struct past *past);
struct past_bin past_bin(const struct past *past, size_t index);

/*
 * A snapshot of one pane alone, with the same events. It has no window and no trend. Valid as long as the past;
 * free it with snapshot_free() (snapshot_build.h). Returns 0 or -ENOMEM.
 */
int past_bin_snapshot(const struct past *past, size_t index, struct snapshot **ret);

/* Gets the past: `past` of struct control_backend. */
typedef int (*past_get)(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
			const struct past **ret);

/*
 * Gets the past of all cgroups for past_neighbours(), with one bin for each pane, unless the answer would become
 * too large. `get` may be NULL. Returns the same as `get`.
 */
int past_panes(past_get get, void *userdata, u64 since_us, u64 until_us, const struct past **ret);

/*
 * Like neighbours_report(), but over the whole past. A bin is as long as a usual pane, or a 120th of the past if that
 * is longer. The past must have all cgroups.
 */
int past_neighbours(const struct past *past, const char *path, int cgroup_root_fd, const char *sysfs_root,
		    struct neighbours_report **ret);

#endif
