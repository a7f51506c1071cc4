// SPDX-License-Identifier: GPL-2.0
/*
 * The stores of a core PMU: three kinds of events, which record different things.
 *
 * - Precise store (Sandy Bridge, Ivy Bridge; event 0xcd, umask 2): address, whether it hit L1, STLB and lock.
 * - All stores (Haswell to Ice Lake; 0xd0, 0x82): address and whether it hit L1.
 * - Store latency (Sapphire Rapids and later, and all E-cores since Gracemont; 0xcd, 2 and 0xd0, 6): address,
 *   source, STLB, lock and latencies, as for loads.
 *
 * precise_store_data(), precise_datala_hsw(), store_latency_data() and grt_latency_data() in
 * arch/x86/events/intel/ds.c, Linux 6.1 and 6.12.
 */
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

#define STORES_PERIOD 10007

/*
 * Where records of events that overflow together are dropped (perf_stall.h), each collision silences both
 * events until they are armed again, some seconds later; and there are as many as the product of both rates.
 * Of loads and instructions there are some hundred samples a second and busy CPU by default: only tagged
 * loads count, and instructions have a long period. But every store counts: with 10,007 there are 50,000 a
 * second where half a billion are executed. With this prime there are 500.
 */
#define STORES_PERIOD_COLLIDING 1000003

#define EVENT_CODE 0xffff
#define ALL_STORES 0x82d0
#define STORES_CD  0x02cd

static bool has_latency(const struct pmu_core *core, const struct pmu_opening *opening)
{
	u64 code = opening->config & EVENT_CODE;

	return code != ALL_STORES && !(code == STORES_CD && core->quirk->precise_store);
}

/*
 * Both events run on counter 3 alone: the first to be pinned would have it for good, and the other be in
 * error.
 */
static int take_turns(const struct planner *planner, const struct pmu_core *core, struct pmu_opening *stores)
{
	struct pmu_opening *loads = planner_find(planner, core->pmu, EVENT_LOADS);

	if (!loads || !core->quirk->precise_store || (stores->config & EVENT_CODE) != STORES_CD)
		return 0;
	loads->pinned = false;
	stores->pinned = false;
	return pmu_plan_note(planner->plan,
			     "%s: loads and stores both run on the CPU's counter 3 alone, so they take "
			     "turns: each is seen for about half of the time, and pebsctl status shows its "
			     "share",
			     core->pmu);
}

/* Whether what is sampled beside them would collide with them. */
static bool collide(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_quirk *quirk = core->quirk;

	return quirk->collides &&
	       ((planner_wants(planner, EVENT_LOADS) && !quirk->precise_store) ||
		(planner_wants(planner, EVENT_INSTRUCTIONS) && !quirk->instructions_alone));
}

int pmu_plan_stores(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_wish *wish = planner->wish;
	struct pmu_opening opening;
	bool latency;
	int r;

	if (!pmu_tree_has(planner->tree, core->pmu, "events/mem-stores"))
		return pmu_refuse_core(planner, core, EVENT_STORES);
	r = planner_open(planner, core, EVENT_STORES, "events/mem-stores", &opening);
	if (r <= 0)
		return r;
	latency = has_latency(core, &opening);
	if ((opening.config & EVENT_CODE) == STORES_CD)
		opening.only_counter = core->quirk->stores_counter;
	opening.event.latency_kind = latency ? LATENCY_CACHE : LATENCY_NONE;
	/* Without a latency no weight is asked for: adaptive PEBS would fill in one that means nothing. */
	opening.event.settings = (struct event_settings){.has_latency = latency,
							 .has_instruction_latency = latency,
							 .has_source = 1,
							 .has_address = 1,
							 .has_code_address = 1,
							 .weight_struct = latency};
	r = planner_period(planner, wish->period,
			   collide(planner, core) ? STORES_PERIOD_COLLIDING : STORES_PERIOD, &opening);
	if (r >= 0)
		r = take_turns(planner, core, &opening);
	if (r < 0)
		return r;
	return planner_add(planner, &opening);
}
