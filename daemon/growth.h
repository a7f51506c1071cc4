// SPDX-License-Identifier: GPL-2.0
/* When slots are added, and how many; how much memory they may take where nobody says. Pure. */
#ifndef PEBSD_GROWTH_H
#define PEBSD_GROWTH_H

#include "pebsd/types.h"

/*
 * The slots that there should be. `slots` there are, slot 0 among them, `free` of them nobody's; `missing`
 * cgroups found none. At least `slots`: more when they are short (SLOTS_SHORT_PART) or some cgroup has none, so
 * that a third is free then.
 */
u32 growth_wanted(u32 slots, u32 free, u64 missing);

/* What pebsd.service may take beside all else (MEMORY of pebsd(8)), in bytes. */
#define GROWTH_MEMORY_MOST (768ULL << 20)

/*
 * `max-memory = auto`, for a machine with so many bytes of memory: one in 256, at least 64 MiB, which is for 5,000
 * cgroups on few CPUs, and at most GROWTH_MEMORY_MOST.
 */
u64 growth_memory(u64 machine_bytes);

#endif
