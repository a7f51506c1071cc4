// SPDX-License-Identifier: GPL-2.0
/*
 * Off-core response counters. They are open on each CPU of their PMU, count, and never sample. The BPF
 * programs read them at task switches. The number of descriptors is kinds x CPUs, independent of the number
 * of cgroups.
 *
 * No counter is pinned. Two registers (MSR_OFFCORE_RSP_0 and 1) serve three or more kinds, so the kernel
 * multiplexes the counters. Their enabled and running times show this. A pinned counter could not be read at
 * all while it waits (perf_event_read_local() in kernel/events/core.c, Linux 6.1: -EBUSY).
 *
 *   offcore_open() -> load the programs -> offcore_start() -> each interval: offcore_hotplug() and, just
 *   before the records are read, offcore_collect() -> offcore_free()
 */
#ifndef PEBSD_PERF_OFFCORE_H
#define PEBSD_PERF_OFFCORE_H

#include "base/cleanup.h"
#include "kernel/inherited.h"
#include "kernel/kernel_offcore.h"
#include "origin/pmu/pmu.h"
#include "store/handover.h"

struct offcore_set;

/* A PMU with off-core counters. The order of the PMUs is that of their numbers (kernel_offcore_place()). */
struct offcore_pmu {
	char name[EVENT_PMU_MAX];
	u32 kinds; /* one bit for each kind that is counted on it */
};

/*
 * Opens the counters, disabled, on those of their CPUs that the file `online_path` lists. Raises the soft
 * limit of file descriptors if needed. Returns 0, -ENODEV if none of their CPUs is online, or another -errno.
 * On an error `ret_message` says what failed, why, and what to do, or is NULL. The caller frees the message.
 */
int offcore_open(const struct pmu_counter *counters, size_t n, const char *online_path,
		 struct offcore_set **ret, char **ret_message);
struct offcore_set *offcore_free(struct offcore_set *set);
DEFINE_CLEANUP(struct offcore_set *, offcore_free)

/* Returns the highest possible CPU number plus 1: the value for kernel_settings.offcore_cpus. */
u32 offcore_cpus(const struct offcore_set *set);
const struct offcore_pmu *offcore_pmus(const struct offcore_set *set, size_t *ret_n);

/*
 * Settings for counters that outlive the process. If this process continues with the maps of the previous
 * one, the counters of the previous process keep counting in place of the ones just opened.
 */
struct offcore_save_settings {
	struct handover *handover; /* must outlive the set */
	enum inherited inherited;  /* whether the kernel side continues */
	bool stay_paused;
};

/* Returns the size of the saved data of one CPU. If it differs, saved data must not be read. */
u64 offcore_save_layout(void);

/*
 * Hands the counters to `kernel`, which must outlive the set, and enables them. If `save` is NULL the
 * counters end with the process. Returns like offcore_open().
 */
int offcore_start(struct offcore_set *set, struct kernel_offcore *kernel,
		  const struct offcore_save_settings *save, char **ret_message);

/*
 * On each CPU, adds the counts of the running task to the record of its cgroup. This interrupts each CPU
 * once.
 */
void offcore_collect(const struct offcore_set *set);

/*
 * Opens counters on CPUs that came online, closes them on CPUs that went offline, and reopens them if a CPU
 * was offline in between. Returns the number of CPUs opened and closed, or -errno of the first failure with
 * `ret_message` set.
 */
int offcore_hotplug(struct offcore_set *set, char **ret_message);

/* Disable all counters for a while, so that others can have them, and enable them again. The counts stay. */
void offcore_pause(struct offcore_set *set);
void offcore_resume(struct offcore_set *set);

#endif
