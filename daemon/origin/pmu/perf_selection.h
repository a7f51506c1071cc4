// SPDX-License-Identifier: GPL-2.0
/* The CPUs that the user wants to be sampled, on any PMU, also of those that come online later. */
#ifndef PEBSD_PERF_SELECTION_H
#define PEBSD_PERF_SELECTION_H

#include <stdbool.h>

#include "machine/cpu_list.h"
#include "origin/pmu/pmu.h"

/* {0} selects all CPUs. */
struct perf_selection {
	struct cpu_list named;    /* only these CPUs; empty: all */
	struct cpu_list isolated; /* except these CPUs */
};

/*
 * Returns the CPUs that the kernel was told to keep free of other work: those in `isolated` (isolcpus=) and
 * `nohz_full` in /devices/system/cpu below `sysfs_root`. A file that is missing or does not contain a list
 * counts as empty. The kernel writes "(null)" if no CPUs were configured.
 */
struct cpu_list perf_selection_isolated(const char *sysfs_root);

/*
 * Remove from the spec or counter the CPUs that are not selected. This also applies to CPUs that come online
 * later. Pure.
 */
void perf_selection_apply(const struct perf_selection *selection, struct event_spec *spec);
void perf_selection_apply_counter(const struct perf_selection *selection, struct pmu_counter *counter);

/*
 * Adds to `members` the selected CPUs that the PMU lists now. Without a list, or if it cannot be read, changes nothing.
 */
void perf_selection_update_members(const struct pmu_members_source *source, struct cpu_list *members);

/*
 * Checks that at least one of the `online` CPUs is selected. Returns 0, -ENODEV if none is, or -ENOMEM. With
 * -ENODEV, `ret_message` says which keys of the configuration are the cause, and the caller frees it. Pure.
 */
int perf_selection_check(const struct perf_selection *selection, const struct cpu_list *online,
			 char **ret_message);

/*
 * Returns a note on the selection for readers of the counts, or NULL if they need none or memory is short. The
 * caller frees the note. Pure.
 */
char *perf_selection_note(const struct perf_selection *selection);

#endif
