// SPDX-License-Identifier: GPL-2.0
/* NetBurst's PEBS: manual 18.18.8 and 18.18.5, with one counter and a buffer that does not wrap around. */
#include <string.h>

#include <criterion/criterion.h>

#include "model/drain.h"
#include "model/netburst.h"

#define MEMORY_BASE 0x10000ULL
#define AREA        MEMORY_BASE
#define BUFFER      (MEMORY_BASE + 0x100)
#define PEBS_CCCR   0x3b000 /* enable, ESCR select 5, active thread 11B */

/* CRU_ESCR2: replay_event, NBOGUS, USR. */
#define COUNT_REPLAYS (0x09ULL << 25 | 1ULL << 9 | 1ULL << 2)

static const struct machine netburst_32 = {
	.name = "netburst", .format = RECORD_NETBURST_32, .mechanisms = MECHANISM_AT_RETIREMENT};
static const struct machine netburst_64 = {
	.name = "netburst-64", .format = RECORD_CORE, .mechanisms = MECHANISM_AT_RETIREMENT};

struct bench {
	struct netburst netburst;
	u8 bytes[0x1000];
};

static struct bench bench;

static struct ds_area area_of(void)
{
	struct ds_area area;

	cr_assert_eq(ds_area_read(bench.netburst.machine, &bench.netburst.memory, AREA, &area), 0);
	return area;
}

static void set_area(u64 records, u64 threshold, u64 period)
{
	u32 size = record_size(bench.netburst.machine->format, 0);
	struct ds_area area = {.base = BUFFER,
			       .index = BUFFER,
			       .maximum = BUFFER + records * size,
			       .threshold = BUFFER + threshold * size,
			       .reset = {(1ULL << 40) - period}};

	cr_assert_eq(ds_area_write(bench.netburst.machine, &bench.netburst.memory, AREA, &area), 0);
}

static void set(u32 msr, u64 value)
{
	cr_assert_eq(netburst_write(&bench.netburst, msr, value), 0);
}

static u64 get(u32 msr)
{
	u64 value;

	cr_assert_eq(netburst_read(&bench.netburst, msr, &value), 0);
	return value;
}

/*
 * Starts PEBS on every `period`-th first-level miss, with room for `records` records and an interrupt at
 * `threshold`.
 */
static void start(const struct machine *machine, u64 records, u64 threshold, u64 period)
{
	struct linear_memory memory = {
		.base = MEMORY_BASE, .size = sizeof(bench.bytes), .bytes = bench.bytes};

	memset(&bench, 0, sizeof(bench));
	netburst_open(&bench.netburst, machine, memory);
	set_area(records, threshold, period);
	set(MSR_NETBURST_DS_AREA, AREA);
	set(0x3cc, COUNT_REPLAYS);
	set(0x3f2, 0x1);
	set(0x3f1, 0x3000001);
	set(0x310, (1ULL << 40) - period);
	set(0x370, PEBS_CCCR);
}

static bool miss(u64 ip)
{
	struct netburst_uop uop = {
		.retired = {.ip = ip, .next_ip = ip + 4, .operation = OPERATION_LOAD, .place = PLACE_L2},
		.flags = 0x246,
	};

	for (u32 i = 0; i < RETIRED_REGISTERS; i++)
		uop.registers[i] = 0x100 + i;
	return netburst_retire(&bench.netburst, &uop);
}

Test(model_netburst, counter_4_overflows_the_state_is_recorded_and_the_counter_reset)
{
	struct record record;
	u32 size;

	start(&netburst_32, 8, 8, 3);
	miss(0x1000);
	miss(0x2000);
	cr_expect_eq(bench.netburst.records, 0);
	cr_expect_eq(area_of().index, BUFFER);
	miss(0x3000);
	cr_expect_eq(bench.netburst.records, 1);
	cr_expect_eq(area_of().index, BUFFER + 0x28);
	cr_expect_eq(get(0x310), (1ULL << 40) - 3);

	cr_assert_eq(record_read(RECORD_NETBURST_32, bench.bytes + 0x100, 0x28, &record, &size), 0);
	cr_expect_eq(record.values[RECORD_FLAGS], 0x246);
	cr_expect_eq(record.values[RECORD_IP], 0x3004);
	cr_expect_eq(record.values[RECORD_AX], 0x100);
	cr_expect_eq(record.values[RECORD_SP], 0x107);
}

Test(model_netburst, records_of_64_bits_have_sixteen_registers)
{
	struct drain drain;
	struct delivery delivery;

	start(&netburst_64, 8, 8, 1);
	miss(0x7f0000001000);
	miss(0x7f0000002000);
	cr_expect_eq(area_of().index, BUFFER + 2ULL * 0x90);
	drain_open(&drain, RECORD_CORE, bench.bytes + 0x100, 2ULL * 0x90, get(0x3f1));
	cr_assert(drain_next(&drain, &delivery));
	cr_expect_eq(delivery.record.values[RECORD_IP], 0x7f0000001004);
	cr_expect_eq(delivery.record.values[RECORD_R15], 0x10f);
	cr_assert(drain_next(&drain, &delivery));
	cr_expect(delivery.last);
}

Test(model_netburst, an_interrupt_is_raised_at_the_threshold)
{
	start(&netburst_32, 4, 2, 1);
	cr_expect(!miss(0x1000));
	cr_expect(miss(0x2000));
	cr_expect_eq(netburst_take_interrupt(&bench.netburst), NETBURST_BUFFER);
	cr_expect_eq(netburst_take_interrupt(&bench.netburst), 0);
	cr_expect_eq(area_of().index, area_of().threshold);
}

Test(model_netburst, the_buffer_is_not_circular)
{
	start(&netburst_32, 2, 2, 1);
	for (u64 i = 0; i < 5; i++)
		miss(0x1000 * (i + 1));
	cr_expect_eq(bench.netburst.records, 2);
	cr_expect_eq(bench.netburst.not_written, 3);
	cr_expect_eq(area_of().index, BUFFER + 2ULL * 0x28);
	cr_expect_eq(bench.bytes[0x100 + 0x04], 0x04); /* the first record, 0x1004, is still there */
	cr_expect_eq(bench.bytes[0x100 + 0x05], 0x10);
	for (u64 i = 0x100 + 2ULL * 0x28; i < sizeof(bench.bytes); i++)
		cr_assert_eq(bench.bytes[i], 0);

	/* After software has moved the index back, records are written again. */
	set_area(2, 2, 1);
	miss(0x9000);
	cr_expect_eq(bench.netburst.records, 3);
	cr_expect_eq(bench.bytes[0x100 + 0x05], 0x90);
}

Test(model_netburst, no_record_is_written_into_too_little_space)
{
	struct ds_area area;

	start(&netburst_32, 1, 1, 1);
	area = area_of();
	area.maximum -= 1;
	cr_assert_eq(ds_area_write(&netburst_32, &bench.netburst.memory, AREA, &area), 0);
	miss(0x1000);
	cr_expect_eq(bench.netburst.not_written, 1);
	cr_expect_eq(area_of().index, BUFFER);
}

Test(model_netburst, an_index_outside_the_buffer_or_the_memory_writes_nothing)
{
	static const u64 wrong[][3] = {
		/* base, index, maximum */
		{BUFFER + 0x28, BUFFER, BUFFER + 0x1000},
		{BUFFER, BUFFER + 0x1000, BUFFER + 0x800},
		{BUFFER, BUFFER + 0x400, BUFFER + 0x200},
		{0, 0, 0xffffffff},
		{MEMORY_BASE, MEMORY_BASE + 0x1000, 0xffffffff},
		{MEMORY_BASE, MEMORY_BASE + 0x1000 - 0x27, 0xffffffff},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ds_area area;

		start(&netburst_32, 4, 4, 1);
		area = area_of();
		area.base = wrong[i][0];
		area.index = wrong[i][1];
		area.maximum = wrong[i][2];
		cr_assert_eq(ds_area_write(&netburst_32, &bench.netburst.memory, AREA, &area), 0);
		miss(0x1000);
		cr_expect_eq(bench.netburst.records, 0, "%zu", i);
		cr_expect_eq(bench.netburst.not_written, 1);
		cr_expect_eq(area_of().index, wrong[i][1]);
	}
}

Test(model_netburst, without_a_ds_area_nothing_is_written)
{
	start(&netburst_32, 4, 4, 1);
	set(MSR_NETBURST_DS_AREA, 0x500);
	cr_expect(!miss(0x1000));
	cr_expect_eq(bench.netburst.not_written, 1);
}

/* The other counters overflow but make no record, even counters 0 and 1, which use the same ESCR. */
Test(model_netburst, no_counter_but_iq_counter4_does_pebs)
{
	for (u32 counter = 0; counter < NETBURST_COUNTERS; counter++) {
		start(&netburst_32, 4, 1, 1);
		set(0x3cd, COUNT_REPLAYS);
		set(0x370, 0);
		set(0x30c + counter, (1ULL << 40) - 1);
		set(0x36c + counter, PEBS_CCCR | 1 << 26);
		cr_expect(miss(0x1000));
		cr_expect_eq(bench.netburst.records, counter == 4);
		cr_expect(get(0x36c + counter) & 1U << 31); /* OVF */
		cr_expect_eq(get(0x30c + counter), counter == 4 ? (1ULL << 40) - 1 : 0);
		if (counter == 4)
			cr_expect_eq(netburst_take_interrupt(&bench.netburst), NETBURST_BUFFER);
		cr_expect_eq(netburst_take_interrupt(&bench.netburst), NETBURST_OVERFLOW);
		cr_expect_eq(netburst_take_interrupt(&bench.netburst), 0);
	}
}

Test(model_netburst, enable_pebs_bit_25_makes_records_and_without_it_sampling_is_normal)
{
	start(&netburst_32, 4, 1, 1);
	set(0x3f1, 0x1000001);
	set(0x370, PEBS_CCCR | 1 << 26);
	cr_expect(miss(0x1000));
	cr_expect_eq(bench.netburst.records, 0);
	cr_expect_eq(netburst_take_interrupt(&bench.netburst), NETBURST_OVERFLOW);
	cr_expect_eq(get(0x310), 0); /* PEBS did not reload the counter */
}

Test(model_netburst, pebs_takes_execution_front_end_and_replay_events)
{
	static const struct {
		u64 downstream, upstream_msr, upstream;
	} events[] = {
		{0x0cULL << 25 | 1 << 9 | 1 << 2, 0x3a4, 0x08ULL << 25 | 1 << 24 | 1 << 5 | 1 << 4 | 1 << 2},
		{0x08ULL << 25 | 1 << 9 | 1 << 2, 0x3bc, 0x02ULL << 25 | 1 << 10 | 1 << 2},
		{0x09ULL << 25 | 1 << 9 | 1 << 2, 0x3f2, 0x1},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct netburst_uop load = {.retired = {.operation = OPERATION_LOAD, .place = PLACE_L2},
					    .execution = EXECUTION_PACKED_SP};
		start(&netburst_32, 4, 4, 1);
		set(0x3f2, 0);
		set(0x3cc, events[i].downstream);
		netburst_retire(&bench.netburst, &load);
		cr_expect_eq(bench.netburst.records, 0, "%zu", i); /* not tagged yet */
		set((u32)events[i].upstream_msr, events[i].upstream);
		netburst_retire(&bench.netburst, &load);
		cr_expect_eq(bench.netburst.records, 1, "%zu", i);
	}
}

Test(model_netburst, cancelled_operations_leave_no_record)
{
	struct netburst_uop load = {.retired = {.operation = OPERATION_LOAD, .place = PLACE_L2},
				    .bogus = true};

	start(&netburst_32, 4, 4, 1);
	set(0x3cc, 0x09ULL << 25 | 3 << 9 | 1 << 2);
	netburst_retire(&bench.netburst, &load);
	cr_expect_eq(bench.netburst.records, 0);
	cr_expect_eq(bench.netburst.not_written, 0);
}

Test(model_netburst, a_counter_needs_enable_escr_select_5_and_both_thread_bits)
{
	static const u64 wrong[] = {0x3a000, 0x3b000 & ~(1ULL << 12), 0x39000, 0x1b000, 0x2b000, 0x0b000};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		start(&netburst_32, 4, 4, 1);
		set(0x370, wrong[i]);
		miss(0x1000);
		cr_expect_eq(bench.netburst.records, 0, "%zu", i);
		cr_expect_eq(get(0x310), (1ULL << 40) - 1);
	}
}

Test(model_netburst, force_ovf_overflows_on_each_count)
{
	start(&netburst_32, 4, 4, 100);
	set(0x370, PEBS_CCCR | 1 << 25);
	miss(0x1000);
	miss(0x2000);
	cr_expect_eq(bench.netburst.records, 2);
}

Test(model_netburst, registers_accept_only_their_bits)
{
	u64 value;

	start(&netburst_32, 4, 4, 1);
	cr_expect_eq(netburst_write(&bench.netburst, 0x3f1, 1ULL << 23), -EINVAL);
	cr_expect_eq(netburst_write(&bench.netburst, 0x3f2, 1ULL << 2), -EINVAL);
	cr_expect_eq(netburst_write(&bench.netburst, 0x3cc, 1ULL << 31), -EINVAL);
	cr_expect_eq(netburst_write(&bench.netburst, 0x370, 1ULL << 30), -EINVAL); /* cascade */
	cr_expect_eq(netburst_write(&bench.netburst, 0x370, 1ULL << 18), -EINVAL); /* compare */
	cr_expect_eq(netburst_write(&bench.netburst, 0x600, 1ULL << 32), -EINVAL);
	cr_expect_eq(netburst_write(&bench.netburst, 0x312, 0), -EINVAL);
	cr_expect_eq(netburst_read(&bench.netburst, 0x372, &value), -EINVAL);
	cr_expect_eq(get(0x3f1), 0x3000001); /* unchanged */
	set(0x311, ~0ULL);
	cr_expect_eq(get(0x311), (1ULL << 40) - 1);
	set(0x371, 0x80000000);
	cr_expect_eq(get(0x371), 0x80000000);
	set(0x3a5, 0x123);
	set(0x3bd, 0x456);
	cr_expect_eq(get(0x3a5), 0x123);
	cr_expect_eq(get(0x3bd), 0x456);
}
