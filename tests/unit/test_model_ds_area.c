// SPDX-License-Identifier: GPL-2.0
/* The DS save area's PEBS half: manual 18.8.1.1 and 18.18.5, and what the assist does at its borders. */
#include <criterion/criterion.h>
#include <string.h>

#include "pebs_fixture.h"

#define LOADS (0x010b | COUNTING)

static u64 field(const u8 *bytes, size_t width)
{
	u64 value = 0;

	memcpy(&value, bytes, width);
	return value;
}

/* Offsets by the figures: 32-bit fields and one reset value; 64-bit and one; a reset value a counter. */
Test(model_ds_area, layouts_32_bit_64_bit_and_a_reset_field_each_counter)
{
	static const struct {
		const char *machine;
		size_t size, width, base, threshold, resets, general;
	} table[] = {
		{"netburst", 0x30, 4, 0x10, 0x1c, 0x20, 1}, {"core", 0x50, 8, 0x20, 0x38, 0x40, 1},
		{"nehalem", 0x60, 8, 0x20, 0x38, 0x40, 4},  {"skylake", 0x60, 8, 0x20, 0x38, 0x40, 4},
		{"goldmont", 0x60, 8, 0x20, 0x38, 0x40, 4}, {"icelake", 0xa0, 8, 0x20, 0x38, 0x40, 8},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct machine *machine = machine_find(table[i].machine);
		u8 bytes[0x200];
		struct linear_memory memory = {.base = 0x5000, .size = sizeof(bytes), .bytes = bytes};
		struct ds_area area = {
			.base = 0x1111, .index = 0x2222, .maximum = 0x3333, .threshold = 0x4444};
		struct ds_area read;

		memset(bytes, 0xee, sizeof(bytes));
		for (u32 n = 0; n < DS_RESETS; n++)
			area.reset[n] = 0x8000000000ULL + n;
		cr_assert_eq(ds_area_size(machine), table[i].size, "%s", table[i].machine);
		cr_assert_eq(ds_area_write(machine, &memory, 0x5010, &area), 0);
		cr_expect_eq(field(bytes + 0x10 + table[i].base, table[i].width), 0x1111);
		cr_expect_eq(field(bytes + 0x10 + table[i].base + table[i].width, table[i].width), 0x2222);
		cr_expect_eq(field(bytes + 0x10 + table[i].base + 2 * table[i].width, table[i].width),
			     0x3333);
		cr_expect_eq(field(bytes + 0x10 + table[i].threshold, table[i].width), 0x4444);
		for (size_t n = 0; n < table[i].general; n++)
			cr_expect_eq(field(bytes + 0x10 + table[i].resets + 8 * n, 8), 0x8000000000ULL + n,
				     "%s, counter %zu", table[i].machine, n);
		cr_expect_eq(bytes[0x10], 0xee, "the BTS half is not touched");
		cr_expect_eq(bytes[0x10 + table[i].size], 0xee, "and nothing past the area");

		cr_assert_eq(ds_area_read(machine, &memory, 0x5010, &read), 0);
		cr_expect_eq(read.index, 0x2222);
		cr_expect_eq(read.reset[0], 0x8000000000ULL);
		cr_expect_eq(read.reset[3], table[i].general > 3 ? 0x8000000003ULL : 0);
		cr_expect_eq(read.reset[8], table[i].general == 8 ? 0x8000000008ULL : 0,
			     "%s: fixed counter 0", table[i].machine);
		cr_assert_eq(ds_area_set_index(machine, &memory, 0x5010, 0x7777), 0);
		cr_assert_eq(ds_area_read(machine, &memory, 0x5010, &read), 0);
		cr_expect_eq(read.index, 0x7777);
		cr_expect_eq(read.base, 0x1111);
	}
}

Test(model_ds_area, an_area_outside_of_memory_is_refused)
{
	const struct machine *machine = machine_find("nehalem");
	u8 bytes[0x60] = {0};
	struct linear_memory memory = {.base = 0x5000, .size = sizeof(bytes), .bytes = bytes};
	struct ds_area area = {0};

	cr_expect_eq(ds_area_read(machine, &memory, 0x5000, &area), 0);
	cr_expect_eq(ds_area_read(machine, &memory, 0x5001, &area), -EFAULT);
	cr_expect_eq(ds_area_write(machine, &memory, 0x4fff, &area), -EFAULT);
	cr_expect_eq(ds_area_set_index(machine, &memory, 0, 0), -EFAULT);
	cr_expect_eq(linear_at(&memory, 0x5000, 0x60), bytes);
	cr_expect_eq(linear_at(&memory, 0x5060, 0), bytes + 0x60);
	cr_expect_null(linear_at(&memory, 0x5060, 1));
	cr_expect_null(linear_at(&memory, 0x5001, (u64)-1));
	cr_expect_null(linear_at(&memory, (u64)-1, 2));
}

/* "The processor will not write any PEBS record beyond the end of PEBS buffer, when PEBS Index equals PEBS
 * Absolute Maximum. No signaling is generated." */
Test(model_ds_area, nothing_is_written_past_the_absolute_maximum)
{
	struct pebs_fixture fixture;
	size_t size;

	pebs_fixture_open(&fixture, "nehalem");
	size = record_size(RECORD_NEHALEM, 0);
	pebs_fixture_buffer(&fixture, 2, 5); /* the threshold is never reached */
	pebs_fixture_reset(&fixture, 0, 1);
	pebs_fixture_program(&fixture, 0, LOADS, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	cr_expect_eq(pebs_fixture_retire(&fixture, LOAD(10), 20), 0, "and nothing is told");
	cr_expect_eq(pebs_fixture_records(&fixture), 2);
	cr_expect_eq(fixture.unit.records, 2);
	cr_expect_gt(fixture.unit.not_written, 0);
	for (size_t i = 0; i < size; i++)
		cr_assert_eq(fixture.bytes[0x1000 + 2 * size + i], 0);
	cr_expect_not(pebs_fixture_read(&fixture, MSR_IA32_PERF_GLOBAL_STATUS) & STATUS_DS_BUFFER);
}

/* A maximum that is no whole number of records past the base: the part of one is not written. */
Test(model_ds_area, a_record_that_would_reach_past_the_maximum_is_not_written)
{
	struct pebs_fixture fixture;
	struct ds_area area;

	pebs_fixture_open(&fixture, "nehalem");
	area = pebs_fixture_area(&fixture);
	area.maximum = area.base + 2ULL * record_size(RECORD_NEHALEM, 0) - 1;
	area.reset[0] = (u64)-1;
	pebs_fixture_set_area(&fixture, &area);
	pebs_fixture_program(&fixture, 0, LOADS, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pebs_fixture_retire(&fixture, LOAD(10), 20);
	cr_expect_eq(pebs_fixture_records(&fixture), 1);
	cr_expect_eq(fixture.bytes[0x1000 + record_size(RECORD_NEHALEM, 0) + 8], 0);
}

/* "Software must reset the PEBS Index field to the beginning of the PEBS buffer address to continue." */
Test(model_ds_area, software_resets_the_index_to_continue)
{
	struct pebs_fixture fixture;

	pebs_fixture_open(&fixture, "nehalem");
	pebs_fixture_reset(&fixture, 0, 1);
	pebs_fixture_program(&fixture, 0, LOADS, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pebs_fixture_retire(&fixture, LOAD(10), 100);
	cr_expect_eq(fixture.unit.records, FIXTURE_RECORDS);
	pebs_fixture_buffer(&fixture, FIXTURE_RECORDS, FIXTURE_RECORDS);
	pebs_fixture_retire(&fixture, LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, FIXTURE_RECORDS + 1, "the next event makes a record");
	cr_expect_eq(pebs_fixture_records(&fixture), 1);
}

/* The counter's own interrupt comes once, not with each event that finds no room. */
Test(model_ds_area, a_full_buffer_interrupts_once_for_the_overflow)
{
	struct pebs_fixture fixture;

	pebs_fixture_open(&fixture, "nehalem");
	pebs_fixture_buffer(&fixture, 0, 0);
	pebs_fixture_program(&fixture, 0, LOADS | EVTSEL_INT, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
	pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	cr_expect_eq(pebs_fixture_retire(&fixture, LOAD(10), 2), 1);
	cr_expect_eq(pebs_fixture_interrupt(&fixture).cause, INTERRUPT_OVERFLOW);
	cr_expect_eq(pebs_fixture_retire(&fixture, LOAD(10), 5), 0);
	cr_expect_eq(fixture.unit.not_written, 6);
}

/* No area, or one that is not in memory: the assist finds nowhere to write, and the counter runs on. */
Test(model_ds_area, without_an_area_nothing_is_written)
{
	static const u64 areas[] = {0, 0x200000};

	for (size_t i = 0; i < 2; i++) {
		struct pebs_fixture fixture;

		pebs_fixture_open(&fixture, "nehalem");
		pebs_fixture_write(&fixture, MSR_IA32_DS_AREA, areas[i]);
		pebs_fixture_program(&fixture, 0, LOADS | EVTSEL_INT, 1);
		pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
		pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
		cr_expect_eq(pebs_fixture_retire(&fixture, LOAD(10), 5), 1, "the counter's own interrupt");
		cr_expect_eq(fixture.unit.records, 0);
		cr_expect_eq(fixture.unit.not_written, 1);
		cr_expect_eq(pebs_fixture_read(&fixture, MSR_IA32_PMC0), 4);
	}
}

/* Goldmont, 18.7.1.3: the bit is set when the index is below the base or above the maximum, the overflow bits
 * are cleared according to the applicable counters, and the counters are not reloaded. */
Test(model_ds_area, goldmont_tells_an_index_out_of_bounds_clears_status_and_does_not_reload)
{
	static const struct {
		const char *machine;
		u64 index;
		bool told, written;
	} table[] = {
		{"goldmont", FIXTURE_BUFFER - 1, true, false},
		{"goldmont", FIXTURE_BUFFER + 0x2001, true, false},
		{"goldmont", FIXTURE_BUFFER + 0x2000, false, false}, /* full, which is not out of bounds */
		{"goldmont", FIXTURE_BUFFER, false, true},
		{"skylake", FIXTURE_BUFFER + 0x2001, false, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct pebs_fixture fixture;
		struct ds_area area;
		u64 status;

		pebs_fixture_open(&fixture, table[i].machine);
		area = pebs_fixture_area(&fixture);
		area.index = table[i].index;
		area.maximum = FIXTURE_BUFFER + 0x2000;
		area.threshold = (u64)-1;
		area.reset[0] = (u64)-1000;
		pebs_fixture_set_area(&fixture, &area);
		pebs_fixture_program(&fixture, 0, 0x81d0 | COUNTING, 1);
		pebs_fixture_program(&fixture, 1, 0x81d0 | COUNTING, 1);
		pebs_fixture_write(&fixture, MSR_IA32_PEBS_ENABLE, 1);
		pebs_fixture_write(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 3);
		pebs_fixture_retire(&fixture, LOAD(10), 2);

		status = pebs_fixture_read(&fixture, MSR_IA32_PERF_GLOBAL_STATUS);
		cr_expect_eq(!!(status & STATUS_DS_BUFFER), table[i].told, "%zu", i);
		cr_expect(status & 2, "counter 1 is not an applicable one, its bit stays");
		cr_expect_eq(status & 1, !table[i].told && !table[i].written, "%zu", i);
		cr_expect_eq(fixture.unit.records, table[i].written, "%zu", i);
		if (table[i].written)
			cr_expect_gt(pebs_fixture_read(&fixture, MSR_IA32_PMC0), 1ULL << 40);
		else
			cr_expect_lt(pebs_fixture_read(&fixture, MSR_IA32_PMC0), 3, "%zu: reloaded", i);
		cr_expect_eq(pebs_fixture_area(&fixture).index != table[i].index, table[i].written);
		if (table[i].told)
			cr_expect_eq(pebs_fixture_interrupt(&fixture).cause, INTERRUPT_DS_THRESHOLD);
	}
}
