// SPDX-License-Identifier: GPL-2.0
/* What a perf.data file says of the machine and of its events: sections behind the data. Pure. */
#ifndef PEBSD_PERF_DATA_FEATURES_H
#define PEBSD_PERF_DATA_FEATURES_H

#include "profile/perf_data_bytes.h"
#include "profile/perf_data_write.h"

/* An event as the file has it. Its only sample id is its index + 1. */
struct perf_data_attr {
	struct perf_event_attr attr;
	char name[EVENT_PMU_MAX + 48];
	const char *pmu;
};

/* What the features tell of the records. */
struct perf_data_about {
	const struct zoom_about *zoom;
	const struct perf_data_attr *attrs; /* zoom->n_events of them */
	u64 first_ns, last_ns;              /* of the samples; 0: there is none */
};

/*
 * Writes the table of sections and they themselves behind what is in `out`, which will be the file up to
 * there. Returns the bits of those that were written, by their numbers, all below 64.
 */
u64 perf_data_features(struct perf_data_bytes *out, const struct perf_data_about *about,
		       const struct perf_data_host *host);

#endif
