// SPDX-License-Identifier: GPL-2.0
/* Reads the off-core counts of a slot through the mapping: the sum of its CPUs, by PMU. No system call. */
#ifndef PEBSD_READ_OFFCORE_H
#define PEBSD_READ_OFFCORE_H

#include "collect/offcore_counts.h"
#include "kernel/kernel_offcore.h"

/* The last reading of a slot. */
struct offcore_base {
	u64 settles;
	struct offcore_counts sum;
};

/*
 * Number of words of a set of CPUs: those whose record for a slot can have counts. The caller adds a CPU when it
 * sees the CPU's dirty byte for the slot, and adds all CPUs if bytes may be missing. The functions below read only CPUs
 * in the set. They remove CPUs whose record is empty, even if they fail. A task mostly runs on few CPUs, and each
 * record costs a cache miss.
 */
static inline u32 offcore_cpus_words(const struct kernel_offcore *offcore)
{
	return (kernel_offcore_cpus(offcore) + 63) / 64;
}

static inline void offcore_cpus_add(u64 *cpus, u32 cpu)
{
	cpus[cpu / 64] |= 1ULL << (cpu % 64);
}

/* Returns true if anything was counted since the last reading. `base` NULL: nothing was read yet. */
bool read_offcore_moved(const struct kernel_offcore *offcore, u32 slot, u64 *cpus,
			const struct offcore_base *base);

/*
 * Returns the delta since the last reading in `ret`, and updates `*base` to this reading. `*base` is
 * created if it is NULL; free it with free(3). Returns 0, or -ENOMEM with nothing read.
 */
int read_offcore(const struct kernel_offcore *offcore, u32 slot, u64 *cpus, struct offcore_base **base,
		 struct offcore_counts *ret);

#endif
