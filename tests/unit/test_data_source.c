// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "driver_sources.h"
#include "pebsd/data_source.h"

#define FLAG(name, ...) {#name, data_source_##name},
static const struct {
	const char *name;
	u32 (*decode)(u64 value);
} flags[] = {ACCESS_FLAGS(FLAG)};
#undef FLAG

/* Written by hand, in the order of ACCESS_FLAGS, with the values of include/uapi/linux/perf_event.h. */
static const struct {
	const char *name;
	u64 bits;
} kernel_flags[] = {
	{"locked", 0x2ULL << 24},             /* PERF_MEM_LOCK_LOCKED */
	{"blocked", (0x2ULL | 0x4ULL) << 40}, /* PERF_MEM_BLK_DATA, PERF_MEM_BLK_ADDR */
};

Test(data_source, a_flag_is_set_by_the_bits_of_the_kernel_and_no_others)
{
	u64 all = 0;

	cr_assert_eq(sizeof(kernel_flags) / sizeof(kernel_flags[0]), FLAG_COUNT,
		     "the table above lacks a flag");
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		all |= kernel_flags[i].bits;
		cr_expect_str_eq(flags[i].name, kernel_flags[i].name);
		for (unsigned bit = 0; bit < 64; bit++)
			cr_expect_eq(flags[i].decode(1ULL << bit), kernel_flags[i].bits >> bit & 1,
				     "%s, bit %u", kernel_flags[i].name, bit);
	}
	cr_expect_eq(DATA_SOURCE_FLAG_BITS, all);
}

Test(data_source, unknown_has_three_encodings)
{
	static const u64 spellings[] = {0, 0x5080021, 0x1e05080021};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		cr_expect_eq(data_source_source(spellings[i]), SOURCE_UNKNOWN);
		cr_expect_eq(data_source_snoop(spellings[i]), SNOOP_NA);
		cr_expect_eq(data_source_tlb(spellings[i]), TLB_NA);
		for (size_t flag = 0; flag < FLAG_COUNT; flag++)
			cr_expect_eq(flags[flag].decode(spellings[i]), 0, "%s", flags[flag].name);
	}
}

Test(data_source, the_level_number_precedes_the_level_bits)
{
	cr_expect_eq(data_source_source(0x10268100142), SOURCE_L1); /* Skylake-SP, Alder Lake */
	cr_expect_eq(data_source_source(0x11868100242), SOURCE_LFB);
	cr_expect_eq(data_source_source(0x3a68100042), SOURCE_REMOTE_DRAM); /* lvl has only the HIT bit */
	cr_expect_eq(data_source_source(0x1c68200042), SOURCE_PMEM);
	cr_expect_eq(data_source_source(0x1206080002), SOURCE_CXL);
}

Test(data_source, values_of_the_driver_have_the_source_of_their_name)
{
	static const struct {
		u64 value;
		enum source source;
		enum snoop snoop;
	} cases[] = {
		{DRIVER_L1, SOURCE_L1, SNOOP_NONE},
		{DRIVER_LFB, SOURCE_LFB, SNOOP_NONE},
		{DRIVER_L2, SOURCE_L2, SNOOP_NONE},
		{DRIVER_L3, SOURCE_L3, SNOOP_NONE},
		{DRIVER_L3_HITM, SOURCE_L3, SNOOP_HITM},
		{DRIVER_LOCAL_DRAM, SOURCE_LOCAL_DRAM, SNOOP_HIT},
		{DRIVER_REMOTE_CACHE, SOURCE_REMOTE_CACHE, SNOOP_HITM},
		{DRIVER_REMOTE_DRAM, SOURCE_REMOTE_DRAM, SNOOP_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(data_source_source(cases[i].value), cases[i].source, "case %zu", i);
		cr_expect_eq(data_source_snoop(cases[i].value), cases[i].snoop, "case %zu", i);
	}
}

Test(data_source, without_a_level_number_the_bits_decide)
{
	cr_expect_eq(data_source_source(0x68100142), SOURCE_L1); /* Ivy Bridge-EP, kernel 4.4 */
	cr_expect_eq(data_source_source(0x49080142), SOURCE_L1); /* AMD before 6.12 */
	cr_expect_eq(data_source_source(0x1e6a120042), SOURCE_IO);
	cr_expect_eq(data_source_source(0x1e68140042), SOURCE_UNCACHED);
	cr_expect_eq(data_source_source(0x5088842), SOURCE_LOCAL_CACHE); /* Zen 3: L3 or another core */
	cr_expect_eq(data_source_source(0x5088042), SOURCE_REMOTE_CACHE);
}

Test(data_source, remote_l3_with_a_remote_ram_bit_is_dram)
{
	cr_expect_eq(data_source_source(0x2668202042), SOURCE_REMOTE_DRAM);
	cr_expect_eq(data_source_source(0x2668208042), SOURCE_REMOTE_CACHE);
}

Test(data_source, any_cache_is_decided_by_hops_then_by_the_remote_bit)
{
	const u64 any_cache = 0x42 | (11ULL << 33);
	const u64 remote = 1ULL << 37;

	cr_expect_eq(data_source_source(any_cache), SOURCE_LOCAL_CACHE);
	cr_expect_eq(data_source_source(any_cache | remote), SOURCE_REMOTE_CACHE);
	cr_expect_eq(data_source_source(any_cache | remote | (1ULL << 43)), SOURCE_LOCAL_CACHE);
	cr_expect_eq(data_source_source(any_cache | (2ULL << 43)), SOURCE_REMOTE_CACHE);
}

Test(data_source, a_miss_without_a_hit_is_unknown)
{
	cr_expect_eq(data_source_source(0x605080082), SOURCE_UNKNOWN);   /* "unknown L3" */
	cr_expect_eq(data_source_source(0x5080184), SOURCE_UNKNOWN);     /* store, L1 missed */
	cr_expect_eq(data_source_source(0x10650080082), SOURCE_UNKNOWN); /* L3 missed, Skylake */
}

Test(data_source, unknown_high_bits_change_nothing)
{
	const u64 high = ~0ULL << 46;
	const u64 value = 0x1026a100142;

	cr_expect_eq(data_source_source(value | high), data_source_source(value));
	cr_expect_eq(data_source_snoop(value | high), data_source_snoop(value));
	cr_expect_eq(data_source_tlb(value | high), data_source_tlb(value));
	for (size_t flag = 0; flag < FLAG_COUNT; flag++)
		cr_expect_eq(flags[flag].decode(value | high), flags[flag].decode(value), "%s",
			     flags[flag].name);
	cr_expect_eq(data_source_locked(value | high), 1);
}

Test(data_source, every_value_of_every_field_has_a_class)
{
	for (u64 number = 0; number < 16; number++)
		for (u64 lvl = 0; lvl < 1 << 14; lvl++)
			for (u64 where = 0; where < 16; where++) {
				u64 value = lvl << 5 | number << 33 | (where & 1) << 37 | (where >> 1) << 43;

				cr_assert_lt(data_source_source(value), SOURCE_COUNT, "%#llx",
					     (unsigned long long)value);
			}
	for (u64 bits = 0; bits < 1 << 7; bits++) {
		cr_assert_lt(data_source_tlb(bits << 26), TLB_COUNT);
		cr_assert_lt(data_source_snoop((bits & 31) << 19 | (bits >> 5) << 38), SNOOP_COUNT);
	}
}

Test(data_source, snoops_and_translations_are_decoded)
{
	cr_expect_eq(data_source_snoop(0x29800842), SNOOP_HITM);
	cr_expect_eq(data_source_snoop(0x7668000042), SNOOP_FWD);
	cr_expect_eq(data_source_snoop(0x8688000842), SNOOP_PEER);
	cr_expect_eq(data_source_snoop(0x1a68501042), SNOOP_MISS); /* no snoop, or a miss */
	cr_expect_eq(data_source_tlb(0x68100142), TLB_HIT);
	cr_expect_eq(data_source_tlb(0x29080142), TLB_L1_HIT);
	cr_expect_eq(data_source_tlb(0x49080142), TLB_L2_HIT);
	cr_expect_eq(data_source_tlb(0x50080144), TLB_MISS);
	cr_expect_eq(data_source_tlb(0x288100144), TLB_WALK);
	cr_expect_eq(data_source_blocked(0x40268100142), 1);
	cr_expect_eq(data_source_blocked(0x20268100142), 1);
}
