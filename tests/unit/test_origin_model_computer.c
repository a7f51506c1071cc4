// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdint.h>

#include "model/machine.h"
#include "model/scenario.h"
#include "origin/model/computer.h"
#include "pebsd/data_source.h"

#define ALL_WORKLOADS ((1U << WORKLOAD_COUNT) - 1)

/* The samples that were delivered, by cgroup id. */
struct delivered {
	u64 samples[WORKLOAD_COUNT + 1];
	u64 latency[WORKLOAD_COUNT + 1];
	u64 shortest, shortest_instruction;
	u64 digest[WORKLOAD_COUNT + 1]; /* of all samples in their order */
	u64 all;
};

static void take(void *userdata, const struct sample *sample)
{
	struct delivered *delivered = userdata;
	u64 id = sample->cgroup_id;

	cr_assert(id >= 1 && id <= WORKLOAD_COUNT);
	delivered->samples[id]++;
	delivered->latency[id] += sample->latency;
	delivered->all++;
	delivered->digest[id] = delivered->digest[id] * 0x100000001b3ULL ^ sample->address ^
				sample->latency << 40 ^ sample->data_source;
	if (sample->latency < delivered->shortest)
		delivered->shortest = sample->latency;
	if (sample->instruction_latency < delivered->shortest_instruction)
		delivered->shortest_instruction = sample->instruction_latency;
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

static struct delivered run(const struct computer_settings *settings, u64 ns)
{
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct delivered delivered = {.shortest = ~0ULL, .shortest_instruction = ~0ULL};

	cr_assert_eq(computer_new(settings, &computer), 0);
	for (u64 slice = 50 * NSEC_PER_MSEC; ns > 0; ns -= slice < ns ? slice : ns)
		cr_assert_eq(computer_run(computer, slice < ns ? slice : ns, take, &delivered), 0);
	cr_assert_eq(computer_drain(computer, take, &delivered), 0);
	cr_expect_eq(delivered.all, computer_expected(computer), "%llu of %llu",
		     (unsigned long long)delivered.all, (unsigned long long)computer_expected(computer));
	return delivered;
}

Test(computer, every_record_becomes_a_sample)
{
	for (size_t i = 0; i < machines_count; i++) {
		struct computer_settings settings = settings_of(machines[i].name);
		struct delivered delivered;

		if (machine_refusal(&machines[i]))
			continue;
		delivered = run(&settings, NSEC_PER_SEC);
		for (int id = 1; id <= WORKLOAD_COUNT; id++)
			cr_expect_gt(delivered.samples[id], 100, "%s, %s: %llu", machines[i].name,
				     workload_names[id - 1], (unsigned long long)delivered.samples[id]);
		if (machines[i].mechanisms & MECHANISM_LATENCY_SPLIT)
			cr_expect_gt(delivered.shortest_instruction, 30);
		else
			cr_expect_gt(delivered.shortest, 30);
	}
}

Test(computer, the_same_seed_gives_the_same_samples)
{
	struct computer_settings settings = settings_of("skylake");
	struct delivered first = run(&settings, NSEC_PER_SEC), again = run(&settings, NSEC_PER_SEC), other;

	cr_expect_arr_eq(first.digest, again.digest, sizeof(first.digest));
	settings.seed = 2;
	other = run(&settings, NSEC_PER_SEC);
	for (int id = 1; id <= WORKLOAD_COUNT; id++)
		cr_expect_neq(first.digest[id], other.digest[id], "%s", workload_names[id - 1]);
}

Test(computer, a_workload_does_not_depend_on_the_others)
{
	struct computer_settings settings = settings_of("skylake");
	struct delivered all = run(&settings, NSEC_PER_SEC), one;

	settings.workloads = 1U << WORKLOAD_TLB_THRASH;
	one = run(&settings, NSEC_PER_SEC);
	cr_expect_eq(one.all, one.samples[1 + WORKLOAD_TLB_THRASH]);
	cr_expect_eq(one.digest[1 + WORKLOAD_TLB_THRASH], all.digest[1 + WORKLOAD_TLB_THRASH]);
}

Test(computer, many_small_steps_equal_one_large_step)
{
	struct computer_settings settings = settings_of("skylake");
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct delivered whole = run(&settings, NSEC_PER_SEC / 10), pieces = {0};

	cr_assert_eq(computer_new(&settings, &computer), 0);
	for (u64 ns = 0; ns < NSEC_PER_SEC / 10; ns += 1000)
		cr_assert_eq(computer_run(computer, 1000, take, &pieces), 0);
	cr_assert_eq(computer_drain(computer, take, &pieces), 0);
	cr_expect_arr_eq(whole.samples, pieces.samples, sizeof(whole.samples));
	cr_expect_eq(computer_ns(computer), NSEC_PER_SEC / 10);
}

Test(computer, the_period_determines_the_number_of_samples)
{
	struct computer_settings settings = settings_of("skylake");
	struct delivered usual = run(&settings, 4 * NSEC_PER_SEC), often, seldom;

	settings.period = 5003;
	often = run(&settings, 4 * NSEC_PER_SEC);
	settings.period = 40009;
	seldom = run(&settings, 4 * NSEC_PER_SEC);
	cr_expect(often.all > usual.all * 19 / 10 && often.all < usual.all * 21 / 10, "%llu of %llu",
		  (unsigned long long)often.all, (unsigned long long)usual.all);
	cr_expect(seldom.all > usual.all * 23 / 100 && seldom.all < usual.all * 27 / 100, "%llu of %llu",
		  (unsigned long long)seldom.all, (unsigned long long)usual.all);
}

Test(computer, if_no_load_exceeds_ldlat_there_is_no_sample)
{
	struct computer_settings settings = settings_of("skylake");

	settings.ldlat = 65535;
	cr_expect_eq(run(&settings, NSEC_PER_SEC).all, 0);
}

Test(computer, a_higher_ldlat_keeps_only_longer_loads)
{
	struct computer_settings settings = settings_of("skylake");
	struct delivered usual = run(&settings, NSEC_PER_SEC), longer;

	settings.ldlat = 200;
	longer = run(&settings, NSEC_PER_SEC);
	cr_expect_gt(longer.shortest, 200);
	cr_expect_gt(longer.all, 0);
	cr_expect_lt(longer.all, usual.all);
}

/*
 * With a period shorter than the number of events that a load stands for, there are as many samples as loads,
 * and none is lost.
 */
Test(computer, the_shortest_period_works)
{
	struct computer_settings settings = settings_of("skylake");
	struct delivered usual = run(&settings, NSEC_PER_SEC), most;

	settings.period = 100;
	most = run(&settings, NSEC_PER_SEC);
	cr_expect_gt(most.all, usual.all);
}

Test(computer, cgroups_have_the_names_of_workloads)
{
	struct computer_settings settings = settings_of("nehalem");
	_cleanup_(computer_freep) struct computer *computer = NULL;
	char name[COMPUTER_NAME_MAX];

	settings.workloads = 1U << WORKLOAD_STREAMING | 1U << WORKLOAD_MIX;
	settings.period = 10;
	cr_assert_eq(computer_new(&settings, &computer), 0);
	cr_assert_eq(computer_cores(computer), 2);
	cr_assert_eq(computer_cgroups(computer), 2);
	cr_expect_eq(computer_cgroup(computer, 0, name), 1 + WORKLOAD_STREAMING);
	cr_expect_str_eq(name, "model:streaming");
	cr_expect_eq(computer_cgroup(computer, 1, name), 1 + WORKLOAD_MIX);
	cr_expect_str_eq(name, "model:mix");
	cr_expect_eq(computer_period(computer), 32, "no shorter one on Nehalem");
}

struct count_sums {
	u64 samples[1 + MODEL_COUNTS_MAX][1 + WORKLOAD_COUNT]; /* by event and cgroup */
};

static void take_count(void *userdata, const struct sample *sample)
{
	struct count_sums *delivered = userdata;

	cr_assert_leq(sample->event, MODEL_COUNTS_MAX);
	cr_assert_leq(sample->cgroup_id, WORKLOAD_COUNT);
	delivered->samples[sample->event][sample->cgroup_id]++;
}

/*
 * Each core has 2,600,000,000 cycles a second, so 260 samples with the usual period. A chain of pointers stands
 * still nearly all the time. A loop over an array has the same loads in flight at once, and stands still less.
 */
Test(computer, counts_are_plausible_for_a_real_core)
{
	struct computer_settings settings = settings_of("skylake");
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct count_sums delivered = {0};
	const u64 *cycles = delivered.samples[1], *stalls = delivered.samples[3],
		  *misses = delivered.samples[4];

	settings.n_counts = 4;
	settings.counts[0] = (struct model_count){EVENT_CYCLES, 10000019};
	settings.counts[1] = (struct model_count){EVENT_INSTRUCTIONS, 10000019};
	settings.counts[2] = (struct model_count){EVENT_STALLS, 10000019};
	settings.counts[3] = (struct model_count){EVENT_MISSES, 50021};
	cr_assert_eq(computer_new(&settings, &computer), 0);
	for (unsigned i = 0; i < 80; i++)
		cr_assert_eq(computer_run(computer, 50 * NSEC_PER_MSEC, take_count, &delivered), 0);
	for (unsigned i = 1; i <= WORKLOAD_COUNT; i++) {
		const u64 threads = scenario_threads((enum workload_kind)(i - 1));

		cr_expect(cycles[i] >= 1035 * threads && cycles[i] <= 1045 * threads, "%s: %llu",
			  workload_names[i - 1], (unsigned long long)cycles[i]);
		cr_expect_leq(stalls[i], cycles[i], "%s: %llu", workload_names[i - 1],
			      (unsigned long long)stalls[i]);
	}
	cr_expect_gt(stalls[1 + WORKLOAD_POINTER_CHASE], 900);
	cr_expect_lt(stalls[1 + WORKLOAD_STREAMING], stalls[1 + WORKLOAD_POINTER_CHASE]);
	cr_expect_gt(misses[1 + WORKLOAD_REMOTE_NUMA], misses[1 + WORKLOAD_MIX]);
	cr_expect_gt(misses[1 + WORKLOAD_STREAMING], 0);
	for (size_t i = 0; i < 4; i++) {
		u64 all = 0;

		for (unsigned core = 1; core <= WORKLOAD_COUNT; core++)
			all += delivered.samples[1 + i][core];
		cr_expect_eq(all, computer_counted(computer, i));
	}
}

/* Counting does not change which loads are executed or sampled. */
Test(computer, counting_does_not_change_the_loads)
{
	struct computer_settings settings = settings_of("icelake");
	struct delivered without = run(&settings, NSEC_PER_SEC), with;

	settings.n_counts = 1;
	settings.counts[0] = (struct model_count){EVENT_CYCLES, INT32_MAX};
	with = run(&settings, NSEC_PER_SEC / 2);
	cr_expect_gt(without.all, with.all);
	settings.n_counts = 0;
	without = run(&settings, NSEC_PER_SEC / 2);
	cr_expect_arr_eq(without.digest, with.digest, sizeof(without.digest));
}
