// SPDX-License-Identifier: GPL-2.0
/*
 * The recording of a zoom, in bounded memory. It holds complete samples, the mappings and names of the
 * processes, and the number of samples left out, by reason. Profiles, reports and perf.data are made from it.
 * Pure.
 */
#ifndef PEBSD_ZOOM_RECORDING_H
#define PEBSD_ZOOM_RECORDING_H

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "zoom/zoom_events.h"
#include "zoom/zoom_sample.h"

struct zoom_about {
	char *cgroup; /* path below the root; the recording owns it */
	u64 cgroup_id;
	u64 began_ns, ended_ns; /* CLOCK_MONOTONIC; ended 0: still running */
	u64 began_real_ns;      /* CLOCK_REALTIME */
	u32 rate;               /* the limit, samples a second */
	size_t n_events;
	struct event events[ZOOM_EVENTS_MAX];
	struct perf_event_attr attrs[ZOOM_EVENTS_MAX];
	struct zoom_counts counts; /* as of the last drain */
	u64 dropped;               /* samples for which the recording had no room */
	bool lbr, physical;
	const char *origin; /* a constant */
};

struct zoom_recording;

/* Copies `about` including `cgroup`. The recording takes at most `bytes_max` bytes. Returns 0 or -ENOMEM. */
int zoom_recording_new(const struct zoom_about *about, size_t bytes_max, struct zoom_recording **ret);
struct zoom_recording *zoom_recording_free(struct zoom_recording *recording);
DEFINE_CLEANUP(struct zoom_recording *, zoom_recording_free)

/*
 * Returns the description, which the recording owns. The caller keeps its `counts` and `ended_ns` up to date.
 */
struct zoom_about *zoom_recording_about(struct zoom_recording *recording);
const struct zoom_about *zoom_recording_about_const(const struct zoom_recording *recording);

/*
 * Adds a record. LOST, THROTTLED and OTHER are ignored, since `counts` covers them. Returns 0 or -ENOMEM.
 * Also returns 0 if there is no room for the record: `dropped` counts the samples that are left out for this
 * reason.
 */
int zoom_recording_add(struct zoom_recording *recording, const struct zoom_record *record);

/*
 * Calls `callback` for each record in the order in which they were added. Stops when `callback` returns a
 * value other than 0, and returns that value. Returns 0 otherwise.
 */
int zoom_recording_each(const struct zoom_recording *recording,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

u64 zoom_recording_samples(const struct zoom_recording *recording);
u64 zoom_recording_bytes(const struct zoom_recording *recording);

#endif
