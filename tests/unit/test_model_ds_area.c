// SPDX-License-Identifier: GPL-2.0
/* The PEBS half of the DS save area (manual 18.8.1.1 and 18.18.5), and the limits of the PEBS assist. */
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

/*
 * Offsets from the figures of the manual: 32-bit fields and one reset value, 64-bit fields and one reset value,
 * and one reset value for each counter.
 */
Test(model_ds_area, layouts_have_32_or_64_bit_fields_and_a_reset_per_counter)
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

/* PEBS Absolute Maximum: nothing is written beyond it, and a full buffer does not interrupt. */
Test(model_ds_area, nothing_is_written_past_the_absolute_maximum)
{
	size_t size;

	pebs_fixture_start("nehalem", LOADS, 1);
	size = record_size(RECORD_NEHALEM, 0);
	pebs_fixture_buffer(2, 5); /* the threshold is never reached */
	pebs_fixture_reset(0, 1);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 20), 0, "and no interrupt");
	cr_expect_eq(pebs_fixture_records(), 2);
	cr_expect_eq(fixture.unit.records, 2);
	cr_expect_gt(fixture.unit.not_written, 0);
	for (size_t i = 0; i < size; i++)
		cr_assert_eq(fixture.bytes[0x1000 + 2 * size + i], 0);
	cr_expect_not(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & STATUS_DS_BUFFER);
}

/* The maximum is not a whole number of records above the base. A partial record is not written. */
Test(model_ds_area, a_record_that_would_reach_past_the_maximum_is_not_written)
{
	struct ds_area area;

	pebs_fixture_open("nehalem");
	area = pebs_fixture_area();
	area.maximum = area.base + 2ULL * record_size(RECORD_NEHALEM, 0) - 1;
	area.reset[0] = (u64)-1;
	pebs_fixture_set_area(&area);
	pebs_fixture_program(0, LOADS, 1);
	pebs_fixture_enable(1, 1);
	pebs_fixture_retire(LOAD(10), 20);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(fixture.bytes[0x1000 + record_size(RECORD_NEHALEM, 0) + 8], 0);
}

/* PEBS Absolute Maximum: records are written again after software has moved the index back to the base. */
Test(model_ds_area, software_resets_the_index_to_continue)
{
	pebs_fixture_start("nehalem", LOADS, 1);
	pebs_fixture_reset(0, 1);
	pebs_fixture_retire(LOAD(10), 100);
	cr_expect_eq(fixture.unit.records, FIXTURE_RECORDS);
	pebs_fixture_buffer(FIXTURE_RECORDS, FIXTURE_RECORDS);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, FIXTURE_RECORDS + 1, "the next event makes a record");
	cr_expect_eq(pebs_fixture_records(), 1);
}

/* The counter's own interrupt comes once, not with every event that finds the buffer full. */
Test(model_ds_area, a_full_buffer_interrupts_once_for_the_overflow)
{
	pebs_fixture_start("nehalem", LOADS | EVTSEL_INT, 1);
	pebs_fixture_buffer(0, 0);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 2), 1);
	cr_expect_eq(pebs_fixture_interrupt().cause, INTERRUPT_OVERFLOW);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 5), 0);
	cr_expect_eq(fixture.unit.not_written, 6);
}

/* Without an area, or with one outside of memory, the assist cannot write. The counter runs on. */
Test(model_ds_area, without_an_area_nothing_is_written)
{
	static const u64 areas[] = {0, 0x200000};

	for (size_t i = 0; i < 2; i++) {
		pebs_fixture_open("nehalem");
		pebs_fixture_write(MSR_IA32_DS_AREA, areas[i]);
		pebs_fixture_program(0, LOADS | EVTSEL_INT, 1);
		pebs_fixture_enable(1, 1);
		cr_expect_eq(pebs_fixture_retire(LOAD(10), 5), 1, "the counter's own interrupt");
		cr_expect_eq(fixture.unit.records, 0);
		cr_expect_eq(fixture.unit.not_written, 1);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 4);
	}
}

/*
 * Goldmont, 18.7.1.3: the status bit of the DS buffer is set if the index is below the base or above the
 * maximum. The overflow bits of the applicable counters are cleared, and the counters are not reloaded.
 */
Test(model_ds_area, goldmont_reports_an_index_out_of_bounds_and_does_not_reload)
{
	static const struct {
		const char *machine;
		u64 index;
		bool told, written;
	} table[] = {
		{"goldmont", FIXTURE_BUFFER - 1, true, false},
		{"goldmont", FIXTURE_BUFFER + 0x2001, true, false},
		{"goldmont", FIXTURE_BUFFER + 0x2000, false, false}, /* full, but within bounds */
		{"goldmont", FIXTURE_BUFFER, false, true},
		{"skylake", FIXTURE_BUFFER + 0x2001, false, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ds_area area;
		u64 status;

		pebs_fixture_open(table[i].machine);
		area = pebs_fixture_area();
		area.index = table[i].index;
		area.maximum = FIXTURE_BUFFER + 0x2000;
		area.threshold = (u64)-1;
		area.reset[0] = (u64)-1000;
		pebs_fixture_set_area(&area);
		pebs_fixture_program(0, 0x81d0 | COUNTING, 1);
		pebs_fixture_program(1, 0x81d0 | COUNTING, 1);
		pebs_fixture_enable(1, 3);
		pebs_fixture_retire(LOAD(10), 2);

		status = pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS);
		cr_expect_eq(!!(status & STATUS_DS_BUFFER), table[i].told, "%zu", i);
		cr_expect(status & 2, "counter 1 is not an applicable one, its bit stays");
		cr_expect_eq(status & 1, !table[i].told && !table[i].written, "%zu", i);
		cr_expect_eq(fixture.unit.records, table[i].written, "%zu", i);
		if (table[i].written)
			cr_expect_gt(pebs_fixture_read(MSR_IA32_PMC0), 1ULL << 40);
		else
			cr_expect_lt(pebs_fixture_read(MSR_IA32_PMC0), 3, "%zu: reloaded", i);
		cr_expect_eq(pebs_fixture_area().index != table[i].index, table[i].written);
		if (table[i].told)
			cr_expect_eq(pebs_fixture_interrupt().cause, INTERRUPT_DS_THRESHOLD);
	}
}

/*
 * The bits of all applicable counters are cleared, even of one that is programmed to interrupt. The interrupt
 * of such a counter comes after that of the buffer, when its bit is already clear.
 */
Test(model_ds_area, goldmont_out_of_bounds_clears_the_bit_of_a_counter_that_interrupts)
{
	struct ds_area area;

	pebs_fixture_open("goldmont");
	area = pebs_fixture_area();
	area.index = area.base - 1;
	pebs_fixture_set_area(&area);
	pebs_fixture_program(0, 0x81d0 | COUNTING | EVTSEL_INT, 1);
	pebs_fixture_enable(1, 1);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 2), 2);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), STATUS_DS_BUFFER | STATUS_CONDITIONS);
	cr_expect_eq(pebs_fixture_interrupt().cause, INTERRUPT_DS_THRESHOLD);
	cr_expect_eq(pebs_fixture_interrupt().cause, INTERRUPT_OVERFLOW);
}

/* Software may write any values into the area. The memory outside of the buffer must not change. */
Test(model_ds_area, an_index_outside_the_buffer_or_the_memory_writes_nothing)
{
	static const u64 wrong[][3] = {
		/* base, index, maximum */
		{FIXTURE_BUFFER + 0x100, FIXTURE_BUFFER, FIXTURE_BUFFER + 0x1000},
		{FIXTURE_BUFFER, FIXTURE_BUFFER + 0x400, FIXTURE_BUFFER + 0x200},
		{FIXTURE_BUFFER, FIXTURE_BUFFER, 0},
		{0, 0, (u64)-1},
		{0, (u64)-1, (u64)-1},
		{0, (u64)-0x100, (u64)-1},
		{0, FIXTURE_AREA - 1, (u64)-1},
		{0, FIXTURE_AREA + FIXTURE_BYTES - 1, (u64)-1},
		{0, FIXTURE_AREA + FIXTURE_BYTES, (u64)-1},
	};
	static const char *const names[] = {"core", "nehalem", "skylake", "goldmont", "icelake"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]) * 5; i++) {
		const u64 *fields = wrong[i / 5];
		struct ds_area area;

		pebs_fixture_open(names[i % 5]);
		area = pebs_fixture_area();
		area.base = fields[0];
		area.index = fields[1];
		area.maximum = fields[2];
		area.threshold = (u64)-1;
		pebs_fixture_set_area(&area);
		pebs_fixture_program(0, (i % 5 == 2 || i % 5 == 4 ? 0x81d0 : 0x00c0) | COUNTING, 1);
		pebs_fixture_enable(1, 1);
		pebs_fixture_retire(LOAD(10), 2);
		cr_expect_eq(fixture.unit.records, 0, "row %zu, %s", i / 5, names[i % 5]);
		cr_expect_geq(fixture.unit.not_written, 1, "row %zu, %s", i / 5, names[i % 5]);
		cr_expect_eq(pebs_fixture_area().index, fields[1]);
		for (size_t n = 0x100; n < FIXTURE_BYTES; n++)
			cr_assert_eq(fixture.bytes[n], 0, "row %zu, %s: byte %#zx", i / 5, names[i % 5], n);
	}
}

/* Memory that is accessed through a function, which also counts the copies into it. */
struct reached {
	struct linear_memory memory;
	u64 refused; /* writes that include this address fail */
	bool read_only;
	u32 written; /* number of copies into memory */
};

static int reach(void *owner, u64 address, void *buffer, u64 size, bool write)
{
	struct reached *reached = owner;

	if (write && (reached->read_only || reached->refused - address < size))
		return -EIO;
	reached->written += write;
	return write ? linear_write(&reached->memory, address, buffer, size)
		     : linear_read(&reached->memory, address, buffer, size);
}

/* Opens a unit in which the next two loads make a record. */
static void open_reached(const char *machine, struct reached *reached)
{
	pebs_fixture_open(machine);
	pebs_fixture_reset(0, 100);
	*reached = (struct reached){.memory = fixture.unit.memory, .refused = ~0ULL};
	fixture.unit.memory = (struct linear_memory){.copy = reach, .userdata = reached};
	pebs_fixture_program(0, strcmp(machine, "nehalem") == 0 ? LOADS : 0x81d0 | COUNTING, 1);
	pebs_fixture_enable(1, 1);
}

Test(model_ds_area, memory_is_accessed_through_a_function)
{
	static const char *const names[] = {"nehalem", "skylake", "icelake"};

	for (size_t i = 0; i < 3; i++) {
		struct reached reached;
		struct record record;
		u32 size;

		open_reached(names[i], &reached);
		size = record_size(fixture.unit.machine->format, 0);
		pebs_fixture_retire(LOAD(10), 2);
		cr_expect_eq(fixture.unit.records, 1);
		cr_expect_eq(fixture.unit.not_written, 0);
		cr_expect_eq(reached.written, 2, "%s: the record and the index", names[i]);
		cr_expect_eq(pebs_fixture_area().index, FIXTURE_BUFFER + size, "%s", names[i]);
		record = pebs_fixture_record(0);
		cr_expect_eq(record.values[i == 0 ? RECORD_IP : RECORD_EVENTING_IP],
			     i == 0 ? LOAD(10).next_ip : LOAD(10).ip, "%s", names[i]);
		for (u32 n = 0; n < size; n++)
			cr_assert_eq(fixture.bytes[0x1000 + size + n], 0, "%s: byte %u", names[i], n);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0),
			     (u64)-100 & counter_highest(fixture.unit.machine), "%s: reloaded", names[i]);
	}
}

/* The function changes neither the bytes between the fields of the area nor those around it. */
Test(model_ds_area, an_area_is_read_and_written_through_the_function)
{
	const struct machine *machine = machine_find("nehalem");
	u8 bytes[0x80];
	struct reached reached = {.memory = {.base = 0x5000, .size = sizeof(bytes), .bytes = bytes},
				  .refused = ~0ULL};
	struct linear_memory memory = {.copy = reach, .userdata = &reached};
	struct ds_area area = {.base = 0x1111, .index = 0x2222, .reset = {0x3333}};
	struct ds_area read;

	memset(bytes, 0xee, sizeof(bytes));
	cr_assert_eq(ds_area_write(machine, &memory, 0x5010, &area), 0);
	cr_assert_eq(ds_area_set_index(machine, &memory, 0x5010, 0x4444), 0);
	cr_assert_eq(ds_area_read(machine, &memory, 0x5010, &read), 0);
	cr_expect_eq(read.base, 0x1111);
	cr_expect_eq(read.index, 0x4444);
	cr_expect_eq(read.reset[0], 0x3333);
	cr_expect_eq(bytes[0x0f], 0xee);
	cr_expect_eq(bytes[0x10 + 0x1f], 0xee, "the BTS half");
	cr_expect_eq(bytes[0x10 + 0x60], 0xee);

	cr_expect_eq(ds_area_read(machine, &memory, 0x5080, &read), -EFAULT);
	cr_expect_eq(ds_area_write(machine, &memory, 0x4fff, &area), -EFAULT);
	reached.read_only = true;
	cr_expect_eq(ds_area_write(machine, &memory, 0x5010, &area), -EFAULT);
	cr_expect_eq(ds_area_set_index(machine, &memory, 0x5010, 0), -EFAULT);
	cr_expect_eq(ds_area_read(machine, &memory, 0x5010, &read), 0);
}

Test(model_ds_area, a_record_is_written_only_between_index_and_maximum)
{
	u8 bytes[0x40] = {0};
	struct linear_memory memory = {.base = 0x5000, .size = sizeof(bytes), .bytes = bytes};
	struct ds_area area = {.base = 0x5008, .index = 0x5010, .maximum = 0x5020};
	static const u8 record[0x11] = {0xaa, [0xf] = 0xbb};

	cr_expect_eq(ds_area_put(&memory, &area, record, 0x11), -ENOSPC);
	cr_expect_eq(bytes[0x10], 0);
	cr_expect_eq(ds_area_put(&memory, &area, record, 0x10), 0);
	cr_expect_eq(bytes[0x0f], 0);
	cr_expect_eq(bytes[0x10], 0xaa);
	cr_expect_eq(bytes[0x1f], 0xbb);
	area.index = 0x5007;
	cr_expect_eq(ds_area_put(&memory, &area, record, 1), -ENOSPC, "before the base");
	area = (struct ds_area){.base = 0x5000, .index = 0x5038, .maximum = 0x6000};
	cr_expect_eq(ds_area_put(&memory, &area, record, 0x10), -EFAULT);
	cr_expect_eq(bytes[0x38], 0, "nor a part of it");
}

/*
 * If the record cannot be written, the index stays. If the index cannot be moved, software does not see the
 * record.
 */
Test(model_ds_area, an_unwritable_buffer_or_index_counts_as_full)
{
	static const u64 refused[] = {FIXTURE_BUFFER, FIXTURE_BUFFER + 8, FIXTURE_AREA + 0x28};

	for (size_t i = 0; i < 3; i++) {
		struct reached reached;

		open_reached("nehalem", &reached);
		pebs_fixture_buffer(FIXTURE_RECORDS, 0); /* each record reaches the threshold */
		reached.refused = refused[i];
		cr_expect_eq(pebs_fixture_retire(LOAD(10), 4), 0, "%zu: no interrupt", i);
		cr_expect_eq(fixture.unit.records, 0, "%zu", i);
		cr_expect_eq(fixture.unit.not_written, 3, "%zu", i);
		cr_expect_eq(fixture.unit.written.present, 0, "%zu", i);
		cr_expect_eq(fixture.unit.written_counters, 0, "%zu", i);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 3, "%zu: not reloaded", i);
		cr_expect_eq(pebs_fixture_area().index, FIXTURE_BUFFER, "%zu", i);

		reached.refused = ~0ULL;
		pebs_fixture_retire(LOAD(10), 1);
		cr_expect_eq(fixture.unit.records, 1, "%zu: the next event makes the record", i);
		cr_expect_eq(pebs_fixture_area().index, FIXTURE_BUFFER + record_size(RECORD_NEHALEM, 0),
			     "%zu", i);
	}
}

Test(model_ds_area, an_unreadable_area_counts_as_absent)
{
	struct reached reached;

	open_reached("nehalem", &reached);
	reached.memory.size = 0x5f; /* one byte less than the area */
	pebs_fixture_retire(LOAD(10), 5);
	cr_expect_eq(fixture.unit.records, 0);
	cr_expect_eq(fixture.unit.not_written, 1, "the overflow is forgotten");
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 4, "and the counter runs on");
}
