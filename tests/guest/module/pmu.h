// SPDX-License-Identifier: GPL-2.0
/* The PMU that perf core sees: the name `cpu`, the type PERF_TYPE_RAW, and its calls. */
#ifndef PEBS_MACHINE_PMU_H
#define PEBS_MACHINE_PMU_H

/* 0, or -errno, told. */
int pmu_open(void);
void pmu_close(void);

#endif
