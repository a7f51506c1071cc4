// SPDX-License-Identifier: GPL-2.0
/* The windows in which the emulated PMU sees accesses, and the switches of an emulated CPU between them. */
#include <criterion/criterion.h>

/* Include the source: it belongs to a plugin for QEMU, and no program here links it. */
#include "../guest/pmu/windows.c" /* NOLINT(bugprone-suspicious-include) */

#define SHIFT 20
/* The flags that QEMU sets at the start of a CPU if one thread runs all CPUs: without CF_PARALLEL. */
#define FLAGS 0xff022000U
#define PLACE 174

/* Stands in for QEMU's CPU. */
static u32 words[CPU_WORDS];

__thread struct qemu_cpu *current_cpu = (struct qemu_cpu *)(void *)words;

static u32 *flags_of(struct qemu_cpu *cpu)
{
	return (u32 *)(void *)cpu + PLACE;
}

uint32_t curr_cflags(struct qemu_cpu *cpu)
{
	return *flags_of(cpu);
}

bool tcg_cflags_has(struct qemu_cpu *cpu, uint32_t flags)
{
	return *flags_of(cpu) & flags;
}

void tcg_cflags_set(struct qemu_cpu *cpu, uint32_t flags)
{
	*flags_of(cpu) |= flags;
}

Test(guest_windows, each_stretch_of_time_has_its_share_of_windows)
{
	for (unsigned int one_in = 2; one_in <= 32; one_in *= 2)
		for (u64 start = 0; start < 10000; start += 997) {
			unsigned int open = 0;

			for (u64 slot = start; slot < start + 1024; slot++)
				open += window_is_open(slot << SHIFT, SHIFT, one_in);
			cr_expect(open >= 1024 / one_in - 4 && open <= 1024 / one_in + 4,
				  "%u windows in 1,024 slots from %lu, one in %u asked for", open, start,
				  one_in);
		}
}

Test(guest_windows, a_share_of_one_is_always_open)
{
	for (u64 slot = 0; slot < 1000; slot++)
		cr_assert(window_is_open(slot << SHIFT, SHIFT, 1));
}

Test(guest_windows, flags_are_found_among_similar_words)
{
	words[PLACE] = FLAGS;
	words[3] = words[PLACE + 1] = FLAGS | FLAG_PARALLEL;
	cr_expect_eq(window_flags_of(current_cpu), &words[PLACE]);
	cr_expect_eq(words[3], FLAGS | FLAG_PARALLEL, "what is not the flags is as before");
	cr_expect_eq(words[PLACE + 1], FLAGS | FLAG_PARALLEL);
	cr_expect_eq(words[PLACE], FLAGS | FLAG_PARALLEL, "callbacks learn which CPU runs");
	cr_expect_not(window_is_translated());
}

Test(guest_windows, a_cpu_begins_outside_of_windows)
{
	u32 *flags;

	words[PLACE] = FLAGS & ~FLAG_UNWATCHED;
	flags = window_flags_of(current_cpu);
	cr_expect_eq(flags, &words[PLACE]);
	cr_expect_not(window_is_translated());
}

Test(guest_windows, a_switch_changes_the_flags_and_back)
{
	u32 *flags, before;

	words[PLACE] = FLAGS;
	flags = window_flags_of(current_cpu);
	cr_assert_not_null(flags);
	before = *flags;
	window_switch(flags, true);
	cr_expect_neq(*flags, before);
	cr_expect(window_is_translated());
	window_switch(flags, true);
	cr_expect(window_is_translated());
	window_switch(flags, false);
	cr_expect_eq(*flags, before);
	cr_expect_not(window_is_translated());
}
