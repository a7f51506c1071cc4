// SPDX-License-Identifier: GPL-2.0
/*
 * Plans the precise instruction event of a core PMU, or the plain one without PEBS (pmu_counts.c). PEBS records the
 * address of an instruction. Precise distribution (PDIR, PDist, reduced skid) makes every instruction equally likely to
 * be sampled.
 *
 * The event has neither a latency nor a data source, so neither is requested. On Granite Rapids and Meteor
 * Lake, a requested weight would even rule out fixed counter 0 (rwc_get_event_constraints,
 * arch/x86/events/intel/core.c, Linux 6.12). The data address is available on processors that record it for
 * any precise event (Goldmont: manual 18.7.1.1). It is 0 for an instruction without a memory access.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

/* The architectural event Instructions Retired (manual 18.2.1.2). */
#define INSTRUCTIONS_RETIRED 0xc0

/* A prime near ten million, which yields a few hundred samples a second on a busy CPU. */
#define INSTRUCTIONS_PERIOD 10000019
/* If periods must be multiples of 64, the period is 64 times this number, also near ten million. */
#define INSTRUCTIONS_STEPS 156253

/* The minimum in glc_limit_period() and bdw_limit_period() (arch/x86/events/intel/core.c, Linux 6.12). */
#define SMALLEST_PERIOD 128

/* Returns true if pebsd would run other events at the same time. */
static bool has_company(const struct planner *planner)
{
	return planner_wants(planner, EVENT_LOADS) || planner_wants(planner, EVENT_STORES) ||
	       planner_wants(planner, EVENT_OFFCORE) || planner_wants(planner, EVENT_CYCLES) ||
	       planner_wants(planner, EVENT_STALLS) || planner_wants(planner, EVENT_MISSES);
}

/*
 * Returns false if the core has no PEBS as far as the tree shows. It certainly has PEBS if events/mem-loads
 * exists (pebs_is_visible, arch/x86/events/intel/core.c) or if caps/max_precise says so. But caps/max_precise
 * may read 0 on an idle machine. A model that has load latency (format/ldlat) but lacks the event has no
 * PEBS. For other models in the table, only opening an event shows whether they have PEBS. Models that are
 * not in the table count as having none.
 */
static bool may_have_pebs(const struct planner *planner, const struct pmu_core *core)
{
	u32 max_precise;

	if (pmu_tree_has(planner->tree, core->pmu, "events/mem-loads"))
		return true;
	if (pmu_tree_number(planner->tree, core->pmu, "caps/max_precise", &max_precise) == 0 &&
	    max_precise > 0)
		return true;
	return pmu_quirk_known(core->name) && !pmu_tree_has(planner->tree, core->pmu, "format/ldlat");
}

static u8 precise_ip(const struct planner *planner, const struct pmu_core *core)
{
	u8 precise = core->quirk->instructions_precise_ip;
	u32 max;

	/* 0 is not a limit: see may_have_pebs(). */
	if (pmu_tree_number(planner->tree, core->pmu, "caps/max_precise", &max) == 0 && max > 0 &&
	    max < precise)
		return (u8)max;
	return precise;
}

static int plan_in_company(const struct planner *planner, const struct pmu_core *core)
{
	int r = pmu_plan_note(
		planner->plan,
		"%s: on this CPU (caps/pmu_name is %s: CPUID 06_2A and 06_2D) Intel's manual (18.9.4.4) requires the other programmable counters to be idle while instructions are sampled with precise distribution, so pebsd counts them by the plain event, whose samples have no code address; to sample them precisely, set events = instructions",
		core->pmu, core->name);

	return r < 0 ? r : pmu_plan_count(planner, core, EVENT_INSTRUCTIONS);
}

int pmu_plan_instructions(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_quirk *quirk = core->quirk;
	const struct pmu_term terms[] = {{.name = "event", .value = INSTRUCTIONS_RETIRED},
					 {.name = "umask", .value = quirk->instructions_umask}};
	struct event_spec spec;
	int r;

	/* Without PEBS, the plain event still says how many instructions ran. */
	if (pmu_is_amd(planner, core->pmu) || !may_have_pebs(planner, core))
		return pmu_plan_count(planner, core, EVENT_INSTRUCTIONS);
	if (!pmu_tree_has(planner->tree, core->pmu, "events"))
		return pmu_refuse_core(planner, core, EVENT_INSTRUCTIONS);
	if (quirk->instructions_alone && has_company(planner))
		return plan_in_company(planner, core);
	planner_spec(planner, core->pmu, core->type, EVENT_INSTRUCTIONS, &spec);
	r = planner_place(planner, core->pmu, EVENT_INSTRUCTIONS, "instructions", terms, ARRAY_SIZE(terms),
			  &spec);
	if (r <= 0)
		return r;
	spec.precise_ip = precise_ip(planner, core);
	/* With a lower precise_ip, the plain instruction event can run on any counter. */
	if (quirk->instructions_umask || spec.precise_ip == quirk->instructions_precise_ip)
		spec.only_counter = quirk->instructions_counter;
	/* PREC_DIST is defined only with PEBS. Without a umask, it is the event that also counts. */
	spec.may_count = !quirk->instructions_umask;
	spec.period_min = SMALLEST_PERIOD;
	if (quirk->instructions_step)
		spec.period_step = quirk->instructions_step;
	spec.event.settings.has_code_address = 1;
	spec.event.settings.has_address = quirk->any_address;
	r = planner_period(planner,
			   quirk->instructions_step ? (u64)INSTRUCTIONS_STEPS * quirk->instructions_step
						    : INSTRUCTIONS_PERIOD,
			   &spec);
	if (r < 0)
		return r;
	return pmu_plan_add(planner->plan, &spec);
}
