// SPDX-License-Identifier: GPL-2.0
#include "engine/growth.h"

#include <sys/param.h>

#include "pebsd/records.h"

#define MEMORY_DIVISOR 256
#define MEMORY_MIN     (64ULL << 20)

u32 growth_wanted(u32 slots, u32 free, u64 missing)
{
	/*
	 * Plan for at most `slots` missing cgroups, because some of them may be removed already. A cgroup
	 * that still has no slot is counted again next time.
	 */
	u64 needed = (u64)slots - 1 - free + MIN(missing, slots);
	/* Slot 0, and half as many free ones as needed ones: a third of all. */
	u64 wanted = 1 + needed + needed / 2;

	if (missing == 0 && free >= slots_spare(slots))
		return slots;
	return wanted <= slots ? slots : wanted < SLOTS_MAX ? (u32)wanted : SLOTS_MAX;
}

u64 growth_memory(u64 machine_bytes, u64 limit_bytes)
{
	const u64 bytes = MIN(MAX(machine_bytes / MEMORY_DIVISOR, MEMORY_MIN), GROWTH_MEMORY_MAX);

	return MIN(bytes, limit_bytes / 2);
}
