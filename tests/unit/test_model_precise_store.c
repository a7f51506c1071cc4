// SPDX-License-Identifier: GPL-2.0
/* Precise store: manual 18.9.4.3 and table 18-34. */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

#define PRECISE_STORE (0x02cd | COUNTING)
#define BITS_3_AND_63 (1ULL << 3 | 1ULL << 63)

/* 18.9.4.3: only counter 3, the fourth one, supports precise store. */
Test(model_precise_store, only_counter_3_records_precise_stores)
{
	for (u32 counter = 0; counter < 4; counter++) {
		pebs_fixture_open("sandybridge");
		pebs_fixture_program(counter, PRECISE_STORE, 1);
		pebs_fixture_enable(0xf | 1ULL << 63, 0xf);
		pebs_fixture_retire(STORE, 5);
		cr_expect_eq(fixture.unit.records, counter == 3, "counter %u", counter);
	}
}

/* 18.9.4.3: bit 3 enables the counter's PEBS, and bit 63 enables precise store. */
Test(model_precise_store, enable_bits_3_and_63_are_both_needed)
{
	static const u64 enables[] = {0, 1ULL << 3, 1ULL << 63, 1ULL << 35 | 1ULL << 3, BITS_3_AND_63};

	for (size_t i = 0; i < 5; i++) {
		pebs_fixture_open("sandybridge");
		pebs_fixture_program(3, PRECISE_STORE, 1);
		pebs_fixture_enable(enables[i], 0xf);
		pebs_fixture_retire(STORE, 5);
		cr_expect_eq(fixture.unit.records, i == 4, "%zu", i);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 3), i == 4 ? 0 + 3 : 0xffffffffffffULL, "%zu",
			     i);
	}
}

/*
 * 98H has the address. A0H has bit 0 for an L1D hit, bit 4 for an STLB miss, and bit 5 for locked. A8H is
 * reserved.
 */
Test(model_precise_store, a_store_has_l1d_hit_stlb_miss_and_locked)
{
	static const struct {
		u8 place, translated;
		bool locked;
		u64 status;
	} table[] = {
		{PLACE_L1, TRANSLATED_L1, false, 0x01},           {PLACE_L2, TRANSLATED_L2, false, 0x00},
		{PLACE_LOCAL_DRAM, TRANSLATED_WALK, false, 0x10}, {PLACE_L1, TRANSLATED_L1, true, 0x21},
		{PLACE_L3, TRANSLATED_WALK, true, 0x30},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct retired store = STORE;
		struct record record;

		store.place = table[i].place;
		store.translated = table[i].translated;
		store.locked = table[i].locked;
		store.latency = 99;
		pebs_fixture_open("ivybridge");
		pebs_fixture_program(3, PRECISE_STORE, 1);
		pebs_fixture_enable(BITS_3_AND_63, 8);
		pebs_fixture_retire(STORE, 1);
		pebs_fixture_retire(LOAD(9), 3);
		pebs_fixture_retire(store, 1);
		cr_assert_eq(pebs_fixture_records(), 1, "loads are not stores");
		record = pebs_fixture_record(0);
		cr_expect_eq(record.values[RECORD_ADDRESS], store.address);
		cr_expect_eq(record.values[RECORD_SOURCE], table[i].status, "%zu", i);
		cr_expect_eq(record.values[RECORD_LATENCY], 0);
		cr_expect_eq(record.values[RECORD_IP], store.next_ip);
	}
}

/*
 * Haswell and later: the record of any memory event has the address. For a store, it also has the L1D hit,
 * but no latency.
 */
Test(model_precise_store, haswell_has_the_data_linear_address_of_any_memory_event)
{
	struct retired store = STORE;

	store.place = PLACE_L1;
	store.locked = true;
	store.translated = TRANSLATED_WALK;
	pebs_fixture_start("haswell", 0x83d0 | COUNTING, 1);
	pebs_fixture_reset(0, 1);
	pebs_fixture_retire(store, 2);
	pebs_fixture_retire(LOAD(30), 2);
	cr_assert_eq(pebs_fixture_records(), 2);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_ADDRESS], store.address);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_SOURCE], 1);
	cr_expect_eq(pebs_fixture_record(1).values[RECORD_ADDRESS], LOAD(30).address);
	cr_expect_eq(pebs_fixture_record(1).values[RECORD_SOURCE], 0);
	cr_expect_eq(pebs_fixture_record(1).values[RECORD_LATENCY], 0);
}
