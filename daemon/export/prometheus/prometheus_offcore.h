// SPDX-License-Identifier: GPL-2.0
/* The counts of off-core responses as metrics. Pure. */
#ifndef PEBSD_PROMETHEUS_OFFCORE_H
#define PEBSD_PROMETHEUS_OFFCORE_H

#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/exposition.h"
#include "series/series.h"

/*
 * Writes the counts of each series, and the readings and their cost. Writes nothing if off-core responses are not
 * counted. Returns 0 or -ENOMEM.
 */
int prometheus_offcore(struct exposition *out, const struct snapshot *snapshot,
		       const struct series *const *series, size_t n_series,
		       const struct cgroup_label_request *request);

#endif
