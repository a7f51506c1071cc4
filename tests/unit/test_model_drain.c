// SPDX-License-Identifier: GPL-2.0
/* The counter to which a record belongs: the rules of intel_pmu_drain_pebs_core(), _nhm() and _icl(). */
#include <string.h>

#include <criterion/criterion.h>

#include "model/adaptive.h"
#include "model/drain.h"

#define RECORDS 16

struct buffer {
	u8 bytes[RECORDS * RECORD_SIZE_MAX];
	u64 size;
};

static struct drain drain;

static struct buffer buffer;

/* Adds a record with these status bits. Its address distinguishes it from the others. */
static void add(enum record_format format, u64 data_cfg, u64 status, u64 address)
{
	struct record record = {
		.present = (u32)(MODEL_BIT(RECORD_GLOBAL_STATUS) | MODEL_BIT(RECORD_ADDRESS) |
				 MODEL_BIT(RECORD_IP)),
		.values =
			{[RECORD_GLOBAL_STATUS] = status, [RECORD_ADDRESS] = address, [RECORD_IP] = address},
	};

	record_write(format, data_cfg, &record, buffer.bytes + buffer.size);
	buffer.size += record_size(format, data_cfg);
}

static void open_buffer(enum record_format format, u64 enabled)
{
	drain_open(&drain, format, buffer.bytes, buffer.size, enabled);
}

static void expect_next(u32 counter, u64 address, bool last)
{
	struct delivery delivery;

	cr_assert(drain_next(&drain, &delivery));
	cr_expect_eq(delivery.counter, counter);
	cr_expect_eq(delivery.record.values[RECORD_ADDRESS], address);
	cr_expect_eq(delivery.last, last);
}

static void expect_end(void)
{
	struct delivery delivery;

	cr_expect(!drain_next(&drain, &delivery));
	cr_expect(!drain_next(&drain, &delivery));
}

Test(model_drain, an_empty_buffer_has_no_record)
{
	for (u32 format = 0; format < RECORD_FORMATS; format++) {
		drain_open(&drain, format, NULL, 0, 0xf);
		cr_expect_eq(drain.broken, 0);
		expect_end();
	}
}

Test(model_drain, counters_are_ascending_and_the_newest_record_of_each_is_marked)
{
	add(RECORD_NEHALEM, 0, 1 << 2, 1);
	add(RECORD_NEHALEM, 0, 1 << 0, 2);
	add(RECORD_NEHALEM, 0, 1 << 2, 3);
	add(RECORD_NEHALEM, 0, 1 << 0, 4);
	add(RECORD_NEHALEM, 0, 1 << 2, 5);
	open_buffer(RECORD_NEHALEM, 0x5);
	cr_expect_eq(drain.counts[0], 2);
	cr_expect_eq(drain.counts[2], 3);
	expect_next(0, 2, false);
	expect_next(0, 4, true);
	expect_next(2, 1, false);
	expect_next(2, 3, false);
	expect_next(2, 5, true);
	expect_end();
}

Test(model_drain, status_of_counters_without_pebs_does_not_matter)
{
	add(RECORD_HASWELL, 0, 0x7 | 1ULL << 62, 1);
	open_buffer(RECORD_HASWELL, 0x2);
	cr_expect_eq(drain.counts[1], 1);
	cr_expect_eq(drain.collisions[1], 0);
	expect_next(1, 1, true);
	expect_end();
}

Test(model_drain, before_0011b_a_record_of_two_counters_is_dropped_as_a_collision_of_both)
{
	add(RECORD_HASWELL, 0, 0x3, 1);
	add(RECORD_HASWELL, 0, 0x1, 2);
	add(RECORD_HASWELL, 0, 0x7, 3);
	open_buffer(RECORD_HASWELL, 0x7);
	cr_expect_eq(drain.collisions[0], 2);
	cr_expect_eq(drain.collisions[1], 2);
	cr_expect_eq(drain.collisions[2], 1);
	cr_expect_eq(drain.counts[0], 1);
	cr_expect_eq(drain.counts[1], 0);
	cr_expect_eq(drain.unclaimed, 0);
	expect_next(0, 2, true);
	expect_end();
}

Test(model_drain, before_0011b_a_record_without_status_belongs_to_the_only_counter)
{
	add(RECORD_NEHALEM, 0, 0, 1);
	add(RECORD_NEHALEM, 0, 0x1, 2); /* from a counter without PEBS */
	open_buffer(RECORD_NEHALEM, 0x8);
	cr_expect_eq(drain.counts[3], 2);
	cr_expect_eq(drain.unclaimed, 0);
	expect_next(3, 1, false);
	expect_next(3, 2, true);
	expect_end();
}

Test(model_drain, with_two_enable_bits_a_record_without_status_is_unclaimed)
{
	add(RECORD_NEHALEM, 0, 0, 1);
	open_buffer(RECORD_NEHALEM, 0x3);
	cr_expect_eq(drain.unclaimed, 1);
	expect_end();
	/* The driver tests the whole register: the load latency bit counts as a second one. */
	open_buffer(RECORD_NEHALEM, 0x100000001);
	cr_expect_eq(drain.unclaimed, 1);
	expect_end();
	open_buffer(RECORD_NEHALEM, 0);
	cr_expect_eq(drain.unclaimed, 1);
	expect_end();
	open_buffer(RECORD_NEHALEM, 1ULL << 63);
	cr_expect_eq(drain.unclaimed, 1);
	expect_end();
}

Test(model_drain, applicable_counters_of_0011b_give_a_record_to_each)
{
	add(RECORD_SKYLAKE, 0, 0x5, 1);
	add(RECORD_SKYLAKE, 0, 0x4, 2);
	add(RECORD_SKYLAKE, 0, 0x8, 3); /* not enabled */
	add(RECORD_SKYLAKE, 0, 0, 4);
	open_buffer(RECORD_SKYLAKE, 0x5);
	cr_expect_eq(drain.unclaimed, 2);
	expect_next(0, 1, true);
	expect_next(2, 1, false);
	expect_next(2, 2, true);
	expect_end();
	/* With one enabled counter, the driver attributes the record without status to it. */
	open_buffer(RECORD_SKYLAKE, 0x1);
	cr_expect_eq(drain.counts[0], 1);
	cr_expect_eq(drain.unclaimed, 3);
}

Test(model_drain, before_the_adaptive_format_load_latency_bits_are_not_counters)
{
	add(RECORD_SKYLAKE, 0, 0x100000001, 1);
	open_buffer(RECORD_SKYLAKE, 0x100000001);
	cr_expect_eq(drain.counts[0], 1);
	cr_expect_eq(drain.counts[32], 0);
	expect_next(0, 1, true);
	expect_end();
}

Test(model_drain, adaptive_records_are_walked_by_their_own_size_and_name_fixed_counters)
{
	add(RECORD_ADAPTIVE, DATA_CFG_MEMORY, 1ULL << 32 | 1, 1);
	add(RECORD_ADAPTIVE, DATA_CFG_MEMORY | DATA_CFG_XMM, 1ULL << 35, 2);
	add(RECORD_ADAPTIVE, DATA_CFG_MEMORY | DATA_CFG_BRANCHES | 31ULL << 24, 1ULL << 7, 3);
	open_buffer(RECORD_ADAPTIVE, 0xf000000ff);
	cr_expect_eq(drain.broken, 0);
	expect_next(0, 1, true);
	expect_next(7, 3, true);
	expect_next(32, 1, true);
	expect_next(35, 2, true);
	expect_end();
}

Test(model_drain, core_and_netburst_have_one_counter_and_no_status)
{
	static const enum record_format formats[] = {RECORD_NETBURST_32, RECORD_CORE};

	for (size_t i = 0; i < 2; i++) {
		struct delivery delivery;

		buffer = (struct buffer){0};
		add(formats[i], 0, 0, 0x1000);
		add(formats[i], 0, 0, 0x2000);
		open_buffer(formats[i], 0x1);
		cr_expect_eq(drain.counts[0], 2);
		cr_assert(drain_next(&drain, &delivery));
		cr_expect_eq(delivery.counter, 0);
		cr_expect_eq(delivery.record.values[RECORD_IP], 0x1000);
		cr_expect(!delivery.last);
		cr_assert(drain_next(&drain, &delivery));
		cr_expect_eq(delivery.record.values[RECORD_IP], 0x2000);
		cr_expect(delivery.last);
		expect_end();
		open_buffer(formats[i], 0);
		cr_expect_eq(drain.unclaimed, 2);
		expect_end();
	}
}

Test(model_drain, a_partial_record_at_the_end_is_reported_and_ignored)
{
	add(RECORD_SKYLAKE, 0, 0x1, 1);
	add(RECORD_SKYLAKE, 0, 0x1, 2);
	buffer.size -= 1;
	open_buffer(RECORD_SKYLAKE, 0x1);
	cr_expect_eq(drain.broken, 1);
	expect_next(0, 1, true);
	expect_end();
}

Test(model_drain, an_adaptive_record_of_size_0_ends_the_walk)
{
	add(RECORD_ADAPTIVE, DATA_CFG_MEMORY, 1, 1);
	memset(buffer.bytes + buffer.size, 0, 64);
	buffer.size += 64;
	add(RECORD_ADAPTIVE, DATA_CFG_MEMORY, 1, 2);
	open_buffer(RECORD_ADAPTIVE, 1);
	cr_expect_eq(drain.broken, 1);
	expect_next(0, 1, true);
	expect_end();
}
