// SPDX-License-Identifier: GPL-2.0
/* The programs load in this kernel. Prints how many instructions the verifier processed. */
#include <criterion/criterion.h>

#include <errno.h>

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/kernel_internal.h"
#include "some_stripes.h"

static void open_kernel(const struct kernel_settings *settings, struct kernel **ret)
{
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(settings, ret, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
}

static u32 verified(const struct kernel *kernel, const char *program)
{
	const struct bpf_program *found = bpf_object__find_program_by_name(kernel->skeleton->obj, program);
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	cr_assert_not_null(found, "%s", program);
	cr_assert_eq(bpf_obj_get_info_by_fd(bpf_program__fd(found), &info, &bytes), 0, "%s", program);
	cr_expect_gt(info.verified_insns, 0);
	printf("  %-14s %6u instructions verified\n", program, info.verified_insns);
	return info.verified_insns;
}

Test(programs, all_programs_load_in_this_kernel)
{
	struct kernel_settings settings = {
		.slots = 64,
		.stripes = machine_stripes(),
		.births = true,
		.hardware = true,
		.hot_max = 8,
		.n_events = 2,
		.events = {{.has_latency = 1, .has_source = 1, .has_address = 1, .weight_struct = 1},
			   {.has_source = 1}},
	};
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;
	struct utsname names;

	open_kernel(&settings, &kernel);
	cr_assert_eq(uname(&names), 0);
	printf("kernel %s:\n", names.release);
	/*
	 * The event's settings are constants for the verifier: it skips the latency part of an event without
	 * latency.
	 */
	cr_expect_gt(verified(kernel, "event_0"), verified(kernel, "event_1"));
	verified(kernel, "inject");
	verified(kernel, "slot_table");
	verified(kernel, "cgroup_born");
	verified(kernel, "cgroup_died");
	cr_expect_eq(kernel_program_fd(kernel, 2), -ENOENT, "an event that is not used is not loaded");
}

/* Loads the largest number of perf_event programs that a machine can have, with different fields. */
Test(programs, a_program_is_loaded_for_each_event)
{
	struct kernel_settings settings = {.slots = 64,
					   .stripes = machine_stripes(),
					   .births = true,
					   .hardware = true,
					   .hot_max = 1,
					   .n_events = EVENTS_MAX};
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;

	for (unsigned i = 0; i < EVENTS_MAX; i++)
		settings.events[i] = (struct event_settings){
			.has_latency = i % 3 == 0,
			.has_instruction_latency = i % 3 == 0,
			.has_source = i % 3 != 2,
			.has_address = i % 3 != 2,
			.weight_struct = 1,
			.has_code_address = i % 2 == 0,
			.operations = i == 1   ? OP_STORE
				      : i == 3 ? OP_LOAD
					       : 0,
		};
	open_kernel(&settings, &kernel);
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		char name[16];

		cr_expect_geq(kernel_program_fd(kernel, i), 0);
		(void)snprintf(name, sizeof(name), "event_%u", i);
		/*
		 * The bound is far below the limit of a million (BPF_COMPLEXITY_LIMIT_INSNS). It shows that
		 * the paths to hot tables do not multiply.
		 */
		cr_expect_lt(verified(kernel, name), 50000, "%s", name);
	}
}

/*
 * Each chosen cgroup gets a table per event and CPU if an event has addresses. Before a cgroup is chosen,
 * tables take no memory.
 */
Test(programs, hot_tables_are_available_if_an_event_has_addresses)
{
	struct kernel_settings settings = {
		.slots = 64, .stripes = machine_stripes(), .n_events = 2, .hot_max = 3};
	_cleanup_(kernel_freep) struct kernel *without = NULL;
	_cleanup_(kernel_freep) struct kernel *none = NULL;
	_cleanup_(kernel_freep) struct kernel *injected = NULL;
	_cleanup_(kernel_freep) struct kernel *hardware = NULL;
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 bytes, one;

	open_kernel(&settings, &without);
	cr_expect_eq(kernel_hot_max(without), 0);
	bytes = kernel_map_bytes(without);
	settings.events[1].has_address = 1;
	open_kernel(&settings, &injected);
	cr_expect_eq(kernel_hot_max(injected), 3);
	cr_expect_eq(kernel_hot_cpus(injected), 1);
	cr_expect_eq(kernel_map_bytes(injected), bytes);
	one = (2 * sizeof(struct hot_table) + page - 1) / page * page;
	cr_assert_eq(kernel_hot_choose(injected, 5, 2), 0);
	cr_expect_eq(kernel_map_bytes(injected), bytes + one);
	settings.hardware = true;
	open_kernel(&settings, &hardware);
	cr_expect_eq((int)kernel_hot_cpus(hardware), libbpf_num_possible_cpus());
	cr_expect_eq(kernel_map_bytes(hardware), bytes);
	one = (2ULL * kernel_hot_cpus(hardware) * sizeof(struct hot_table) + page - 1) / page * page;
	for (u32 choice = 0; choice < 3; choice++)
		cr_assert_eq(kernel_hot_choose(hardware, 5 + choice, choice), 0);
	cr_assert_eq(kernel_hot_choose(hardware, 9, 2), 0, "again, by another cgroup");
	cr_expect_eq(kernel_map_bytes(hardware), bytes + 3 * one);
	settings.hot_max = 0;
	open_kernel(&settings, &none);
	cr_expect_eq(kernel_hot_max(none), 0);
	cr_expect_eq(kernel_map_bytes(none), bytes);
}

Test(programs, settings_out_of_range_are_refused)
{
	static u8 of_cpu[1];
	static const struct stripes none = {.n = 0, .cpus = 1, .of_cpu = of_cpu};
	static const struct stripes too_many = {.n = STRIPES_MAX + 1, .cpus = 1, .of_cpu = of_cpu};
	const struct stripes *one = one_stripe();
	const struct kernel_settings wrong[] = {
		{.slots = 1, .stripes = one},
		{.slots = KERNEL_SLOTS_MAX + 1, .stripes = one},
		{.slots = 16, .stripes = NULL},
		{.slots = 16, .stripes = &none},
		{.slots = 16, .stripes = &too_many},
		{.slots = 16, .stripes = one, .n_events = EVENTS_MAX + 1},
		{.slots = 16, .stripes = one, .hot_max = HOT_MAX + 1},
		{.slots = 16, .stripes = one, .timed_log2 = KERNEL_TIMED_LOG2_MAX + 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct kernel *kernel = NULL;
		char *message = NULL;

		cr_expect_eq(kernel_open(&wrong[i], &kernel, &message), -EINVAL, "%zu", i);
		cr_expect_null(kernel);
	}
}
