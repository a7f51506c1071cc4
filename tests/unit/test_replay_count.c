// SPDX-License-Identifier: GPL-2.0
/* Events of a recording that only count. */
#include <criterion/criterion.h>

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_intel.h"
#include "origin/replay/replay_count.h"
#include "recorded.h"
#include "replayed.h"

#define SKYLAKE     "GenuineIntel,6,85,4"
#define ALDER_LAKE  "GenuineIntel,6,151,2"
#define LUNAR_LAKE  "GenuineIntel,6,189,1"
#define GOLDMONT    "GenuineIntel,6,92,9"
#define ZEN_2       "AuthenticAMD,23,49,0"
#define ZEN_4       "AuthenticAMD,25,17,1"
#define NOT_COUNTED EVENT_ROLES

static const struct recorded_count {
	u32 type;
	u64 config;
	const char *name, *pmu, *cpuid;
	enum event_role role;
	enum count_kind kind;
} cases[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles:P", NULL, NULL, EVENT_CYCLES, COUNT_NONE},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, NULL, NULL, ZEN_4, EVENT_INSTRUCTIONS, COUNT_NONE},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, NULL, NULL, SKYLAKE, EVENT_MISSES, COUNT_MISSES_L3},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, NULL, NULL, GOLDMONT, EVENT_MISSES, COUNT_MISSES_L2},
	/* On AMD these are misses of L2, and on an unknown CPU of any level. */
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, NULL, NULL, ZEN_4, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, NULL, NULL, NULL, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, NULL, NULL, SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_HARDWARE, 10ULL << 32, NULL, "cpu_atom", ALDER_LAKE, EVENT_CYCLES, COUNT_NONE},
	{PERF_TYPE_RAW, 0x3c, "r3c", "cpu", SKYLAKE, EVENT_CYCLES, COUNT_NONE},
	{PERF_TYPE_RAW, 0x76, "r76", "cpu", ZEN_4, EVENT_CYCLES, COUNT_NONE},
	{PERF_TYPE_RAW, 0x412e, "longest_lat_cache.miss", "cpu", SKYLAKE, EVENT_MISSES, COUNT_MISSES_L3},
	{PERF_TYPE_RAW, 0x4844, "r4844", "cpu", ZEN_4, EVENT_MISSES, COUNT_MISSES_FILLS},
	{PERF_TYPE_RAW, 0x4843, "r4843", "cpu", ZEN_2, EVENT_MISSES, COUNT_MISSES_DEMAND_FILLS},
	{PERF_TYPE_RAW, 0x140014a3, "r140014a3", "cpu", SKYLAKE, EVENT_STALLS, COUNT_STALLS_LOAD},
	{PERF_TYPE_RAW, 0x50021a6, "r50021a6", "cpu_core", ALDER_LAKE, EVENT_STALLS, COUNT_STALLS_LOAD},
	{10, 0x734, "cpu_atom/mem_bound_stalls.load/u", "cpu_atom", ALDER_LAKE, EVENT_STALLS,
	 COUNT_STALLS_L1_MISS},
	{PERF_TYPE_HARDWARE, 11ULL << 32, NULL, "cpu_lowpower", LUNAR_LAKE, EVENT_CYCLES, COUNT_NONE},
	{PERF_TYPE_RAW, 0xa2d6, "ra2d6", "cpu", ZEN_4, EVENT_STALLS, COUNT_STALLS_RETIRE},
	/* The codes of another generation, vendor or PMU. */
	{PERF_TYPE_RAW, 0x50021a6, "r50021a6", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0xa2d6, "ra2d6", "cpu", ZEN_2, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x3c, "r3c", "cpu", ZEN_4, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x3c, "r3c", "cpu", NULL, NOT_COUNTED, COUNT_NONE},
	{20, 0x3c, "uncore_imc/cycles/", "uncore_imc_0", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{20, 0x3c, "cycles", NULL, SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", NULL, SKYLAKE, NOT_COUNTED, COUNT_NONE},
	/* Counting edges or the other threads of the core is a different event. The bits of modes are not. */
	{PERF_TYPE_RAW, 0x4003c, "r4003c", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x20003c, "r20003c", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x53003c, "r53003c", "cpu", SKYLAKE, EVENT_CYCLES, COUNT_NONE},
	/* Names of perf's tables, also on CPUs that came later. */
	{PERF_TYPE_RAW, 0x50021a6, "EXE_ACTIVITY.BOUND_ON_LOADS:u", "cpu_core", LUNAR_LAKE, EVENT_STALLS,
	 COUNT_STALLS_LOAD},
	{PERF_TYPE_RAW, 0xc000ca3, "cycle_activity.stalls_l1d_miss", "cpu", SKYLAKE, EVENT_STALLS,
	 COUNT_STALLS_L1_MISS},
	{PERF_TYPE_RAW, 0xa2d6, "cpu/ex_no_retire.load_not_complete/", "cpu", NULL, EVENT_STALLS,
	 COUNT_STALLS_RETIRE},
	{PERF_TYPE_RAW, 0x1c0, "inst_retired.prec_dist/period=1009/u", "cpu", SKYLAKE, EVENT_INSTRUCTIONS,
	 COUNT_NONE},
	/* Terms after the name may change what is counted. */
	{PERF_TYPE_RAW, 0xc0, "cpu/inst_retired.any_p,period=1009/", "cpu", NULL, EVENT_INSTRUCTIONS,
	 COUNT_NONE},
	{PERF_TYPE_RAW, 0x4003c, "cpu_clk_unhalted.thread_p/edge=1/", "cpu", SKYLAKE, NOT_COUNTED,
	 COUNT_NONE},
	{PERF_TYPE_RAW, 0x4003c, "cpu/cpu_clk_unhalted.thread_p,edge=1/", "cpu", SKYLAKE, NOT_COUNTED,
	 COUNT_NONE},
	{PERF_TYPE_RAW, 0x18000c0, "cpu/inst_retired.any_p,cmask=1,inv=1/", "cpu", SKYLAKE, NOT_COUNTED,
	 COUNT_NONE},
	{PERF_TYPE_RAW, 0x10000c0, "cpu/inst_retired.any_p,cmask=1/", "cpu", SKYLAKE, NOT_COUNTED,
	 COUNT_NONE},
	{PERF_TYPE_RAW, 0x5000ea3, "cycle_activity.stalls_l2_miss", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x1, "cycle_activity.stalls_mem_any_not", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x1, "/", "cpu", SKYLAKE, NOT_COUNTED, COUNT_NONE},
	{PERF_TYPE_RAW, 0x1, "", "cpu", "GenuineIntel,6,", NOT_COUNTED, COUNT_NONE},
};

TestSuite(replay_count, .fini = replayed_clear);

Test(replay_count, only_counting_events_are_recognized)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct recorded_count *recorded = &cases[i];
		const struct perf_event_attr attr = {
			.type = recorded->type, .config = recorded->config, .sample_period = 1009};
		struct event event;
		bool counts =
			replay_count_describe(&attr, recorded->name, recorded->pmu, recorded->cpuid, &event);

		cr_expect_eq(counts, recorded->role != NOT_COUNTED, "case %zu", i);
		if (!counts || recorded->role == NOT_COUNTED)
			continue;
		cr_expect_eq(event.role, recorded->role, "case %zu", i);
		cr_expect_eq(event.count_kind, recorded->kind, "case %zu", i);
		cr_expect_eq(event.period, 1009);
		cr_expect_str_eq(event.pmu, recorded->pmu ? recorded->pmu : "cpu", "case %zu", i);
		cr_expect(event_is_count(&event));
	}
}

/* As perf records the members of a group with the modifier S: a stall without samples is not a wait of 0 %. */
Test(replay_count, an_event_without_a_period_is_not_counted)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_RAW, .config = 0x140014a3};
	struct event event;

	cr_expect_not(replay_count_describe(&attr, "cycle_activity.stalls_mem_any", "cpu", SKYLAKE, &event));
}

/* The generations of the PMUs' table, by the model numbers in asm/intel-family.h. */
Test(replay_count, models_of_intel_are_recognized)
{
	static const struct {
		u32 family, model;
		const char *pmu, *name;
	} models[] = {
		{6, 0x2a, "cpu", "sandybridge"},
		{6, 0x4f, "cpu", "broadwell"},
		{6, 0x55, "cpu", "skylake"},
		{6, 0xa6, "cpu", "skylake"},
		{6, 0xa7, "cpu", "icelake"},
		{6, 0xcf, "cpu", "sapphire_rapids"},
		{6, 0xba, "cpu_core", "alderlake_hybrid"},
		{6, 0xba, "cpu_atom", "alderlake_hybrid"},
		{6, 0xaf, "cpu", "crestmont"},
		{6, 0, "cpu", NULL},
		{6, 0xff, "cpu", NULL},
		{15, 0x2a, "cpu", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		const struct pmu_quirk *quirk =
			pmu_intel_quirk(models[i].family, models[i].model, models[i].pmu);

		cr_assert_eq(quirk != NULL, models[i].name != NULL, "case %zu", i);
		if (!quirk)
			continue;
		cr_expect_str_eq(quirk->name, models[i].name);
		if (quirk->pmu)
			cr_expect_str_eq(quirk->pmu, models[i].pmu);
	}
}

#define COUNT_FIELDS (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static const u64 ids[][1] = {{10}, {11}, {12}, {13}};

static size_t add(struct writer *writer, size_t at, u64 config, bool freq, bool exclude_kernel)
{
	return writer_event(writer, &(struct writer_event){.type = PERF_TYPE_RAW,
							   .config = config,
							   .period = 1000,
							   .freq = freq,
							   .exclude_kernel = exclude_kernel,
							   .sample_type = COUNT_FIELDS | PERF_SAMPLE_PERIOD,
							   .ids = ids[at],
							   .n_ids = 1});
}

static void sample(struct writer *writer, size_t event, u64 time, u64 period)
{
	writer_sample(writer, event,
		      &(struct writer_sample){.pid = 1, .tid = 1, .time = time, .period = period});
}

/* perf record -F: each sample has its own period. */
Test(replay_count, counts_beside_loads_have_the_periods_of_their_samples)
{
	struct writer *writer = recorded_writer(SKYLAKE, &recorded_event);
	const struct event *events;
	size_t n;

	(void)add(writer, 0, 0x3c, true, false);
	(void)add(writer, 1, 0x140014a3, false, false);
	recorded_load(writer, 0, 1, 1);
	sample(writer, 1, 2, 5000);
	sample(writer, 1, 3, 7000);
	sample(writer, 2, 4, 1000);
	replayed.replay = recorded_open(writer);
	events = replay_events(replayed.replay, &n);
	cr_assert_eq(n, 3);
	cr_expect_eq(events[0].role, EVENT_LOADS);
	cr_expect_eq(events[1].role, EVENT_CYCLES);
	cr_expect_eq(events[1].period, 0);
	cr_expect_eq(events[2].role, EVENT_STALLS);
	cr_expect_eq(events[2].period, 1000);
	cr_expect_eq(events[2].count_kind, COUNT_STALLS_LOAD);
	cr_assert_eq(replayed_all(100), 0);
	cr_assert_eq(replayed.n, 4);
	cr_expect_eq(replayed.samples[1].event, 1);
	cr_expect_eq(replayed.samples[1].period, 5000);
	cr_expect_eq(replayed.samples[1].fields, 0);
	cr_expect_eq(replayed.samples[2].period, 7000);
	cr_expect_eq(replayed.samples[3].event, 2);
	cr_expect_eq(replayed.samples[3].period, 1000);
	cr_expect_eq(replayed.samples[3].cgroup_id, replayed.samples[0].cgroup_id);
	replay_report(replayed.replay, &replayed.report);
	replayed_expect_note(0, "for which share of the time each event had a counter");
	replayed_expect_note(1, NULL);
}

/* Such a recording has no loads. One event alone needs no note about the shares of time. */
Test(replay_count, a_recording_of_only_cycles_is_replayed)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	size_t n;

	writer_cpuid(writer, ZEN_4);
	(void)add(writer, 0, 0x76, false, true);
	sample(writer, 0, 1, 1000);
	replayed.replay = recorded_open(writer);
	cr_expect_eq(replay_events(replayed.replay, &n)[0].role, EVENT_CYCLES);
	cr_expect_eq(n, 1);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replayed.n, 1);
	replay_report(replayed.replay, &replayed.report);
	replayed_expect_note(0, NULL);
}

Test(replay_count, events_that_would_distort_the_figures_are_left_out_by_name)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t n;

	writer_cpuid(writer, SKYLAKE);
	(void)add(writer, 0, 0x3c, false, false);
	(void)add(writer, 1, 0x53003c, false, false); /* counts the same */
	(void)add(writer, 2, 0x140014a3, false, true);
	for (u64 i = 0; i < 3; i++)
		sample(writer, i, i + 1, 1000);
	replayed_run(recorded_open(writer));
	cr_expect_eq(replayed.n, 1);
	(void)replay_events(replayed.replay, &n);
	cr_expect_eq(n, 1);
	cr_expect_eq(replayed.report.left_out.not_mixed, 2);
	replayed_expect_note(0, "another event of the recording already counts cycles");
	replayed_expect_note(1, "leaves out other modes");
	replayed_expect_note(2, NULL);
}
