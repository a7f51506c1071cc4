// SPDX-License-Identifier: GPL-2.0
/* Goldmont's data linear address profiling: manual 18.7.1.1. */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

/*
 * 18.7.1.1: the IP of a record is that of the instruction after the one that caused the record. The address
 * is the one that the causing instruction accessed.
 */
Test(model_address_only, goldmont_records_the_address_of_the_previous_instruction)
{
	struct retired load = LOAD(200);
	struct record record;

	pebs_fixture_start("goldmont", 0x81d0 | COUNTING, 2);
	pebs_fixture_reset(0, 1);
	pebs_fixture_retire(load, 1);
	load.address = 0x7f00ccccddd0;
	load.place = PLACE_LOCAL_DRAM;
	load.ip = 0x9000;
	load.next_ip = 0x9007;
	pebs_fixture_retire(load, 1);
	pebs_fixture_retire(STORE, 1);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_ADDRESS], 0x7f00ccccddd0);
	cr_expect_eq(record.values[RECORD_IP], 0x9007, "the instruction after it");
	cr_expect_eq(record.values[RECORD_EVENTING_IP], 0x9000);
}

/* 18.7.1.1: the record has fields for data source and latency, but they are 0. */
Test(model_address_only, goldmont_has_no_data_source_and_no_latency)
{
	struct retired load = LOAD(200);
	struct record record;

	load.place = PLACE_LOCAL_DRAM;
	pebs_fixture_start("goldmont", 0x81d0 | COUNTING, 1);
	pebs_fixture_retire(load, 1);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_SOURCE], 0);
	cr_expect_eq(record.values[RECORD_LATENCY], 0);
	cr_expect_eq(record.values[RECORD_GLOBAL_STATUS], 1, "applicable counters");
	cr_expect_eq(record.values[RECORD_TSC], load.tsc);
	cr_expect_eq(pebs_write(&fixture.unit, MSR_PEBS_LD_LAT_THRESHOLD, 30), -EINVAL, "no such facility");
	cr_expect_eq(pebs_write(&fixture.unit, MSR_IA32_PEBS_ENABLE, 0x100000001), -EINVAL);
}

/*
 * For any precise event, the record has the address that the counted instruction accessed. A store does not
 * set the L1D bit.
 */
Test(model_address_only, goldmont_records_it_for_any_precise_event)
{
	static const u64 selects[] = {0x00c0, 0x82d0, 0x83d0};

	for (size_t i = 0; i < 3; i++) {
		struct retired store = STORE;

		store.place = PLACE_L1;
		pebs_fixture_start("goldmont", selects[i] | COUNTING, 1);
		pebs_fixture_retire(store, 1);
		cr_assert_eq(pebs_fixture_records(), 1);
		cr_expect_eq(pebs_fixture_record(0).values[RECORD_ADDRESS], store.address);
		cr_expect_eq(pebs_fixture_record(0).values[RECORD_SOURCE], 0);
	}
}

Test(model_address_only, an_instruction_without_an_access_has_no_address)
{
	pebs_fixture_start("goldmont", 0x00c0 | COUNTING, 2);
	pebs_fixture_retire(LOAD(10), 1);
	pebs_fixture_retire(INSTRUCTION, 1);
	cr_assert_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_ADDRESS], 0);
}
