// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "origin/replay/replay_event.h"
#include "recorded.h"
#include "replayed.h"

static const u64 second_ids[] = {3};

TestSuite(replay, .fini = replayed_clear);

Test(replay, loads_and_stores_are_two_events)
{
	static const struct writer_event stores = {.type = PERF_TYPE_RAW,
						   .config = 0x82d0,
						   .period = 101,
						   .sample_type = RECORDED_FIELDS,
						   .ids = second_ids,
						   .n_ids = 1};
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	const struct event *events;
	size_t n;

	(void)writer_event(writer, &stores);
	recorded_load(writer, 1, 1, 1);
	recorded_load(writer, 0, 1, 2);
	replayed.replay = recorded_open(writer);
	events = replay_events(replayed.replay, &n);
	cr_assert_eq(n, 2);
	cr_expect_eq(events[0].role, EVENT_LOADS);
	cr_expect_eq(events[0].ldlat, 30);
	cr_expect_eq(events[0].latency_kind, LATENCY_USE);
	cr_expect_eq(events[1].role, EVENT_STORES);
	cr_expect_eq(events[1].ldlat, 0);
	cr_expect_eq(events[1].latency_kind, LATENCY_NONE);
	cr_expect_not(events[1].settings.has_latency);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replayed.samples[0].event, 1);
	cr_expect_eq(replayed.samples[0].fields, SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	cr_expect_eq(replayed.samples[1].event, 0);
}

Test(replay, core_pmus_with_names_are_two_events)
{
	struct writer_event events[] = {recorded_event, recorded_event};
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	size_t n;

	events[1].type = 10;
	events[1].config = 0x5d0;
	events[1].ids = second_ids;
	events[1].n_ids = 1;
	writer_cpuid(writer, "GenuineIntel,6,151,2");
	writer_pmu(writer, 4, "cpu_core");
	writer_pmu(writer, 10, "cpu_atom");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		(void)writer_event(writer, &events[i]);
	recorded_load(writer, 1, 1, 2);
	replayed.replay = recorded_open(writer);
	cr_expect_str_eq(replay_events(replayed.replay, &n)[0].pmu, "cpu_core");
	cr_assert_eq(n, 2);
	cr_expect_str_eq(replay_events(replayed.replay, &n)[1].pmu, "cpu_atom");
}

Test(replay, latencies_of_an_unknown_cpu_are_noted)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);

	(void)writer_event(writer, &recorded_event);
	recorded_load(writer, 0, 1, 1);
	replayed_run(recorded_open(writer));
	replayed_expect_note(0, "whether its latencies are");
	replayed_expect_note(1, NULL);
}

static bool describe(u64 config, const char *name, const char *cpuid, struct event *ret)
{
	char text[64];
	char cpu[64];
	struct perf_data_event recorded = {
		.attr = {.type = PERF_TYPE_RAW,
			 .config = config,
			 .config1 = 0x1e,
			 .sample_period = 1009,
			 .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC}};
	struct perf_data_events events = {.list = &recorded, .n = 1};

	(void)snprintf(text, sizeof(text), "%s", name);
	(void)snprintf(cpu, sizeof(cpu), "%s", cpuid ? cpuid : "");
	recorded.name = text;
	events.cpuid = cpuid ? cpu : NULL;
	return replay_event_describe(&events, 0, ret);
}

Test(replay_event, recognized_events_have_a_role)
{
	static const struct {
		u64 config;
		const char *name;
		const char *cpuid;
		enum event_role role;
		bool has_latency;
		u32 ldlat;
	} cases[] = {
		{0x1cd, "r1cd", "GenuineIntel,6,85,4", EVENT_LOADS, true, 30},
		{0x5d0, "cpu_atom/mem-loads/P", "GenuineIntel,6,151,2", EVENT_LOADS, true, 30},
		{0x100b, "mem-loads", "GenuineIntel,6,26,5", EVENT_LOADS, true, 30},
		{0x2cd, "mem-stores", "GenuineIntel,6,143,8", EVENT_STORES, true, 0},
		{0x2cd, "mem-stores", "GenuineIntel,6,62,4", EVENT_STORES, false, 0}, /* precise store */
		{0x6d0, "", "GenuineIntel,6,175,3", EVENT_STORES, true, 0},
		{0x82d0, "", "GenuineIntel,6,85,4", EVENT_STORES, false, 0},
		{0x34, "MEM_TRANS_RETIRED.STORE_SAMPLE", "GenuineIntel,6,85,4", EVENT_STORES, false, 0},
		{0x20d1, "MEM_LOAD_RETIRED.L3_MISS", "GenuineIntel,6,85,4", EVENT_LOADS, false, 0},
		{0x1e0, "cpu/mem-loads/", NULL, EVENT_LOADS, true, 0},
		{0x1cd, "", NULL, EVENT_LOADS, true, 30},
		{0x82d0, "", NULL, EVENT_STORES, false, 0},
	};
	struct event event;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_assert(describe(cases[i].config, cases[i].name, cases[i].cpuid, &event), "case %zu", i);
		cr_expect_eq(event.role, cases[i].role, "case %zu", i);
		cr_expect_eq(event.settings.has_latency, cases[i].has_latency, "case %zu", i);
		cr_expect_eq(event.ldlat, cases[i].ldlat, "case %zu", i);
		cr_expect_str_eq(event.pmu, "cpu");
	}
	cr_assert(describe(0xc0, "instructions:ppp", "GenuineIntel,6,85,4", &event));
	cr_expect_eq(event.role, EVENT_INSTRUCTIONS);
	cr_expect_not(describe(0x8203, "cpu/mem-loads-aux/", "GenuineIntel,6,143,8", &event));
	/*
	 * perf records a weight and a data source for any event if asked to, so their presence does not show
	 * a memory event.
	 */
	cr_expect_not(describe(0xc0, "r00c0", NULL, &event));
	cr_assert(describe(0xc0, "r00c0", "AuthenticAMD,25,1,1", &event));
	cr_expect(event_is_count(&event));
	cr_expect_not(describe(0x1cd, "r1cd", "AuthenticAMD,25,1,1", &event));
	cr_expect_not(describe(0x2c41, "ls_refills_from_sys.store", "AuthenticAMD,25,1,1", &event));
}

/* `perf record -d -W` gives every event a weight and a data source. */
Test(replay_event, a_name_that_only_contains_load_or_store_is_no_memory_event)
{
	static const struct {
		u64 config;
		const char *name;
		bool is_count;
	} cases[] = {
		{0x50021a6, "exe_activity.bound_on_loads", true},
		{0x50021a6, "cpu/exe_activity.bound_on_loads/u", true},
		{0x734, "mem_bound_stalls.load", true},
		{0x734, "cpu/mem_bound_stalls_load.all/", true},
		{0x2040a6, "exe_activity.bound_on_stores", false},
		{0x203, "ld_blocks.store_forward", false},
		{0x1208, "dtlb_load_misses.walk_completed", false},
	};
	struct event event;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_expect_eq(describe(cases[i].config, cases[i].name, "GenuineIntel,6,143,8", &event),
			     cases[i].is_count, "%s", cases[i].name);
		if (cases[i].is_count)
			cr_expect_eq(event.role, EVENT_STALLS, "%s", cases[i].name);
	}
	cr_assert(describe(0x20d1, "cpu/mem_load_retired.l3_miss/ppp", "GenuineIntel,6,143,8", &event));
	cr_expect_eq(event.role, EVENT_LOADS);
	cr_assert(describe(0x44d0, "mem_inst_retired.all_stores:pp", "GenuineIntel,6,143,8", &event));
	cr_expect_eq(event.role, EVENT_STORES);
}

/* Describes an event of a PMU with a dynamic type number. */
static bool describe_dynamic(u64 config, u64 sample_type, const char *pmu, const char *cpuid,
			     struct event *ret)
{
	char name[16];
	char cpu[64];
	struct perf_data_pmu named = {.type = 10, .name = name};
	struct perf_data_event recorded = {
		.attr = {.type = 10, .config = config, .sample_type = sample_type}};
	struct perf_data_events events = {.list = &recorded, .n = 1};

	(void)snprintf(name, sizeof(name), "%s", pmu ? pmu : "");
	(void)snprintf(cpu, sizeof(cpu), "%s", cpuid ? cpuid : "");
	events.cpuid = cpuid ? cpu : NULL;
	events.pmus = &named;
	events.n_pmus = pmu ? 1 : 0;
	return replay_event_describe(&events, 0, ret);
}

/* Returns the kind of the latencies of Intel's event of loads. */
static enum latency_kind kind_of_loads(const char *cpuid)
{
	struct event event;

	cr_assert(describe(0x1cd, "r1cd", cpuid, &event), "%s", cpuid ? cpuid : "no CPU");
	return event.latency_kind;
}

Test(replay_event, each_cpu_has_its_kind_of_latency)
{
	static const u64 both = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	struct event event;

	cr_expect_eq(kind_of_loads("GenuineIntel,6,85,4"), LATENCY_USE);
	cr_expect_eq(kind_of_loads("GenuineIntel,6,106,6"), LATENCY_USE);
	cr_expect_eq(kind_of_loads("GenuineIntel,6,143,8"), LATENCY_CACHE);
	cr_expect_eq(kind_of_loads("GenuineIntel,6,173,1"), LATENCY_CACHE);
	cr_expect_eq(kind_of_loads("GenuineIntel,6,189,1"), LATENCY_CACHE, "Lunar Lake");
	cr_expect_eq(kind_of_loads("GenuineIntel,6,213,1"), LATENCY_CACHE, "Wildcat Lake");
	cr_expect_eq(kind_of_loads("GenuineIntel,6,215,0"), LATENCY_NONE, "Bartlett Lake, unknown here");
	cr_expect_eq(kind_of_loads("GenuineIntel,19,1,0"), LATENCY_NONE);
	cr_expect_eq(kind_of_loads("0x00000000410fd0c0"), LATENCY_NONE);
	cr_expect_eq(kind_of_loads("GenuineIntel,"), LATENCY_NONE);
	cr_expect_eq(kind_of_loads(NULL), LATENCY_NONE);
	cr_assert(describe_dynamic(1 << 19, both, "ibs_op", "AuthenticAMD,25,17,1", &event));
	cr_expect_eq(event.latency_kind, LATENCY_DC_MISS);
	cr_expect_not(event.settings.has_instruction_latency, "its weight has one value");
	cr_assert(describe_dynamic(1 << 19, PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC, "ibs_op",
				   "AuthenticAMD,25,17,1", &event));
	cr_expect(event.settings.has_instruction_latency);
}

Test(replay_event, events_of_other_pmus_are_recognized)
{
	static const char amd[] = "AuthenticAMD,25,1,1";
	static const u64 both = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	static const u64 load = 0x142;
	static const u64 nothing = 0x21;
	struct sample sample = {.fields = SAMPLE_DATA_SOURCE};
	struct event event;

	cr_expect(describe_dynamic(1 << 19, both, "ibs_op", amd, &event));
	cr_expect_not(describe_dynamic(1 << 19, PERF_SAMPLE_WEIGHT, "ibs_op", amd, &event));
	cr_expect_not(describe_dynamic(0, both, "ibs_fetch", amd, &event));
	cr_expect_not(describe_dynamic(0x3c, both, "cpu_atom", NULL, &event));
	cr_expect_not(describe_dynamic(0x3c, both, NULL, NULL, &event));
	cr_expect(describe_dynamic(0x5d0, both, NULL, NULL, &event));
	/* The name of the PMU was not recorded. The operation in each sample decides then. */
	cr_assert(describe_dynamic(1 << 19, both, NULL, NULL, &event));
	sample.data_source = nothing;
	cr_expect_not(replay_sample_counts(&event, &sample));
	sample.data_source = load;
	cr_expect(replay_sample_counts(&event, &sample));
}
