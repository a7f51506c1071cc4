// SPDX-License-Identifier: GPL-2.0
/* Plans the load latency event of a core PMU. */
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

/* A prime, so that no loop runs in step with the period. */
#define LOADS_PERIOD 10007

/*
 * On Sapphire Rapids and Alder Lake, the kernel refuses mem-loads without a leader with ENODATA. The presence
 * of the file decides, not the model: Granite Rapids and Arrow Lake need no leader (intel_pmu_hw_config in
 * arch/x86/events/intel/core.c, Linux 6.1, 7.3).
 */
static int find_leader(const struct planner *planner, const char *pmu, struct event_spec *spec)
{
	u64 configs[PMU_CONFIGS] = {0};
	char culprit[PMU_TERM_MAX];
	int r;

	if (!pmu_tree_has(planner->tree, pmu, "events/mem-loads-aux"))
		return 0;
	r = pmu_tree_event(planner->tree, pmu, "events/mem-loads-aux", configs, culprit);
	if (r < 0)
		return r;
	spec->has_leader = true;
	spec->leader_config = configs[0];
	return 0;
}

int pmu_plan_loads(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_request *request = planner->request;
	const struct pmu_term ldlat = {.name = "ldlat", .value = request->ldlat};
	struct event_spec spec;
	bool use_latency;
	int r;

	if (!pmu_tree_has(planner->tree, core->pmu, "events/mem-loads"))
		return pmu_refuse_core(planner, core, EVENT_LOADS);
	r = planner_open(planner, core, EVENT_LOADS, "events/mem-loads", &spec);
	if (r <= 0)
		return r;
	/* Replaces the value in sysfs. Combining both values would be wrong: 3 | 64 is 67. */
	r = planner_place(planner, core->pmu, EVENT_LOADS, "events/mem-loads", &ldlat, 1, &spec);
	if (r <= 0)
		return r;
	r = find_leader(planner, core->pmu, &spec);
	if (r < 0)
		return planner_refuse_event(planner, core->pmu, EVENT_LOADS, "events/mem-loads-aux",
					    "mem-loads-aux", r);

	use_latency = core->quirk->records == PMU_RECORDS_USE && !spec.has_leader;
	spec.only_counter = core->quirk->loads_counter;
	spec.event.ldlat = request->ldlat;
	spec.event.latency_kind = use_latency ? LATENCY_USE : LATENCY_CACHE;
	spec.event.settings = (struct event_settings){.has_latency = 1,
						      .has_instruction_latency = !use_latency,
						      .has_source = 1,
						      .has_address = 1,
						      .has_code_address = 1,
						      .weight_struct = 1};
	r = planner_period(planner, LOADS_PERIOD, &spec);
	if (r >= 0)
		r = pmu_plan_add(planner->plan, &spec);
	if (r < 0 || core->name || spec.has_leader)
		return r;
	return pmu_plan_note(planner->plan,
			     "%s: the CPU generation is unknown (caps/pmu_name is missing); pebsd assumes "
			     "that its latency is use latency, as before Alder Lake and Sapphire Rapids",
			     core->pmu);
}
