// SPDX-License-Identifier: GPL-2.0
/*
 * What a zoom took: its samples with all they have, the mappings and names of its processes, and what was
 * not taken, by reason. In bounded memory. Profiles, reports and perf.data are made from it. Pure.
 */
#ifndef PEBSD_ZOOM_RECORDING_H
#define PEBSD_ZOOM_RECORDING_H

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "zoom/zoom_events.h"
#include "zoom/zoom_sample.h"

struct zoom_about {
	char *cgroup; /* path below the root; the recording's */
	u64 cgroup_id;
	u64 began_ns, ended_ns; /* CLOCK_MONOTONIC; ended 0: it goes on */
	u64 began_real_ns;      /* CLOCK_REALTIME */
	u32 rate;               /* the limit, samples a second */
	size_t n_events;
	struct event events[ZOOM_EVENTS_MAX];
	struct perf_event_attr attrs[ZOOM_EVENTS_MAX];
	struct zoom_counts counts; /* as of the last drain */
	u64 dropped;               /* samples that the recording had no room for */
	bool lbr, physical;
	const char *origin; /* a constant */
};

struct zoom_recording;

/* Copies `about`, its `cgroup` too; holds up to `bytes_max` bytes. 0 or -ENOMEM. */
int zoom_recording_new(const struct zoom_about *about, size_t bytes_max, struct zoom_recording **ret);
struct zoom_recording *zoom_recording_free(struct zoom_recording *recording);
DEFINE_CLEANUP(struct zoom_recording *, zoom_recording_free)

/* To be kept up to date by the caller: counts, ended_ns. The recording's. */
struct zoom_about *zoom_recording_about(struct zoom_recording *recording);
const struct zoom_about *zoom_recording_about_const(const struct zoom_recording *recording);

/* Adds a record of any kind but LOST, THROTTLED, OTHER (left out: they are counted). 0, also where there
 * was no room (`dropped` counts samples), -ENOMEM. */
int zoom_recording_add(struct zoom_recording *recording, const struct zoom_record *record);

/* Calls back for each record in the order of adding. Stops where `callback` does not return 0 and returns
 * that. */
int zoom_recording_each(const struct zoom_recording *recording,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

u64 zoom_recording_samples(const struct zoom_recording *recording);
u64 zoom_recording_bytes(const struct zoom_recording *recording);

#endif
