// SPDX-License-Identifier: GPL-2.0
/* The PMUs of an AMD machine: `ibs_op`, which samples; `ibs_fetch` and `cpu`, which are there by name and
 * files alone, and refuse events (EOPNOTSUPP). */
#ifndef PEBS_MACHINE_IBS_PMU_H
#define PEBS_MACHINE_IBS_PMU_H

#include "core.h"

int ibs_pmu_open(const struct ibs_machine *machine);
void ibs_pmu_close(void);

#endif
