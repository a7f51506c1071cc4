// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "account.h"
#include "trial/account_totals.h"

#define L1_HIT     0x10268100142ULL
#define REMOTE     0x13a68100042ULL /* remote DRAM, a TLB hit */
#define L3_HITM    0x10668800842ULL
#define ALL_FIELDS (SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS)

enum { LOADS, STORES, EVENTS };

static const struct event_settings events[EVENTS] = {
	[LOADS] = {.has_latency = 1, .has_instruction_latency = 1, .has_source = 1},
	[STORES] = {.has_source = 1},
};

static struct account_totals *totals;

static void begin(void)
{
	cr_assert_eq(account_totals_new(events, EVENTS, 2, &totals), 0);
}

static void end(void)
{
	totals = account_totals_free(totals);
}

TestSuite(account_totals, .init = begin, .fini = end);

static struct sample load(u64 cgroup, u64 latency, u64 source, u64 period)
{
	return (struct sample){
		.cgroup_id = cgroup,
		.latency = latency,
		.instruction_latency = (u32)latency + 9,
		.data_source = source,
		.period = period,
		.fields = ALL_FIELDS,
	};
}

/* The deltas that one collection reported. */
struct taken {
	size_t n;
	u32 entries[4];
	char paths[4][32];
	bool has[4][EVENTS];
	struct counters counters[4][EVENTS];
};

static void take(void *userdata, u32 entry, const char *path, const struct counters *const deltas[EVENTS_MAX])
{
	struct taken *taken = userdata;

	cr_assert_lt(taken->n, 4);
	taken->entries[taken->n] = entry;
	(void)snprintf(taken->paths[taken->n], sizeof(taken->paths[0]), "%s", path);
	for (size_t event = 0; event < EVENTS; event++) {
		taken->has[taken->n][event] = deltas[event] != NULL;
		if (deltas[event])
			taken->counters[taken->n][event] = *deltas[event];
	}
	for (size_t event = EVENTS; event < EVENTS_MAX; event++)
		cr_expect_null(deltas[event]);
	taken->n++;
}

static struct taken *collect(void)
{
	static struct taken taken;

	memset(&taken, 0, sizeof(taken));
	account_totals_collect(totals, take, &taken);
	return &taken;
}

/* The expected deltas come from account.h, which adds the same samples to the records of two slots. */
Test(account_totals, a_collection_equals_that_of_kernel_slots)
{
	const struct sample samples[] = {
		load(7, 12, L1_HIT, 1000),
		load(7, 480, REMOTE, 1000),
		load(9, 130, L3_HITM, 2000),
		load(7, 0xffffffff, REMOTE, 1),
		load(7, 40, 0, 0),
		{.cgroup_id = 7, .event = STORES, .data_source = L1_HIT, .fields = SAMPLE_DATA_SOURCE},
	};
	static struct latency_record slot_7, slot_9;
	static struct plain_record stores_7;
	static struct counters expected;
	struct taken *taken;

	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_name(totals, 9, "/nine"), 0);
	cr_assert_eq(account_totals_add(totals, samples, ARRAY_SIZE(samples)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		if (samples[i].event == STORES)
			account_plain(&stores_7, &samples[i], false);
		else
			account_latency(samples[i].cgroup_id == 7 ? &slot_7 : &slot_9, &samples[i], false);
	}

	taken = collect();
	cr_assert_eq(taken->n, 2);
	cr_expect_eq(taken->entries[0], 0);
	cr_expect_eq(taken->entries[1], 1);
	cr_expect_str_eq(taken->paths[0], "/seven");
	cr_expect_str_eq(taken->paths[1], "/nine");
	counters_of_latency(&slot_7, &expected);
	cr_expect_eq(memcmp(&taken->counters[0][LOADS], &expected, sizeof(expected)), 0);
	counters_of_latency(&slot_9, &expected);
	cr_expect_eq(memcmp(&taken->counters[1][LOADS], &expected, sizeof(expected)), 0);
	cr_assert(taken->has[0][STORES]);
	counters_of_plain(&stores_7, &expected);
	cr_expect_eq(memcmp(&taken->counters[0][STORES], &expected, sizeof(expected)), 0);
	cr_expect_not(taken->has[1][STORES]);

	/* Some of the counters are also checked against literal numbers. */
	cr_expect_eq(counters_samples(&taken->counters[0][LOADS]), 4);
	cr_expect_eq(taken->counters[0][LOADS].samples[SOURCE_REMOTE_DRAM], 2);
	cr_expect_eq(taken->counters[1][LOADS].snoop[SNOOP_HITM], 1);
	cr_expect_eq(taken->counters[1][LOADS].weight[SOURCE_L3], 2000);
	cr_expect_eq(counters_latency_sum(&taken->counters[1][LOADS]), 130);
}

Test(account_totals, each_collection_starts_empty)
{
	struct sample sample = load(7, 12, L1_HIT, 1000);

	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_name(totals, 9, "/nine"), 0);
	cr_expect_eq(collect()->n, 0);
	cr_assert_eq(account_totals_add(totals, &sample, 1), 0);
	cr_expect_eq(counters_samples(&collect()->counters[0][LOADS]), 1);
	cr_expect_eq(collect()->n, 0);

	/* The second cgroup reuses the memory of the first one, which must have been cleared. */
	sample = load(9, 700, REMOTE, 10);
	cr_assert_eq(account_totals_add(totals, &sample, 1), 0);
	cr_assert_eq(collect()->n, 1);
	cr_assert_eq(account_totals_add(totals, &sample, 1), 0);
	cr_expect_eq(counters_latency_sum(&collect()->counters[0][LOADS]), 700);
}

Test(account_totals, an_invalid_sample_is_counted_as_lost)
{
	struct sample malformed = load(7, 1ULL << 32, L1_HIT, 1);
	struct sample foreign = load(7, 12, L1_HIT, 1);

	foreign.event = EVENTS;
	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_add(totals, &malformed, 1), 0);
	cr_assert_eq(account_totals_add(totals, &foreign, 1), 0);
	cr_expect_eq(collect()->n, 0);
	cr_expect_eq(account_totals_losses(totals).malformed, 2);
}

/* PERF_MEM_OP_LOAD is 2: a sample of any other operation does not belong to this event. */
Test(account_totals, operations_of_other_kinds_are_filtered)
{
	const struct event_settings loads = {.has_latency = 1, .has_source = 1, .operations = 2};
	struct sample samples[] = {load(7, 12, L1_HIT, 1), load(7, 12, 4, 1)};

	end();
	cr_assert_eq(account_totals_new(&loads, 1, 2, &totals), 0);
	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_add(totals, samples, ARRAY_SIZE(samples)), 0);
	cr_expect_eq(account_totals_losses(totals).filtered, 1);
	cr_expect_eq(counters_samples(&collect()->counters[0][0]), 1);
}

/* As in the BPF programs: the data source of an event that does not measure one is not a measurement. */
Test(account_totals, count_has_samples_and_weight_only)
{
	const struct event_settings cycles = {0};
	const struct sample sample = load(7, 12, L3_HITM, 1000);
	struct counters expected = {.samples[SOURCE_UNKNOWN] = 1, .weight[SOURCE_UNKNOWN] = 1000};

	end();
	cr_assert_eq(account_totals_new(&cycles, 1, 2, &totals), 0);
	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_add(totals, &sample, 1), 0);
	cr_expect_eq(memcmp(&collect()->counters[0][0], &expected, sizeof(expected)), 0);
}

Test(account_totals, cgroups_beyond_the_last_are_unattributed)
{
	struct sample sample = load(11, 12, L1_HIT, 1);

	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_assert_eq(account_totals_name(totals, 9, "/nine"), 0);
	cr_expect_eq(account_totals_name(totals, 7, "/seven"), 0);
	cr_expect_eq(account_totals_name(totals, 11, "/eleven"), -ENOSPC);
	cr_assert_eq(account_totals_add(totals, &sample, 1), 0);
	cr_expect_eq(collect()->n, 0);
	cr_expect_eq(account_totals_losses(totals).unattributed, 1);
}

/*
 * The sum of latency x period in one record has room for 1,024 samples like these. With more, the sum stays
 * at its maximum.
 */
Test(account_totals, the_largest_samples_do_not_wrap_a_sum)
{
	struct sample worst = load(7, 0xffffffff, REMOTE, ~0ULL);

	cr_assert_eq(account_totals_name(totals, 7, "/seven"), 0);
	for (int i = 0; i < 2000; i++)
		cr_assert_eq(account_totals_add(totals, &worst, 1), 0);
	cr_expect_eq(collect()->counters[0][LOADS].weighted_latency[SOURCE_REMOTE_DRAM], ~0ULL);
}
