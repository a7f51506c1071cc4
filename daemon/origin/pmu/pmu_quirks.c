// SPDX-License-Identifier: GPL-2.0
/*
 * The sources of the table below. Files without a folder are in arch/x86/events/intel. They agree in Linux
 * 6.1.192, 6.12.95 and 7.3.4 unless a version is given.
 * - name: the names that intel_pmu_init() assigns (core.c).
 * - records: SPLIT if PMU_FL_INSTR_LATENCY is set (core.c), also for E-cores. ADDRESS if there is PEBS, but
 *   no event in sysfs has PERF_X86_EVENT_PEBS_LDLAT. REGISTERS for PEBS format 0 (ds.c).
 * - collides: formats 1 and 2 (ds.c, intel_ds_init()), because of intel_pmu_drain_pebs_nhm(); see
 *   perf_stall.h. Silvermont and Knights Landing have format 2 too, but no second event that is sampled
 *   there.
 * - costly_ip: x86_pmu_hw_config() in arch/x86/events/core.c.
 * - precise_store: intel_snb_pebs_event_constraints and intel_ivb_pebs_event_constraints (ds.c). The precise
 *   store runs only on counter 3, and so does load latency on these CPUs. For Haswell and Broadwell, Intel's
 *   event tables restrict load latency to counter 3, while intel_hsw_pebs_event_constraints allows any. Both
 *   allow stores on any counter, so nothing is shared.
 * - smallest_period: nhm_limit_period() and hsw_limit_period() (core.c). An event with a smaller period is
 *   refused.
 * - instructions_umask: INST_RETIRED.PREC_DIST (umask 1) on counter 1 from Sandy Bridge to Cascade Lake, by
 *   the constraints in ds.c. From Ice Lake on, fixed counter 0 with precise_ip 3 (icl_get_event_constraints,
 *   core.c). From Goldmont on, reduced skid with precise_ip 3 (glp_, tnt_ and cmt_get_event_constraints,
 *   core.c).
 * - instructions_precise_ip: the maximum of x86_pmu_max_precise() (arch/x86/events/core.c). It is 3 if
 *   pebs_prec_dist is set, which it is not on Sandy Bridge.
 * - instructions_step: bdw_limit_period() (core.c) drops the low six bits of the period, and the rest would
 *   cause an additional interrupt.
 * - instructions_alone: Intel's manual, 18.9.4.4, for CPUID 06_2A and 06_2D, which are all CPUs of this name.
 * - loads_counter: 3 from Sandy Bridge to Broadwell, see precise_store.
 * - stores_counter: 3 for precise stores. 0 for the store latency of P-cores (INTEL_PSD_CONSTRAINT in
 *   intel_spr_pebs_event_constraints and later ones, ds.c). E-cores, and P-cores from Lion Cove on, have
 *   several.
 * - instructions_counter: see instructions_umask. With reduced skid, counter 0 on Goldmont Plus
 *   (glp_get_event_constraints, core.c), any on Goldmont, and two or more on later cores (tnt_ and
 *   cmt_get_event_constraints).
 * - stalls: see the macros STALLS_ below. They have the folders below tools/perf/pmu-events/arch/x86 of Linux
 *   6.12, the file there, and the name of the event. Counter 2 of Sandy Bridge: intel_snb_event_constraints
 *   (core.c).
 * - last_level_l2: the description of the event 0x2e, umask 0x41 in silvermont, goldmont and goldmontplus
 *   (LONGEST_LAT_CACHE.MISS, cache.json) and in knightslanding (L2_REQUESTS.MISS). The CPUs named core, core2
 *   and bonnell have no third level.
 */
#include "origin/pmu/pmu_quirks.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

#define PLAIN(precise) .instructions_precise_ip = (precise)
#define ONLY(counter)  ((counter) + 1)
#define FIXED(counter) (32 + (counter))
#define PREC_DIST(precise) \
	.instructions_umask = 0x01, .instructions_precise_ip = (precise), .instructions_counter = ONLY(1)
#define REDUCED_SKID        .instructions_precise_ip = 3
#define FIXED_COUNTER_0     .instructions_precise_ip = 3, .instructions_counter = ONLY(FIXED(0))
#define OFFCORE(generation) .offcore = &pmu_offcore_##generation
#define RECORDS(what)       .records = PMU_RECORDS_##what
/* sandybridge and jaketown, pipeline.json: CYCLE_ACTIVITY.STALLS_L1D_PENDING */
#define STALLS_L1D_PENDING .stalls = {COUNT_STALLS_L1_MISS, 0xa3, 0x06, 6, ONLY(2)}
/* ivybridge, ivytown, haswell(x), broadwell(x), broadwellde, pipeline.json: CYCLE_ACTIVITY.STALLS_LDM_PENDING */
#define STALLS_LDM_PENDING .stalls = {COUNT_STALLS_LOAD, 0xa3, 0x06, 6, 0}
/* skylake(x), cascadelakex, icelake(x), rocketlake, tigerlake, pipeline.json: CYCLE_ACTIVITY.STALLS_MEM_ANY */
#define STALLS_MEM_ANY .stalls = {COUNT_STALLS_LOAD, 0xa3, 0x14, 20, 0}
/* sapphirerapids, emeraldrapids, graniterapids, alderlake, meteorlake, pipeline.json: EXE_ACTIVITY.BOUND_ON_LOADS */
#define STALLS_BOUND_ON_LOADS .stalls = {COUNT_STALLS_LOAD, 0xa6, 0x21, 5, 0}
/* snowridgex and elkhartlake (Tremont), alderlake and alderlaken (Gracemont), cache.json: MEM_BOUND_STALLS.LOAD */
#define STALLS_MEM_BOUND .stalls = {COUNT_STALLS_L1_MISS, 0x34, 0x07, 0, 0}
/*
 * meteorlake, sierraforest and grandridge (Crestmont), and clearwaterforest of later kernels (Darkmont), cache.json:
 * MEM_BOUND_STALLS_LOAD.ALL
 */
#define STALLS_MEM_BOUND_LOAD .stalls = {COUNT_STALLS_L1_MISS, 0x34, 0x7f, 0, 0}
#define P_CORE_OF(hybrid_name)                                                               \
	.name = (hybrid_name), .pmu = "cpu_core", RECORDS(SPLIT), .stores_counter = ONLY(0), \
	FIXED_COUNTER_0, STALLS_BOUND_ON_LOADS
#define E_CORE_OF(hybrid_name) .name = (hybrid_name), .pmu = "cpu_atom", RECORDS(SPLIT), REDUCED_SKID

static const struct pmu_quirk quirks[] = {
	{.name = "core",
	 RECORDS(REGISTERS),
	 .costly_ip = true,
	 .no_stores = true,
	 PLAIN(2),
	 .last_level_l2 = true},
	{.name = "core2",
	 RECORDS(REGISTERS),
	 .costly_ip = true,
	 .no_stores = true,
	 PLAIN(2),
	 .last_level_l2 = true},
	{.name = "bonnell",
	 RECORDS(REGISTERS),
	 .costly_ip = true,
	 .no_stores = true,
	 PLAIN(2),
	 .last_level_l2 = true},
	{.name = "nehalem",
	 RECORDS(USE),
	 .collides = true,
	 .costly_ip = true,
	 .no_stores = true,
	 .smallest_period = 32,
	 PLAIN(2),
	 OFFCORE(nehalem)},
	{.name = "westmere",
	 RECORDS(USE),
	 .collides = true,
	 .costly_ip = true,
	 .no_stores = true,
	 PLAIN(2),
	 OFFCORE(westmere)},
	{.name = "sandybridge",
	 RECORDS(USE),
	 .collides = true,
	 .costly_ip = true,
	 .precise_store = true,
	 .loads_counter = ONLY(3),
	 .stores_counter = ONLY(3),
	 PREC_DIST(2),
	 .instructions_alone = true,
	 OFFCORE(sandybridge),
	 STALLS_L1D_PENDING},
	{.name = "ivybridge",
	 RECORDS(USE),
	 .collides = true,
	 .costly_ip = true,
	 .precise_store = true,
	 .loads_counter = ONLY(3),
	 .stores_counter = ONLY(3),
	 PREC_DIST(3),
	 OFFCORE(sandybridge),
	 STALLS_LDM_PENDING},
	{.name = "haswell",
	 RECORDS(USE),
	 .collides = true,
	 .loads_counter = ONLY(3),
	 PREC_DIST(3),
	 .smallest_period = 32,
	 OFFCORE(haswell),
	 STALLS_LDM_PENDING},
	{.name = "broadwell",
	 RECORDS(USE),
	 .collides = true,
	 .loads_counter = ONLY(3),
	 PREC_DIST(3),
	 .instructions_step = 64,
	 OFFCORE(broadwell),
	 STALLS_LDM_PENDING},
	{.name = "skylake", RECORDS(USE), PREC_DIST(3), OFFCORE(skylake), STALLS_MEM_ANY},
	{.name = "icelake", RECORDS(USE), FIXED_COUNTER_0, OFFCORE(icelake), STALLS_MEM_ANY},
	{.name = "sapphire_rapids",
	 RECORDS(SPLIT),
	 .stores_counter = ONLY(0),
	 FIXED_COUNTER_0,
	 OFFCORE(golden_cove),
	 STALLS_BOUND_ON_LOADS},
	{.name = "granite_rapids",
	 RECORDS(SPLIT),
	 .stores_counter = ONLY(0),
	 FIXED_COUNTER_0,
	 OFFCORE(golden_cove),
	 STALLS_BOUND_ON_LOADS},
	{P_CORE_OF("alderlake_hybrid"), OFFCORE(golden_cove)},
	{E_CORE_OF("alderlake_hybrid"), OFFCORE(gracemont), STALLS_MEM_BOUND},
	{P_CORE_OF("meteorlake_hybrid"), OFFCORE(golden_cove)},
	{E_CORE_OF("meteorlake_hybrid"), OFFCORE(gracemont), STALLS_MEM_BOUND_LOAD},
	{.name = "silvermont", RECORDS(ADDRESS), PLAIN(2), OFFCORE(silvermont), .last_level_l2 = true},
	{.name = "knights-landing", RECORDS(ADDRESS), PLAIN(2), .last_level_l2 = true},
	{.name = "goldmont",
	 RECORDS(ADDRESS),
	 REDUCED_SKID,
	 .any_address = true,
	 OFFCORE(goldmont),
	 .last_level_l2 = true},
	{.name = "goldmont_plus",
	 RECORDS(ADDRESS),
	 REDUCED_SKID,
	 .any_address = true,
	 .instructions_counter = ONLY(0),
	 OFFCORE(goldmont),
	 .last_level_l2 = true},
	{.name = "Tremont", RECORDS(ADDRESS), REDUCED_SKID, OFFCORE(tremont), STALLS_MEM_BOUND},
	{.name = "gracemont", RECORDS(SPLIT), REDUCED_SKID, OFFCORE(gracemont), STALLS_MEM_BOUND},
	{.name = "crestmont", RECORDS(SPLIT), REDUCED_SKID, OFFCORE(gracemont), STALLS_MEM_BOUND_LOAD},
	{.name = "darkmont", RECORDS(SPLIT), REDUCED_SKID, STALLS_MEM_BOUND_LOAD},
};

/*
 * A kernel without caps/pmu_name (before 4.14) knows no CPU later than Skylake. Its stores with event 0xcd
 * are precise stores.
 */
static const struct pmu_quirk nameless = {RECORDS(USE), .precise_store = true, PLAIN(2)};

/* Later P-cores and E-cores both support precisely distributed instructions in this way. */
static const struct pmu_quirk later = {RECORDS(SPLIT), FIXED_COUNTER_0};

const struct pmu_quirk *pmu_quirk_find(const char *name, const char *pmu)
{
	if (!name)
		return &nameless;
	for (size_t i = 0; i < ARRAY_SIZE(quirks); i++)
		if (strcmp(quirks[i].name, name) == 0 && (!quirks[i].pmu || strcmp(quirks[i].pmu, pmu) == 0))
			return &quirks[i];
	return &later;
}

bool pmu_quirk_known(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(quirks); i++)
		if (strcmp(quirks[i].name, name) == 0)
			return true;
	return false;
}
