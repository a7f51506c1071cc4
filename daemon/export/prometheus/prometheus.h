// SPDX-License-Identifier: GPL-2.0
/*
 * Renders a snapshot for Prometheus, in text format 0.0.4 or OpenMetrics 1.0. Pure.
 *
 * A counter of a cgroup is left out while it is 0, except for off-core responses. A counter of an event is
 * also written as 0 if it was measured, so that Prometheus sees the first loss as an increase. Values that are
 * not known are absent.
 */
#ifndef PEBSD_PROMETHEUS_H
#define PEBSD_PROMETHEUS_H

#include "base/version.h"
#include "export/prometheus/process.h"
#include "export/prometheus/prometheus_alerts.h"
#include "machine/resctrl.h"
#include "series/series.h"
#include "snapshot/snapshot.h"

#define PROMETHEUS_TEXT_TYPE        "text/plain; version=0.0.4; charset=utf-8"
#define PROMETHEUS_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The history on disk; not known: none is kept, or nothing has been stored yet. */
struct prometheus_history {
	struct maybe_u64 bytes;
	struct maybe_double oldest_seconds; /* CLOCK_REALTIME */
	struct maybe_u64 panes_lost;
	struct maybe_u64 restarts; /* of the process that keeps it */
};

struct prometheus_options {
	bool openmetrics;    /* otherwise text format */
	bool detail;         /* all snoop and TLB results, besides the counters that are always there */
	unsigned int labels; /* of cgroups, besides their paths: bit 1 << enum container_label */
	const struct prometheus_alerts *alerts; /* NULL: there is no policy */
	struct maybe_u64 http_restarts;         /* of the process that serves HTTP */
	const struct resctrl *resctrl;          /* NULL: not read */
	struct prometheus_history history;
};

/*
 * Renders `snapshot`, which must cover the whole time (the sums of a window can decrease), and `series`, each
 * path at most once. `process` may be NULL. Two events with the same role and PMU, as a recording may have,
 * get different `pmu` labels. Returns 0 or -ENOMEM. The caller frees *ret_text, which has *ret_length bytes
 * and a NUL after them.
 */
int prometheus_render(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		      const struct prometheus_options *options, const struct process_usage *process,
		      char **ret_text, size_t *ret_length);

#endif
