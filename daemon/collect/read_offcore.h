// SPDX-License-Identifier: GPL-2.0
/* Reading what was counted for a slot through the mapping: its CPUs summed by PMU. No system call. */
#ifndef PEBSD_READ_OFFCORE_H
#define PEBSD_READ_OFFCORE_H

#include "collect/offcore_figures.h"
#include "kernel/kernel_offcore.h"

/* What a slot had when it was last read. */
struct offcore_base {
	u64 settles;
	struct offcore_figures sum;
};

/* Whether anything was counted since the last reading. `base` NULL: none yet. */
bool read_offcore_moved(const struct kernel_offcore *offcore, u32 slot, const struct offcore_base *base);

/*
 * The difference since the last reading, which `base` (made where it is NULL; free(3) frees it) holds and
 * takes over. 0, or -ENOMEM with nothing taken.
 */
int read_offcore(const struct kernel_offcore *offcore, u32 slot, struct offcore_base **base,
		 struct offcore_figures *ret);

#endif
