// SPDX-License-Identifier: GPL-2.0
/* The programs load in this kernel; what the verifier went through is printed. */
#include <criterion/criterion.h>

#include <errno.h>

#include <string.h>
#include <sys/utsname.h>

#include "kernel/kernel.h"

static void open_kernel(const struct kernel_settings *settings, struct kernel **ret)
{
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(settings, ret, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
}

static u32 verified(const struct kernel *kernel, const char *program)
{
	u32 instructions = 0;

	cr_assert_eq(kernel_verified_instructions(kernel, program, &instructions), 0, "%s", program);
	cr_expect_gt(instructions, 0);
	printf("  %-14s %6u instructions verified\n", program, instructions);
	return instructions;
}

Test(programs, load_in_this_kernel)
{
	struct kernel_settings settings = {
		.slots = 64,
		.stripes = 2,
		.births = true,
		.hardware = true,
		.n_events = 2,
		.events = {{.has_latency = 1, .has_source = 1, .has_address = 1, .weight_struct = 1},
			   {.has_source = 1}},
	};
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;
	struct utsname names;

	open_kernel(&settings, &kernel);
	cr_assert_eq(uname(&names), 0);
	printf("kernel %s:\n", names.release);
	/* The event's settings are constants to the verifier: without latency, its part is not even walked.
	 */
	cr_expect_gt(verified(kernel, "event_0"), verified(kernel, "event_1"));
	verified(kernel, "inject");
	verified(kernel, "slot_table");
	verified(kernel, "cgroup_born");
	verified(kernel, "cgroup_died");
	cr_expect_eq(kernel_program_fd(kernel, 2), -ENOENT, "an event that is not used is not loaded");
}

Test(programs, settings_out_of_range_are_refused)
{
	static const struct kernel_settings wrong[] = {
		{.slots = 1, .stripes = 1},
		{.slots = KERNEL_SLOTS_MAX + 1, .stripes = 1},
		{.slots = 16, .stripes = 0},
		{.slots = 16, .stripes = 3},
		{.slots = 16, .stripes = STRIPES_MAX * 2},
		{.slots = 16, .stripes = 1, .n_events = EVENTS_MAX + 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct kernel *kernel = NULL;
		char *message = NULL;

		cr_expect_eq(kernel_open(&wrong[i], &kernel, &message), -EINVAL);
		cr_expect_null(kernel);
	}
}

Test(programs, a_stripe_for_each_cpu_up_to_the_most)
{
	cr_expect_eq(kernel_stripes_for(1), 1);
	cr_expect_eq(kernel_stripes_for(2), 2);
	cr_expect_eq(kernel_stripes_for(3), 4);
	cr_expect_eq(kernel_stripes_for(16), 16);
	cr_expect_eq(kernel_stripes_for(256), STRIPES_MAX);
}
