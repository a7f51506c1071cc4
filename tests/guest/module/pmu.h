// SPDX-License-Identifier: GPL-2.0
/*
 * The PMUs that perf core sees, and which CPUs are whose: one of the name `cpu` and the type PERF_TYPE_RAW;
 * of a hybrid machine two, on the CPUs of even and of odd numbers, of which the P-cores' has that type and
 * the other one a type of its own (init_hw_perf_events() in arch/x86/events/core.c).
 */
#ifndef PEBS_MACHINE_PMU_H
#define PEBS_MACHINE_PMU_H

#include <linux/cpumask.h>
#include <linux/perf_event.h>

#include "model/machine.h"

#include "sysfs.h"

struct machine_pmu {
	struct pmu pmu;
	const struct machine *machine;
	const char *name;
	bool hybrid;         /* one of several: events on other CPUs than its own are refused */
	struct cpumask cpus; /* its own */
	struct sysfs sysfs;
};

/* -EINVAL, told: the machine's other cores are not in the model. To be called first. */
int pmu_describe(const struct machine *machine);

/* Whose the CPU is. */
const struct machine_pmu *pmu_of_cpu(int cpu);

static inline const struct machine_pmu *pmu_of_event(const struct perf_event *event)
{
	return container_of(event->pmu, struct machine_pmu, pmu);
}

/* 0, or -errno, told. */
int pmu_open(void);
void pmu_close(void);

#endif
