// SPDX-License-Identifier: GPL-2.0
#include "windows.h"

#include <stdint.h>

/* The lowest bit of CF_CLUSTER_MASK in include/exec/translation-block.h, QEMU 11.1. */
#define FLAG_WATCHED (1U << 24)
/* struct CPUState is smaller. */
#define CPU_WORDS 4096

/* Each CPU is a thread of its own, or all that there is runs in one. */
static __thread bool translated;

bool window_is_open(u64 clock, unsigned int shift, unsigned int one_in)
{
	/* Multiples of the golden ratio, modulo 1: of any slots in a row nearly the same share is windows,
	 * but not at even intervals, at which a guest does much of its work. */
	u64 fraction = (clock >> shift) * 0x9e3779b97f4a7c15ULL;

	return one_in <= 1 || fraction < UINT64_MAX / one_in;
}

u32 *window_flags_of(struct qemu_cpu *cpu)
{
	u32 flags = curr_cflags(cpu);

	for (u32 *word = (u32 *)(void *)cpu; word < (u32 *)(void *)cpu + CPU_WORDS; word++) {
		bool found;

		if (*word != flags)
			continue;
		*word ^= FLAG_WATCHED;
		found = curr_cflags(cpu) == (flags ^ FLAG_WATCHED);
		*word ^= FLAG_WATCHED;
		if (found)
			return word;
	}
	return NULL;
}

void window_switch(u32 *flags, bool watched)
{
	if (watched != translated)
		*flags ^= FLAG_WATCHED;
	translated = watched;
}

bool window_is_translated(void)
{
	return translated;
}
