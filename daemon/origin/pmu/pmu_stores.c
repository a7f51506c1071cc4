// SPDX-License-Identifier: GPL-2.0
/*
 * Plans the stores of a core PMU. There are three kinds of events, which record different things:
 * - Precise store (Sandy Bridge, Ivy Bridge; event 0xcd, umask 2): address, whether it hit L1, STLB and lock.
 * - All stores (Haswell to Ice Lake; 0xd0, 0x82): address and whether it hit L1.
 * - Store latency (Sapphire Rapids and later, and all E-cores since Gracemont; 0xcd, 2 and 0xd0, 6): address,
 *   source, STLB, lock and latencies, as for loads.
 *
 * Source: precise_store_data(), precise_datala_hsw(), store_latency_data() and grt_latency_data() in
 * arch/x86/events/intel/ds.c, Linux 6.1 and 6.12.
 */
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

#define STORES_PERIOD 10007

/*
 * If records of events that overflow together are dropped (perf_stall.h), each collision silences both events
 * until they are armed again, some seconds later. The number of collisions is proportional to the product of
 * both rates. By default, loads and instructions yield a few hundred samples a second on a busy CPU, because
 * only tagged loads count and instructions have a long period. But every store counts. With a period of
 * 10,007, half a billion stores a second yield 50,000 samples. With this prime they yield 500.
 */
#define STORES_PERIOD_COLLIDING 1000003

#define EVENT_CODE 0xffff
#define ALL_STORES 0x82d0
#define STORES_CD  0x02cd

static bool has_latency(const struct pmu_core *core, const struct event_spec *spec)
{
	u64 code = spec->config & EVENT_CODE;

	return code != ALL_STORES && !(code == STORES_CD && core->quirk->precise_store);
}

/*
 * On CPUs with the precise store, loads and stores can run only on counter 3. If both were pinned, the first
 * would hold the counter for good, and the other would be in error. Without pinning, the kernel multiplexes
 * them.
 */
static int take_turns(const struct planner *planner, const struct pmu_core *core, struct event_spec *stores)
{
	struct event_spec *loads = planner_find(planner, core->pmu, EVENT_LOADS);

	if (!loads || !core->quirk->precise_store || (stores->config & EVENT_CODE) != STORES_CD)
		return 0;
	loads->pinned = false;
	stores->pinned = false;
	return pmu_plan_note(planner->plan,
			     "%s: loads and stores can both run only on counter 3 of this CPU, so they "
			     "run in turns: each is sampled for about half of the time, and pebsctl "
			     "status shows its share",
			     core->pmu);
}

/*
 * Returns true if stores would collide with other events that are sampled at the same time. With the precise store,
 * loads take turns with them, and events that only count make the kernel drop records (planner_mark_collisions()).
 */
static bool collide(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_quirk *quirk = core->quirk;

	if (!quirk->collides)
		return false;
	if (quirk->precise_store)
		return planner_wants(planner, EVENT_INSTRUCTIONS) || planner_wants(planner, EVENT_CYCLES) ||
		       planner_wants(planner, EVENT_STALLS) || planner_wants(planner, EVENT_MISSES);
	return planner_wants(planner, EVENT_LOADS) || planner_wants(planner, EVENT_INSTRUCTIONS);
}

int pmu_plan_stores(const struct planner *planner, const struct pmu_core *core)
{
	struct event_spec spec;
	bool latency;
	int r;

	if (!pmu_tree_has(planner->tree, core->pmu, "events/mem-stores"))
		return pmu_refuse_core(planner, core, EVENT_STORES);
	r = planner_open(planner, core, EVENT_STORES, "events/mem-stores", &spec);
	if (r <= 0)
		return r;
	latency = has_latency(core, &spec);
	if ((spec.config & EVENT_CODE) == STORES_CD)
		spec.only_counter = core->quirk->stores_counter;
	spec.event.latency_kind = latency ? LATENCY_CACHE : LATENCY_NONE;
	/* Without a latency, do not ask for a weight: adaptive PEBS would fill in a meaningless one. */
	spec.event.settings = (struct event_settings){.has_latency = latency,
						      .has_instruction_latency = latency,
						      .has_source = 1,
						      .has_address = 1,
						      .has_code_address = 1,
						      .weight_struct = latency};
	r = planner_period(planner, collide(planner, core) ? STORES_PERIOD_COLLIDING : STORES_PERIOD, &spec);
	if (r >= 0)
		r = take_turns(planner, core, &spec);
	if (r < 0)
		return r;
	return pmu_plan_add(planner->plan, &spec);
}
