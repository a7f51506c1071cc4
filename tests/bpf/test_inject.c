// SPDX-License-Identifier: GPL-2.0
/*
 * The program `inject`, which is run by a system call: samples with known values pass through the maps and
 * the collector unchanged.
 */
#include <criterion/criterion.h>

#include <sched.h>
#include <string.h>

#include "account.h"
#include "counting.h"
#include "random_numbers.h"
#include "some_stripes.h"

#define MEMORY_FIELDS (SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS)

static struct counting counting;

static void name_and_adopt(u64 id, const char *path)
{
	cr_assert_eq(names_add_path(counting.names, id, path), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, id, 0, path), 0);
}

static void setup(void)
{
	struct kernel_settings settings = counting_settings(true);

	settings.stripes = one_stripe();
	settings.n_events = 2;
	settings.events[1] = (struct event_settings){.has_source = 1};
	counting_open(&counting, &settings, COLLECT_GRACE_NS);
}

static void teardown(void)
{
	counting_close(&counting);
}

TestSuite(inject, .init = setup, .fini = teardown);

Test(inject, counts_sums_and_weights_are_exact)
{
	const struct sample samples[] = {
		{.cgroup_id = 7,
		 .latency = 100,
		 .data_source = 0x10268100142,
		 .period = 1000,
		 .fields = MEMORY_FIELDS},
		{.cgroup_id = 7,
		 .latency = 200,
		 .data_source = 0x11868100242,
		 .period = 3000,
		 .fields = MEMORY_FIELDS},
		{.cgroup_id = 7,
		 .latency = 64,
		 .data_source = 0x1026a100142,
		 .period = 1000,
		 .fields = MEMORY_FIELDS},
		{.cgroup_id = 8, .latency = 1, .data_source = 0, .period = 5, .fields = SAMPLE_LATENCY},
		{.cgroup_id = 9, .latency = 5, .period = 1, .fields = SAMPLE_LATENCY}, /* no slot */
	};
	struct counters counters;

	name_and_adopt(7, "seven");
	name_and_adopt(8, "eight");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);

	cr_assert_eq(counting_samples(&counting, "seven", 0), 3);
	cr_assert_eq(counting_samples(&counting, "eight", 0), 1);
	cr_assert_eq(counting_unattributed(&counting, 0), 1);

	counters = counting_counters(&counting, "seven", 0);
	cr_expect_eq(counters_latency_sum(&counters), 364);
	cr_expect_eq(counters.samples[SOURCE_L1], 2);
	cr_expect_eq(counters.latency_sum[SOURCE_L1], 164);
	cr_expect_eq(counters.samples[SOURCE_LFB], 1);
	cr_expect_eq(counters.weight[SOURCE_L1], 2000);
	cr_expect_eq(counters.weighted_latency[SOURCE_L1], 164000);
	cr_expect_eq(counters.weighted_latency[SOURCE_LFB], 600000);
	cr_expect_eq(counters.locked, 1);
	cr_expect_eq(counters.tlb[TLB_HIT], 3);
	cr_expect_eq(counters.snoop[SNOOP_NONE], 3);
	cr_expect_eq(counters.latency[histogram_fine_index(64)], 1);
	cr_expect_eq(counters.source_latency[SOURCE_LFB][histogram_octave_index(200)], 1);
	cr_expect_eq(counting_counters(&counting, "eight", 0).samples[SOURCE_UNKNOWN], 1);
}

Test(inject, fields_without_their_bit_are_ignored)
{
	const struct sample sample = {
		.cgroup_id = 7,
		.latency = 999,
		.instruction_latency = 777,
		.data_source = 0x11868100242,
		.period = 1,
		.fields = 0,
	};
	struct counters counters;

	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	counting_collect(&counting);
	counters = counting_counters(&counting, "seven", 0);
	cr_expect_eq(counters.samples[SOURCE_UNKNOWN], 1);
	cr_expect_eq(counters.snoop[SNOOP_NA], 1);
	cr_expect_eq(counters.tlb[TLB_NA], 1);
	cr_expect_eq(counters_latency_samples(&counters), 0);
	cr_expect_eq(counters_latency_sum(&counters), 0);
	cr_expect_eq(counters_instruction_latency_samples(&counters), 0);
}

Test(inject, an_event_without_latency_uses_the_small_record)
{
	const struct sample sample = {.cgroup_id = 7,
				      .latency = 10,
				      .data_source = 0x5080144,
				      .period = 2,
				      .event = 1,
				      .fields = MEMORY_FIELDS};
	const struct totals_entry *entry;
	struct counters counters;

	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	counting_collect(&counting);
	entry = totals_find(counting.totals, "seven");
	cr_expect_not(totals_has(entry, 0));
	cr_assert(totals_has(entry, 1));
	totals_counters(entry, 1, &counters);
	cr_expect_eq(counters.samples[SOURCE_L1], 1);
	cr_expect_eq(counters.weight[SOURCE_L1], 2);
	cr_expect_eq(counters_latency_samples(&counters), 0);
}

Test(inject, malformed_samples_are_counted_as_lost)
{
	const struct sample samples[] = {
		{.cgroup_id = 7, .latency = SAMPLE_LATENCY_MAX + 1, .period = 1, .fields = SAMPLE_LATENCY},
		{.cgroup_id = 7, .latency = 1, .period = 1, .event = EVENTS_MAX, .fields = SAMPLE_LATENCY},
		{.cgroup_id = 7, .latency = SAMPLE_LATENCY_MAX, .period = 1, .fields = SAMPLE_LATENCY},
	};

	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_rejected(&counting, 0).malformed, 2);
	cr_expect_eq(counting_samples(&counting, "seven", 0), 1);
	cr_expect_eq(counting_counters(&counting, "seven", 0).latency[FINE_OVERFLOW], 1);
}

/*
 * A program on another CPU may write to the first stripe at the same time, without an atomic operation. So a
 * loss must be counted in the stripe of its own CPU.
 */
Test(inject, a_loss_is_counted_in_the_stripe_of_its_cpu)
{
	const struct sample nobodys = {.cgroup_id = 7, .period = 1, .event = EVENTS_MAX};
	const struct kernel_settings settings = counting_settings(true);
	struct counting striped;
	cpu_set_t last;
	u32 stripe, cpu;

	cr_assert_eq(sched_getaffinity(0, sizeof(last), &last), 0);
	for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(cpu, &last);)
		cpu--;
	if (cpu == 0)
		cr_skip("there is one CPU only");
	CPU_ZERO(&last);
	CPU_SET(cpu, &last);
	counting_open(&striped, &settings, COLLECT_GRACE_NS);
	stripe = kernel_stripe_of(striped.kernel, cpu);
	cr_assert_neq(stripe, 0);
	cr_assert_eq(sched_setaffinity(0, sizeof(last), &last), 0);
	cr_assert_eq(kernel_inject(striped.kernel, &nobodys, 1), 0);
	cr_expect_eq(kernel_rejected(striped.kernel, 0, 0).malformed, 0);
	cr_expect_eq(kernel_rejected(striped.kernel, 0, stripe).malformed, 1);
	counting_close(&striped);
}

Test(inject, only_the_given_number_of_samples_is_taken)
{
	static struct sample samples[3 * INJECT_MAX + 17];
	struct counters counters;

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = (struct sample){
			.cgroup_id = 7, .latency = i + 1, .period = 2, .fields = SAMPLE_LATENCY};
	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", 0), ARRAY_SIZE(samples));
	counters = counting_counters(&counting, "seven", 0);
	cr_expect_eq(counters_latency_sum(&counters), ARRAY_SIZE(samples) * (ARRAY_SIZE(samples) + 1) / 2);
}

Test(inject, huge_factors_cannot_wrap_a_weighted_sum_within_a_batch)
{
	static struct sample samples[INJECT_MAX];
	struct counters counters;

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = (struct sample){.cgroup_id = 7,
					     .latency = SAMPLE_LATENCY_MAX,
					     .period = ~0ULL,
					     .fields = SAMPLE_LATENCY};
	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	counters = counting_counters(&counting, "seven", 0);
	cr_expect_eq(counters.weighted_latency[SOURCE_UNKNOWN],
		     (u64)ARRAY_SIZE(samples) * SAMPLE_WEIGHTED_LATENCY_MAX * SAMPLE_WEIGHTED_PERIOD_MAX);
	cr_expect_eq(counters.weight[SOURCE_UNKNOWN], (u64)ARRAY_SIZE(samples) * SAMPLE_WEIGHTED_PERIOD_MAX);
}

Test(inject, plain_c_counts_the_same)
{
	static struct latency_record record;
	static struct sample samples[4096];
	struct counters plain, counters;
	u64 state = XORSHIFT_SEED;

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		(void)xorshift(&state);
		samples[i] = (struct sample){
			.cgroup_id = 7,
			.latency = state % (1U << 21) + 1,
			.instruction_latency = (u32)(state >> 21) & 0xffff,
			.data_source = state,
			.period = state >> 50,
			.fields = (u16)(state >> 60) & 0xf,
		};
		account_latency(&record, &samples[i], false);
	}
	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	counters_of_latency(&record, &plain);
	counters = counting_counters(&counting, "seven", 0);
	cr_expect_eq(memcmp(&plain, &counters, sizeof(plain)), 0);
}
