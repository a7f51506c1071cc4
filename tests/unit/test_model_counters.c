// SPDX-License-Identifier: GPL-2.0
/* Counters, reset values and priority: manual 18.8.1.1, "PEBS Counter X Reset" and "Performance Counter
 * Prioritization". */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

#define INSTRUCTIONS (0x00c0 | COUNTING) /* precise on Nehalem */
#define LOADS        (0x010b | COUNTING) /* MEM_INST_RETIRED.LOADS */
#define WIDTH_48     0xffffffffffffULL

/*
 * The wrap to zero arms PEBS. The record is made by the next event, not by the one that overflowed
 * (Performance Counter Prioritization).
 */
Test(model_counters, overflow_arms_and_the_next_event_triggers_the_assist)
{
	pebs_fixture_start("nehalem", LOADS, 3);
	pebs_fixture_reset(0, 1000);

	pebs_fixture_retire(LOAD(10), 2);
	cr_expect_not(fixture.unit.general[0].armed);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect(fixture.unit.general[0].armed);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0);
	cr_expect_eq(fixture.unit.records, 0);
	pebs_fixture_retire(INSTRUCTION, 5);
	cr_expect_eq(fixture.unit.records, 0, "an instruction that is not an event triggers nothing");
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, 1);
	cr_expect_not(fixture.unit.general[0].armed);
}

Test(model_counters, the_assist_reloads_the_reset_value)
{
	pebs_fixture_start("nehalem", INSTRUCTIONS, 4);
	pebs_fixture_reset(0, 9);

	pebs_fixture_retire(INSTRUCTION, 5);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 8);
	pebs_fixture_retire(INSTRUCTION, 30);
	cr_expect_eq(pebs_fixture_records(), 4, "nine to the overflow and one each");
}

/* Linux without AUTO_RELOAD: the reset field is 0, and the driver writes the counter after the interrupt. */
Test(model_counters, a_reset_field_of_0_makes_one_record_until_software_rewrites_the_counter)
{
	pebs_fixture_start("nehalem", INSTRUCTIONS, 2);
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);

	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 10000), 1);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 9997);
	pebs_fixture_write(MSR_IA32_PMC0, (u64)-2);
	pebs_fixture_retire(INSTRUCTION, 3);
	cr_expect_eq(pebs_fixture_records(), 2);
}

/* PEBS Counter X Reset: a counter whose bit in IA32_PEBS_ENABLE is 0 continues to count across the assist. */
Test(model_counters, a_counter_not_enabled_for_pebs_is_not_reloaded_by_the_assist)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_reset(0, 100);
	pebs_fixture_reset(1, 77);
	pebs_fixture_program(0, INSTRUCTIONS, 2);
	pebs_fixture_program(1, INSTRUCTIONS, 1);
	pebs_fixture_enable(1, 3);

	pebs_fixture_retire(INSTRUCTION, 3);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 99);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 1), 2, "it counts on from its overflow");
	cr_expect(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 2, "and its bit stays");
}

/* PEBS Counter X Reset: one record reloads all counters that overflowed with PEBS enabled. */
Test(model_counters, each_overflowed_pebs_counter_is_reloaded_by_one_assist)
{
	struct record record;

	pebs_fixture_open("nehalem");
	pebs_fixture_reset(0, 50);
	pebs_fixture_reset(1, 60);
	pebs_fixture_reset(2, 70);
	pebs_fixture_program(0, INSTRUCTIONS, 2);
	pebs_fixture_program(1, LOADS, 1);
	pebs_fixture_program(2, INSTRUCTIONS, 40);
	pebs_fixture_enable(7, 7);

	pebs_fixture_retire(LOAD(10), 1); /* arms counter 1 */
	pebs_fixture_retire(INSTRUCTION, 2);
	cr_expect_eq(pebs_fixture_records(), 1);
	record = pebs_fixture_record(0);
	cr_expect_eq(record.values[RECORD_GLOBAL_STATUS] & 0xff, 3, "one record stands for both");
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 49);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 1), WIDTH_48 - 59);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 2), WIDTH_48 - 36, "it has not overflowed");
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 7, 0);
}

/*
 * From format 0011b on, offset 90H has only the applicable counters (18.7.1). Earlier formats have the global
 * status there.
 */
Test(model_counters, applicable_counters_leave_out_those_without_pebs)
{
	static const struct {
		const char *machine;
		u64 select, expected;
	} table[] = {{"skylake", 0x81d0 | COUNTING, 1}, {"haswell", 0x81d0 | COUNTING, 3}};

	for (size_t i = 0; i < 2; i++) {
		struct record record;

		pebs_fixture_open(table[i].machine);
		pebs_fixture_program(0, table[i].select, 1);
		pebs_fixture_program(1, table[i].select, 1);
		pebs_fixture_enable(1, 3);
		pebs_fixture_retire(LOAD(10), 2);
		cr_assert_eq(pebs_fixture_records(), 1);
		record = pebs_fixture_record(0);
		cr_expect_eq(record.values[RECORD_GLOBAL_STATUS] & ~STATUS_CONDITIONS, table[i].expected,
			     "%s", table[i].machine);
	}
}

/*
 * Ice Lake's fixed counters support PEBS. Their reset fields follow those of eight general-purpose counters.
 * Fixed counter 0 is precisely distributed: the record describes the instruction that overflowed the counter.
 */
Test(model_counters, a_fixed_counter_samples_with_adaptive_pebs)
{
	pebs_fixture_open("icelake");
	pebs_fixture_reset(PEBS_FIXED_0, 7);
	pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTRL_USR);
	pebs_fixture_write(MSR_IA32_FIXED_CTR0, WIDTH_48 - 1);
	pebs_fixture_enable(MODEL_BIT(PEBS_FIXED_0), MODEL_BIT(PEBS_FIXED_0));
	pebs_fixture_retire(INSTRUCTION, 3);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_record(0).values[RECORD_GLOBAL_STATUS], MODEL_BIT(32));
	cr_expect_eq(pebs_fixture_read(MSR_IA32_FIXED_CTR0), WIDTH_48 - 5);
}

/* GLOBAL_CTRL gates counting (18.2.2). */
Test(model_counters, global_ctrl_gates_counting)
{
	pebs_fixture_open("skylake");
	pebs_fixture_program(0, INSTRUCTIONS, 100);
	pebs_fixture_retire(INSTRUCTION, 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 99);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pebs_fixture_retire(INSTRUCTION, 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 89);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, INSTRUCTIONS & ~EVTSEL_ENABLE);
	pebs_fixture_retire(INSTRUCTION, 10);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 89);
}

/*
 * Writing 0 to GLOBAL_CTRL and PEBS_ENABLE and enabling them again, as a context switch does, keeps a counter
 * armed.
 */
Test(model_counters, an_armed_counter_stays_armed_while_counting_is_off)
{
	pebs_fixture_start("nehalem", LOADS, 1);
	pebs_fixture_retire(LOAD(10), 1);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	pebs_fixture_write(MSR_IA32_PEBS_ENABLE, 0);
	pebs_fixture_retire(LOAD(10), 3);
	cr_expect_eq(fixture.unit.records, 0);
	pebs_fixture_enable(1, 1);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, 1);
}

/*
 * Without PEBS, an armed counter is a plain one: it interrupts, and the assist of another counter does not
 * reload it.
 */
Test(model_counters, an_armed_counter_without_pebs_is_an_ordinary_counter)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_program(0, LOADS | EVTSEL_INT, 1);
	pebs_fixture_program(1, INSTRUCTIONS, 3);
	pebs_fixture_enable(3, 3);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect(fixture.unit.general[0].armed);
	pebs_fixture_write(MSR_IA32_PEBS_ENABLE, 2);
	fixture.unit.general[0].count = WIDTH_48;
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 1), 1);
	cr_expect_eq(pebs_fixture_interrupt().status, 1);
	pebs_fixture_retire(INSTRUCTION, 2);
	cr_assert_eq(pebs_fixture_records(), 1);
	cr_expect(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0);
	cr_expect(fixture.unit.general[0].armed);
}

/* Disabling and enabling a counter keeps its overflow. Programming another event forgets it. */
Test(model_counters, another_event_forgets_the_overflow)
{
	static const struct {
		u64 select, records;
	} table[] = {{LOADS & ~EVTSEL_ENABLE, 1}, {0x020b | COUNTING, 0}};

	for (size_t i = 0; i < 2; i++) {
		pebs_fixture_start("nehalem", LOADS, 1);
		pebs_fixture_retire(LOAD(10), 1);
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0, table[i].select);
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0, LOADS);
		pebs_fixture_retire(LOAD(10), 2);
		cr_expect_eq(fixture.unit.records, table[i].records, "%zu", i);
	}
}

Test(model_counters, writing_a_counter_forgets_its_overflow)
{
	pebs_fixture_start("nehalem", LOADS, 1);
	pebs_fixture_retire(LOAD(10), 1);
	pebs_fixture_write(MSR_IA32_PMC0, (u64)-5);
	pebs_fixture_retire(LOAD(10), 5);
	cr_expect_eq(fixture.unit.records, 0);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, 1);
}

/* An event that is not precise does not arm PEBS, here cycles on Skylake. */
Test(model_counters, an_event_that_is_not_precise_makes_no_record)
{
	struct retired later = INSTRUCTION;

	pebs_fixture_start("skylake", 0x003c | COUNTING, 10);
	for (u32 i = 0; i < 10; i++) {
		later.tsc += 5;
		pebs_fixture_retire(later, 1);
	}
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 35, "45 cycles since the first");
	cr_expect_eq(fixture.unit.records, 0);
	cr_expect(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 1);
}

/* pebs_pass() stops at the last event before the overflow. */
Test(model_counters, passing_time_stops_before_the_overflow)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_program(0, LOADS, 1000);
	cr_expect_eq(pebs_pass(&fixture.unit, 0, 5), 5, "a counter that counts nothing holds nobody up");
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48 - 999);
	pebs_fixture_enable(1, 1);

	cr_expect_eq(pebs_pass(&fixture.unit, 0, 400), 400);
	cr_expect_eq(pebs_pass(&fixture.unit, 0, 5000), 599);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), WIDTH_48);
	cr_expect_eq(pebs_pass(&fixture.unit, 0, 1), 0);
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect(fixture.unit.general[0].armed);
	cr_expect_eq(pebs_pass(&fixture.unit, 0, 1), 0, "the assist is the next event's");
	pebs_fixture_retire(LOAD(10), 1);
	cr_expect_eq(fixture.unit.records, 1);
	cr_expect_eq(pebs_pass(&fixture.unit, 0, 1ULL << 40), 1ULL << 40);
	cr_expect_eq(pebs_pass(&fixture.unit, 40, 3), 3, "no such counter");
}
