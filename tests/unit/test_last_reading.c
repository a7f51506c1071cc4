// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "collect/last_reading.h"
#include "random_numbers.h"
#include "scarce_memory.h"

static struct latency_record records[STRIPES_MAX];
static struct plain_record plain[STRIPES_MAX];
static u64 by_stripe[STRIPES_MAX];
static u8 packed[PACKED_MAX];
static struct last_reading *last;
static u64 state;

static void setup(void)
{
	state = XORSHIFT_SEED;
}

static void teardown(void)
{
	last_reading_free(last);
}

TestSuite(last_reading, .init = setup, .fini = teardown);

static u64 random_below(u64 n)
{
	return xorshift(&state) % n;
}

static int try_read(u32 stripes, bool has_latency, size_t *ret_size)
{
	const void *places[STRIPES_MAX];

	for (size_t i = 0; i < STRIPES_MAX; i++)
		places[i] = has_latency ? (const void *)&records[i] : &plain[i];
	return last_reading_read(&last, places, stripes, has_latency, packed, ret_size, by_stripe);
}

/* Returns what one reading gained. */
static struct counters read_stripes(u32 stripes, bool has_latency)
{
	struct counters counters = {0};
	size_t size;

	cr_assert_eq(try_read(stripes, has_latency, &size), 0);
	cr_assert_leq(size, PACKED_MAX);
	packed_add(packed, size, &counters);
	return counters;
}

static struct counters total(void)
{
	struct counters counters = {0};

	if (last)
		last_reading_add(last, &counters);
	return counters;
}

static bool same(const struct counters *a, const struct counters *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Adds one sample of a source, as account.h does. `cycles` 0 means that the sample has no latency. */
static void count(struct latency_record *record, unsigned source, u32 cycles, u64 period)
{
	record->sums[source].weight += period;
	if (cycles) {
		record->sums[source].latency += cycles;
		record->sums[source].weighted_latency += cycles * period;
		record->latency[histogram_fine_index(cycles)]++;
		record->source_latency[source][histogram_octave_index(cycles)]++;
	} else {
		record->without_latency[source]++;
	}
	record->snoop[source % SNOOP_SLOTS]++;
	record->tlb[cycles % TLB_SLOTS]++;
	for (u32 i = 0; i < FLAG_COUNT; i++)
		record->flags[i] += cycles % (7 + 4 * i) == 0;
}

/* Every counter of a record, wherever it is, reaches its own member of struct counters and no other. */
Test(last_reading, every_counter_is_taken)
{
	u32 *words = (u32 *)&records[3];
	u64 seen[COUNTER_COUNT] = {0};

	for (size_t i = 0; i < sizeof(records[3]) / sizeof(u32); i++) {
		struct counters expected, came, sum;

		words[i] += (u32)i + 1;
		counters_of_latency(&records[3], &expected);
		came = read_stripes(1U << 3, true);
		sum = total();
		cr_expect(same(&sum, &expected), "total after word %zu", i);
		for (size_t j = 0; j < COUNTER_COUNT; j++)
			seen[j] += ((u64 *)&came)[j];
		cr_expect_eq(memcmp(seen, &expected, sizeof(seen)), 0, "what came with word %zu", i);
	}
	for (size_t j = 0; j < COUNTER_COUNT; j++)
		cr_expect_neq(seen[j], 0, "counter %zu", j);
}

Test(last_reading, every_counter_of_an_event_without_latency_is_taken)
{
	u32 *words = (u32 *)&plain[0];
	struct counters expected, came, sum;
	size_t n = offsetof(struct plain_record, flags) / sizeof(u32) + FLAG_COUNT;

	for (size_t i = 0; i < n; i++)
		words[i] = (u32)i + 1;
	counters_of_plain(&plain[0], &expected);
	came = read_stripes(1, false);
	sum = total();
	cr_expect(same(&came, &expected));
	cr_expect(same(&sum, &expected));
	cr_expect_eq(came.flags[FLAG_COUNT - 1], n);
	cr_expect_eq(counters_latency_samples(&came), 0);
}

Test(last_reading, unchanged_records_hold_nothing)
{
	size_t size = 99;

	cr_expect_eq(try_read(0xffff, true, &size), 0);
	cr_expect_eq(size, 0);
	cr_expect_null(last);
	cr_expect_eq(last_reading_stripes(last), 0);
	cr_expect_eq(last_reading_bytes(last), 0);
	count(&records[1], SOURCE_L1, 5, 100);
	cr_expect_eq(try_read(2, true, &size), 0);
	cr_expect_gt(size, 0);
	cr_expect_eq(try_read(2, true, &size), 0);
	cr_expect_eq(size, 0);
}

/* Once a stripe was read, later readings include it even if it is not named. */
Test(last_reading, stripes_are_added_one_by_one_and_kept)
{
	struct counters counters;

	count(&records[0], SOURCE_L2, 14, 10);
	count(&records[5], SOURCE_L3, 60, 10);
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), 1);
	cr_expect_eq(last_reading_stripes(last), 1);
	count(&records[0], SOURCE_L2, 14, 10);
	counters = read_stripes(1 << 5, true);
	cr_expect_eq(counters.samples[SOURCE_L2], 1);
	cr_expect_eq(counters.samples[SOURCE_L3], 1);
	cr_expect_eq(last_reading_stripes(last), 1 | 1 << 5);
	cr_expect_eq(by_stripe[0], 2);
	cr_expect_eq(by_stripe[5], 1);
	counters = total();
	cr_expect_eq(counters_samples(&counters), 3);
	cr_expect_eq(counters_latency_sum(&counters), 88);
}

/* A sample is being added: its sums are there, but its bucket is not yet. */
Test(last_reading, half_of_a_sample_is_completed_by_the_next_reading)
{
	struct counters counters;

	records[0].sums[SOURCE_L3].weight = 1000;
	records[0].sums[SOURCE_L3].latency = 60;
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), 0);
	cr_expect_eq(counters_weight(&counters), 1000);
	records[0].source_latency[SOURCE_L3][6] = 1;
	records[0].latency[histogram_fine_index(60)] = 1;
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), 1);
	cr_expect_eq(counters_weight(&counters), 0);
	cr_expect_eq(by_stripe[0], 1);
}

Test(last_reading, wrapped_32_bit_counters_are_read_right)
{
	struct counters counters;

	records[0].without_latency[SOURCE_L1] = 0xfffffff0;
	records[1].without_latency[SOURCE_L1] = 0xfffffff0;
	records[0].source_latency[SOURCE_L3][5] = 0xfffffffe;
	records[0].latency[FINE_OVERFLOW] = ~0U;
	records[0].latency[0] = ~0U; /* the first counter after the 64-bit sum of instruction latency */
	records[0].blocked = ~0U;
	counters = read_stripes(1, true);
	cr_expect_eq(counters.samples[SOURCE_L1], 0xfffffff0);
	for (int round = 0; round < 3; round++) {
		records[0].without_latency[SOURCE_L1] += 0xfffffff0;
		records[0].source_latency[SOURCE_L3][5] += 5;
		records[0].latency[FINE_OVERFLOW] += 2;
		records[0].latency[0] += 3;
		records[0].blocked++;
		counters = read_stripes(1, true);
		cr_expect_eq(counters.samples[SOURCE_L1], 0xfffffff0, "each stays a small delta");
		cr_expect_eq(counters.samples[SOURCE_L3], 5);
		cr_expect_eq(counters.latency[FINE_OVERFLOW], 2);
		cr_expect_eq(counters.latency[0], 3);
		cr_expect_eq(counters.blocked, 1);
	}
	counters = read_stripes(2, true);
	cr_expect_eq(counters.samples[SOURCE_L1], 0xfffffff0);
	counters = total();
	cr_expect_eq(counters.samples[SOURCE_L1], 5 * 0xfffffff0ULL);
	cr_expect_eq(counters.samples[SOURCE_L3], 0xfffffffeULL + 15);
	cr_expect_eq(counters.source_latency[SOURCE_L3][5], 0xfffffffeULL + 15);
	cr_expect_eq(counters.latency[FINE_OVERFLOW], 0xffffffffULL + 6);
	cr_expect_eq(counters.latency[0], 0xffffffffULL + 9);
	cr_expect_eq(counters.blocked, 0xffffffffULL + 3);
	cr_expect_eq(counters.instruction_latency_sum, 0);
}

Test(last_reading, wrapped_counters_of_an_event_without_latency_are_read_right)
{
	struct counters counters;

	plain[0].samples[SOURCE_L1] = 0xfffffff0;
	plain[0].snoop[SNOOP_HITM] = ~0U;
	(void)read_stripes(1, false);
	plain[0].samples[SOURCE_L1] += 0x20;
	plain[0].snoop[SNOOP_HITM] += 1;
	counters = read_stripes(1, false);
	cr_expect_eq(counters_samples(&counters), 0x20);
	cr_expect_eq(by_stripe[0], 0x100000010ULL);
	counters = total();
	cr_expect_eq(counters_samples(&counters), 0x100000010ULL);
	cr_expect_eq(counters.snoop[SNOOP_HITM], 0x100000000ULL);
}

/* A sum that exceeds 64 bits stays at the greatest value. */
Test(last_reading, sums_of_64_bits_saturate)
{
	struct counters counters;

	records[0].sums[SOURCE_L1].weighted_latency = ~0ULL - 9;
	records[0].instruction_latency_sum = ~0ULL;
	(void)read_stripes(1, true);
	records[0].sums[SOURCE_L1].weighted_latency += 100;
	records[0].instruction_latency_sum += 7;
	counters = read_stripes(1, true);
	cr_expect_eq(counters.weighted_latency[SOURCE_L1], 100);
	cr_expect_eq(counters.instruction_latency_sum, 7);
	counters = total();
	cr_expect_eq(counters.weighted_latency[SOURCE_L1], ~0ULL);
	cr_expect_eq(counters.instruction_latency_sum, ~0ULL);
	cr_expect_eq(counters.latency[0], 0);
}

/* Compares many readings of random stripes with the sums of the records. */
Test(last_reading, many_readings_add_up_to_the_records)
{
	struct counters all = {0}, expected = {0};
	u64 samples = 0;

	for (int reading = 0; reading < 500; reading++) {
		u32 stripes = 0;
		struct counters came;

		for (u64 left = random_below(20); left; left--) {
			u64 stripe = random_below(STRIPES_MAX);

			count(&records[stripe], (unsigned)random_below(SOURCE_SLOTS),
			      (u32)random_below(1U << random_below(22)), random_below(1000000));
			stripes |= 1U << stripe;
		}
		came = read_stripes(stripes, true);
		counters_add(&all, &came);
	}
	for (size_t i = 0; i < STRIPES_MAX; i++) {
		struct counters of_stripe;

		counters_of_latency(&records[i], &of_stripe);
		counters_add(&expected, &of_stripe);
		cr_expect_eq(by_stripe[i], counters_samples(&of_stripe));
		samples += by_stripe[i];
	}
	cr_expect(same(&all, &expected));
	all = total();
	cr_expect(same(&all, &expected));
	cr_expect_eq(counters_samples(&all), samples);
}

static void expect_nothing_taken(void)
{
	struct counters before = total(), after;
	u64 counted = by_stripe[0];
	size_t size = 99;

	scarce_memory_after(0);
	cr_expect_eq(try_read(1, true, &size), -ENOMEM);
	cr_expect(scarce_memory_end());
	cr_expect_eq(size, 0);
	after = total();
	cr_expect(same(&before, &after));
	cr_expect_eq(by_stripe[0], counted);
}

/* If an allocation fails, a reading takes nothing, and the next reading takes everything. */
Test(last_reading, without_memory_nothing_is_read)
{
	struct counters counters;

	count(&records[0], SOURCE_L1, 4, 10);
	expect_nothing_taken();
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), 1);

	count(&records[0], SOURCE_L3, 100, 10); /* this needs more memory */
	expect_nothing_taken();
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), 1);
	cr_expect_eq(by_stripe[0], 2);

	records[0].source_latency[SOURCE_L3][7]--; /* wraps around, which needs memory */
	expect_nothing_taken();
	counters = read_stripes(1, true);
	cr_expect_eq(counters_samples(&counters), ~0U);
	counters = total();
	cr_expect_eq(counters.source_latency[SOURCE_L3][7], 1ULL << 32);
	cr_expect_eq(counters_samples(&counters), 1 + (1ULL << 32));
}

/* 300 samples of six sources, each with one or two modes, as the loads of a busy cgroup have them. */
Test(last_reading, memory_of_a_cgroup_depends_on_its_used_counters)
{
	static const struct {
		unsigned source;
		u32 from;
		u32 to;
	} modes[] = {{SOURCE_L1, 4, 9},   {SOURCE_LFB, 20, 120},         {SOURCE_L2, 13, 20},
		     {SOURCE_L3, 40, 90}, {SOURCE_LOCAL_DRAM, 180, 400}, {SOURCE_REMOTE_DRAM, 300, 700},
		     {SOURCE_L3, 70, 110}};

	for (int i = 0; i < 300; i++) {
		size_t mode = random_below(ARRAY_SIZE(modes));

		count(&records[i % 2], modes[mode].source,
		      modes[mode].from + (u32)random_below(modes[mode].to - modes[mode].from), 1000);
	}
	(void)read_stripes(3, true);
	printf("last reading: %zu bytes\n", last_reading_bytes(last));
	cr_expect_lt(last_reading_bytes(last), 1000);
}
