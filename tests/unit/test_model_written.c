// SPDX-License-Identifier: GPL-2.0
/*
 * What a record contains of the state after an instruction (registers, times), and the copy of the last
 * record that the PEBS unit keeps (`written`).
 */
#include <criterion/criterion.h>

#include "model/adaptive.h"
#include "pebs_fixture.h"

/* An event that counts each load and is precise on this machine: all loads, or all instructions. */
static u64 event_of(void)
{
	return COUNTING | (fixture.unit.machine->format >= RECORD_HASWELL ? 0x81d0 : 0x00c0);
}

static void start(const char *machine)
{
	pebs_fixture_open(machine);
	pebs_fixture_reset(0, 1);
	pebs_fixture_program(0, event_of(), 1);
	pebs_fixture_enable(1, 1);
}

static struct retired_registers some_registers(void)
{
	struct retired_registers registers = {.flags = 0x246};

	for (u32 i = 0; i < RETIRED_REGISTERS; i++)
		registers.general[i] = 0xffff888000000000ULL + i;
	return registers;
}

Test(model_written, a_record_has_the_registers_that_the_instruction_left)
{
	static const char *const names[] = {"core", "nehalem", "haswell", "skylake"};
	struct retired_registers registers = some_registers();
	struct retired retired = LOAD(10);

	retired.registers = &registers;
	for (size_t i = 0; i < 4; i++) {
		struct record record;

		start(names[i]);
		pebs_fixture_retire(retired, 2);
		cr_assert_eq(pebs_fixture_records(), 1, "%s", names[i]);
		record = pebs_fixture_record(0);
		cr_expect_eq(record.values[RECORD_FLAGS], 0x246, "%s", names[i]);
		for (u32 n = 0; n < RETIRED_REGISTERS; n++) {
			cr_expect(record.present >> (RECORD_AX + n) & 1);
			cr_expect_eq(record.values[RECORD_AX + n], registers.general[n], "%s: %u", names[i],
				     n);
		}
	}
}

Test(model_written, an_adaptive_record_has_the_registers_in_the_group_for_them)
{
	struct retired_registers registers = some_registers();
	struct retired retired = LOAD(10);
	struct record record;

	retired.registers = &registers;
	pebs_fixture_open("icelake");
	pebs_fixture_write(MSR_PEBS_DATA_CFG, DATA_CFG_REGISTERS);
	pebs_fixture_buffer(FIXTURE_RECORDS, FIXTURE_RECORDS);
	pebs_fixture_reset(0, 1);
	pebs_fixture_program(0, event_of() | EVTSEL_ADAPTIVE, 1);
	pebs_fixture_enable(1, 1);
	pebs_fixture_retire(retired, 2);
	cr_assert_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_FLAGS], 0x246);
	for (u32 n = 0; n < RETIRED_REGISTERS; n++)
		cr_expect_eq(record.values[RECORD_AX + n], registers.general[n], "%u", n);
}

Test(model_written, without_registers_the_flags_have_their_default)
{
	start("nehalem");
	pebs_fixture_retire(LOAD(10), 2);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_FLAGS], 0x202);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_AX], 0);
	cr_expect_not(fixture.unit.written.present >> RECORD_AX & 1);
}

/*
 * With PDIR, counter 0 makes a record of each load. The retire latency counts core clock cycles and does not
 * depend on the time-stamp counter.
 */
Test(model_written, a_record_has_the_time_stamp_or_else_the_clock)
{
	static const u64 time_stamps[] = {0, 0x123456789abcULL};
	struct retired retired = LOAD(10);

	for (size_t i = 0; i < 2; i++) {
		start("graniterapids");
		retired.time_stamp = time_stamps[i];
		retired.tsc = 1000;
		pebs_fixture_retire(retired, 1);
		retired.tsc = 1030;
		pebs_fixture_retire(retired, 1);
		cr_assert_eq(pebs_fixture_records(), 2);
		cr_expect_eq(pebs_fixture_record(1).values[RECORD_TSC], i ? time_stamps[1] : 1030);
		cr_expect_eq(fixture.unit.written.values[RECORD_RETIRE_LATENCY], 30);
	}
}

Test(model_written, the_unit_keeps_the_last_record_and_its_counter)
{
	struct retired_registers registers = some_registers();
	struct retired retired = LOAD(10);

	start("skylake");
	pebs_fixture_program(1, event_of(), 2);
	pebs_fixture_enable(3, 3);
	cr_expect_eq(fixture.unit.written_counters, 0);
	cr_expect_eq(fixture.unit.written.present, 0);

	retired.registers = &registers;
	pebs_fixture_retire(retired, 2);
	cr_assert_eq(fixture.unit.records, 1);
	cr_expect_eq(fixture.unit.written_counters, 1 << 0 | 1 << 1, "counter 1 overflowed meanwhile");
	cr_expect_eq(fixture.unit.written.values[RECORD_IP], 0x2004);
	cr_expect_eq(fixture.unit.written.values[RECORD_EVENTING_IP], 0x2000);
	cr_expect_eq(fixture.unit.written.values[RECORD_R15], registers.general[15]);

	pebs_fixture_program(0, event_of(), 1);
	retired.ip = 0x4000;
	retired.registers = NULL;
	pebs_fixture_retire(retired, 2);
	cr_assert_eq(fixture.unit.records, 2);
	cr_expect_eq(fixture.unit.written_counters, 1 << 0);
	cr_expect_eq(fixture.unit.written.values[RECORD_EVENTING_IP], 0x4000);
	cr_expect_not(fixture.unit.written.present >> RECORD_R15 & 1, "nothing of the one before");

	pebs_fixture_buffer(0, 0);
	pebs_fixture_program(0, event_of(), 1);
	retired.ip = 0x5000;
	pebs_fixture_retire(retired, 2);
	cr_assert_gt(fixture.unit.not_written, 0);
	cr_expect_eq(fixture.unit.written.values[RECORD_EVENTING_IP], 0x4000, "still the last one");
}
