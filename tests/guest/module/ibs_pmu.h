// SPDX-License-Identifier: GPL-2.0
/* The PMUs of an AMD machine: `ibs_op`, which samples; `ibs_fetch` and `cpu`, which are there by name and
 * files alone, and refuse events (EOPNOTSUPP). */
#ifndef PEBS_MACHINE_IBS_PMU_H
#define PEBS_MACHINE_IBS_PMU_H

#include "core.h"

/* Plays it. To be called first, where at all. */
void ibs_pmu_describe(const struct ibs_machine *machine);

/* NULL: an Intel machine is played. */
const struct ibs_machine *ibs_pmu_machine(void);

/* 0, or -errno, told. */
int ibs_pmu_open(void);
void ibs_pmu_close(void);

#endif
