// SPDX-License-Identifier: GPL-2.0
/* Interrupts and their order: manual 18.8.1.1, "Performance Counter Prioritization", and 18.8.2 (uncore). */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

#define INSTRUCTIONS (0x00c0 | COUNTING)
#define LOADS        (0x010b | COUNTING)
#define STORES       (0x020b | COUNTING)

static void expect_interrupt(enum interrupt_cause cause, u64 status)
{
	struct interrupt interrupt = pebs_fixture_interrupt();

	cr_expect_eq(interrupt.cause, cause);
	cr_expect_eq(interrupt.status, status, "%#llx", (unsigned long long)interrupt.status);
}

static void expect_none(void)
{
	struct interrupt interrupt;

	cr_expect_not(pebs_take_interrupt(&fixture.unit, &interrupt));
}

/*
 * The example of Performance Counter Prioritization: counter 1 overflows at the instruction at which counter
 * 2 has its assist. Counter 1 is served first.
 */
Test(model_interrupts, priority_by_index_overflow_of_1_before_assist_of_2)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(1, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_program(2, INSTRUCTIONS, 1);
	pebs_fixture_enable(4, 6);
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 2), 2);
	expect_interrupt(INTERRUPT_OVERFLOW, 2);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_none();
}

Test(model_interrupts, priority_by_index_assist_of_1_before_overflow_of_2)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(1, INSTRUCTIONS, 1);
	pebs_fixture_program(2, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_enable(2, 6);
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 2), 2);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_interrupt(INTERRUPT_OVERFLOW, 4);
	expect_none();
}

/* Performance Counter Prioritization: fixed counters follow all general-purpose ones. */
Test(model_interrupts, priority_by_index_general_purpose_over_fixed)
{
	/* The assist of a general-purpose counter comes before the overflow of a fixed one... */
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(3, INSTRUCTIONS, 1);
	pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTRL_USR | FIXED_CTRL_PMI);
	pebs_fixture_write(MSR_IA32_FIXED_CTR0, 0xfffffffffffeULL);
	pebs_fixture_enable(8, 8 | MODEL_BIT(32));
	pebs_fixture_retire(INSTRUCTION, 2);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_interrupt(INTERRUPT_OVERFLOW, MODEL_BIT(32));
	expect_none();

	/* ...and the overflow of a general-purpose counter comes before the assist of a fixed one. */
	pebs_fixture_open("icelake");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(7, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTRL_USR);
	pebs_fixture_write(MSR_IA32_FIXED_CTR0, 0xfffffffffffeULL);
	pebs_fixture_enable(MODEL_BIT(32), 0x80 | MODEL_BIT(32));
	pebs_fixture_retire(INSTRUCTION, 2);
	expect_interrupt(INTERRUPT_OVERFLOW, 0x80);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_none();
}

/*
 * Performance Counter Prioritization: the counter has PEBS and its INT bit set. The record comes first, then
 * the interrupt of the threshold, then that of the counter.
 */
Test(model_interrupts, assist_then_threshold_then_overflow_two_separate_interrupts)
{
	pebs_fixture_start("nehalem", INSTRUCTIONS | EVTSEL_INT, 1);
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 1), 0, "the overflow's waits for the assist");
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 1), 2);
	cr_expect_eq(pebs_fixture_records(), 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS),
		     1 | STATUS_DS_BUFFER | STATUS_CONDITIONS);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_interrupt(INTERRUPT_OVERFLOW, 1);
	expect_none();
}

Test(model_interrupts, assist_then_overflow_where_the_threshold_is_not_met)
{
	pebs_fixture_start("nehalem", INSTRUCTIONS | EVTSEL_INT, 1);
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 2), 1);
	cr_expect_eq(pebs_fixture_records(), 1);
	expect_interrupt(INTERRUPT_OVERFLOW, 1);
	expect_none();
}

/*
 * One instruction causes three interrupts: of another counter, of the threshold, and of the sampling counter.
 */
Test(model_interrupts, an_overflow_on_each_side_of_the_threshold_stays_apart)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(0, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_program(1, INSTRUCTIONS | EVTSEL_INT, 1);
	pebs_fixture_enable(2, 3);
	pebs_fixture_retire(INSTRUCTION, 2);
	expect_interrupt(INTERRUPT_OVERFLOW, 1);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_interrupt(INTERRUPT_OVERFLOW, 2);
	expect_none();
}

/*
 * Performance Counter Prioritization: several counters that wrap at the same instruction cause one interrupt.
 */
Test(model_interrupts, counters_that_overflow_together_make_one_interrupt)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_program(0, INSTRUCTIONS | EVTSEL_INT, 3);
	pebs_fixture_program(2, INSTRUCTIONS | EVTSEL_INT, 3);
	pebs_fixture_program(3, INSTRUCTIONS, 3);
	pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTRL_USR | FIXED_CTRL_PMI);
	pebs_fixture_write(MSR_IA32_FIXED_CTR0, 0xfffffffffffdULL);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 0xd | MODEL_BIT(32));
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 3), 1);
	expect_interrupt(INTERRUPT_OVERFLOW, 5 | MODEL_BIT(32));
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), 0xd | MODEL_BIT(32) | STATUS_CONDITIONS,
		     "counter 3 does not interrupt, its bit is set");
	expect_none();
}

/*
 * Two counters overflow together, and a counter between them has its assist. The overflows cause one
 * interrupt.
 */
Test(model_interrupts, counters_that_overflow_together_round_an_assist_make_one_interrupt)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_program(0, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_program(1, INSTRUCTIONS, 1);
	pebs_fixture_program(2, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_enable(2, 7);
	pebs_fixture_retire(INSTRUCTION, 2);
	expect_interrupt(INTERRUPT_OVERFLOW, 5);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_none();
}

/* Until software takes an interrupt, raising it again has no effect. */
Test(model_interrupts, an_interrupt_that_waits_is_not_raised_twice)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_buffer(FIXTURE_RECORDS, 1);
	pebs_fixture_reset(0, 2);
	pebs_fixture_program(0, INSTRUCTIONS | EVTSEL_INT, 2);
	pebs_fixture_program(1, INSTRUCTIONS | EVTSEL_INT, 20);
	pebs_fixture_enable(1, 3);
	cr_expect_eq(pebs_fixture_retire(INSTRUCTION, 100), 2);
	cr_expect_eq(pebs_fixture_records(), FIXTURE_RECORDS);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	expect_interrupt(INTERRUPT_OVERFLOW, 3);
	expect_none();
}

/* PEBS Interrupt Threshold: the record that moves the index to the threshold interrupts, here the third. */
Test(model_interrupts, threshold_interrupt_when_the_index_reaches_it)
{
	pebs_fixture_start("nehalem", LOADS, 1);
	pebs_fixture_buffer(FIXTURE_RECORDS, 3);
	pebs_fixture_reset(0, 1);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 5), 0);
	cr_expect_eq(pebs_fixture_records(), 2);
	cr_expect_not(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & STATUS_DS_BUFFER);
	cr_expect_eq(pebs_fixture_retire(LOAD(10), 1), 1);
	expect_interrupt(INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), STATUS_DS_BUFFER | STATUS_CONDITIONS,
		     "the counter's own bit is cleared by the assist");
}

/* The counter's bit in the status register is set from its overflow to its assist. */
Test(model_interrupts, the_assist_clears_the_overflow_bit)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_program(2, STORES, 1);
	pebs_fixture_enable(4, 4);
	cr_expect_eq(pebs_fixture_retire(STORE, 1), 0);
	cr_expect(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 4);
	pebs_fixture_retire(STORE, 1);
	cr_expect_not(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS) & 4);
}

Test(model_interrupts, global_ovf_ctrl_clears_the_bits_written)
{
	pebs_fixture_open("nehalem");
	pebs_fixture_program(0, INSTRUCTIONS, 1);
	pebs_fixture_program(1, INSTRUCTIONS, 1);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 3);
	pebs_fixture_retire(INSTRUCTION, 1);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 2 | STATUS_CONDITIONS);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), 1);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), 1);
	cr_expect_eq(pebs_write(&fixture.unit, MSR_IA32_PERF_GLOBAL_STATUS, 0), -EINVAL, "read only");
}

/*
 * 18.8.1.1: a core and an uncore interrupt may come together. The handler reads the core and the uncore
 * status to distinguish them.
 */
Test(model_interrupts, uncore_interrupt_beside_a_core_overflow_told_apart_by_the_status_registers)
{
	u64 core, uncore;

	pebs_fixture_open("nehalem");
	pebs_fixture_program(0, INSTRUCTIONS | EVTSEL_INT, 1);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	cr_expect_eq(pebs_fixture_read(MSR_UNCORE_PERF_GLOBAL_STATUS), 0);

	pebs_fixture_retire(INSTRUCTION, 1);
	pebs_uncore_overflow(&fixture.unit);
	core = pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS);
	uncore = pebs_fixture_read(MSR_UNCORE_PERF_GLOBAL_STATUS);
	cr_expect_eq(core, 1 | STATUS_UNCORE | STATUS_CONDITIONS, "both");
	cr_expect_eq(uncore, 1 | UNCORE_STATUS_PMI | UNCORE_STATUS_CHANGED);
	expect_interrupt(INTERRUPT_OVERFLOW, 1);
	expect_interrupt(INTERRUPT_UNCORE, STATUS_UNCORE);

	/* The uncore's status is cleared only through a register of its own. */
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, core);
	cr_expect_eq(pebs_fixture_read(MSR_UNCORE_PERF_GLOBAL_STATUS), uncore);
	pebs_fixture_write(MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, uncore);
	cr_expect_eq(pebs_fixture_read(MSR_UNCORE_PERF_GLOBAL_STATUS), 0);

	/* The uncore interrupts alone: no bit of a core counter is set. */
	pebs_uncore_overflow(&fixture.unit);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), STATUS_UNCORE | STATUS_CONDITIONS);
}

/* Core does not have the uncore's register or status bit. */
Test(model_interrupts, before_nehalem_no_uncore_interrupts)
{
	u64 value;

	pebs_fixture_open("core");
	pebs_uncore_overflow(&fixture.unit);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PERF_GLOBAL_STATUS), 0);
	cr_expect_eq(pebs_read(&fixture.unit, MSR_UNCORE_PERF_GLOBAL_STATUS, &value), -EINVAL);
	expect_none();
}
