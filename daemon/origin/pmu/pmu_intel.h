// SPDX-License-Identifier: GPL-2.0
/*
 * The generations of Intel's cores by CPUID, for recordings: they have the family and model of the CPU, but not
 * caps/pmu_name.
 */
#ifndef PEBSD_PMU_INTEL_H
#define PEBSD_PMU_INTEL_H

#include "origin/pmu/pmu_quirks.h"

/*
 * Returns the quirk of the core of a CPU of family 6, or NULL if the model is not known. `pmu` chooses the kind of core
 * of a hybrid CPU. Pure.
 */
const struct pmu_quirk *pmu_intel_quirk(u32 family, u32 model, const char *pmu);

/*
 * Returns the event that counts cycles, instructions, stalls or misses on a core of this quirk. The kind of stalls is
 * COUNT_NONE if the core has no such event. Pure.
 */
struct pmu_count_event pmu_intel_count(const struct pmu_quirk *quirk, enum event_role role);

#endif
