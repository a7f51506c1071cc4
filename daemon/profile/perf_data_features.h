// SPDX-License-Identifier: GPL-2.0
/*
 * The features of a perf.data file: sections after the data that describe the machine and the events. Pure.
 */
#ifndef PEBSD_PERF_DATA_FEATURES_H
#define PEBSD_PERF_DATA_FEATURES_H

#include "profile/perf_data_bytes.h"
#include "profile/perf_data_write.h"

/* An event as the file describes it. Its only sample id is its index plus 1. */
struct perf_data_attr {
	struct perf_event_attr attr;
	char name[EVENT_PMU_MAX + 48];
	const char *pmu;
};

/* The facts about the recording that the feature sections contain. */
struct perf_data_about {
	const struct zoom_about *zoom;
	const struct perf_data_attr *attrs; /* zoom->n_events entries */
	u64 first_ns, last_ns;              /* times of the first and last sample; 0: no samples */
};

/*
 * Appends the section table and the sections to `out`, which must hold the file up to that point. Returns a
 * mask of the sections written, by their numbers, which are all below 64.
 */
u64 perf_data_features(struct perf_data_bytes *out, const struct perf_data_about *about,
		       const struct perf_data_host *host);

#endif
