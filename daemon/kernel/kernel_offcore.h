// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side of counting off-core responses by cgroup: which counters the programs read on which CPU,
 * and what they have added up (include/pebsd/offcore.h).
 *
 * Placing counters are map system calls, each of which disables perf_event programs on the calling CPU while
 * it lasts, some microseconds (kernel.h): they are made at start, before anything is sampled, and when a CPU
 * comes or goes. Collecting makes none.
 */
#ifndef PEBSD_KERNEL_OFFCORE_H
#define PEBSD_KERNEL_OFFCORE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/offcore.h"

struct pebsd_bpf;
struct kernel_blocks;
struct kernel_offcore;

/*
 * Before the programs are loaded: with `cpus` (their numbers lie below it) all that offcore needs is to be
 * made and loaded, with 0 nothing of it. `blocks` hold the records, and outlive it. Returns 0, and then NULL in `ret` for 0; or -errno.
 */
int kernel_offcore_prepare(struct pebsd_bpf *skeleton, const struct kernel_blocks *blocks, u32 cpus,
			   struct kernel_offcore **ret);

/* After that: maps the records; the scheduler is to be followed then. `offcore` may be NULL. 0 or -errno. */
int kernel_offcore_start(struct kernel_offcore *offcore);
struct kernel_offcore *kernel_offcore_free(struct kernel_offcore *offcore);
DEFINE_CLEANUP(struct kernel_offcore *, kernel_offcore_free)

/*
 * Has the programs read these events (-1: none) on `cpu`, in the place of those before, which are read once
 * more; the next reading starts from what they count now. What comes between these two is counted for nobody.
 * `pmu` is any number for the PMU that they are of, the same for a CPU at all times. The caller's descriptors
 * may be closed then: the map holds the events until they are replaced. 0 or -errno, with none placed.
 */
int kernel_offcore_place(struct kernel_offcore *offcore, u32 cpu, u32 pmu, const int fds[OFFCORE_COUNTERS]);

/* Of what an earlier process placed: its PMU, and whether it is read now. */
void kernel_offcore_know(struct kernel_offcore *offcore, u32 cpu, u32 pmu);
bool kernel_offcore_reads(const struct kernel_offcore *offcore, u32 cpu);

/* Nothing is read on `cpu` any more, after a last time. What was counted stays. */
void kernel_offcore_remove(struct kernel_offcore *offcore, u32 cpu);

/*
 * Adds what the task that runs on `cpu` has counted until now to its cgroup's record. One interrupt of that
 * CPU. 0, -ENXIO where the CPU is offline, -errno.
 */
int kernel_offcore_collect(const struct kernel_offcore *offcore, u32 cpu);

/* Shared memory, changing under the reader. `cpu` and `slot` are in range. */
const struct offcore_record *kernel_offcore_record(const struct kernel_offcore *offcore, u32 cpu, u32 slot);
const struct offcore_cpu *kernel_offcore_cpu(const struct kernel_offcore *offcore, u32 cpu);

u32 kernel_offcore_cpus(const struct kernel_offcore *offcore);

/* As placed; a CPU that never had a counter is of no PMU: false. */
bool kernel_offcore_pmu(const struct kernel_offcore *offcore, u32 cpu, u32 *ret);

#endif
