// SPDX-License-Identifier: GPL-2.0
/*
 * Skid, PDIR (precise distribution of instructions retired, manual 18.9.4.4) and Goldmont's reduced skid (18.7.1.2).
 * Each instruction has a different address here, so that a record identifies its instruction.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "model/adaptive.h"
#include "model/skid.h"
#include "pebs_fixture.h"

#define INST_RETIRED_ALL (0x01c0 | COUNTING)
#define PERIOD           100
#define SKID             40

/* Opens a unit that samples every PERIOD-th event of a counter, with skid. */
static void open_skidding(const char *machine, u32 counter, u64 select)
{
	pebs_fixture_open(machine);
	fixture.unit.skid = SKID;
	pebs_fixture_reset(counter, PERIOD);
	pebs_fixture_program(counter, select, PERIOD);
	pebs_fixture_enable(MODEL_BIT(counter), MODEL_BIT(counter));
}

/*
 * Retires instructions, numbered from 1, until there is a record. Returns the number of the record's
 * instruction; 0: there was no record.
 */
static u64 sampled(struct retired instruction)
{
	u64 before = fixture.unit.records;

	for (u64 n = 1; n <= 10ULL * PERIOD; n++) {
		instruction.ip = n << 4;
		instruction.next_ip = (n + 1) << 4;
		pebs_fixture_retire(instruction, 1);
		if (fixture.unit.records != before)
			return pebs_fixture_record((u32)before).values[RECORD_IP] / 16 - 1;
	}
	return 0;
}

/*
 * 18.9.4.4: after the overflow, PEBS takes some time until it is ready. A variable number of instructions
 * passes, at most the skid of the unit.
 */
Test(model_skid, a_finite_and_variable_delay_after_the_overflow)
{
	u64 first, least, most;

	open_skidding("nehalem", 0, 0x00c0 | COUNTING);
	first = least = most = sampled(INSTRUCTION);
	for (u32 i = 1; i < FIXTURE_RECORDS; i++) {
		u64 next = sampled(INSTRUCTION);

		least = next < least ? next : least;
		most = next > most ? next : most;
	}
	cr_expect_geq(least, PERIOD + 1, "%llu", (unsigned long long)least);
	cr_expect_leq(most, PERIOD + 1 + SKID, "%llu", (unsigned long long)most);
	cr_expect_gt(most - least, SKID / 4, "%llu", (unsigned long long)first);
}

/* The delay may be anything from none to the whole skid. */
Test(model_skid, the_delay_is_from_0_to_the_skid)
{
	u32 seen[3] = {0};

	open_skidding("nehalem", 0, 0x00c0 | COUNTING);
	pebs_fixture_buffer(60, 60);
	fixture.unit.skid = 2;
	for (u32 i = 0; i < 60; i++) {
		u64 at = sampled(INSTRUCTION) - (PERIOD + 1);

		cr_assert_leq(at, 2);
		seen[at]++;
	}
	cr_expect_gt(seen[0], 5);
	cr_expect_gt(seen[1], 5);
	cr_expect_gt(seen[2], 5);
}

/*
 * 18.9.4.4: with counter 1, IA32_PEBS_ENABLE bit 1 and INST_RETIRED.ALL, the record is of the instruction
 * that overflowed the counter.
 */
Test(model_skid, pdir_on_counter_1_samples_the_instruction_that_overflowed)
{
	static const char *const names[] = {"sandybridge", "ivybridge", "haswell", "skylake"};

	for (size_t i = 0; i < 4; i++) {
		open_skidding(names[i], 1, INST_RETIRED_ALL);
		for (u32 n = 0; n < FIXTURE_RECORDS; n++)
			cr_expect_eq(sampled(INSTRUCTION), PERIOD, "%s", names[i]);
	}
}

Test(model_skid, only_inst_retired_all_on_counter_1_has_pdir)
{
	/* Before Sandy Bridge, this mechanism does not exist. */
	open_skidding("nehalem", 1, INST_RETIRED_ALL);
	cr_expect_gt(sampled(INSTRUCTION), PERIOD);
	/* Any other event of counter 1 skids. */
	open_skidding("sandybridge", 1, 0x81d0 | COUNTING);
	cr_expect_gt(sampled(LOAD(10)), PERIOD);
	/* No other counter has this event. */
	open_skidding("sandybridge", 2, INST_RETIRED_ALL);
	cr_expect_eq(sampled(INSTRUCTION), 0);
}

/*
 * The counters of an adaptive machine that provide precise_ip 3, by Linux 6.12 (icl_, glc_, tnt_,
 * cmt_get_event_constraints() in core.c). On these, the record is of the instruction that overflows the
 * counter. On the others, it is not.
 */
Test(model_skid, adaptive_machines_distribute_precisely_on_their_counters)
{
	static const struct {
		const char *machine;
		u32 counter;
		bool exact;
	} table[] = {
		{"icelake", 0, false},      {"sapphirerapids", 0, true}, {"sapphirerapids", 1, false},
		{"graniterapids", 0, true}, {"gracemont", 0, true},      {"gracemont", 1, false},
		{"sierraforest", 1, true},  {"sierraforest", 2, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		u64 at;

		open_skidding(table[i].machine, table[i].counter, 0x00c0 | COUNTING);
		pebs_fixture_write(MSR_PEBS_DATA_CFG, DATA_CFG_REGISTERS);
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0 + table[i].counter,
				   0x00c0 | COUNTING | EVTSEL_ADAPTIVE);
		at = sampled(INSTRUCTION);
		cr_expect_eq(at == PERIOD, table[i].exact, "%s, counter %u: %llu", table[i].machine,
			     table[i].counter, (unsigned long long)at);
	}
}

Test(model_skid, pdir_needs_counter_event_and_enable_bit)
{
	static const struct {
		const char *machine;
		u32 counter;
		u64 select, enable;
		bool pdir;
	} table[] = {
		{"sandybridge", 1, INST_RETIRED_ALL, 2, true},
		{"sandybridge", 1, INST_RETIRED_ALL, 0xf, true},
		{"sandybridge", 1, INST_RETIRED_ALL, 0xd, false},
		{"sandybridge", 0, INST_RETIRED_ALL, 0xf, false},
		{"sandybridge", 2, INST_RETIRED_ALL, 0xf, false},
		{"sandybridge", 1, 0x00c0 | COUNTING, 2, false},
		{"sandybridge", 1, INST_RETIRED_ALL | EVTSEL_INV | 10ULL << 24, 2, false},
		{"nehalem", 1, INST_RETIRED_ALL, 2, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		cr_expect_eq(skid_pdir(machine_find(table[i].machine), table[i].counter, table[i].select,
				       table[i].enable),
			     table[i].pdir, "row %zu", i);
}

/*
 * 18.9.4.4: Sandy Bridge (06_2A, 06_2D) requires that no other programmable counter runs while PDIR is used.
 */
Test(model_skid, on_06_2a_and_06_2d_pdir_needs_quiet_other_counters)
{
	static const struct {
		const char *machine;
		bool alone;
	} table[] = {
		{"sandybridge", true}, {"sandybridge-ep", true}, {"ivybridge", false}, {"skylake", false}};

	for (size_t i = 0; i < 4; i++) {
		u64 counted;

		open_skidding(table[i].machine, 1, INST_RETIRED_ALL);
		cr_expect_null(pebs_undefined(&fixture.unit));
		pebs_fixture_program(2, 0x81d0 | COUNTING, 1000);
		cr_expect_null(pebs_undefined(&fixture.unit), "counter 2 is not enabled yet");
		pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 6);
		if (table[i].alone) {
			cr_assert_not_null(pebs_undefined(&fixture.unit));
			cr_expect_not_null(strstr(pebs_undefined(&fixture.unit), "PDIR"));
			cr_expect_eq(sampled(INSTRUCTION), 0, "%s", table[i].machine);
		} else {
			cr_expect_null(pebs_undefined(&fixture.unit));
			cr_expect_eq(sampled(INSTRUCTION), PERIOD, "%s", table[i].machine);
		}
		/* The other counters continue. */
		counted = pebs_fixture_read(MSR_IA32_PMC0 + 2);
		pebs_fixture_retire(LOAD(10), 3);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 2), counted + 3);
		/* Fixed counters are not programmable ones. */
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0 + 2, 0);
		pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTRL_USR);
		pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 6 | MODEL_BIT(32));
		cr_expect_null(pebs_undefined(&fixture.unit));
	}
}

/* 18.7.1.2: unlike PDIR, reduced skid applies to any precise event, including INST_RETIRED. */
Test(model_skid, reduced_skid_applies_to_all_precise_events)
{
	static const struct {
		u64 select;
		bool store;
	} table[] = {{0x00c0 | COUNTING, false}, {0x81d0 | COUNTING, false}, {0x82d0 | COUNTING, true}};

	for (size_t i = 0; i < 3; i++) {
		open_skidding("goldmont", 0, table[i].select);
		for (u32 n = 0; n < FIXTURE_RECORDS; n++)
			cr_expect_eq(sampled(table[i].store ? STORE : LOAD(10)), PERIOD, "%zu", i);
	}
}

/* 18.7.1.2: these fields change the event, or also count the other thread. They turn reduced skid off. */
Test(model_skid, reduced_skid_is_off_with_inv_any_e_or_cmask)
{
	static const u64 fields[] = {EVTSEL_INV, EVTSEL_ANY, 1ULL << 24, EVTSEL_EDGE | 1ULL << 24};

	for (size_t i = 0; i < 4; i++) {
		struct retired load = LOAD(10);
		u64 skidded = 0;

		open_skidding("goldmont", 0, 0x81d0 | COUNTING | fields[i]);
		/* Loads and other instructions take turns: with edge detection, each load is an edge. */
		for (u64 n = 0; n < 1200 && fixture.unit.records < 3; n++) {
			pebs_fixture_retire(load, 1);
			pebs_fixture_retire(INSTRUCTION, 1);
			if (fixture.unit.records == skidded)
				continue;
			skidded = fixture.unit.records;
			cr_expect_geq(n + 1, skidded * (PERIOD + 1), "%zu: record %llu at load %llu", i,
				      (unsigned long long)skidded, (unsigned long long)n + 1);
		}
		cr_expect_eq(skidded, 3, "%zu", i);
	}
}

/*
 * 18.7.1.2: writing a configuration register or a counter (by either address) turns reduced skid off, if PEBS
 * is enabled in both IA32_PEBS_ENABLE and IA32_PERF_GLOBAL_CTRL.
 */
Test(model_skid, reduced_skid_needs_pebs_disabled_before_configuration_or_counters_are_written)
{
	static const struct {
		u32 off; /* register that is 0 during the write; 0: none */
		u32 written;
		u64 value;
		bool works;
	} table[] = {
		{0, MSR_IA32_PMC0, (u64)-PERIOD, false},
		{0, MSR_IA32_A_PMC0, 0x1000000000000ULL - PERIOD, false},
		{0, MSR_IA32_PERFEVTSEL0, 0x00c0 | COUNTING, false},
		{MSR_IA32_PEBS_ENABLE, MSR_IA32_PMC0, (u64)-PERIOD, true},
		{MSR_IA32_PERF_GLOBAL_CTRL, MSR_IA32_PMC0, (u64)-PERIOD, true},
		{MSR_IA32_PEBS_ENABLE, MSR_IA32_PERFEVTSEL0, 0x00c0 | COUNTING, true},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		u64 first;

		open_skidding("goldmont", 0, 0x00c0 | COUNTING);
		if (table[i].off)
			pebs_fixture_write(table[i].off, 0);
		pebs_fixture_write(table[i].written, table[i].value);
		if (table[i].off)
			pebs_fixture_write(table[i].off, 1);
		first = sampled(INSTRUCTION);
		if (table[i].works)
			cr_expect_eq(first, PERIOD, "%zu", i);
		else
			cr_expect_gt(first, PERIOD, "%zu", i);
		cr_expect_eq(sampled(INSTRUCTION), PERIOD, "%zu: the reload brings reduced skid back", i);
	}
}
