// SPDX-License-Identifier: GPL-2.0
/*
 * The data source that the driver makes from the registers of an IBS operation, and its agreement with the
 * model's own decoding.
 */
#include <criterion/criterion.h>

#include "model/ibs_source.h"

#define LOAD_MISS (IBS_DATA3_LOAD | IBS_DATA3_MISS | IBS_DATA3_L2_MISS)

static const enum ibs_driver drivers[] = {IBS_DRIVER_6_1, IBS_DRIVER_6_12};

static const struct ibs_machine *zen(int generation)
{
	return ibs_machine_find(generation == 3 ? "zen3" : "zen5");
}

/*
 * The values are derived by hand from arch/x86/events/amd/ibs.c. The bits are those of
 * include/uapi/linux/perf_event.h.
 */
Test(model_ibs_source, the_value_equals_that_of_the_driver)
{
	static const struct {
		int generation;
		enum ibs_driver driver;
		u64 data2, data3, value;
	} table[] = {
		/* PERF_MEM_NA, with and without a level number */
		{3, IBS_DRIVER_6_1, 0, 0, 0x5080021},
		{3, IBS_DRIVER_6_12, 0, 0, 0x1e05080021},
		/* a load that hit L1, address translated by the first TLB: op 2, lvl 0xa, TLB 0xa */
		{3, IBS_DRIVER_6_1, 0, IBS_DATA3_LOAD | IBS_DATA3_LINEAR_VALID, 0x29080142},
		{5, IBS_DRIVER_6_12, 0, IBS_DATA3_LOAD | IBS_DATA3_LINEAR_VALID, 0x229080142},
		/* local memory: lvl 0x82 */
		{3, IBS_DRIVER_6_1, IBS_SOURCE_DRAM, LOAD_MISS, 0x5081042},
		{5, IBS_DRIVER_6_12, IBS_SOURCE_DRAM, LOAD_MISS, 0x1a05081042},
		/* memory of another node: lvl 0x102, remote, hops 2 */
		{5, IBS_DRIVER_6_12, IBS_SOURCE_DRAM | IBS_DATA2_REMOTE, LOAD_MISS, 0x103a05082042},
		/* before Zen 4 "caches of this node": lvl 0x442; any cache, hops 1 */
		{3, IBS_DRIVER_6_1, IBS_SOURCE_LOCAL_CACHE, LOAD_MISS, 0x5088842},
		{3, IBS_DRIVER_6_12, IBS_SOURCE_LOCAL_CACHE, LOAD_MISS, 0x81605088842},
		/* modified in a far core complex: lvl 0x802, HITM 0x10 */
		{5, IBS_DRIVER_6_12, IBS_SOURCE_ZEN4_FAR_CACHE, LOAD_MISS, 0x103605810042},
		/* I/O on 6.1: lvl 0x1000 without PERF_MEM_LVL_HIT, lvl_num 0xa */
		{5, IBS_DRIVER_6_1, IBS_SOURCE_IO, LOAD_MISS, 0x14050a0002},
		/*
		 * If a miss was already in progress, the source of Zen 3 is not reliable (erratum 1293). The
		 * source of Zen 5 is reliable.
		 */
		{3, IBS_DRIVER_6_12, IBS_SOURCE_DRAM, LOAD_MISS | IBS_DATA3_NO_BUFFER, 0x1805080242},
		{5, IBS_DRIVER_6_12, IBS_SOURCE_DRAM, LOAD_MISS | IBS_DATA3_NO_BUFFER, 0x1a05081042},
		/* a locked store */
		{5, IBS_DRIVER_6_1, 0, IBS_DATA3_STORE | IBS_DATA3_LOCKED, 0x6080144},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		cr_expect_eq(ibs_data_src(zen(table[i].generation), table[i].data2, table[i].data3,
					  table[i].driver),
			     table[i].value, "row %zu: %#llx", i,
			     (unsigned long long)ibs_data_src(zen(table[i].generation), table[i].data2,
							      table[i].data3, table[i].driver));
}

/*
 * The bits of IBS_OP_DATA3 that matter. The test below tries all their combinations, for all machines and
 * drivers: bit i of its `bits` selects entry i.
 */
static const u64 data3_bits[] = {
	IBS_DATA3_LOAD,         IBS_DATA3_STORE,       IBS_DATA3_L1_TLB_MISS,      IBS_DATA3_L2_TLB_MISS,
	IBS_DATA3_MISS,         IBS_DATA3_UNCACHEABLE, IBS_DATA3_LOCKED,           IBS_DATA3_NO_BUFFER,
	IBS_DATA3_LINEAR_VALID, IBS_DATA3_L2_MISS,     IBS_DATA3_SOFTWARE_PREFETCH};

#define DATA3_BITS (sizeof(data3_bits) / sizeof(data3_bits[0]))

#define AND_SAME_FLAG(name) &&data_source_##name(value) == words.name

static void expect_words(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver)
{
	u64 value = ibs_data_src(machine, data2, data3, driver);
	struct load_source words;

	ibs_source_decode(machine, data2, data3, driver, &words);
	cr_assert(data_source_source(value) == words.source && data_source_snoop(value) == words.snoop &&
			  data_source_tlb(value) == words.tlb LOAD_SOURCE_FLAGS(AND_SAME_FLAG),
		  "%s, driver %d, data2 %#llx, data3 %#llx: %#llx; source %d and %d", machine->name,
		  (int)driver, (unsigned long long)data2, (unsigned long long)data3,
		  (unsigned long long)value, (int)data_source_source(value), (int)words.source);
	cr_assert_eq(value & 0x1f, (u64)ibs_operation(data3));
}

Test(model_ibs_source, the_value_means_the_words_of_the_model)
{
	for (size_t m = 0; m < ibs_machines_count; m++)
		for (u32 bits = 0; bits < 1U << DATA3_BITS; bits++) {
			u64 data3 = 0;

			for (size_t i = 0; i < DATA3_BITS; i++)
				data3 |= bits >> i & 1 ? data3_bits[i] : 0;
			for (u64 data2 = 0; data2 < 0x100; data2++)
				for (size_t d = 0; d < IBS_DRIVERS; d++)
					expect_words(&ibs_machines[m], data2, data3, drivers[d]);
		}
}

/* The source and snoop that pebsd reports for each place, starting from the operation. */
Test(model_ibs_source, each_place_has_a_value)
{
	static const struct {
		int generation;
		enum place place;
		enum snoop_result found;
		enum source source;
		enum snoop snoop;
	} table[] = {
		{3, PLACE_L1, SNOOPED_NONE, SOURCE_L1, SNOOP_NA},
		{3, PLACE_FILL_BUFFER, SNOOPED_NONE, SOURCE_LFB, SNOOP_NA},
		{3, PLACE_L2, SNOOPED_NONE, SOURCE_L2, SNOOP_NA},
		{3, PLACE_L3, SNOOPED_NONE, SOURCE_LOCAL_CACHE, SNOOP_NA},
		{3, PLACE_L3, SNOOPED_MODIFIED, SOURCE_LOCAL_CACHE, SNOOP_NA},
		{3, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, SOURCE_REMOTE_CACHE, SNOOP_NA},
		{3, PLACE_LOCAL_DRAM, SNOOPED_MISS, SOURCE_LOCAL_DRAM, SNOOP_NA},
		{3, PLACE_REMOTE_DRAM, SNOOPED_MISS, SOURCE_REMOTE_DRAM, SNOOP_NA},
		{3, PLACE_IO, SNOOPED_NONE, SOURCE_IO, SNOOP_NA},
		{3, PLACE_UNCACHED, SNOOPED_NONE, SOURCE_UNCACHED, SNOOP_NA},
		{5, PLACE_L1, SNOOPED_NONE, SOURCE_L1, SNOOP_NA},
		{5, PLACE_FILL_BUFFER, SNOOPED_NONE, SOURCE_LFB, SNOOP_NA},
		{5, PLACE_L2, SNOOPED_NONE, SOURCE_L2, SNOOP_NA},
		{5, PLACE_L3, SNOOPED_NONE, SOURCE_L3, SNOOP_NA},
		{5, PLACE_L3, SNOOPED_HIT, SOURCE_LOCAL_CACHE, SNOOP_NA},
		{5, PLACE_L3, SNOOPED_MODIFIED, SOURCE_LOCAL_CACHE, SNOOP_HITM},
		{5, PLACE_REMOTE_CACHE, SNOOPED_HIT, SOURCE_REMOTE_CACHE, SNOOP_NA},
		{5, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, SOURCE_REMOTE_CACHE, SNOOP_HITM},
		{5, PLACE_LOCAL_DRAM, SNOOPED_MISS, SOURCE_LOCAL_DRAM, SNOOP_NA},
		{5, PLACE_REMOTE_DRAM, SNOOPED_MISS, SOURCE_REMOTE_DRAM, SNOOP_NA},
		{5, PLACE_IO, SNOOPED_NONE, SOURCE_IO, SNOOP_NA},
		{5, PLACE_UNCACHED, SNOOPED_NONE, SOURCE_UNCACHED, SNOOP_NA},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct ibs_machine *machine = zen(table[i].generation);
		const struct retired load = {.operation = OPERATION_LOAD,
					     .address = 64,
					     .latency = 500,
					     .instruction_latency = 510,
					     .place = (u8)table[i].place,
					     .snoop = (u8)table[i].found};
		struct load_source words;
		struct ibs_unit unit;

		ibs_open(&unit, machine, 1);
		cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, IBS_CTL_ENABLE | IBS_CTL_COUNT_OPS | 1), 0);
		ibs_pass(&unit, 15);
		cr_assert(ibs_retire(&unit, &load));
		ibs_source_decode(machine, unit.registers[IBS_OP_DATA2 - IBS_OP_CTL],
				  unit.registers[IBS_OP_DATA3 - IBS_OP_CTL], IBS_DRIVER_6_12, &words);
		cr_expect_eq(words.source, table[i].source, "row %zu: %d", i, (int)words.source);
		cr_expect_eq(words.snoop, table[i].snoop, "row %zu: %d", i, (int)words.snoop);
		cr_expect_eq(words.tlb, TLB_L1_HIT);
	}
}

Test(model_ibs_source, only_loads_that_missed_have_a_latency)
{
	u64 cycles = 300ULL << IBS_DATA3_LATENCY_SHIFT;
	u32 latency = 0;

	cr_expect_not(ibs_miss_latency(cycles | IBS_DATA3_LOAD, &latency));
	cr_expect_not(ibs_miss_latency(cycles | IBS_DATA3_STORE | IBS_DATA3_MISS, &latency));
	cr_expect_not(ibs_miss_latency(cycles | IBS_DATA3_MISS, &latency));
	cr_expect(ibs_miss_latency(cycles | IBS_DATA3_LOAD | IBS_DATA3_MISS, &latency));
	cr_expect_eq(latency, 300);
}
