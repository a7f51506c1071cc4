// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/machine.h"
#include "model/memory.h"
#include "origin/pmu/pmu_format.h"

#define FOREACH_MACHINE(machine) \
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++)

static bool has(const struct machine *machine, enum mechanism mechanism)
{
	return machine->mechanisms & mechanism;
}

/* Parses the event's text with the daemon's own parser. Returns event | umask << 8. */
static u16 parse_event(const char *text, u64 *ret_ldlat)
{
	struct pmu_term term;
	u16 event = 0;
	int r;

	*ret_ldlat = 0;
	while ((r = pmu_term_next(&text, &term)) > 0) {
		cr_expect_lt(term.value, 256);
		if (!strcmp(term.name, "event"))
			event |= (u16)term.value;
		else if (!strcmp(term.name, "umask"))
			event |= (u16)(term.value << 8);
		else if (!strcmp(term.name, "ldlat"))
			*ret_ldlat = term.value;
		else
			cr_expect_fail("no such term is known: %s", term.name);
	}
	cr_expect_eq(r, 0, "not a list of terms");
	return event;
}

Test(model_machine, each_machine_is_found_by_its_name)
{
	cr_assert_gt(machines_count, 0);
	FOREACH_MACHINE(machine)
	cr_expect_eq(machine_find(machine->name), machine, "%s", machine->name);
	cr_expect_null(machine_find("pentium"));
	cr_expect_null(machine_find(""));
	cr_expect_null(machine_find("sky"));
	cr_expect_null(machine_find("skylake "));
}

/*
 * From Linux 6.1 (6.12 for Sierra Forest and Granite Rapids): constraints of ds.c, texts and names of core.c.
 * From the manual: DisplayFamily_DisplayModel.
 */
Test(model_machine, machines_match_linux_and_the_manual)
{
	static const struct {
		const char *name;
		u8 family, model;
		enum record_format format;
		const char *kernel_name, *loads, *stores, *aux;
		u32 load_counters, store_counters;
		u16 smallest_period;
		u8 max_precise;
	} facts[] = {
		{"netburst", 0x0f, 0x02, RECORD_NETBURST_32, NULL, NULL, NULL, NULL, 0, 0, 1, 0},
		{"core", 0x06, 0x0f, RECORD_CORE, "core2", NULL, NULL, NULL, 0, 0, 1, 2},
		{"nehalem", 0x06, 0x1a, RECORD_NEHALEM, "nehalem", "event=0x0b,umask=0x10,ldlat=3", NULL,
		 NULL, 0xf, 0, 32, 2},
		{"sandybridge", 0x06, 0x2a, RECORD_NEHALEM, "sandybridge", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xcd,umask=0x2", NULL, 0x8, 0x8, 1, 2},
		{"sandybridge-ep", 0x06, 0x2d, RECORD_NEHALEM, "sandybridge", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xcd,umask=0x2", NULL, 0x8, 0x8, 1, 2},
		{"ivybridge", 0x06, 0x3e, RECORD_NEHALEM, "ivybridge", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xcd,umask=0x2", NULL, 0x8, 0x8, 1, 3},
		{"haswell", 0x06, 0x3f, RECORD_HASWELL, "haswell", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xf, 0xf, 32, 3},
		{"broadwell", 0x06, 0x4f, RECORD_HASWELL, "broadwell", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xf, 0xf, 1, 3},
		{"skylake", 0x06, 0x4e, RECORD_SKYLAKE, "skylake", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xf, 0xf, 1, 3},
		{"skylake-server", 0x06, 0x55, RECORD_SKYLAKE, "skylake", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xf, 0xf, 1, 3},
		{"goldmont", 0x06, 0x5c, RECORD_SKYLAKE, "goldmont", NULL, NULL, NULL, 0, 0, 1, 3},
		{"icelake", 0x06, 0x7e, RECORD_ADAPTIVE, "icelake", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xff, 0xf, 1, 3},
		{"icelake-server", 0x06, 0x6a, RECORD_ADAPTIVE, "icelake", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xd0,umask=0x82", NULL, 0xff, 0xf, 1, 3},
		{"sapphirerapids", 0x06, 0x8f, RECORD_ADAPTIVE, "sapphire_rapids",
		 "event=0xcd,umask=0x1,ldlat=3", "event=0xcd,umask=0x2", "event=0x03,umask=0x82", 0xfe, 0x1,
		 1, 3},
		{"alderlake", 0x06, 0x97, RECORD_ADAPTIVE, "alderlake_hybrid", "event=0xcd,umask=0x1,ldlat=3",
		 "event=0xcd,umask=0x2", "event=0x03,umask=0x82", 0xfe, 0x1, 1, 3},
		{"gracemont", 0x06, 0xbe, RECORD_ADAPTIVE, "gracemont", "event=0xd0,umask=0x5,ldlat=3",
		 "event=0xd0,umask=0x6", NULL, 0x3, 0x3f, 1, 3},
		{"sierraforest", 0x06, 0xaf, RECORD_ADAPTIVE, "crestmont", "event=0xd0,umask=0x5,ldlat=3",
		 "event=0xd0,umask=0x6", NULL, 0x3, 0xff, 1, 3},
		{"graniterapids", 0x06, 0xad, RECORD_ADAPTIVE, "granite_rapids",
		 "event=0xcd,umask=0x1,ldlat=3", "event=0xcd,umask=0x2", NULL, 0xfe, 0x1, 1, 3},
	};

	cr_assert_eq(machines_count, ARRAY_SIZE(facts));
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct machine *machine = &machines[i];

		cr_expect_str_eq(machine->name, facts[i].name);
		cr_expect_eq(machine->family, facts[i].family, "%s", machine->name);
		cr_expect_eq(machine->model, facts[i].model, "%s", machine->name);
		cr_expect_eq(machine->format, facts[i].format, "%s", machine->name);
		cr_expect_eq(machine->load_latency_counters, facts[i].load_counters, "%s", machine->name);
		cr_expect_eq(machine->store_counters, facts[i].store_counters, "%s", machine->name);
		cr_expect_eq(machine->smallest_period, facts[i].smallest_period, "%s", machine->name);
		cr_expect_eq(machine->max_precise, facts[i].max_precise, "%s", machine->name);
#define SAME_TEXT(field, fact)                                                                      \
	cr_expect(!machine->field == !(fact) && (!machine->field || !strcmp(machine->field, fact)), \
		  "%s: " #field " is %s", machine->name, machine->field ? machine->field : "none")
		SAME_TEXT(kernel_name, facts[i].kernel_name);
		SAME_TEXT(loads_string, facts[i].loads);
		SAME_TEXT(stores_string, facts[i].stores);
		SAME_TEXT(aux_string, facts[i].aux);
	}
}

Test(model_machine, texts_of_sysfs_match_the_event_table)
{
	FOREACH_MACHINE(machine)
	{
		u64 ldlat;

		cr_expect_eq(!machine->loads_string, !machine->load_latency_event, "%s", machine->name);
		cr_expect_eq(!machine->stores_string, !machine->store_event, "%s", machine->name);
		cr_expect_eq(!machine->aux_string, !machine->aux_event, "%s", machine->name);
		if (machine->loads_string) {
			cr_expect_eq(parse_event(machine->loads_string, &ldlat), machine->load_latency_event,
				     "%s", machine->name);
			cr_expect_eq(ldlat, 3, "%s: the least that the register takes", machine->name);
		}
		if (machine->stores_string)
			cr_expect_eq(parse_event(machine->stores_string, &ldlat), machine->store_event, "%s",
				     machine->name);
		if (machine->aux_string)
			cr_expect_eq(parse_event(machine->aux_string, &ldlat), machine->aux_event, "%s",
				     machine->name);
	}
}

Test(model_machine, each_machine_has_counters_with_pebs)
{
	FOREACH_MACHINE(machine)
	{
		u64 there = (MODEL_BIT(machine->counters) - 1) | (MODEL_BIT(machine->fixed_counters) - 1)
									 << 32;

		cr_expect_neq(machine->pebs_counters, 0, "%s", machine->name);
		cr_expect_eq(machine->pebs_counters & ~there, 0, "%s", machine->name);
		cr_expect_eq(machine->load_latency_counters & ~machine->pebs_counters, 0, "%s",
			     machine->name);
		cr_expect_eq(machine->store_counters & ~machine->pebs_counters, 0, "%s", machine->name);
		cr_expect_eq(has(machine, MECHANISM_LOAD_LATENCY), machine->load_latency_event != 0, "%s",
			     machine->name);
		cr_expect_eq(!machine->load_latency_counters, !machine->load_latency_event, "%s",
			     machine->name);
		cr_expect_eq(!machine->store_counters, !machine->store_event, "%s", machine->name);
		cr_expect_eq(has(machine, MECHANISM_LOAD_LATENCY), machine->encoding != ENCODING_NONE, "%s",
			     machine->name);
		cr_expect_eq(machine->counter_bits, machine->format < RECORD_NEHALEM ? 40 : 48, "%s",
			     machine->name);
		cr_expect_geq(machine->smallest_period, 1, "%s", machine->name);
	}
}

Test(model_machine, each_generation_has_its_mechanisms)
{
	FOREACH_MACHINE(machine)
	{
		bool sandy_bridge = machine->model == 0x2a || machine->model == 0x2d;

		/* 18.9.4.3: only counter 3 counts precise stores. */
		if (has(machine, MECHANISM_PRECISE_STORE))
			cr_expect_eq(machine->store_counters, 0x8, "%s", machine->name);
		/* 18.9.4.4: counter 1 has PDIR. On 06_2A and 06_2D the other counters must not count then. */
		if (has(machine, MECHANISM_PDIR))
			cr_expect(machine->pebs_counters & MODEL_BIT(1), "%s", machine->name);
		cr_expect_eq(has(machine, MECHANISM_PDIR_ALONE), sandy_bridge, "%s", machine->name);
		/* 18.7.1 */
		cr_expect_eq(has(machine, MECHANISM_ADDRESS_ONLY), machine->model == 0x5c, "%s",
			     machine->name);
		cr_expect_eq(has(machine, MECHANISM_REDUCED_SKID), machine->model == 0x5c, "%s",
			     machine->name);
		cr_expect_eq(has(machine, MECHANISM_OUT_OF_BOUNDS), machine->model == 0x5c, "%s",
			     machine->name);
		/* 18.8.1.3, 18.9.5, 18.7.2: each off-core register belongs to an event. */
		cr_expect_eq(has(machine, MECHANISM_OFFCORE_RESPONSE), machine->offcore_bits[0] != 0, "%s",
			     machine->name);
		for (u32 i = 0; i < 2; i++)
			cr_expect_eq(!machine->offcore_bits[i], !machine->offcore_events[i], "%s",
				     machine->name);
		cr_expect_eq(has(machine, MECHANISM_OFFCORE_AVERAGE),
			     !machine_is_efficient(machine) && (machine->offcore_bits[0] >> 38 & 1) != 0,
			     "%s", machine->name);
		/* 18.18.8: only NetBurst tags at retirement. */
		cr_expect_eq(has(machine, MECHANISM_AT_RETIREMENT), machine->family == 0xf, "%s",
			     machine->name);
		/*
		 * Golden Cove and E-cores split their latency and report the latency of stores. The first two
		 * parts with Golden Cove need an auxiliary event.
		 */
		cr_expect_eq(has(machine, MECHANISM_LATENCY_SPLIT), machine->encoding >= ENCODING_GOLDEN_COVE,
			     "%s", machine->name);
		cr_expect_eq(has(machine, MECHANISM_STORE_LATENCY), machine->encoding >= ENCODING_GOLDEN_COVE,
			     "%s", machine->name);
		cr_expect_eq(machine->aux_event != 0, machine->model == 0x8f || machine->model == 0x97, "%s",
			     machine->name);
		/* As in icl_, glc_, tnt_ and cmt_get_event_constraints() (intel/core.c). */
		cr_expect_eq(machine->distributed_counters,
			     machine->format != RECORD_ADAPTIVE        ? 0
			     : machine->encoding == ENCODING_CRESTMONT ? 0x100000003
			     : has(machine, MECHANISM_STORE_LATENCY)   ? 0x100000001
								       : 0x100000000,
			     "%s", machine->name);
	}
}

Test(model_machine, the_other_cores_of_a_hybrid_are_in_the_table)
{
	const struct machine *alder_lake = machine_find("alderlake");

	FOREACH_MACHINE(machine)
	{
		cr_expect_eq(!machine->companion, !machine->companion_pmu, "%s", machine->name);
		cr_expect_eq(!machine->companion, !machine->pmu, "%s", machine->name);
		if (machine->companion)
			cr_expect_not_null(machine_find(machine->companion), "%s", machine->name);
	}
	cr_assert_not_null(alder_lake->companion);
	cr_expect_str_eq(alder_lake->pmu, "cpu_core");
	cr_expect_str_eq(alder_lake->companion_pmu, "cpu_atom");
	cr_expect(machine_is_efficient(machine_find(alder_lake->companion)));
	cr_expect_not(machine_is_efficient(alder_lake));
}

Test(model_machine, a_machine_that_cannot_be_the_origin_has_a_reason)
{
	static const struct {
		const char *name, *part;
	} refused[] = {{"netburst", "NetBurst"}, {"core", "Core"}, {"goldmont", "Goldmont"}};

	FOREACH_MACHINE(machine)
	cr_expect_eq(!machine_refusal(machine), has(machine, MECHANISM_LOAD_LATENCY), "%s", machine->name);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const char *reason = machine_refusal(machine_find(refused[i].name));

		cr_assert_not_null(reason, "%s", refused[i].name);
		cr_expect(strstr(reason, refused[i].part) == reason, "%s", reason);
		cr_expect(strstr(reason, "no data source"), "%s", reason);
	}
}

static void expect_cache(const struct machine *machine, u32 bytes, u32 ways)
{
	u32 sets = ways ? bytes / 64 / ways : 0;

	cr_expect_eq(bytes, sets * ways * 64, "%s: %u bytes in %u ways", machine->name, bytes, ways);
	cr_expect_eq(sets & (sets - 1), 0, "%s: %u sets", machine->name, sets);
}

Test(model_machine, farther_memory_is_larger_and_slower)
{
	FOREACH_MACHINE(machine)
	{
		const struct memory_shape *shape = &machine->memory;

		expect_cache(machine, shape->l1_bytes, shape->l1_ways);
		expect_cache(machine, shape->l2_bytes, shape->l2_ways);
		expect_cache(machine, shape->l3_bytes, shape->l3_ways);
		cr_expect_lt(shape->l1_bytes, shape->l2_bytes, "%s", machine->name);
		cr_expect_lt(shape->l1_cycles, shape->l2_cycles, "%s", machine->name);
		cr_expect_leq(shape->l2_cycles, shape->l3_cycles, "%s", machine->name);
		cr_expect_lt(shape->l3_cycles + shape->snoop_cycles, shape->local_dram_cycles, "%s",
			     machine->name);
		cr_expect_lt(shape->snoop_cycles, shape->modified_cycles, "%s", machine->name);
		cr_expect_lt(shape->l3_cycles + shape->modified_cycles, shape->remote_cache_cycles, "%s",
			     machine->name);
		cr_expect_lt(shape->local_dram_cycles, shape->remote_dram_cycles, "%s", machine->name);
		cr_expect_lt(shape->remote_cache_cycles, shape->remote_dram_cycles, "%s", machine->name);
		cr_expect(shape->walk_cycles && shape->locked_cycles && shape->fill_buffers, "%s",
			  machine->name);
		/* The emulator needs this memory for each CPU. */
		cr_expect_leq(memory_size(shape), 5 << 19, "%s", machine->name);
	}
}
