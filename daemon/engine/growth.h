// SPDX-License-Identifier: GPL-2.0
/* When slots are added, and how many; how much memory they may take where nobody says. Pure. */
#ifndef PEBSD_GROWTH_H
#define PEBSD_GROWTH_H

#include "pebsd/types.h"

/*
 * The slots that there should be. `slots` there are, slot 0 among them, `free` of them nobody's; `missing`
 * cgroups found none. At least `slots`: more when they are short (slots_spare()) or some cgroup has none, so
 * that a third is free then.
 */
u32 growth_wanted(u32 slots, u32 free, u64 missing);

/* What pebsd.service may take beside all else (MEMORY of pebsd(8)), in bytes. */
#define GROWTH_MEMORY_MOST (768ULL << 20)

/*
 * The bytes of `max-memory = auto`: a 256th of the machine's memory, at least 64 MiB and at most
 * GROWTH_MEMORY_MOST. 64 MiB are enough for 5,000 cgroups on few CPUs.
 */
u64 growth_memory(u64 machine_bytes);

#endif
