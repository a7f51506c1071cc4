// SPDX-License-Identifier: GPL-2.0
/*
 * The IBS unit: the operation that it tags, the contents of its registers, and the samples that its filters
 * keep.
 */
#include <criterion/criterion.h>

#include "model/ibs.h"

#define ENABLED    (IBS_CTL_ENABLE | IBS_CTL_COUNT_OPS)
#define PERIOD(n)  ((u64)(n) >> 4)
#define ALU_AT(at) ((struct retired){.ip = (at), .tsc = 1, .uops = 1})

static struct ibs_unit opened(const char *name, u64 control)
{
	struct ibs_unit unit;

	ibs_open(&unit, ibs_machine_find(name), 7);
	cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, control), 0);
	return unit;
}

static u64 reading(const struct ibs_unit *unit, u32 msr)
{
	u64 value = 0;

	cr_assert_eq(ibs_read(unit, msr, &value), 0);
	return value;
}

static struct retired load_from(enum place place, u32 latency)
{
	return (struct retired){.ip = 0x401000,
				.address = 0x7f0000001040,
				.tsc = 10,
				.latency = latency,
				.instruction_latency = latency + 20,
				.operation = OPERATION_LOAD,
				.place = (u8)place,
				.uops = 1};
}

/* Passes time until the unit tags the next operation, and retires `operation`, which is tagged. */
static bool sample(struct ibs_unit *unit, const struct retired *operation)
{
	ibs_pass(unit, ~0ULL);
	cr_assert_eq(ibs_left(unit), 1);
	return ibs_retire(unit, operation);
}

Test(model_ibs, tags_the_operation_at_the_end_of_the_period)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));

	cr_expect_eq(ibs_left(&unit), 160);
	for (u64 i = 1; i < 160; i++)
		cr_assert_not(ibs_retire(&unit, &ALU_AT(i)));
	cr_expect_eq(ibs_left(&unit), 1);
	cr_expect(ibs_retire(&unit, &ALU_AT(160)));
	cr_expect_eq(reading(&unit, IBS_OP_RIP), 160);
	cr_expect(reading(&unit, IBS_OP_CTL) & IBS_CTL_VALID);
	cr_expect_eq(unit.samples, 1);
}

Test(model_ibs, tags_nothing_while_a_sample_waits)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(16));

	cr_assert(sample(&unit, &ALU_AT(1)));
	cr_expect_eq(ibs_left(&unit), 0);
	cr_expect_eq(ibs_pass(&unit, 100), 0);
	for (u64 i = 0; i < 100; i++)
		cr_assert_not(ibs_retire(&unit, &ALU_AT(2)));
	cr_expect_eq(reading(&unit, IBS_OP_RIP), 1);
}

Test(model_ibs, counts_nothing_unless_enabled)
{
	struct ibs_unit unit = opened("zen3", IBS_CTL_COUNT_OPS | PERIOD(160));

	cr_expect_eq(ibs_left(&unit), 0);
	cr_expect_eq(ibs_pass(&unit, 1000), 0);
	cr_expect_not(ibs_retire(&unit, &ALU_AT(1)));
}

Test(model_ibs, passes_time_up_to_the_last_operation)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(1600));

	cr_expect_eq(ibs_pass(&unit, 1000), 1000);
	cr_expect_eq(ibs_left(&unit), 600);
	cr_expect_eq(ibs_pass(&unit, 1000), 599);
	cr_expect_eq(ibs_left(&unit), 1);
}

/* Bits 26:20 of the maximum count are bits 26:20 of the register. */
Test(model_ibs, counts_up_to_27_bits)
{
	struct ibs_unit unit = opened("zen3", ENABLED | 1ULL << 26 | 0xffff);

	cr_expect_eq(ibs_left(&unit), (1U << 26) + 0xffff0);
	cr_expect_eq(ibs_pass(&unit, ~0ULL), (1U << 26) + 0xffff0 - 1);
}

Test(model_ibs, the_next_count_starts_at_a_random_seven_bit_value)
{
	struct ibs_unit unit = opened("zen3", 0);
	bool seen[128] = {false};
	unsigned different = 0;

	for (int i = 0; i < 2000; i++) {
		u64 count;

		cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, ENABLED | PERIOD(160)), 0);
		cr_assert(sample(&unit, &ALU_AT(1)));
		count = (reading(&unit, IBS_OP_CTL) & IBS_CTL_COUNT) >> IBS_CTL_COUNT_SHIFT;
		cr_assert(count > 0 && count < 128, "%llu", (unsigned long long)count);
		different += !seen[count];
		seen[count] = true;
	}
	cr_expect_gt(different, 120);
}

/* The driver writes the count back, which shortens the next period by this count. */
Test(model_ibs, starts_from_the_count_that_is_written)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160) | 100ULL << IBS_CTL_COUNT_SHIFT);

	cr_expect_eq(ibs_left(&unit), 60);
	cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, ENABLED | PERIOD(16) | 100ULL << IBS_CTL_COUNT_SHIFT), 0);
	cr_expect_eq(ibs_left(&unit), 1);
}

/* Only one of the operations of this instruction accesses memory. */
Test(model_ibs, tags_any_operation_of_an_instruction)
{
	struct retired add = load_from(PLACE_L2, 30);
	unsigned loads = 0;

	add.uops = 8;
	add.locked = true;
	for (u64 phase = 0; phase < 8; phase++) {
		struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));

		ibs_pass(&unit, 150 + phase);
		while (!ibs_retire(&unit, &add))
			;
		cr_expect_eq(reading(&unit, IBS_OP_RIP), add.ip);
		loads += !!(reading(&unit, IBS_OP_DATA3) & IBS_DATA3_LOAD);
	}
	cr_expect_eq(loads, 1);
}

Test(model_ibs, counts_cycles_without_the_bit_for_operations)
{
	struct ibs_unit unit = opened("zen3", IBS_CTL_ENABLE | PERIOD(160));
	struct retired slow = ALU_AT(5);

	slow.tsc = 1000;
	cr_expect_not(ibs_retire(&unit, &slow), "nothing is known of the time before the first one");
	slow.tsc = 1100;
	cr_expect_not(ibs_retire(&unit, &slow));
	cr_expect_eq(ibs_left(&unit), 60);
	slow.tsc = 1161;
	cr_expect(ibs_retire(&unit, &slow));
}

Test(model_ibs, a_load_is_recorded)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));
	struct retired load = load_from(PLACE_LOCAL_DRAM, 304);
	u64 data3;

	load.translated = TRANSLATED_WALK;
	cr_assert(sample(&unit, &load));
	data3 = reading(&unit, IBS_OP_DATA3);
	cr_expect_eq(data3 & 0xffff,
		     IBS_DATA3_LOAD | IBS_DATA3_L1_TLB_MISS | IBS_DATA3_L2_TLB_MISS | IBS_DATA3_MISS);
	cr_expect(data3 & IBS_DATA3_L2_MISS);
	cr_expect_eq(data3 >> 32 & 0xffff, 300, "from the miss on, 4 cycles after the start");
	cr_expect_eq(reading(&unit, IBS_DC_LINEAR_ADDRESS), load.address);
	cr_expect_eq(reading(&unit, IBS_OP_DATA2), IBS_SOURCE_DRAM);
	cr_expect_eq(reading(&unit, IBS_OP_DATA) >> 16, 324);
	cr_expect_eq(reading(&unit, IBS_OP_DATA) & 0xffff, 20);
}

/*
 * The register has 44 bits of the address. If the physical address is unknown, the linear one is used
 * instead.
 */
Test(model_ibs, the_physical_address_is_recorded)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));
	struct retired load = load_from(PLACE_L2, 30);

	cr_assert(sample(&unit, &load));
	cr_expect_eq(reading(&unit, IBS_DC_PHYSICAL_ADDRESS), 0x0f0000001040);
	cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, ENABLED | PERIOD(160)), 0);
	load.physical = 0xf12345678040ULL;
	cr_assert(sample(&unit, &load));
	cr_expect_eq(reading(&unit, IBS_DC_PHYSICAL_ADDRESS), 0x012345678040);
	cr_expect_eq(reading(&unit, IBS_DC_LINEAR_ADDRESS), load.address);
}

Test(model_ibs, a_load_that_hits_has_no_latency)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));
	struct retired load = load_from(PLACE_L1, 5);

	cr_assert(sample(&unit, &load));
	cr_expect_eq(reading(&unit, IBS_OP_DATA3),
		     IBS_DATA3_LOAD | IBS_DATA3_LINEAR_VALID | IBS_DATA3_PHYSICAL_VALID);
}

Test(model_ibs, a_latency_is_cut_to_its_field)
{
	struct ibs_unit unit = opened("zen3", ENABLED | PERIOD(160));
	struct retired load = load_from(PLACE_IO, 1U << 20);

	cr_assert(sample(&unit, &load));
	cr_expect_eq(reading(&unit, IBS_OP_DATA3) >> 32 & 0xffff, 0xffff);
	cr_expect_eq(reading(&unit, IBS_OP_DATA) >> 16, 0xffff);
}

Test(model_ibs, a_store_has_neither_latency_nor_source)
{
	struct ibs_unit unit = opened("zen5", ENABLED | PERIOD(160));
	struct retired store = load_from(PLACE_REMOTE_DRAM, 700);

	store.operation = OPERATION_STORE;
	cr_assert(sample(&unit, &store));
	cr_expect_eq(reading(&unit, IBS_OP_DATA3), IBS_DATA3_STORE | IBS_DATA3_MISS | IBS_DATA3_L2_MISS |
							   IBS_DATA3_LINEAR_VALID | IBS_DATA3_PHYSICAL_VALID);
	cr_expect_eq(reading(&unit, IBS_OP_DATA2), 0);
}

Test(model_ibs, an_operation_without_access_clears_the_access)
{
	struct ibs_unit unit = opened("zen5", ENABLED | PERIOD(160));
	struct retired load = load_from(PLACE_L2, 30);

	cr_assert(sample(&unit, &load));
	cr_assert_eq(ibs_write(&unit, IBS_OP_CTL, ENABLED | PERIOD(160)), 0);
	cr_assert(sample(&unit, &ALU_AT(9)));
	cr_expect_eq(reading(&unit, IBS_OP_DATA3), 0);
	cr_expect_eq(reading(&unit, IBS_DC_LINEAR_ADDRESS), 0);
}

Test(model_ibs, only_l3_misses_are_sampled_if_requested)
{
	static const struct {
		enum place place;
		enum snoop_result snoop;
		bool told;
	} table[] = {
		{PLACE_L1, SNOOPED_NONE, false},          {PLACE_L2, SNOOPED_NONE, false},
		{PLACE_FILL_BUFFER, SNOOPED_NONE, false}, {PLACE_L3, SNOOPED_NONE, false},
		{PLACE_L3, SNOOPED_MISS, false},          {PLACE_L3, SNOOPED_MODIFIED, true},
		{PLACE_REMOTE_CACHE, SNOOPED_HIT, true},  {PLACE_LOCAL_DRAM, SNOOPED_MISS, true},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ibs_unit unit = opened("zen5", ENABLED | IBS_CTL_L3_MISS_ONLY | PERIOD(160));
		struct retired load = load_from(table[i].place, 500);

		load.snoop = (u8)table[i].snoop;
		cr_expect_eq(sample(&unit, &load), table[i].told, "row %zu", i);
		cr_expect_eq(unit.filtered, !table[i].told);
		/* A dropped sample restarts the count. A reported sample stops it. */
		cr_expect_eq(ibs_left(&unit) > 1, !table[i].told);
	}
}

Test(model_ibs, a_threshold_keeps_loads_that_exceed_it)
{
	/* The threshold is 128 * (the field's value + 1). */
	u64 control = ENABLED | IBS_CTL_LATENCY_ENABLE | 2ULL << IBS_CTL_LATENCY_SHIFT | PERIOD(160);
	struct retired load = load_from(PLACE_L2, 384 + 4);
	struct ibs_unit unit = opened("zen5", control);

	cr_expect_not(sample(&unit, &load), "384 is not over it");
	load.latency++;
	cr_expect(sample(&unit, &load));
	unit = opened("zen5", control);
	load.operation = OPERATION_STORE;
	cr_expect_not(sample(&unit, &load));
	cr_expect_not(sample(&unit, &ALU_AT(1)));
	cr_expect_eq(unit.filtered, 2);
}

Test(model_ibs, refuses_bits_that_the_machine_lacks)
{
	struct ibs_unit unit = opened("zen3", 0);
	u64 value;

	cr_expect_eq(ibs_write(&unit, IBS_OP_CTL, IBS_CTL_L3_MISS_ONLY), -EINVAL);
	cr_expect_eq(ibs_write(&unit, IBS_OP_CTL, IBS_CTL_LATENCY_ENABLE), -EINVAL);
	cr_expect_eq(ibs_write(&unit, IBS_OP_CTL - 1, 0), -EINVAL);
	cr_expect_eq(ibs_read(&unit, IBS_REGISTERS_END, &value), -EINVAL);
	cr_expect_null(ibs_machine_find("zen"));
}
