// SPDX-License-Identifier: GPL-2.0
/* The cost of sampling, and the governor's changes of the period, as metrics. Pure. */
#ifndef PEBSD_PROMETHEUS_COST_H
#define PEBSD_PROMETHEUS_COST_H

#include "export/prometheus/exposition.h"

/* `labels` has one text for each event of the snapshot. Values that are not known are not written. */
void prometheus_cost(struct exposition *out, const struct snapshot *snapshot, char *const *labels);

#endif
