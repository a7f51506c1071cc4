// SPDX-License-Identifier: GPL-2.0
/* The tables that BPF programs use to decode a data source agree with data_source.h. */
#include <criterion/criterion.h>

#include "pebsd/decode_tables.h"
#include "random_numbers.h"

static struct decode_tables tables;

static void setup(void)
{
	decode_tables_fill(&tables);
}

TestSuite(decode_tables, .init = setup);

static void same(u64 value)
{
	u32 result = decode_result(&tables, value);

	cr_assert_eq(decode_source(&tables, value), (u32)data_source_source(value), "%#llx",
		     (unsigned long long)value);
	cr_assert_eq(result & 0xf, (u32)data_source_snoop(value), "%#llx", (unsigned long long)value);
	cr_assert_eq(result >> 4, (u32)data_source_tlb(value), "%#llx", (unsigned long long)value);
}

/* Each combination of the bits has an entry, and no two combinations share one. */
static void each_has_its_own(u64 bits, u32 (*index_of)(u64 value))
{
	u8 seen[DECODE_INDICES] = {0};
	u64 value = 0;
	u32 n = 0;

	do {
		u32 index = index_of(value);

		cr_assert_lt(index, DECODE_INDICES);
		cr_assert_eq(seen[index]++, 0, "%#llx", (unsigned long long)value);
		n++;
		value = (value - bits) & bits;
	} while (value);
	cr_expect_eq(n, DECODE_INDICES);
}

Test(decode_tables, each_combination_has_an_entry_of_its_own)
{
	each_has_its_own(DECODE_SOURCE_BITS, decode_source_index);
	each_has_its_own(DECODE_RESULT_BITS, decode_result_index);
}

Test(decode_tables, every_level_is_decoded_in_both_encodings)
{
	for (u64 lvl = 0; lvl < 1U << 14; lvl++) {
		same(lvl << 5);
		same(lvl << 5 | (u64)LVL_NUM_NA << 33);
	}
	for (u64 number = 0; number < 16; number++)
		for (u64 hops = 0; hops < 8; hops++)
			for (u64 lvl = 0; lvl < 1U << 14; lvl += 2)
				for (u64 remote = 0; remote < 2; remote++)
					same(lvl << 5 | number << 33 | remote << 37 | hops << 43);
}

Test(decode_tables, random_values_are_decoded_like_the_reference)
{
	u64 state = XORSHIFT_SEED;

	for (unsigned i = 0; i < 2000000; i++)
		same(xorshift(&state));
	same(0);
	same(~0ULL);
}

Test(decode_tables, unknown_values_stay_unknown)
{
	cr_expect_eq(decode_source(&tables, 0), (u32)SOURCE_UNKNOWN);
	cr_expect_eq(decode_result(&tables, 0), (u32)SNOOP_NA | (u32)TLB_NA << 4);
}
