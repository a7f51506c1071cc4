// SPDX-License-Identifier: GPL-2.0
/* What sampling costs, and what the governor does about it, as metrics. Pure. */
#ifndef PEBSD_PROMETHEUS_COST_H
#define PEBSD_PROMETHEUS_COST_H

#include "export/prometheus/exposition.h"

/* `labels`: of each event of the snapshot. Writes nothing of what is not known. */
void prometheus_cost(struct exposition *out, const struct snapshot *snapshot, char *const *labels);

#endif
