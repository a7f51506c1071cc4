// SPDX-License-Identifier: GPL-2.0
/* When the emulated PMU sees accesses, and how a CPU of the emulator changes over. */
#include <criterion/criterion.h>

/* The plugin's file, which no program here is linked with. */
#include "../guest/pmu/windows.c" /* NOLINT(bugprone-suspicious-include) */

#define SHIFT 20
#define FLAGS 0xff028000U
#define PLACE 174

/* What stands in place of QEMU's CPU. */
static u32 words[CPU_WORDS];

uint32_t curr_cflags(struct qemu_cpu *cpu)
{
	return ((const u32 *)(const void *)cpu)[PLACE];
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

Test(guest_windows, one_in_one_is_always_open)
{
	for (u64 slot = 0; slot < 1000; slot++)
		cr_assert(window_is_open(slot << SHIFT, SHIFT, 1));
}

Test(guest_windows, flags_are_found_beside_words_that_look_like_them)
{
	words[3] = words[PLACE] = words[PLACE + 1] = FLAGS;
	cr_expect_eq(window_flags_of((struct qemu_cpu *)(void *)words), &words[PLACE]);
	cr_expect_eq(words[3], FLAGS, "what is not the flags is as before");
	cr_expect_eq(words[PLACE], FLAGS);
}

Test(guest_windows, a_switch_changes_the_flags_and_back)
{
	u32 flags = FLAGS;

	window_switch(&flags, true);
	cr_expect_neq(flags, FLAGS);
	cr_expect(window_is_translated());
	window_switch(&flags, true);
	window_switch(&flags, false);
	cr_expect_eq(flags, FLAGS);
	cr_expect_not(window_is_translated());
}
