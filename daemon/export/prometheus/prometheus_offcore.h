// SPDX-License-Identifier: GPL-2.0
/* The counts of off-core responses as metrics. */
#ifndef PEBSD_PROMETHEUS_OFFCORE_H
#define PEBSD_PROMETHEUS_OFFCORE_H

#include "collect/series.h"
#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/exposition.h"

/* Writes nothing if off-core responses are not counted. Returns 0 or -ENOMEM. */
int prometheus_offcore(struct exposition *out, const struct snapshot *snapshot,
		       const struct series *const *series, size_t n_series,
		       const struct cgroup_label_wish *wish);

#endif
