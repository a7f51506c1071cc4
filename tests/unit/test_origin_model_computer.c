// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "model/machine.h"
#include "origin/model/computer.h"
#include "pebsd/data_source.h"

#define ALL_WORKLOADS ((1U << WORKLOAD_COUNT) - 1)

/* The samples that were delivered, by cgroup id. */
struct books {
	u64 samples[WORKLOAD_COUNT + 1];
	u64 latency[WORKLOAD_COUNT + 1];
	u64 shortest, shortest_instruction;
	u64 digest[WORKLOAD_COUNT + 1]; /* of all samples in their order */
	u64 sum;
};

static void take(void *userdata, const struct sample *sample)
{
	struct books *books = userdata;
	u64 id = sample->cgroup_id;

	cr_assert(id >= 1 && id <= WORKLOAD_COUNT);
	books->samples[id]++;
	books->latency[id] += sample->latency;
	books->sum++;
	books->digest[id] = books->digest[id] * 0x100000001b3ULL ^ sample->address ^ sample->latency << 40 ^
			    sample->data_source;
	if (sample->latency < books->shortest)
		books->shortest = sample->latency;
	if (sample->instruction_latency < books->shortest_instruction)
		books->shortest_instruction = sample->instruction_latency;
}

static struct computer_settings settings_of(const char *cpu)
{
	return (struct computer_settings){
		.machine = machine_find(cpu),
		.seed = 1,
		.workloads = ALL_WORKLOADS,
		.ldlat = 30,
		.period = 10007,
	};
}

static struct books run(const struct computer_settings *settings, u64 ns)
{
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct books books = {.shortest = ~0ULL, .shortest_instruction = ~0ULL};

	cr_assert_eq(computer_new(settings, &computer), 0);
	for (u64 slice = 50 * NSEC_PER_MSEC; ns > 0; ns -= slice < ns ? slice : ns)
		cr_assert_eq(computer_run(computer, slice < ns ? slice : ns, take, &books), 0);
	cr_assert_eq(computer_drain(computer, take, &books), 0);
	cr_expect_eq(books.sum, computer_expected(computer), "%llu of %llu", (unsigned long long)books.sum,
		     (unsigned long long)computer_expected(computer));
	return books;
}

Test(computer, every_record_becomes_a_sample)
{
	for (size_t i = 0; i < machines_count; i++) {
		struct computer_settings settings = settings_of(machines[i].name);
		struct books books;

		if (machine_refusal(&machines[i]))
			continue;
		books = run(&settings, NSEC_PER_SEC);
		for (int id = 1; id <= WORKLOAD_COUNT; id++)
			cr_expect_gt(books.samples[id], 100, "%s, %s: %llu", machines[i].name,
				     workload_names[id - 1], (unsigned long long)books.samples[id]);
		if (machines[i].mechanisms & MECHANISM_LATENCY_SPLIT)
			cr_expect_gt(books.shortest_instruction, 30);
		else
			cr_expect_gt(books.shortest, 30);
	}
}

Test(computer, the_same_from_the_same_seed)
{
	struct computer_settings settings = settings_of("skylake");
	struct books first = run(&settings, NSEC_PER_SEC), again = run(&settings, NSEC_PER_SEC), other;

	cr_expect_arr_eq(first.digest, again.digest, sizeof(first.digest));
	settings.seed = 2;
	other = run(&settings, NSEC_PER_SEC);
	for (int id = 1; id <= WORKLOAD_COUNT; id++)
		cr_expect_neq(first.digest[id], other.digest[id], "%s", workload_names[id - 1]);
}

Test(computer, a_workload_is_the_same_whichever_others_run)
{
	struct computer_settings settings = settings_of("skylake");
	struct books all = run(&settings, NSEC_PER_SEC), one;

	settings.workloads = 1U << WORKLOAD_TLB_THRASH;
	one = run(&settings, NSEC_PER_SEC);
	cr_expect_eq(one.sum, one.samples[1 + WORKLOAD_TLB_THRASH]);
	cr_expect_eq(one.digest[1 + WORKLOAD_TLB_THRASH], all.digest[1 + WORKLOAD_TLB_THRASH]);
}

Test(computer, time_in_small_pieces_is_time)
{
	struct computer_settings settings = settings_of("skylake");
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct books whole = run(&settings, NSEC_PER_SEC / 10), pieces = {0};

	cr_assert_eq(computer_new(&settings, &computer), 0);
	for (u64 ns = 0; ns < NSEC_PER_SEC / 10; ns += 1000)
		cr_assert_eq(computer_run(computer, 1000, take, &pieces), 0);
	cr_assert_eq(computer_drain(computer, take, &pieces), 0);
	cr_expect_arr_eq(whole.samples, pieces.samples, sizeof(whole.samples));
	cr_expect_eq(computer_ns(computer), NSEC_PER_SEC / 10);
}

Test(computer, the_period_says_how_often)
{
	struct computer_settings settings = settings_of("skylake");
	struct books usual = run(&settings, 4 * NSEC_PER_SEC), often, seldom;

	settings.period = 5003;
	often = run(&settings, 4 * NSEC_PER_SEC);
	settings.period = 40009;
	seldom = run(&settings, 4 * NSEC_PER_SEC);
	cr_expect(often.sum > usual.sum * 19 / 10 && often.sum < usual.sum * 21 / 10, "%llu of %llu",
		  (unsigned long long)often.sum, (unsigned long long)usual.sum);
	cr_expect(seldom.sum > usual.sum * 23 / 100 && seldom.sum < usual.sum * 27 / 100, "%llu of %llu",
		  (unsigned long long)seldom.sum, (unsigned long long)usual.sum);
}

Test(computer, no_load_is_long_enough)
{
	struct computer_settings settings = settings_of("skylake");

	settings.ldlat = 65535;
	cr_expect_eq(run(&settings, NSEC_PER_SEC).sum, 0);
}

Test(computer, a_higher_ldlat_leaves_the_longer_loads)
{
	struct computer_settings settings = settings_of("skylake");
	struct books usual = run(&settings, NSEC_PER_SEC), longer;

	settings.ldlat = 200;
	longer = run(&settings, NSEC_PER_SEC);
	cr_expect_gt(longer.shortest, 200);
	cr_expect_gt(longer.sum, 0);
	cr_expect_lt(longer.sum, usual.sum);
}

/*
 * With a period shorter than the number of events that a load stands for, there are as many samples as loads,
 * and none is lost.
 */
Test(computer, the_shortest_period)
{
	struct computer_settings settings = settings_of("skylake");
	struct books usual = run(&settings, NSEC_PER_SEC), most;

	settings.period = 100;
	most = run(&settings, NSEC_PER_SEC);
	cr_expect_gt(most.sum, usual.sum);
}

Test(computer, names_its_cgroups)
{
	struct computer_settings settings = settings_of("nehalem");
	_cleanup_(computer_freep) struct computer *computer = NULL;
	char name[COMPUTER_NAME_MAX];

	settings.workloads = 1U << WORKLOAD_STREAMING | 1U << WORKLOAD_MIX;
	settings.period = 10;
	cr_assert_eq(computer_new(&settings, &computer), 0);
	cr_assert_eq(computer_cores(computer), 2);
	cr_expect_eq(computer_cgroup(computer, 0, name), 1 + WORKLOAD_STREAMING);
	cr_expect_str_eq(name, "model:streaming");
	cr_expect_eq(computer_cgroup(computer, 1, name), 1 + WORKLOAD_MIX);
	cr_expect_str_eq(name, "model:mix");
	cr_expect_eq(computer_period(computer), 32, "no shorter one on Nehalem");
}
