// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/load_source.h"
#include "origin/model/driver.h"

#define BASE   0xffff800000000000ULL
#define PERIOD 200

static struct pebs_unit unit;
static struct driver driver;
static void *bytes;

/* The number of samples that were delivered, and the last one. */
static struct {
	u64 n;
	struct sample last;
	u64 cgroup_id;
} taken;

static void take(void *userdata, const struct sample *sample)
{
	cr_expect_eq(userdata, &taken);
	taken.n++;
	taken.last = *sample;
}

static void open_unit(const struct machine *machine, u64 size)
{
	free(bytes);
	bytes = calloc(1, size);
	cr_assert(bytes);
	memset(&taken, 0, sizeof(taken));
	pebs_open(&unit, machine, (struct linear_memory){.base = BASE, .size = size, .bytes = bytes}, 1);
	unit.tag_interval = 1;
	unit.skid = 0;
}

static void start(const struct machine *machine, u64 period)
{
	open_unit(machine, driver_memory_size(machine));
	cr_assert_eq(driver_start(&driver, &unit, 30, period), 0, "%s", machine->name);
}

static void end(void)
{
	free(bytes);
	bytes = NULL;
}

TestSuite(driver, .fini = end);

static u32 load(u32 latency)
{
	static u64 tsc = 1000;
	struct retired retired = {
		.ip = 0x401000,
		.next_ip = 0x401004,
		.address = 0x7f0000001040,
		.tsc = tsc += 1000,
		.latency = latency,
		.instruction_latency = latency + 7,
		.operation = OPERATION_LOAD,
		.place = PLACE_L3,
		.snoop = SNOOPED_MODIFIED,
		.translated = TRANSLATED_WALK,
		.locked = true,
	};

	return pebs_retire(&unit, &retired);
}

static u64 loads(u64 n, u32 latency)
{
	u64 interrupts = 0;

	while (n--)
		interrupts += load(latency) > 0;
	return interrupts;
}

static u64 read_register(u32 msr)
{
	u64 value = 0;

	cr_expect_eq(pebs_read(&unit, msr, &value), 0, "%#x", msr);
	return value;
}

#define for_each_able(machine)                                                                         \
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++) \
		if (!machine_refusal(machine))

Test(driver, every_capable_machine_can_be_programmed)
{
	for_each_able(machine)
	{
		struct ds_area area;
		u64 enabled;

		start(machine, PERIOD);
		cr_expect(machine->load_latency_counters >> driver.counter & 1);
		cr_expect_eq(read_register(MSR_PEBS_LD_LAT_THRESHOLD), 30);
		enabled = read_register(MSR_IA32_PEBS_ENABLE);
		cr_expect_eq(enabled & 0xff, 1U << driver.counter);
		cr_expect_eq(enabled >> 32, machine->format == RECORD_ADAPTIVE ? 0 : 1U << driver.counter);
		cr_expect(!(read_register(MSR_IA32_PERFEVTSEL0 + driver.counter) & EVTSEL_INT),
			  "the interrupt is the buffer's");
		cr_expect_eq(read_register(MSR_IA32_PMC0 + driver.counter),
			     MODEL_BIT(machine->counter_bits) - PERIOD);
		cr_assert_eq(ds_area_read(machine, &unit.memory, read_register(MSR_IA32_DS_AREA), &area), 0);
		cr_expect_eq(area.reset[driver.counter] & (MODEL_BIT(machine->counter_bits) - 1),
			     MODEL_BIT(machine->counter_bits) - PERIOD);
		cr_expect_eq(area.index, area.base);
		cr_expect_lt(area.threshold, area.maximum);
		cr_expect_null(pebs_undefined(&unit));
	}
}

Test(driver, machines_without_load_latency_are_refused)
{
	const struct machine *skylake = machine_find("skylake");

	for (size_t i = 0; i < machines_count; i++) {
		if (!machine_refusal(&machines[i]))
			continue;
		open_unit(&machines[i], 65536);
		cr_expect_eq(driver_start(&driver, &unit, 30, PERIOD), -ENODEV, "%s", machines[i].name);
	}
	open_unit(skylake, driver_memory_size(skylake) - 1);
	cr_expect_eq(driver_start(&driver, &unit, 30, PERIOD), -EFAULT);
}

Test(driver, the_shortest_period_of_linux_is_accepted)
{
	cr_expect_eq(driver_period(machine_find("skylake"), 1), 1);
	cr_expect_eq(driver_period(machine_find("nehalem"), 1), 32);
	cr_expect_eq(driver_period(machine_find("nehalem"), 33), 33);
}

/*
 * One record needs the loads of a period and one more: the counter overflows, and the next load is recorded.
 * Counter 0 of an E-core does not have this skid.
 */
Test(driver, each_record_becomes_a_sample_of_its_load)
{
	for_each_able(machine)
	{
		bool split = machine->mechanisms & MECHANISM_LATENCY_SPLIT;

		start(machine, PERIOD);
		cr_expect_eq(loads(PERIOD - (machine->distributed_counters >> driver.counter & 1), 99), 0);
		cr_expect_eq(driver_drain(&driver, 7, take, &taken), 0);
		cr_expect_eq(taken.n, 0);
		cr_expect_eq(loads(1, 99), 0);
		cr_expect_eq(unit.records, 1);
		cr_expect_eq(driver_drain(&driver, 7, take, &taken), 0);
		cr_assert_eq(taken.n, 1, "%s", machine->name);
		cr_expect_eq(taken.last.cgroup_id, 7);
		cr_expect_eq(taken.last.event, 0);
		cr_expect_eq(taken.last.period, PERIOD);
		cr_expect_eq(taken.last.address, 0x7f0000001040);
		cr_expect_eq(taken.last.latency, 99, "%s: %llu", machine->name,
			     (unsigned long long)taken.last.latency);
		cr_expect_eq(taken.last.instruction_latency, split ? 106 : 0);
		/* Before Haswell, records have only the address after the instruction. */
		cr_expect_eq(taken.last.code_address, machine->format < RECORD_HASWELL ? 0x401004 : 0x401000,
			     "%s", machine->name);
		cr_expect_eq(taken.last.fields, SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS |
							SAMPLE_CODE_ADDRESS |
							(split ? SAMPLE_INSTRUCTION_LATENCY : 0));
		cr_expect_eq(data_source_source(taken.last.data_source), SOURCE_L3, "%s", machine->name);
		cr_expect_eq(data_source_snoop(taken.last.data_source), SNOOP_HITM, "%s", machine->name);
		/* A record is delivered only once. */
		cr_expect_eq(driver_drain(&driver, 7, take, &taken), 0);
		cr_expect_eq(taken.n, 1);
	}
}

Test(driver, short_loads_make_no_sample)
{
	start(machine_find("skylake"), PERIOD);
	cr_expect_eq(loads(10ULL * PERIOD, 30), 0);
	cr_expect_eq(driver_drain(&driver, 7, take, &taken), 0);
	cr_expect_eq(taken.n, 0, "30 cycles are not above 30");
}

Test(driver, sampling_continues_after_a_drain_at_the_threshold)
{
	for_each_able(machine)
	{
		u64 left = 100000;

		start(machine, 1);
		for (int round = 1; round <= 3; round++) {
			while (!load(50) && --left)
				continue;
			cr_assert(left, "%s: no interrupt", machine->name);
			cr_expect(read_register(MSR_IA32_PERF_GLOBAL_STATUS) & STATUS_DS_BUFFER);
			cr_expect_eq(driver_interrupt(&driver, 7, take, &taken), 0);
			cr_expect(!(read_register(MSR_IA32_PERF_GLOBAL_STATUS) & STATUS_DS_BUFFER));
			cr_expect_eq(taken.n, (u64)round * DRIVER_THRESHOLD, "%s: %llu", machine->name,
				     (unsigned long long)taken.n);
		}
		cr_expect_eq(unit.records, taken.n);
		cr_expect_eq(unit.not_written, 0);
	}
}

/* A buffer that is not drained is not overwritten. Further records are lost, and the unit counts them. */
Test(driver, an_undrained_buffer_fills_up_and_counts_losses)
{
	const struct machine *skylake = machine_find("skylake");
	struct interrupt interrupt;

	start(skylake, 1);
	for (int i = 0; i < 4 * DRIVER_RECORDS; i++) {
		(void)load(50);
		while (pebs_take_interrupt(&unit, &interrupt))
			continue;
	}
	cr_expect_eq(driver_drain(&driver, 7, take, &taken), 0);
	cr_expect_eq(taken.n, DRIVER_RECORDS);
	cr_expect_gt(unit.not_written, 0);
	cr_expect_eq(unit.records, taken.n);
}

Test(driver, absent_fields_are_not_marked)
{
	struct record record = {.present = MODEL_BIT(RECORD_ADDRESS)};
	struct sample sample;

	record.values[RECORD_ADDRESS] = 5;
	record.values[RECORD_LATENCY] = 6;
	driver_sample(machine_find("skylake"), &record, 3, &sample);
	cr_expect_eq(sample.fields, SAMPLE_ADDRESS);
	cr_expect_eq(sample.address, 5);
	cr_expect_eq(sample.latency, 0);
	cr_expect_eq(sample.period, 3);
}
