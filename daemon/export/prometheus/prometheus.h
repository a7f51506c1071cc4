// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot as Prometheus reads it: text format 0.0.4 or OpenMetrics 1.0. Pure.
 *
 * Per cgroup, a counter that is 0 is left out until it has counted something; per event, what was measured is
 * printed, 0 too, so that the first loss is seen as an increase. What is not known is absent.
 */
#ifndef PEBSD_PROMETHEUS_H
#define PEBSD_PROMETHEUS_H

#include "base/version.h"
#include "collect/series.h"
#include "export/prometheus/process.h"
#include "export/prometheus/prometheus_alerts.h"
#include "snapshot/snapshot.h"

#define PROMETHEUS_TEXT_TYPE        "text/plain; version=0.0.4; charset=utf-8"
#define PROMETHEUS_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct prometheus_options {
	bool openmetrics;    /* else text */
	bool detail;         /* all snoop and TLB results, not only the counters that always are */
	unsigned int labels; /* of cgroups, beside their paths: bit 1 << enum container_label */
	const struct prometheus_alerts *alerts; /* NULL: there is no policy */
	struct maybe_u64 http_restarts;         /* of the process that speaks HTTP */
};

/*
 * Renders `snapshot`, which must cover the whole time (a window's figures fall), and `series`, each path at
 * most once. `process` may be NULL. Two events of one role and PMU, as a recording may have, get different
 * `pmu` labels. Returns 0 or -ENOMEM; the caller frees *ret_text, which is NUL-terminated behind its
 * *ret_length bytes.
 */
int prometheus_render(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		      const struct prometheus_options *options, const struct process_figures *process,
		      char **ret_text, size_t *ret_length);

#endif
