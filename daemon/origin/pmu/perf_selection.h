// SPDX-License-Identifier: GPL-2.0
/* Which CPUs the user wants sampled, whatever PMU they have. */
#ifndef PEBSD_PERF_SELECTION_H
#define PEBSD_PERF_SELECTION_H

#include <stdbool.h>

#include "base/cpu_list.h"
#include "origin/pmu/pmu.h"

/* {0}: all. */
struct perf_selection {
	struct cpu_list named;    /* these alone; none: all */
	struct cpu_list isolated; /* but not these */
};

/*
 * The CPUs that the kernel was told to keep quiet: those of `isolated` (isolcpus=) and of `nohz_full` in
 * /devices/system/cpu below `sysfs_root`. A file that is missing or holds no list ("(null)", where the kernel
 * was given none) names nobody.
 */
struct cpu_list perf_selection_isolated(const char *sysfs_root);

/* Takes from the opening's CPUs those that are not wanted, also for later, when others come online. Pure. */
void perf_selection_apply(const struct perf_selection *selection, struct pmu_opening *opening);
void perf_selection_apply_counter(const struct perf_selection *selection, struct pmu_counter *counter);

/*
 * Whether one of the `online` CPUs is wanted: 0, or -ENODEV with `ret_message`, which the caller frees, in
 * the words of the configuration. -ENOMEM. Pure.
 */
int perf_selection_check(const struct perf_selection *selection, const struct cpu_list *online,
			 char **ret_message);

/* What a reader of the figures must know of it, the caller's to free; NULL: nothing, or no memory. Pure. */
char *perf_selection_note(const struct perf_selection *selection);

#endif
