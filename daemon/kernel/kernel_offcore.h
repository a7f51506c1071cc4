// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF side of counting off-core responses by cgroup: places the counters that the programs read on each
 * CPU, and gives access to the sums (include/pebsd/offcore.h).
 *
 * Placing counters takes map system calls. Each of these calls disables perf_event programs on the calling
 * CPU for some microseconds (kernel.h). The calls are made at the start before sampling begins, and when a
 * CPU comes or goes. Collecting needs no map system call.
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
 * Call this before the programs are loaded. If `cpus` is 0, the programs and maps of off-core counting are
 * left out when the rest is loaded, and `*ret` is NULL. Otherwise they are loaded, for CPUs with numbers
 * below `cpus`. `blocks` hold the records and must outlive `*ret`. Returns 0 or -errno.
 */
int kernel_offcore_prepare(struct pebsd_bpf *skeleton, const struct kernel_blocks *blocks, u32 cpus,
			   struct kernel_offcore **ret);

/*
 * Call this after the programs are loaded, and before the tracepoint of task switches is attached. It maps
 * the states of the CPUs. `offcore` may be NULL. Returns 0 or -errno.
 */
int kernel_offcore_start(struct kernel_offcore *offcore);
struct kernel_offcore *kernel_offcore_free(struct kernel_offcore *offcore);
DEFINE_CLEANUP(struct kernel_offcore *, kernel_offcore_free)

/*
 * Makes the programs read these events on `cpu`; -1 stands for no event. The previous events are read one
 * last time and replaced. The next reading starts from the value that the new events have now, so counts in
 * between belong to no cgroup. `pmu` is any number for the PMU of the events. It must always be the same for
 * a CPU. The caller may close its descriptors afterwards: the map holds the events until they are replaced.
 * Returns 0, or -errno with no event placed.
 */
int kernel_offcore_place(struct kernel_offcore *offcore, u32 cpu, u32 pmu, const int fds[OFFCORE_COUNTERS]);

/*
 * For events that an earlier process placed. kernel_offcore_know() sets the PMU of a CPU.
 * kernel_offcore_reads() returns true if the programs read events on the CPU now.
 */
void kernel_offcore_know(struct kernel_offcore *offcore, u32 cpu, u32 pmu);
bool kernel_offcore_reads(const struct kernel_offcore *offcore, u32 cpu);

/* Reads the events on `cpu` one last time, then stops reading them. The records keep their counts. */
void kernel_offcore_remove(struct kernel_offcore *offcore, u32 cpu);

/*
 * Adds the counts so far of the task that runs on `cpu` to the record of its cgroup. Costs one interrupt on
 * that CPU. Returns 0, -ENXIO if the CPU is offline, or -errno.
 */
int kernel_offcore_collect(const struct kernel_offcore *offcore, u32 cpu);

/* Shared memory, which changes while it is read. `cpu` and `slot` must be in range. */
const struct offcore_record *kernel_offcore_record(const struct kernel_offcore *offcore, u32 cpu, u32 slot);
const struct offcore_cpu *kernel_offcore_cpu(const struct kernel_offcore *offcore, u32 cpu);

u32 kernel_offcore_cpus(const struct kernel_offcore *offcore);

/* Gets the PMU that was given for a CPU. Returns false if the CPU never had a counter. */
bool kernel_offcore_pmu(const struct kernel_offcore *offcore, u32 cpu, u32 *ret);

#endif
