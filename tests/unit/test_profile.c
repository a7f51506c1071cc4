// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "profile/profile_internal.h"
#include "profile/profile_stacks.h"
#include "profile_fixture.h"

static struct profile *new_profile(void)
{
	struct profile *profile;

	cr_assert_eq(profile_new(true, &profile), 0);
	return profile;
}

static void add_stack(struct profile *profile, u64 code, const u64 *user, size_t n_user)
{
	struct zoom_sample sample = profile_fixture_sample(code, AT_HEAP, 10);

	sample.user = user;
	sample.n_user = n_user;
	cr_assert_eq(profile_add(profile, &sample), 0);
}

static struct profile_totals totals_of(const struct profile *profile)
{
	struct profile_totals totals;

	profile_totals(profile, &totals);
	return totals;
}

Test(profile, totals_include_only_measured_values)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP, 100);
	struct profile_totals totals;

	sample.physical = 0x1234;
	cr_assert_eq(profile_add(profile, &sample), 0);
	sample.of.data_source = profile_fixture_hitm();
	cr_assert_eq(profile_add(profile, &sample), 0);
	sample.of.fields = SAMPLE_CODE_ADDRESS; /* no other field is measured */
	cr_assert_eq(profile_add(profile, &sample), 0);
	totals = totals_of(profile);
	cr_expect_eq(totals.samples, 3);
	cr_expect_eq(totals.latency, 200);
	cr_expect_eq(totals.hitm, 1);
	cr_expect_eq(totals.with_address, 2);
	cr_expect_eq(totals.with_physical, 2);
	cr_expect_eq(totals.user_stacks, 3);
	cr_expect_eq(totals.dropped, 0);
}

Test(profile, without_latency_none_is_added)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP, 100);

	cr_assert_eq(profile_new(false, &profile), 0);
	cr_assert_eq(profile_add(profile, &sample), 0);
	cr_expect_eq(totals_of(profile).samples, 1);
	cr_expect_eq(totals_of(profile).latency, 0);
}

Test(profile, each_address_is_requested_once_until_answered)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	const u64 user[] = {AT_MAIN + 1, AT_START + 1};
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	add_stack(profile, AT_WORK, user, 2);
	add_stack(profile, AT_WORK, user, 2);
	fixture.silent = 2;
	/* Three addresses of code and one of data. */
	cr_expect_eq(profile_resolve(profile, &fixture.names), 2);
	cr_expect_eq(fixture.calls, 4);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 6);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 6);
	/* The same address in another process is asked for separately. */
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP, 1);

	sample.pid = 200;
	cr_assert_eq(profile_add(profile, &sample), 0);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 8);
}

/* The addresses are the same before and after: a program that is not relocated executes another one. */
Test(profile, after_an_exec_a_process_counts_as_another)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	profile_executed(profile, 100);
	add_stack(profile, AT_WORK, NULL, 0);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 2);
	profile_executed(profile, 100);
	add_stack(profile, AT_WORK, NULL, 0);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 4, "it is asked for again");
	cr_expect_eq(fixture.pid, 100);
	/* A pending question would be answered with names of the new program. */
	add_stack(profile, AT_MAIN, NULL, 0);
	fixture.silent = 1;
	cr_expect_eq(profile_resolve(profile, &fixture.names), 1);
	profile_executed(profile, 100);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 5);
	cr_expect_eq(totals_of(profile).samples, 3);
}

Test(profile, a_mapping_without_names_is_requested_a_few_times_only)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	for (u64 i = 0; i < 10000; i++) {
		struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP + 8 * i, 1);

		cr_assert_eq(profile_add(profile, &sample), 0);
	}
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 2);
}

struct heap {
	struct symbol symbol;
	size_t calls;
};

static const struct symbol *find_heap(void *userdata, const struct symbol_query *query)
{
	struct heap *heap = userdata;

	if (query->kind == SYMBOL_DATA)
		heap->calls++;
	heap->symbol.address = query->address - heap->symbol.start;
	return &heap->symbol;
}

static void add_data(struct profile *profile, u32 pid, u64 address)
{
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, address, 1);

	sample.pid = sample.tid = pid;
	cr_assert_eq(profile_add(profile, &sample), 0);
}

/* The grown heap replaces the former one, so it needs no room. */
Test(profile, a_heap_that_grows_is_requested_once_when_all_ranges_are_taken)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct heap heap = {.symbol = {.region = SYMBOL_HEAP, .start = AT_HEAP, .end = AT_HEAP + 0x1000}};
	const struct profile_names names = {.find = find_heap, .userdata = &heap};

	for (u32 pid = 1; pid <= PROFILE_RANGES_MAX; pid++)
		add_data(profile, pid, AT_HEAP);
	cr_expect_eq(profile_resolve(profile, &names), 0);
	cr_expect_eq(heap.calls, PROFILE_RANGES_MAX);
	heap.calls = 0;
	heap.symbol.end = AT_HEAP + 0x100000;
	for (u64 i = 0; i < 100; i++)
		add_data(profile, 7, AT_HEAP + 0x2000 + 8 * i);
	cr_expect_eq(profile_resolve(profile, &names), 0);
	cr_expect_eq(heap.calls, 1, "%zu", heap.calls);
}

Test(profile, the_number_of_unanswered_requests_grows)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	for (u64 i = 0; i < 10000; i++) {
		struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_HEAP + 8 * i, 1);

		cr_assert_eq(profile_add(profile, &sample), 0);
	}
	fixture.silent = 100000;
	cr_expect_eq(profile_resolve(profile, &fixture.names), 10001);
	cr_expect_eq(fixture.calls, 257);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 10001);
	cr_expect_eq(fixture.calls, 257 + 1025);
	fixture.silent = 0;
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 257 + 1025 + 2);
}

Test(profile, forged_kernel_addresses_are_not_looked_up)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	const u64 user[] = {AT_FAULT + 1};
	struct zoom_sample sample = profile_fixture_sample(AT_WORK, AT_KERNEL_DATA, 1);
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	sample.user = user;
	sample.n_user = 1;
	cr_assert_eq(profile_add(profile, &sample), 0);
	cr_expect_eq(profile_resolve(profile, &fixture.names), 0);
	cr_expect_eq(fixture.calls, 1, "%zu", fixture.calls);
}

Test(profile, stacks_that_do_not_reach_the_start_are_incomplete)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	const u64 whole[] = {AT_MAIN + 1, AT_START + 1}, early[] = {AT_WORK + 1},
		  unnamed[] = {AT_UNNAMED + 1}, before_main[] = {AT_MAIN + 1, AT_UNNAMED + 1};
	struct zoom_sample of_kernel = profile_fixture_sample(AT_FAULT, AT_KERNEL_DATA, 1);
	u64 deep[PROFILE_STACK_FULL];
	struct profile_fixture_names fixture;

	profile_fixture_names_init(&fixture);
	add_stack(profile, AT_WORK, whole, 2);
	add_stack(profile, AT_WORK, before_main, 2);
	add_stack(profile, AT_WORK, early, 1);
	add_stack(profile, AT_WORK, unnamed, 1);
	add_stack(profile, AT_WORK, NULL, 0);
	add_stack(profile, AT_START, NULL, 0);
	cr_assert_eq(profile_add(profile, &of_kernel), 0);
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = AT_WORK + 1;
	add_stack(profile, AT_WORK, deep, PROFILE_STACK_FULL - 1); /* the kernel cut this stack */
	add_stack(profile, AT_WORK, deep, PROFILE_STACK_FULL - 2);
	cr_expect_eq(totals_of(profile).user_stacks, 8);
	(void)profile_resolve(profile, NULL);
	cr_expect_eq(totals_of(profile).early, 7);
	(void)profile_resolve(profile, &fixture.names);
	cr_expect_eq(totals_of(profile).early, 4, "%llu", (unsigned long long)totals_of(profile).early);
}

Test(profile, starts_of_threads_and_programs_are_recognized)
{
	static const char *const starts[] = {"_start",
					     "main",
					     "__libc_start_main_impl",
					     "__libc_start_main@@GLIBC_2.34",
					     "__libc_start_call_main",
					     "start_thread",
					     "clone3",
					     "__clone",
					     "runtime.goexit.abi0",
					     "std::rt::lang_start::{{closure}}"};
	static const char *const others[] = {"mainloop", "work", "restart", "cloned", "", "[unknown]"};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		cr_expect(profile_is_start(starts[i]), "%s", starts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		cr_expect_not(profile_is_start(others[i]), "%s", others[i]);
}

Test(profile, memory_is_bounded_and_omitted_samples_are_counted)
{
	_cleanup_(profile_freep) struct profile *profile = new_profile();
	struct profile_totals totals;
	struct profile_fixture_names fixture;
	const u64 n = 600000;

	profile_fixture_names_init(&fixture);
	for (u64 i = 0; i < n; i++) {
		struct zoom_sample sample = profile_fixture_sample(AT_WORK + (i & 7), AT_HEAP + i * 4096, 3);

		cr_assert_eq(profile_add(profile, &sample), 0);
	}
	(void)profile_resolve(profile, &fixture.names);
	totals = totals_of(profile);
	cr_expect_eq(totals.samples, n);
	cr_expect_eq(totals.latency, 3 * n);
	cr_expect_gt(totals.dropped, 0);
	cr_expect_lt(totals.dropped, n / 2, "%llu", (unsigned long long)totals.dropped);
	cr_expect_eq(totals.dropped_latency, 3 * totals.dropped);
	cr_expect_eq(totals.user_stacks, n - totals.dropped);
	cr_expect_leq(profile_bytes(profile), PROFILE_BYTES_MAX + 4096);
	/* A full profile still takes a sample whose addresses it knows. */
	struct zoom_sample again = profile_fixture_sample(AT_WORK, AT_HEAP, 3);

	cr_assert_eq(profile_add(profile, &again), 0);
	cr_expect_eq(totals_of(profile).dropped, totals.dropped);
}
