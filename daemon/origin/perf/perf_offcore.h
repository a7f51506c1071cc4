// SPDX-License-Identifier: GPL-2.0
/*
 * Off-core response counters: opened on each CPU of their PMU, counting, never sampling, and handed to the
 * programs that read them at task switches. Descriptors: kinds x CPUs, whatever the number of cgroups.
 *
 * None is pinned. Two registers (MSR_OFFCORE_RSP_0 and 1) serve three and more kinds: those take turns, which
 * enabled and running time tell; a pinned one that has no turn could not be read at all
 * (perf_event_read_local() in kernel/events/core.c, Linux 6.1: -EBUSY).
 *
 *   offcore_open() -> load the programs -> offcore_start() -> each interval: offcore_hotplug() and, just
 * before the records are read, offcore_collect() -> offcore_free()
 */
#ifndef PEBSD_PERF_OFFCORE_H
#define PEBSD_PERF_OFFCORE_H

#include "base/cleanup.h"
#include "kernel/kept.h"
#include "kernel/kernel_offcore.h"
#include "origin/pmu/pmu.h"
#include "store/handover.h"

struct offcore_set;

/* The PMUs in the order of their numbers (kernel_offcore_place()). */
struct offcore_pmu {
	char name[EVENT_PMU_MAX];
	u32 kinds; /* a bit for each that is counted on it */
};

/*
 * Opens the counters, disabled, on those of their CPUs that the file `online_path` lists. Raises the soft
 * limit of file descriptors where needed. Returns 0, -ENODEV where no CPU is online, -errno; then
 * `ret_message`, the caller's to free, says what failed, why, and what to do (NULL when out of memory).
 */
int offcore_open(const struct pmu_counter *counters, size_t n, const char *online_path,
		 struct offcore_set **ret, char **ret_message);
struct offcore_set *offcore_free(struct offcore_set *set);
DEFINE_CLEANUP(struct offcore_set *, offcore_free)

/* CPU numbers lie below this: what kernel_settings.offcore_cpus needs to be for this machine. */
u32 offcore_cpus(const struct offcore_set *set);
const struct offcore_pmu *offcore_pmus(const struct offcore_set *set, size_t *ret_n);

/* Counters that outlive the process: those of the one before count on, where the maps do, in the place of the
 * ones just opened. */
struct offcore_keep {
	struct handover *handover; /* outlive the set */
	enum kept kept;            /* of the kernel side */
	bool stay_paused;
};

/* Bytes of what is left of one CPU, as perf_keep_layout(). */
u64 offcore_keep_layout(void);

/* Hands the counters to `kernel`, which outlives the set, and has them count. `keep`: NULL where they end
 * with the process. Returns as offcore_open(). */
int offcore_start(struct offcore_set *set, struct kernel_offcore *kernel, const struct offcore_keep *keep,
		  char **ret_message);

/* What runs now is settled, on each CPU: one interrupt of each. */
void offcore_collect(const struct offcore_set *set);

/*
 * Opens on CPUs that came, closes on those that went, and opens anew where a CPU went and came in between.
 * How many, or -errno of the first that failed, with `ret_message` set.
 */
int offcore_hotplug(struct offcore_set *set, char **ret_message);

/* Gives every counter back for a time, and takes them again; what was counted stays. */
void offcore_pause(struct offcore_set *set);
void offcore_resume(struct offcore_set *set);

#endif
