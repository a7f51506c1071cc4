// SPDX-License-Identifier: GPL-2.0
/* Events that count what waiting costs: stalled cycles, and misses of the last cache (tools/perf/pmu-events). */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/ibs.h"
#include "pebs_fixture.h"
#include "workload_fixture.h"

static struct retired stalled_load(u32 cycles, u8 place)
{
	struct retired load = LOAD(cycles);

	load.stalled = cycles;
	load.place = place;
	return load;
}

/* Counts one load with a counter that is programmed like this. */
static u64 counted(const char *machine, u32 counter, u64 select, struct retired load)
{
	pebs_fixture_open(machine);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0 + counter, select | COUNTING);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 1U << counter);
	pebs_fixture_retire(INSTRUCTION, 1);
	load.tsc = 100 + load.stalled + 1;
	pebs_fixture_retire(load, 1);
	return fixture.unit.general[counter].count;
}

#define CMASK(mask) ((u64)(mask) << 24)

/* The stall event of each machine: its code with its counter mask, and the stalls that it counts. */
Test(model_waiting, each_generation_counts_its_stall_events)
{
	static const struct {
		const char *machine;
		u64 select;
		u32 counter;
		u64 in_l1, in_l3;
	} table[] = {
		{"sandybridge", 0x06a3 | CMASK(6), 2, 0, 40},
		{"sandybridge", 0x06a3 | CMASK(6), 0, 0, 0}, /* only counter 2 has it */
		{"ivybridge", 0x06a3 | CMASK(6), 0, 40, 40},
		{"haswell", 0x06a3 | CMASK(6), 3, 40, 40},
		{"broadwell", 0x06a3 | CMASK(6), 1, 40, 40},
		{"skylake", 0x14a3 | CMASK(0x14), 0, 40, 40},
		{"skylake-server", 0x14a3 | CMASK(0x14), 3, 40, 40},
		{"icelake", 0x14a3 | CMASK(0x14), 7, 40, 40},
		{"icelake-server", 0x14a3 | CMASK(0x14), 0, 40, 40},
		{"sapphirerapids", 0x21a6 | CMASK(5), 0, 40, 40},
		{"graniterapids", 0x21a6 | CMASK(5), 7, 40, 40},
		{"alderlake", 0x21a6 | CMASK(5), 0, 40, 40},
		{"gracemont", 0x0734, 0, 0, 40},
		{"sierraforest", 0x7f34, 0, 0, 40},
		/* Another mask, or none, means another event. */
		{"haswell", 0x06a3, 0, 0, 0},
		{"haswell", 0x06a3 | CMASK(5), 0, 0, 0},
		{"haswell", 0x06a3 | CMASK(6) | EVTSEL_INV, 0, 0, 0},
		{"skylake", 0x06a3 | CMASK(6), 0, 0, 0},
		{"sapphirerapids", 0x14a3 | CMASK(0x14), 0, 0, 0},
		{"nehalem", 0x06a3 | CMASK(6), 0, 0, 0},
		{"goldmont", 0x0734, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_expect_eq(counted(table[i].machine, table[i].counter, table[i].select,
				     stalled_load(40, PLACE_L1)),
			     table[i].in_l1, "row %zu", i);
		cr_expect_eq(counted(table[i].machine, table[i].counter, table[i].select,
				     stalled_load(40, PLACE_L3)),
			     table[i].in_l3, "row %zu", i);
	}
}

/* Edge detection counts how often the core begins to wait. */
Test(model_waiting, the_edge_of_a_stall_event_counts_each_wait_once)
{
	cr_expect_eq(counted("skylake", 0, 0x14a3 | CMASK(0x14) | EVTSEL_EDGE, stalled_load(40, PLACE_L3)),
		     1);
}

/* A mask that is not part of the event filters its cycles: each has one occurrence. */
Test(model_waiting, a_mask_filters_stalled_cycles_where_the_event_has_none)
{
	cr_expect_eq(counted("gracemont", 0, 0x0734 | CMASK(1), stalled_load(40, PLACE_L3)), 40);
	cr_expect_eq(counted("gracemont", 0, 0x0734 | CMASK(2), stalled_load(40, PLACE_L3)), 0);
	cr_expect_eq(counted("gracemont", 0, 0x0734 | CMASK(1) | EVTSEL_INV, stalled_load(40, PLACE_L3)), 1);
}

/* LONGEST_LAT_CACHE.MISS counts loads and stores. Where there is no L3, the last cache is L2. */
Test(model_waiting, misses_of_the_last_cache_are_counted)
{
	static const struct {
		const char *machine;
		u8 place;
		u64 counted;
	} table[] = {
		{"skylake", PLACE_L1, 0},           {"skylake", PLACE_FILL_BUFFER, 0},
		{"skylake", PLACE_L2, 0},           {"skylake", PLACE_L3, 0},
		{"skylake", PLACE_LOCAL_DRAM, 1},   {"skylake", PLACE_REMOTE_DRAM, 1},
		{"skylake", PLACE_REMOTE_CACHE, 1}, {"nehalem", PLACE_LOCAL_DRAM, 1},
		{"gracemont", PLACE_LOCAL_DRAM, 1}, {"goldmont", PLACE_L2, 0},
		{"goldmont", PLACE_L3, 1},          {"goldmont", PLACE_LOCAL_DRAM, 1},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct retired access = stalled_load(0, table[i].place);

		cr_expect_eq(counted(table[i].machine, 0, 0x412e, access), table[i].counted, "row %zu", i);
		access.operation = OPERATION_STORE;
		cr_expect_eq(counted(table[i].machine, 0, 0x412e, access), table[i].counted, "row %zu", i);
	}
}

/* PERF_CTL of AMD's core counters: the event select has twelve bits. */
Test(model_waiting, amd_core_counters_count_their_events)
{
	static const struct {
		const char *machine;
		u64 control;
		u8 kind;
	} table[] = {
		{"zen3", 0x0076, MACHINE_EVENT_CYCLES},         {"zen3", 0x00c0, MACHINE_EVENT_INSTRUCTIONS},
		{"zen3", 0x4844, MACHINE_EVENT_MISSES},         {"zen5", 0x4844, MACHINE_EVENT_MISSES},
		{"zen5", 0xa2d6, MACHINE_EVENT_STALLS},         {"zen3", 0xa2d6, MACHINE_EVENT_NONE},
		{"zen5", 0x00d6, MACHINE_EVENT_NONE},           {"zen5", 0x1000000c0, MACHINE_EVENT_NONE},
		{"zen5", 0x5300c0, MACHINE_EVENT_INSTRUCTIONS},
	};
	struct machine_event event;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		machine_event_find_amd(ibs_machine_find(table[i].machine), table[i].control, &event);
		cr_expect_eq(event.kind, table[i].kind, "row %zu: %u", i, event.kind);
	}
	machine_event_find_amd(ibs_machine_find("zen5"), 0x4844, &event);
	cr_expect_eq(machine_event_occurrences(NULL, &event, &(struct retired){.place = PLACE_LOCAL_DRAM}, 0),
		     1);
	cr_expect_eq(
		machine_event_occurrences(NULL, &event, &(struct retired){.place = PLACE_REMOTE_CACHE}, 0),
		0);
}

/* Returns the share of cycles in which the workload's core is stalled. */
static double stalled_share(enum workload_kind kind)
{
	_cleanup_(workload_fixture_close) struct workload_fixture played;
	u64 stalled = 0;
	struct retired retired;

	cr_assert_eq(workload_fixture_open(machine_find("skylake-server"), kind, 7, &played), 0);
	for (u32 i = 0; i < 200000; i++) {
		workload_step(&played.workload, &retired);
		cr_assert(!retired.stalled || retired.operation == OPERATION_LOAD);
		stalled += retired.stalled;
	}
	return (double)stalled / (double)played.workload.retired;
}

Test(model_waiting, workloads_are_stalled_as_their_loads_overlap)
{
	double chase = stalled_share(WORKLOAD_POINTER_CHASE), stream = stalled_share(WORKLOAD_STREAMING);

	cr_expect(chase > 0.95, "pointer chase: %f", chase);
	cr_expect(stream > 0.2 && stream < 0.8, "streaming: %f", stream);
}
