// SPDX-License-Identifier: GPL-2.0
/*
 * The events of AMD's cores that only count. The PMU's folder in sysfs does not name the CPU, so its family and
 * model come from devices/system/cpu/modalias. The head of pmu_amd.c names the sources of all facts.
 */
#ifndef PEBSD_PMU_AMD_H
#define PEBSD_PMU_AMD_H

#include "origin/pmu/pmu_quirks.h"

/* The vendors of CPUs that the kernel drives as AMD's: X86_VENDOR_ in arch/x86/include/asm/processor.h. */
#define PMU_VENDOR_AMD   2
#define PMU_VENDOR_HYGON 9

struct pmu_cpu {
	u32 vendor, family, model;
};

/*
 * Parses the text of modalias: "cpu:type:x86,ven0002fam0019mod0011:feature:...". Returns 0, or -EINVAL if it is not
 * the text of an x86 CPU. Pure.
 */
int pmu_cpu_parse(const char *modalias, struct pmu_cpu *ret);

/*
 * Returns the event that counts cycles, instructions, stalls or misses on the CPU. The kind of stalls and misses is
 * COUNT_NONE if the CPU has no such event or is not known. Pure.
 */
struct pmu_count_event pmu_amd_count(const struct pmu_cpu *cpu, enum event_role role);

#endif
