// SPDX-License-Identifier: GPL-2.0
/* Decides when and how many slots are added, and the default memory limit of the maps. Pure functions. */
#ifndef PEBSD_GROWTH_H
#define PEBSD_GROWTH_H

#include "pebsd/types.h"

/*
 * Returns the number of slots that the table should have, from `slots` to SLOTS_MAX. `slots` is the number of
 * existing slots, including slot 0, and `free` that of free slots. `missing` cgroups found no slot. If slots
 * are short (slots_spare()) or a cgroup has none, the result is so large that a third of the slots will be
 * free.
 */
u32 growth_wanted(u32 slots, u32 free, u64 missing);

/*
 * Maximum bytes of the maps in pebsd.service, which also needs memory for everything else (MEMORY of
 * pebsd(8)).
 */
#define GROWTH_MEMORY_MAX (768ULL << 20)

/*
 * The bytes of `max-memory = auto`: a 256th of the machine's memory, at least 64 MiB and at most
 * GROWTH_MEMORY_MAX, but no more than half of `limit_bytes`, the memory limit of pebsd's own cgroup
 * (UINT64_MAX: none). The kernel charges maps to that cgroup, and the rest of the daemon needs the other
 * half. 64 MiB are enough for 5,000 cgroups on few CPUs.
 */
u64 growth_memory(u64 machine_bytes, u64 limit_bytes);

#endif
