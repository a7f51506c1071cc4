// SPDX-License-Identifier: GPL-2.0
/* The memory bandwidth counters of resctrl groups, as metrics. Pure. */
#ifndef PEBSD_PROMETHEUS_RESCTRL_H
#define PEBSD_PROMETHEUS_RESCTRL_H

#include "export/prometheus/exposition.h"
#include "machine/resctrl.h"

/* Returns 0 or -ENOMEM. Values that are not known are not written. */
int prometheus_resctrl(struct exposition *out, const struct resctrl *resctrl);

#endif
