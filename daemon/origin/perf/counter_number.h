// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the number of counters that each CPU of a core PMU has for events, which no file of sysfs says.
 *
 * When an event joins a group, the kernel checks whether an otherwise idle PMU could run the whole group at
 * once, and refuses the event with EINVAL if not (validate_group(), arch/x86/events/core.c, Linux 6.12). So a
 * group of branches, which no fixed counter counts, holds as many events as there are general-purpose
 * counters. If an event of cycles or instructions still joins the full group, it has a fixed counter. The group
 * is for this thread and stays disabled, so it takes no counter from anybody.
 *
 * If this process may not open events itself, CPUID has the same numbers, from which the kernel takes its
 * own. On a hybrid CPU it has not: there the kernel corrects them.
 */
#ifndef PEBSD_COUNTER_NUMBER_H
#define PEBSD_COUNTER_NUMBER_H

#include <linux/perf_event.h>

#include "origin/perf/counter_users.h"
#include "origin/pmu/pmu.h"
#include "origin/pmu/pmu_leave.h"

#define COUNTER_NUMBER_REASON_MAX 160

/* The kernel allows at most 64 counters of all kinds (X86_PMC_IDX_MAX). */
#define COUNTER_NUMBER_MAX 64

/* Opens an event in the group of `group_fd` (-1: a new group). Returns a descriptor that is not negative, or -errno. */
typedef int (*counter_open)(const struct perf_event_attr *attr, int group_fd, void *userdata);
typedef void (*counter_close)(int fd, void *userdata);

/*
 * Counts by opening events. Fills in `ret` except for its name. Returns 0, or -errno of the first event. If it
 * returns 0 with `counters` 0, the group did not end as described above.
 */
int counter_number_by_group(const char *pmu, u32 type, counter_open open, counter_close close, void *userdata,
			    struct pmu_general *ret);

/* The registers of CPUID leaves. A leaf that the CPU does not have is 0. */
struct counter_cpuid {
	bool amd;        /* AMD or Hygon; else Intel */
	u32 perfmon_eax; /* leaf 0xa */
	u32 perfmon_ecx;
	u32 perfmon_edx;
	u32 amd_features_ecx; /* leaf 0x80000001 */
	u32 amd_perfmon_eax;  /* leaf 0x80000022 */
	u32 amd_perfmon_ebx;
};

/* Pure: derives the counters of a CPU that is not hybrid. `counters` is 0 if they are not known. */
void counter_number_by_cpuid(const struct counter_cpuid *cpuid, struct pmu_general *ret);

/*
 * Finds the counters of each core PMU on which the plan has events or off-core counters of `roles`. The
 * watchdog's event may hold the fixed counter of cycles. Returns the number of PMUs in `ret`, or -EINVAL if
 * the counters of some PMU are not known; then `ret_reason` names the PMU and says why.
 */
int counter_number_find(const struct pmu_plan *plan, unsigned roles, enum counter_watchdog watchdog,
			struct pmu_general ret[EVENTS_MAX], char ret_reason[COUNTER_NUMBER_REASON_MAX]);

#endif
