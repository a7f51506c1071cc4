// SPDX-License-Identifier: GPL-2.0
/* The load latency facility: manual 18.8.1.2 and 18.9.4.2. */
#include <criterion/criterion.h>
#include <string.h>

#include "model/load_source.h"
#include "pebs_fixture.h"

#define NEHALEM_EVENT (0x100b | COUNTING)
#define LOAD_LATENCY  (0x01cd | COUNTING)
#define STORE_LATENCY (0x02cd | COUNTING)
#define LOADS_AUX     (0x8203 | COUNTING)

static void open_facility(const char *machine, u64 select, u64 enable, u64 threshold, u64 events)
{
	pebs_fixture_open(machine);
	pebs_fixture_write(MSR_PEBS_LD_LAT_THRESHOLD, threshold);
	pebs_fixture_reset(0, events);
	pebs_fixture_program(0, select, events);
	pebs_fixture_enable(enable, 1);
}

/* 18.8.1.2: latencies above the threshold count, and a latency equal to it does not. Stores are ignored. */
Test(model_load_latency, latency_strictly_greater_than_the_threshold_counts)
{
	struct retired slow_store = STORE;

	slow_store.latency = 500;
	open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 30, 1ULL << 20);
	pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
	pebs_fixture_retire(LOAD(30), 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0);
	pebs_fixture_retire(slow_store, 10);
	pebs_fixture_retire(INSTRUCTION, 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0);
	pebs_fixture_retire(LOAD(31), 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 10);
}

/*
 * 18.8.1.2: 3 is the lowest useful threshold, because no load takes less than 4 cycles. Linux writes 0 for
 * ldlat=0, and hardware accepts it.
 */
Test(model_load_latency, threshold_below_the_minimum_acts_as_3)
{
	for (u64 threshold = 0; threshold <= 3; threshold++) {
		open_facility("nehalem", NEHALEM_EVENT, 0x100000001, threshold, 1ULL << 20);
		pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
		cr_expect_eq(pebs_fixture_read(MSR_PEBS_LD_LAT_THRESHOLD), threshold);
		for (u32 latency = 0; latency <= 5; latency++)
			pebs_fixture_retire(LOAD(latency), 1);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 2, "4 and 5");
	}
}

/* 18.8.1.2: both the counter's bit and its LL_EN bit are needed, 00000001_00000001H for counter 0. */
Test(model_load_latency, both_pebs_en_and_ll_en_bits_are_required)
{
	static const struct {
		u64 enable, counted;
	} table[] = {{0, 0}, {1, 0}, {0x100000000, 0}, {0x200000001, 0}, {0x100000001, 5}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		open_facility("nehalem", NEHALEM_EVENT, table[i].enable, 3, 1ULL << 20);
		pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
		pebs_fixture_retire(LOAD(100), 5);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), table[i].counted, "%#llx",
			     (unsigned long long)table[i].enable);
	}
}

/* Adaptive PEBS uses the LL_EN bits for fixed counters, so the PEBS bit is sufficient (ds.c, Linux 6.1). */
Test(model_load_latency, adaptive_pebs_has_no_ll_en_bits)
{
	open_facility("icelake", LOAD_LATENCY, 1, 3, 1ULL << 20);
	pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
	pebs_fixture_retire(LOAD(100), 5);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 5);
}

/* On Sandy Bridge, only counter 3 counts the event. */
Test(model_load_latency, the_event_counts_on_the_counters_of_its_generation)
{
	for (u32 counter = 0; counter < 4; counter++) {
		pebs_fixture_open("sandybridge");
		pebs_fixture_program(counter, LOAD_LATENCY, 1ULL << 20);
		pebs_write(&fixture.unit, MSR_IA32_PMC0 + counter, 0);
		pebs_fixture_enable(0xf0000000fULL, 0xf);
		pebs_fixture_retire(LOAD(100), 5);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + counter), counter == 3 ? 5 : 0);
	}
}

/*
 * 18.8.1.2: a counter mask or inversion makes the event undefined. pebs_undefined() reports it, and the
 * counter does not count.
 */
Test(model_load_latency, cmask_and_inv_must_be_0)
{
	static const u64 wrong[] = {EVTSEL_INV, 1ULL << 24, EVTSEL_CMASK, EVTSEL_INV | 1ULL << 24};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		open_facility("nehalem", NEHALEM_EVENT | wrong[i], 0x100000001, 3, 1);
		cr_assert_not_null(pebs_undefined(&fixture.unit));
		cr_expect_not_null(strstr(pebs_undefined(&fixture.unit), "CMASK"));
		pebs_fixture_retire(LOAD(100), 5);
		cr_expect_eq(fixture.unit.records, 0);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0xffffffffffffULL);
	}
	open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 3, 1);
	cr_expect_null(pebs_undefined(&fixture.unit));
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, 0x010b | COUNTING | 1ULL << 24);
	cr_expect_null(pebs_undefined(&fixture.unit), "a counter mask is another event's right");
}

/*
 * 18.8.1.2: the sample-after value says how many tagged loads make a record. It influences neither the choice
 * of the tagged loads nor their number.
 */
Test(model_load_latency, sav_is_orthogonal_to_tagging)
{
	u64 tagged[2];

	for (u32 i = 0; i < 2; i++) {
		struct ds_area area;
		u64 every = i ? 20 : 5; /* sample-after value; a record takes one more */

		open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 3, every);
		fixture.unit.tag_interval = 10;
		tagged[i] = 0;
		for (u32 loads = 0; loads < 100000; loads++) {
			struct retired load = LOAD(4);

			load.tsc = 100 + 10ULL * loads;
			pebs_fixture_retire(load, 1);
			area = pebs_fixture_area();
			area.index = area.base;
			pebs_fixture_set_area(&area);
		}
		tagged[i] = fixture.unit.records * (every + 1);
		cr_expect_gt(tagged[i], 9500, "%llu", (unsigned long long)tagged[i]);
		cr_expect_lt(tagged[i], 10500, "%llu", (unsigned long long)tagged[i]);
	}
}

/* Tagging is random with a mean interval, and the same seed gives the same result. */
Test(model_load_latency, tagging_is_random_with_a_mean_interval)
{
	static u64 counts[80001];
	u64 shortest = ~0ULL, longest = 0, tags = 0;

	for (u32 run = 0; run < 2; run++) {
		u64 last = 0;

		open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 3, 1ULL << 20);
		pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
		fixture.unit.tag_interval = 80;
		tags = 0;
		for (u64 loads = 1; loads <= 80000; loads++) {
			struct retired load = LOAD(5);

			load.tsc = 100 * loads;
			pebs_fixture_retire(load, 1);
			cr_assert(run == 0 || counts[loads] == fixture.unit.general[0].count);
			counts[loads] = fixture.unit.general[0].count;
			if (counts[loads] == tags)
				continue;
			tags = counts[loads];
			shortest = loads - last < shortest ? loads - last : shortest;
			longest = loads - last > longest ? loads - last : longest;
			last = loads;
		}
	}
	cr_expect_gt(tags, 900, "%llu", (unsigned long long)tags);
	cr_expect_lt(tags, 1100, "%llu", (unsigned long long)tags);
	cr_expect_lt(shortest, 20);
	cr_expect_gt(longest, 130);
}

/*
 * Only one load in flight can be tagged: loads that are dispatched while a tagged one is in flight are not
 * tagged.
 */
Test(model_load_latency, one_tagged_load_in_flight_at_a_time)
{
	struct retired load = LOAD(1000);

	open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 3, 1ULL << 20);
	pebs_write(&fixture.unit, MSR_IA32_PMC0, 0);
	fixture.unit.tag_interval = 2;
	/*
	 * One load retires each cycle after 1000 cycles in flight: after a tag, the next 1000 cannot be
	 * tagged.
	 */
	for (load.tsc = 5000; load.tsc < 15000; load.tsc++)
		pebs_fixture_retire(load, 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 10);
}

/*
 * 18.8.1.2: the record describes the tagged load above the threshold that retired last before the assist. The
 * assist of another counter captures it as well.
 */
Test(model_load_latency, the_last_tagged_load_is_captured)
{
	struct retired load = LOAD(200);
	struct record record;

	open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 30, 1ULL << 20);
	pebs_fixture_program(1, 0x00c0 | COUNTING, 4);
	pebs_fixture_enable(0x100000003, 3);

	load.place = PLACE_REMOTE_CACHE;
	load.snoop = SNOOPED_HIT;
	pebs_fixture_retire(load, 1);
	load.latency = 300;
	load.place = PLACE_LOCAL_DRAM;
	load.address = 0x7f00aaaabbb8;
	pebs_fixture_retire(load, 1);
	pebs_fixture_retire(LOAD(12), 1); /* below the threshold */
	pebs_fixture_retire(INSTRUCTION, 2);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_ADDRESS], 0x7f00aaaabbb8);
	cr_expect_eq(record.values[RECORD_LATENCY], 300);
	cr_expect_eq(record.values[RECORD_SOURCE], load_source_encode(fixture.unit.machine, &load));
	cr_expect_eq(record.values[RECORD_IP], 0x1004, "the registers are the other counter's instruction's");
}

/* If the facility is off, there is no tagged load to capture. */
Test(model_load_latency, a_record_without_the_facility_has_no_load)
{
	open_facility("nehalem", NEHALEM_EVENT, 0x100000001, 30, 1ULL << 20);
	pebs_fixture_program(1, 0x00c0 | COUNTING, 4);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 3);
	pebs_fixture_retire(LOAD(200), 2);
	cr_expect(fixture.unit.tagged.valid);
	pebs_fixture_write(MSR_IA32_PEBS_ENABLE, 2);
	pebs_fixture_retire(INSTRUCTION, 3);
	cr_assert_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_ADDRESS], 0);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_LATENCY], 0);
}

/* Bytes AFH:98H of a record that the facility itself makes. */
Test(model_load_latency, a_record_has_address_latency_and_source_of_the_load)
{
	static const char *const names[] = {"nehalem", "haswell", "skylake"};

	for (size_t i = 0; i < 3; i++) {
		struct retired load = LOAD(70000);
		struct record record;

		open_facility(names[i], i ? LOAD_LATENCY : NEHALEM_EVENT, 0x100000001, 3, 1);
		load.place = PLACE_L3;
		load.snoop = SNOOPED_MODIFIED;
		load.tsc = 1000000;
		pebs_fixture_retire(load, 2);
		cr_assert_eq(pebs_fixture_records(), 1);
		record = pebs_fixture_record(0);
		cr_expect_eq(record.values[RECORD_ADDRESS], load.address);
		cr_expect_eq(record.values[RECORD_LATENCY], 70000);
		cr_expect_neq(record.values[RECORD_SOURCE], 0);
		cr_expect_eq(record.values[RECORD_SOURCE], load_source_encode(fixture.unit.machine, &load));
		cr_expect_eq(record.values[RECORD_IP], load.next_ip);
		if (i)
			cr_expect_eq(record.values[RECORD_EVENTING_IP], load.ip);
		if (i == 2)
			cr_expect_eq(record.values[RECORD_TSC], 1000000);
	}
}

/* Golden Cove: the threshold applies to the instruction latency. The field has both latencies. */
Test(model_load_latency, latency_split_threshold_acts_on_instruction_latency)
{
	struct retired load = LOAD(5);
	struct record record;

	pebs_fixture_open("sapphirerapids");
	pebs_fixture_write(MSR_PEBS_DATA_CFG, 1);
	pebs_fixture_write(MSR_PEBS_LD_LAT_THRESHOLD, 31);
	pebs_fixture_program(0, LOADS_AUX, 1ULL << 20);
	pebs_fixture_program(1, LOAD_LATENCY | EVTSEL_ADAPTIVE, 1);
	pebs_fixture_reset(1, 1);
	pebs_fixture_enable(2, 3);

	load.instruction_latency = 31;
	pebs_fixture_retire(load, 5);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 1), 0xffffffffffffULL);
	load.instruction_latency = 33;
	pebs_fixture_retire(load, 2);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_LATENCY], 0x500000021);
	load.latency = 0x12345;
	load.instruction_latency = 0x23456;
	pebs_fixture_retire(load, 2);
	record = pebs_fixture_record(1);
	cr_expect_eq(record.values[RECORD_LATENCY], 0xffff0000ffff);
}

/* Sapphire Rapids: without the auxiliary event, the record has no data source. */
Test(model_load_latency, without_the_auxiliary_event_there_is_no_data_source)
{
	for (u32 with = 0; with < 2; with++) {
		struct retired load = LOAD(50);

		load.place = PLACE_L2;
		pebs_fixture_open("sapphirerapids");
		pebs_fixture_write(MSR_PEBS_DATA_CFG, 1);
		pebs_fixture_program(0, with ? LOADS_AUX : 0, 1ULL << 20);
		pebs_fixture_program(1, LOAD_LATENCY | EVTSEL_ADAPTIVE, 1);
		pebs_fixture_enable(2, 3);
		pebs_fixture_retire(load, 2);
		cr_assert_eq(pebs_fixture_records(), 1);
		cr_expect_eq(pebs_fixture_record(0).values[RECORD_SOURCE],
			     with ? load_source_encode(fixture.unit.machine, &load) : 0);
		cr_expect_eq(pebs_fixture_record(0).values[RECORD_ADDRESS], load.address);
	}
}

/* Without EVTSEL_ADAPTIVE, an adaptive record has only its basic group. */
Test(model_load_latency, adaptive_records_have_the_groups_that_the_counter_requests)
{
	open_facility("icelake", LOAD_LATENCY, 1, 3, 1);
	pebs_fixture_write(MSR_PEBS_DATA_CFG, 1);
	pebs_fixture_retire(LOAD(10), 2);
	cr_expect_eq(pebs_fixture_area().index - FIXTURE_BUFFER, 0x20);
	pebs_fixture_buffer(FIXTURE_RECORDS, FIXTURE_RECORDS);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, LOAD_LATENCY | EVTSEL_ADAPTIVE);
	pebs_fixture_retire(LOAD(10), 2);
	cr_expect_eq(pebs_fixture_area().index - FIXTURE_BUFFER, 0x40);
}

/*
 * Granite Rapids reports the time between the retirements of an instruction and the one before it. Sapphire
 * Rapids does not (IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO, intel_pmu_init() in core.c, Linux 6.12).
 */
Test(model_load_latency, retire_latency_is_the_time_since_the_last_instruction)
{
	static const struct {
		const char *machine;
		u64 told;
	} table[] = {{"sapphirerapids", 0}, {"graniterapids", 77}};

	for (size_t i = 0; i < 2; i++) {
		struct retired store = STORE;

		pebs_fixture_open(table[i].machine);
		pebs_fixture_write(MSR_PEBS_DATA_CFG, 1);
		pebs_fixture_program(0, STORE_LATENCY | EVTSEL_ADAPTIVE, 2);
		pebs_fixture_enable(1, 1);
		pebs_fixture_retire(store, 1);
		store.tsc += 77;
		pebs_fixture_retire(store, 1);
		cr_assert_eq(pebs_fixture_records(), 1);
		cr_expect_eq(pebs_fixture_record(0).values[RECORD_RETIRE_LATENCY], table[i].told, "%s",
			     table[i].machine);
	}
}

/* Golden Cove's store latency: counter 0 counts any store, and the record is that of the store. */
Test(model_load_latency, store_latency_records_the_store)
{
	struct retired store = STORE;
	struct record record;

	store.latency = 300;
	store.instruction_latency = 310;
	store.place = PLACE_L3;
	pebs_fixture_open("sapphirerapids");
	pebs_fixture_write(MSR_PEBS_DATA_CFG, 1);
	pebs_fixture_program(0, STORE_LATENCY | EVTSEL_ADAPTIVE, 1);
	pebs_fixture_enable(1, 1);
	pebs_fixture_retire(LOAD(400), 5);
	pebs_fixture_retire(store, 2);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_ADDRESS], store.address);
	cr_expect_eq(record.values[RECORD_LATENCY], 300ULL << 32 | 310);
	cr_expect_eq(record.values[RECORD_SOURCE], load_source_encode(fixture.unit.machine, &store));
}
