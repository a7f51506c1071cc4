// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "snapshot/snapshot_cpus.h"

static const struct cpu_counts counts[] = {
	{.cpu = 0,
	 .open = true,
	 .count = 10999,
	 .expected = 10,
	 .enabled_ns = 4000,
	 .running_ns = 3000,
	 .throttle_known = true,
	 .throttled_ns = 250 * NSEC_PER_MSEC},
	{.cpu = 1, .open = true, .in_error = true},
	{.cpu = 3, .count = 5000, .expected = 5, .enabled_ns = 1000, .running_ns = 1001, .throttled_ns = 7},
	{.cpu = 4, .open = true, .count = 999, .expected = 0, .enabled_ns = 1000, .throttle_known = true},
};

static u8 by_4[] = {0, 1, 2, 3, 0, 1, 2, 3};
static u8 by_8[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const struct stripes four = {.n = 4, .cpus = 8, .of_cpu = by_4};
static const struct stripes eight = {.n = 8, .cpus = 8, .alone = true, .of_cpu = by_8};
static const struct stripes one = {.n = 1, .cpus = 1, .of_cpu = by_8};

static const u64 seen[STRIPES_MAX] = {8, 1, 2, 5, 4};

Test(snapshot_cpus, each_cpu_has_expected_and_seen_samples)
{
	struct snapshot_cpu cpus[4];

	snapshot_cpus(counts, 4, seen, NULL, &eight, cpus);
	cr_expect_eq(cpus[0].cpu, 0);
	cr_expect(cpus[0].online);
	cr_expect_not(cpus[0].in_error);
	cr_expect_eq(cpus[0].expected, 10);
	cr_expect(cpus[0].seen.known);
	cr_expect_eq(cpus[0].seen.value, 8);
	cr_expect_float_eq(cpus[0].running_ratio.value, 0.75, 1e-9);
	cr_expect_float_eq(cpus[0].throttled_seconds.value, 0.25, 1e-9);
	cr_expect(cpus[1].in_error);
	cr_expect_not(cpus[1].running_ratio.known, "no time has passed");
	cr_expect_not(cpus[1].throttled_seconds.known, "throttling was not known");
	cr_expect_eq(cpus[2].cpu, 3);
	cr_expect_not(cpus[2].online);
	cr_expect_eq(cpus[2].expected, 5);
	cr_expect_eq(cpus[2].seen.value, 5);
	cr_expect_float_eq(cpus[2].running_ratio.value, 1, 1e-9);
	cr_expect_not(cpus[2].throttled_seconds.known);
	cr_expect_eq(cpus[3].expected, 0);
	cr_expect(cpus[3].throttled_seconds.known);
}

/* CPUs 0 and 4 write to stripe 0 of four, so neither has a stripe of its own. */
Test(snapshot_cpus, samples_of_a_shared_stripe_belong_to_no_single_cpu)
{
	struct snapshot_cpu cpus[4];

	snapshot_cpus(counts, 4, seen, seen, &four, cpus);
	cr_expect_not(cpus[0].seen.known);
	cr_expect(cpus[1].seen.known);
	cr_expect_eq(cpus[2].seen.value, 5);
	cr_expect_not(cpus[3].seen.known);
	snapshot_cpus(&counts[2], 1, seen, NULL, &one, cpus);
	cr_expect(cpus[0].seen.known);
	cr_expect_eq(cpus[0].seen.value, 8);
}

/* IBS: filtered samples of a CPU are known if the event filters and no other CPU writes to the CPU's stripe. */
Test(snapshot_cpus, filtered_samples_are_known_if_the_event_filters)
{
	static const u64 filtered[STRIPES_MAX] = {2, 0, 0, 7, 0};
	struct snapshot_cpu cpus[4];

	snapshot_cpus(counts, 4, seen, filtered, &eight, cpus);
	cr_expect(cpus[0].filtered.known);
	cr_expect_eq(cpus[0].filtered.value, 2);
	cr_expect(cpus[1].filtered.known);
	cr_expect_eq(cpus[1].filtered.value, 0);
	snapshot_cpus(counts, 4, seen, filtered, &four, cpus);
	cr_expect_not(cpus[0].filtered.known, "the stripe is another CPU's too");
	cr_expect_eq(cpus[2].filtered.value, 7);
	snapshot_cpus(counts, 4, seen, NULL, &eight, cpus);
	cr_expect_not(cpus[0].filtered.known, "the event filters none");
}

/*
 * Every four of 256 possible CPUs have a cache, and half of the CPUs are present. Two of the present caches
 * share a stripe, so the samples of a single CPU are not known.
 */
Test(snapshot_cpus, figures_of_256_cpus_are_right)
{
	struct stripes_cpu topology[256];
	struct cpu_counts every[256];
	struct snapshot_cpu cpus[256];
	u64 by_stripe[STRIPES_MAX];
	_cleanup_(stripes_done) struct stripes stripes;

	for (u32 cpu = 0; cpu < 256; cpu++) {
		topology[cpu] = (struct stripes_cpu){.cache = cpu / 4, .core = cpu, .absent = cpu >= 128};
		every[cpu] = (struct cpu_counts){.cpu = (int)cpu, .open = true, .expected = cpu};
	}
	for (u32 stripe = 0; stripe < STRIPES_MAX; stripe++)
		by_stripe[stripe] = 1000 + stripe;
	cr_assert_eq(stripes_assign(topology, 256, &stripes), 0);
	snapshot_cpus(every, 128, by_stripe, NULL, &stripes, cpus);
	for (u32 cpu = 0; cpu < 128; cpu++) {
		cr_expect_eq(cpus[cpu].cpu, cpu);
		cr_expect_eq(cpus[cpu].expected, cpu);
		cr_expect_not(cpus[cpu].seen.known);
	}
	/* The event is open on one CPU of each stripe, so each of these has its stripe to itself. */
	for (u32 i = 0; i < STRIPES_MAX; i++)
		every[i].cpu = (int)(8 * i + 5);
	snapshot_cpus(every, STRIPES_MAX, by_stripe, NULL, &stripes, cpus);
	for (u32 i = 0; i < STRIPES_MAX; i++) {
		cr_expect(cpus[i].seen.known);
		cr_expect_eq(cpus[i].seen.value, 1000 + stripes.of_cpu[8 * i + 5]);
	}
}
