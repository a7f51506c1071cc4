// SPDX-License-Identifier: GPL-2.0
/* The counts that one sample adds to a record, computed in plain C without BPF. */
#include <criterion/criterion.h>

#include <string.h>

#include "account.h"
#include "random_numbers.h"

#define EVERY_FLAG (0x2066a800842ULL | DATA_SOURCE_FLAG_BITS) /* a hit in L3, with HITM */

static void buckets_are_the_histograms(u32 cycles)
{
	struct account_buckets at = account_buckets(cycles);

	cr_assert_eq(at.fine, histogram_fine_index(cycles), "%u", cycles);
	cr_assert_eq(at.octave, histogram_octave_index(cycles), "%u", cycles);
}

Test(account, branchless_buckets_equal_those_of_the_histogram)
{
	for (u32 cycles = 0; cycles < (1U << 21) + 2; cycles++)
		buckets_are_the_histograms(cycles);
	for (unsigned bit = 21; bit < 32; bit++)
		for (int around = -1; around <= 1; around++)
			buckets_are_the_histograms((1U << bit) + (u32)around);
	buckets_are_the_histograms(~0U);
}

/* The sample changes exactly these members of the record, each once. */
Test(account, a_sample_with_latency_is_counted_once_everywhere)
{
	static struct latency_record record, expected;
	const struct sample sample = {
		.latency = 100,
		.instruction_latency = 300,
		.data_source = EVERY_FLAG,
		.period = 7,
		.fields = SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY | SAMPLE_DATA_SOURCE,
	};
	enum source source = data_source_source(EVERY_FLAG);

	expected.sums[source] = (struct source_sums){.weight = 7, .latency = 100, .weighted_latency = 700};
	expected.snoop[data_source_snoop(EVERY_FLAG)] = 1;
	expected.tlb[data_source_tlb(EVERY_FLAG)] = 1;
	expected.source_latency[source][histogram_octave_index(100)] = 1;
	expected.latency[histogram_fine_index(100)] = 1;
	expected.instruction_latency_sum = 300;
	expected.instruction_latency[histogram_coarse_index(300)] = 1;
	for (size_t i = 0; i < FLAG_COUNT; i++)
		expected.flags[i] = 1;
	account_latency(&record, &sample, false);
	cr_expect_eq(memcmp(&record, &expected, sizeof(record)), 0);
}

Test(account, a_sample_without_latency_is_counted_as_one_of_its_source)
{
	static struct latency_record record, expected;
	const struct sample sample = {.latency = 100, .data_source = 0x10268100142, .period = 7};

	/* No bit of `fields` says that the latency or the data source is valid. */
	expected.sums[SOURCE_UNKNOWN].weight = 7;
	expected.snoop[SNOOP_NA] = expected.tlb[TLB_NA] = 1;
	expected.without_latency[SOURCE_UNKNOWN] = 1;
	account_latency(&record, &sample, false);
	cr_expect_eq(memcmp(&record, &expected, sizeof(record)), 0);
}

/* The bits of one flag. They may be part of the source, the snoop or the translation, too. */
static void only_this_flag_is_counted(size_t flag, u64 bits)
{
	const struct sample sample = {.data_source = bits, .period = 1, .fields = SAMPLE_DATA_SOURCE};
	struct latency_record record = {0};
	struct plain_record plain = {0};

	account_latency(&record, &sample, false);
	account_plain(&plain, &sample, false);
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cr_expect_eq(record.flags[i], i == flag, "flag %zu, with latency: %zu", flag, i);
		cr_expect_eq(plain.flags[i], i == flag, "flag %zu, without latency: %zu", flag, i);
	}
}

Test(account, each_flag_has_a_counter_of_its_own)
{
	size_t flag = 0;

#define ONLY_THIS(name, bits, ...) only_this_flag_is_counted(flag++, bits);
	ACCESS_FLAGS(ONLY_THIS)
}

/* Compares plain with atomic addition for samples of many random values. */
Test(account, plain_and_atomic_additions_count_alike)
{
	static struct latency_record plain, atomic;
	static struct plain_record plain_small, atomic_small;
	u64 state = XORSHIFT_SEED;

	for (unsigned i = 0; i < 200000; i++) {
		struct sample sample;

		(void)xorshift(&state);
		sample = (struct sample){
			.latency = state % (1U << 21),
			.instruction_latency = (u32)(state >> 21) & 0xffff,
			.data_source = state * 0x9e3779b97f4a7c15ULL,
			.period = state >> 50,
			.fields = (u16)(state >> 60) & 0xf,
		};
		account_latency(&plain, &sample, false);
		account_latency(&atomic, &sample, true);
		account_plain(&plain_small, &sample, false);
		account_plain(&atomic_small, &sample, true);
	}
	cr_expect_eq(memcmp(&plain, &atomic, sizeof(plain)), 0);
	cr_expect_eq(memcmp(&plain_small, &atomic_small, sizeof(plain_small)), 0);
	for (size_t i = 0; i < FLAG_COUNT; i++)
		cr_expect_neq(plain.flags[i], 0, "flag %zu", i);
}
