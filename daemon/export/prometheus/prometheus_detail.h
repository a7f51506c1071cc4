// SPDX-License-Identifier: GPL-2.0
/* The metrics of zooms and hot tables. Pure. */
#ifndef PEBSD_PROMETHEUS_DETAIL_H
#define PEBSD_PROMETHEUS_DETAIL_H

#include "export/prometheus/exposition.h"

/* `detail` may be NULL: nothing is written. */
void prometheus_detail(struct exposition *out, const struct detail_figures *detail);

#endif
