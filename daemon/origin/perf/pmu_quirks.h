// SPDX-License-Identifier: GPL-2.0
/*
 * What a core's sysfs folder does not tell, by the names it does tell: caps/pmu_name, and on a hybrid CPU the
 * PMU's own. A core of no known name is taken for a later one than any in the table.
 */
#ifndef PEBSD_PMU_QUIRKS_H
#define PEBSD_PMU_QUIRKS_H

#include <stdbool.h>

#include "pebsd/types.h"

struct pmu_quirk {
	const char *name;   /* caps/pmu_name; NULL: any, of the PMU below */
	const char *pmu;    /* the PMU's name; NULL: any */
	bool use_latency;   /* one latency, from the use of the load on; else cache and instruction latency */
	bool costly_ip;     /* precise_ip above 1 makes the kernel run the LBR (PEBS formats below 2) */
	bool precise_store; /* event 0xcd, umask 2 is the precise store, not the store latency */
	bool no_stores;     /* there is no event of stores with an address */
};

/* Never NULL. `name` may be NULL. */
const struct pmu_quirk *pmu_quirk_find(const char *name, const char *pmu);

#endif
