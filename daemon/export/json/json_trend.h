// SPDX-License-Identifier: GPL-2.0
/* The trend of a cgroup's events over the last hour or a range of the past, as JSON. */
#ifndef PEBSD_EXPORT_JSON_TREND_H
#define PEBSD_EXPORT_JSON_TREND_H

#include "export/json/json_writer.h"

struct json_trend {
	size_t bins; /* 1 to TREND_BINS_MAX; 0: no trend */
	u64 bin_ns;
	u64 end_ns; /* see struct trend_bins */
};

/*
 * Adds "trend" to each event of a cgroup's "events" if trends are kept. For a sum of a subtree it adds the
 * sum of the trends.
 */
void json_put_trends(struct json_writer *writer, json_object *cgroup_object, const struct snapshot *snapshot,
		     const struct snapshot_cgroup *cgroup, const struct json_trend *wanted);

#endif
