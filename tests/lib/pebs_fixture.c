// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "pebs_fixture.h"

struct pebs_fixture fixture;

void pebs_fixture_open(const char *machine)
{
	const struct machine *found = machine_find(machine);

	cr_assert(found, "no machine \"%s\"", machine);
	memset(fixture.bytes, 0, sizeof(fixture.bytes));
	pebs_open(&fixture.unit, found,
		  (struct linear_memory){
			  .base = FIXTURE_AREA, .size = sizeof(fixture.bytes), .bytes = fixture.bytes},
		  1);
	fixture.unit.skid = 0;
	fixture.unit.tag_interval = 1;
	pebs_fixture_buffer(FIXTURE_RECORDS, FIXTURE_RECORDS);
	pebs_fixture_write(MSR_IA32_DS_AREA, FIXTURE_AREA);
}

struct ds_area pebs_fixture_area(void)
{
	struct ds_area area;

	cr_assert_eq(ds_area_read(fixture.unit.machine, &fixture.unit.memory, FIXTURE_AREA, &area), 0);
	return area;
}

void pebs_fixture_set_area(const struct ds_area *area)
{
	cr_assert_eq(ds_area_write(fixture.unit.machine, &fixture.unit.memory, FIXTURE_AREA, area), 0);
}

static u32 size_of(void)
{
	return record_size(fixture.unit.machine->format, fixture.unit.data_cfg);
}

void pebs_fixture_buffer(u32 records, u32 threshold)
{
	struct ds_area area = pebs_fixture_area();

	area.base = FIXTURE_BUFFER;
	area.index = FIXTURE_BUFFER;
	area.maximum = FIXTURE_BUFFER + (u64)records * size_of();
	area.threshold = FIXTURE_BUFFER + (u64)threshold * size_of();
	pebs_fixture_set_area(&area);
}

void pebs_fixture_reset(u32 counter, u64 events)
{
	struct ds_area area = pebs_fixture_area();

	area.reset[counter < PEBS_FIXED_0 ? counter : counter - PEBS_FIXED_0 + PEBS_GENERAL] = -events;
	pebs_fixture_set_area(&area);
}

void pebs_fixture_write(u32 msr, u64 value)
{
	cr_assert_eq(pebs_write(&fixture.unit, msr, value), 0, "%#x takes no %#llx", msr,
		     (unsigned long long)value);
}

u64 pebs_fixture_read(u32 msr)
{
	u64 value = 0;

	cr_assert_eq(pebs_read(&fixture.unit, msr, &value), 0, "%#x", msr);
	return value;
}

void pebs_fixture_program(u32 counter, u64 select, u64 events)
{
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0 + counter, select);
	pebs_fixture_write(MSR_IA32_PMC0 + counter, -events);
}

void pebs_fixture_enable(u64 pebs, u64 counting)
{
	pebs_fixture_write(MSR_IA32_PEBS_ENABLE, pebs);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, counting);
}

void pebs_fixture_start(const char *machine, u64 select, u64 events)
{
	pebs_fixture_open(machine);
	pebs_fixture_program(0, select, events);
	pebs_fixture_enable(1, 1);
}

u32 pebs_fixture_retire(struct retired retired, u32 times)
{
	u32 pending = fixture.unit.pending_count;

	for (u32 i = 0; i < times; i++)
		pending = pebs_retire(&fixture.unit, &retired);
	return pending;
}

u32 pebs_fixture_records(void)
{
	struct ds_area area = pebs_fixture_area();

	return (u32)((area.index - area.base) / size_of());
}

struct record pebs_fixture_record(u32 index)
{
	u32 size = size_of();
	u64 offset = FIXTURE_BUFFER - FIXTURE_AREA + (u64)index * size;
	struct record record;
	u32 read;

	cr_assert_eq(record_read(fixture.unit.machine->format, fixture.bytes + offset, size, &record, &read),
		     0);
	return record;
}

struct interrupt pebs_fixture_interrupt(void)
{
	struct interrupt interrupt = {0};

	cr_assert(pebs_take_interrupt(&fixture.unit, &interrupt), "no interrupt waits");
	return interrupt;
}
