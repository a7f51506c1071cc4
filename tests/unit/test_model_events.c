// SPDX-License-Identifier: GPL-2.0
/* Events, and how counters count them: manual 18.2.1.1, 18.8.1.1, tables 18-32 and 18-56, chapter 19. */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

static struct retired load_from(u8 place, u8 snoop, u8 translated)
{
	struct retired load = LOAD(10);

	load.place = place;
	load.snoop = snoop;
	load.translated = translated;
	return load;
}

static u64 counts(const char *machine, u16 code, struct retired retired)
{
	const struct machine *found = machine_find(machine);
	struct machine_event event;

	machine_event_find(found, code, &event);
	return machine_event_occurrences(found, &event, &retired, 0);
}

Test(model_events, loads_and_stores_count_on_each_generation)
{
	static const struct {
		const char *machine;
		u16 loads, stores;
	} table[] = {{"core", 0x01c0, 0x02c0},        {"nehalem", 0x010b, 0x020b},
		     {"sandybridge", 0x81d0, 0x82d0}, {"skylake", 0x81d0, 0x82d0},
		     {"goldmont", 0x81d0, 0x82d0},    {"sapphirerapids", 0x81d0, 0x82d0}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_expect_eq(counts(table[i].machine, table[i].loads, LOAD(10)), 1, "%s", table[i].machine);
		cr_expect_eq(counts(table[i].machine, table[i].loads, STORE), 0);
		cr_expect_eq(counts(table[i].machine, table[i].loads, INSTRUCTION), 0);
		cr_expect_eq(counts(table[i].machine, table[i].stores, STORE), 1, "%s", table[i].machine);
		cr_expect_eq(counts(table[i].machine, table[i].stores, LOAD(10)), 0);
	}
}

/*
 * MEM_LOAD_RETIRED and related events: each place, and each answer of another core, with the events that
 * count it.
 */
Test(model_events, events_count_by_place_snoop_and_translation)
{
	static const struct {
		const char *machine;
		u16 code;
		u8 place, snoop, translated;
		bool counts;
	} table[] = {
		{"skylake", 0x01d1, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x01d1, PLACE_L2, SNOOPED_NONE, TRANSLATED_L1, false},
		{"skylake", 0x02d1, PLACE_L2, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x04d1, PLACE_L3, SNOOPED_MODIFIED, TRANSLATED_L1, true},
		{"skylake", 0x08d1, PLACE_L2, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x08d1, PLACE_REMOTE_DRAM, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x08d1, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, false},
		{"skylake", 0x10d1, PLACE_L2, SNOOPED_NONE, TRANSLATED_L1, false},
		{"skylake", 0x10d1, PLACE_L3, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x20d1, PLACE_L3, SNOOPED_NONE, TRANSLATED_L1, false},
		{"skylake", 0x20d1, PLACE_LOCAL_DRAM, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x40d1, PLACE_FILL_BUFFER, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x01d2, PLACE_L3, SNOOPED_MISS, TRANSLATED_L1, true},
		{"skylake", 0x02d2, PLACE_L3, SNOOPED_HIT, TRANSLATED_L1, true},
		{"skylake", 0x04d2, PLACE_L3, SNOOPED_MODIFIED, TRANSLATED_L1, true},
		{"skylake", 0x04d2, PLACE_L3, SNOOPED_HIT, TRANSLATED_L1, false},
		{"skylake", 0x08d2, PLACE_L3, SNOOPED_NONE, TRANSLATED_L1, true},
		{"skylake", 0x02d3, PLACE_REMOTE_DRAM, SNOOPED_MISS, TRANSLATED_L1, true},
		{"skylake", 0x04d3, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, TRANSLATED_L1, true},
		{"skylake", 0x11d0, PLACE_L1, SNOOPED_NONE, TRANSLATED_WALK, true},
		{"skylake", 0x11d0, PLACE_L1, SNOOPED_NONE, TRANSLATED_L2, false},
		{"nehalem", 0x01cb, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, true},
		{"nehalem", 0x04cb, PLACE_L3, SNOOPED_NONE, TRANSLATED_L1, true},
		{"nehalem", 0x04cb, PLACE_L3, SNOOPED_MODIFIED, TRANSLATED_L1, false},
		{"nehalem", 0x08cb, PLACE_L3, SNOOPED_MODIFIED, TRANSLATED_L1, true},
		{"nehalem", 0x10cb, PLACE_LOCAL_DRAM, SNOOPED_MISS, TRANSLATED_L1, true},
		{"nehalem", 0x80cb, PLACE_L1, SNOOPED_NONE, TRANSLATED_WALK, true},
		{"core", 0x04cb, PLACE_LOCAL_DRAM, SNOOPED_NONE, TRANSLATED_L1, true},
		{"core", 0x01cb, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, false},
		{"goldmont", 0x80d1, PLACE_LOCAL_DRAM, SNOOPED_NONE, TRANSLATED_L1, true},
		{"goldmont", 0x20d1, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, TRANSLATED_L1, true},
		{"netburst", 0x81d0, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, false},
		{"skylake", 0x7777, PLACE_L1, SNOOPED_NONE, TRANSLATED_L1, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		cr_expect_eq(counts(table[i].machine, table[i].code,
				    load_from(table[i].place, table[i].snoop, table[i].translated)),
			     table[i].counts, "row %zu", i);
}

Test(model_events, locked_uops_and_instructions_are_counted)
{
	struct retired locked = LOAD(30);

	cr_expect_eq(counts("skylake", 0x21d0, locked), 0);
	locked.locked = true;
	cr_expect_eq(counts("skylake", 0x21d0, locked), 1);
	locked.uops = 7;
	cr_expect_eq(counts("skylake", 0x01c2, locked), 7);
	cr_expect_eq(counts("skylake", 0x01c2, INSTRUCTION), 1);
	cr_expect_eq(counts("skylake", 0x00c0, INSTRUCTION), 1);
	cr_expect_eq(counts("nehalem", 0x01c0, INSTRUCTION), 1);
}

/*
 * Each event is precise or not. The architectural INST_RETIRED is precise before Sandy Bridge, on Goldmont,
 * and again from Ice Lake on.
 */
Test(model_events, precise_events_are_those_of_the_manual)
{
	static const struct {
		const char *machine;
		u16 code;
		bool precise;
	} table[] = {{"core", 0x00c0, true},    {"core", 0x01c0, false},       {"core", 0x02c0, false},
		     {"core", 0x04cb, true},    {"nehalem", 0x00c0, true},     {"skylake", 0x00c0, false},
		     {"skylake", 0x01c0, true}, {"goldmont", 0x00c0, true},    {"skylake", 0x003c, false},
		     {"icelake", 0x003c, true}, {"skylake", 0x01b7, false},    {"sandybridge", 0x02cd, true},
		     {"haswell", 0x81d0, true}, {"sandybridge", 0x01cd, true}, {"nehalem", 0x100b, true}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct machine_event event;

		machine_event_find(machine_find(table[i].machine), table[i].code, &event);
		cr_expect_neq(event.kind, MACHINE_EVENT_NONE, "row %zu", i);
		cr_expect_eq(event.precise, table[i].precise, "row %zu", i);
	}
}

/* Fixed counters: instructions, core cycles, reference cycles, slots (18.2.2). */
Test(model_events, fixed_counters_count_their_events)
{
	struct retired instruction = INSTRUCTION;

	pebs_fixture_open("icelake");
	pebs_fixture_write(MSR_IA32_FIXED_CTR_CTRL, 0x3222); /* the last one also in the kernel */
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 0xf00000000ULL);
	for (u32 i = 0; i < 11; i++) {
		instruction.tsc += 4;
		pebs_fixture_retire(instruction, 1);
	}
	instruction.ip |= 1ULL << 63;
	instruction.tsc += 10;
	pebs_fixture_retire(instruction, 1);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_FIXED_CTR0), 11);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_FIXED_CTR0 + 1), 40);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_FIXED_CTR0 + 2), 40);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_FIXED_CTR0 + 3), 250);
}

/* USR is privilege level 3, and OS is level 0. The model derives the level from the address. */
Test(model_events, usr_and_os_bits_select_the_privilege_level)
{
	static const struct {
		u64 bits, counted;
	} table[] = {{0, 0}, {EVTSEL_USR, 3}, {EVTSEL_OS, 2}, {EVTSEL_USR | EVTSEL_OS, 5}};

	for (size_t i = 0; i < 4; i++) {
		struct retired kernel = LOAD(10);

		kernel.ip = 0xffffffff81000000ULL;
		pebs_fixture_open("skylake");
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0, 0x81d0 | EVTSEL_ENABLE | table[i].bits);
		pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
		pebs_fixture_retire(LOAD(10), 3);
		pebs_fixture_retire(kernel, 2);
		cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), table[i].counted);
	}
}

/*
 * With the counter mask N, a counter counts cycles with at least N occurrences, and with INV those with
 * fewer. E counts how often the condition begins (18.2.1.1).
 */
Test(model_events, cmask_inv_and_edge_filter_counts)
{
	/* Number of occurrences, and cycles since the last instruction. */
	static const struct {
		u64 occurrences, cycles;
	} steps[] = {{1, 1}, {4, 1}, {5, 1}, {0, 3}, {6, 10}};
	static const struct {
		u8 mask;
		bool inverted, edge;
		u64 counted;
	} table[] = {
		{0, false, false, 16}, /* occurrences */
		{0, true, false, 16},  /* without a mask, INV has no effect */
		{1, false, false, 4},  /* cycles with an occurrence */
		{4, false, false, 3},  {5, false, false, 2},
		{1, true, false, 12}, /* cycles without an occurrence: 3, and 9 of 10 */
		{4, true, false, 13}, /* also the first one */
		{4, false, true, 2},  /* 4 and 5 are one stretch, 6 another */
		{1, true, true, 1},   /* the 3 and the 9 are one stretch */
		{0, false, true, 2},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct counter_program program = {.user = true,
						  .mask = table[i].mask,
						  .inverted = table[i].inverted,
						  .edge = table[i].edge};
		bool asserted = false;
		u64 counted = 0;

		for (size_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++)
			counted += counter_filter(&program, 0x1000, steps[n].occurrences, steps[n].cycles,
						  &asserted);
		cr_expect_eq(counted, table[i].counted, "row %zu: %llu", i, (unsigned long long)counted);
	}
}

/* Programming a counter clears its condition, so that the next occurrence is an edge again. */
Test(model_events, a_reprogrammed_counter_sees_the_next_edge)
{
	static const u64 select = 0x81d0 | COUNTING | EVTSEL_EDGE;

	pebs_fixture_open("skylake");
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, select);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pebs_fixture_retire(LOAD(10), 3);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 1);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, select);
	pebs_fixture_retire(LOAD(10), 3);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 2);
}

/* INST_RETIRED with CMASK 16 and INV counts cycles. Linux uses it for precise cycles (core.c, 6.1). */
Test(model_events, instructions_with_cmask_16_and_inv_are_cycles)
{
	struct retired instruction = INSTRUCTION;

	pebs_fixture_open("nehalem");
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, 0x00c0 | COUNTING | EVTSEL_INV | 16ULL << 24);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pebs_fixture_retire(instruction, 1);
	pebs_fixture_write(MSR_IA32_PMC0, 0);
	for (u32 i = 0; i < 100; i++) {
		instruction.tsc += 7;
		pebs_fixture_retire(instruction, 1);
	}
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 700);
}

/* cycles:p of Linux on Skylake (intel_skl_pebs_event_constraints[] in ds.c, 6.12). */
Test(model_events, on_skylake_instructions_are_precise_only_as_cycles)
{
	static const struct {
		u64 select;
		bool precise;
	} table[] = {{0x00c0, false},
		     {0x00c0 | EVTSEL_INV | 16ULL << 24, true},
		     {0x00c0 | EVTSEL_INV | 15ULL << 24, false},
		     {0x00c0 | 16ULL << 24, false}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		pebs_fixture_open("skylake");
		pebs_fixture_write(MSR_IA32_PERFEVTSEL0, table[i].select | COUNTING);
		pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
		cr_expect_eq(fixture.unit.general[0].program.event.precise, table[i].precise, "%lx",
			     table[i].select);
	}
}

Test(model_events, a_counter_wraps_at_its_width)
{
	u64 count = 0xfffffffffeULL;

	cr_expect_eq(counter_highest(machine_find("core")), 0xffffffffffULL);
	cr_expect_not(counter_add(machine_find("core"), &count, 1));
	cr_expect(counter_add(machine_find("core"), &count, 1));
	cr_expect_eq(count, 0);
	cr_expect_not(counter_add(machine_find("core"), &count, 0));
	count = 0xffffffffffULL;
	cr_expect(counter_add(machine_find("core"), &count, 5));
	cr_expect_eq(count, 4);
}
