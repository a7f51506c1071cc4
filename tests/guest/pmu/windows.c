// SPDX-License-Identifier: GPL-2.0
#include "windows.h"

#include <stdint.h>

/*
 * If this bit is set, accesses have no callbacks. It is the lowest bit of CF_CLUSTER_MASK in
 * include/exec/translation-block.h, QEMU 11.1.
 */
#define FLAG_UNWATCHED (1U << 24)
/*
 * CF_PARALLEL in the same file. Without it, a callback gets the number of the CPU for which its block was
 * translated, whichever CPU runs it (gen_cpu_index() in accel/tcg/plugin-gen.c).
 */
#define FLAG_PARALLEL (1U << 15)
/* Upper bound: struct CPUState has fewer words. */
#define CPU_WORDS 4096

bool window_is_open(u64 clock, unsigned int shift, unsigned int one_in)
{
	/*
	 * Multiples of the golden ratio, modulo 1: in any run of slots, nearly the same share are windows. The
	 * intervals between windows vary, because a guest does much of its work at even intervals.
	 */
	u64 fraction = (clock >> shift) * 0x9e3779b97f4a7c15ULL;

	return one_in <= 1 || fraction < UINT64_MAX / one_in;
}

u32 *window_flags_of(struct qemu_cpu *cpu)
{
	u32 flags;

	tcg_cflags_set(cpu, FLAG_PARALLEL | FLAG_UNWATCHED);
	flags = curr_cflags(cpu);
	for (u32 *word = (u32 *)(void *)cpu; word < (u32 *)(void *)cpu + CPU_WORDS; word++) {
		bool found;

		if (*word != flags)
			continue;
		*word ^= FLAG_UNWATCHED;
		found = curr_cflags(cpu) == (flags ^ FLAG_UNWATCHED);
		*word ^= FLAG_UNWATCHED;
		if (found)
			return word;
	}
	return NULL;
}

void window_switch(u32 *flags, bool watched)
{
	*flags = watched ? *flags & ~FLAG_UNWATCHED : *flags | FLAG_UNWATCHED;
}

bool window_is_translated(void)
{
	return !tcg_cflags_has(current_cpu, FLAG_UNWATCHED);
}
