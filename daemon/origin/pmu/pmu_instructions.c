// SPDX-License-Identifier: GPL-2.0
/*
 * The precise instruction event of a core PMU: PEBS gives the address of an instruction, and precise
 * distribution (PDIR, PDist, reduced skid) makes every instruction equally likely to be the one. No latency,
 * no source: nothing of them is asked for. The address of the data is there where a processor records it for
 * any precise event (Goldmont: manual 18.7.1.1), 0 for an instruction without access. On Granite Rapids and
 * Meteor Lake asking for a weight would even take fixed counter 0 away (rwc_get_event_constraints,
 * arch/x86/events/intel/core.c, Linux 6.12).
 */
#include <errno.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

/* Architectural: Instructions Retired (manual 18.2.1.2). */
#define INSTRUCTIONS_RETIRED 0xc0

/* A prime near ten million, some hundred samples a second of a busy CPU. */
#define INSTRUCTIONS_PERIOD 10000019
/* The same for periods that must be multiples of 64: times 64. */
#define INSTRUCTIONS_STEPS 156253

/* glc_limit_period() and bdw_limit_period() (arch/x86/events/intel/core.c, Linux 6.12). */
#define SMALLEST_PERIOD 128

/* Whether something of ours would run beside it. */
static bool has_company(const struct planner *planner)
{
	return planner_wants(planner, EVENT_LOADS) || planner_wants(planner, EVENT_STORES) ||
	       planner_wants(planner, EVENT_OFFCORE);
}

/*
 * PEBS is there for sure where events/mem-loads is (pebs_is_visible, arch/x86/events/intel/core.c) or
 * caps/max_precise tells; that may read 0 on an idle machine. A model whose load latency event is missing has
 * none. Of others that the table knows only opening tells.
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

	/* 0 says nothing: see may_have_pebs(). */
	if (pmu_tree_number(planner->tree, core->pmu, "caps/max_precise", &max) == 0 && max > 0 &&
	    max < precise)
		return (u8)max;
	return precise;
}

int pmu_plan_instructions(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_quirk *quirk = core->quirk;
	const struct pmu_term terms[] = {{.name = "event", .value = INSTRUCTIONS_RETIRED},
					 {.name = "umask", .value = quirk->instructions_umask}};
	struct pmu_opening opening;
	int r;

	if (pmu_is_amd(planner, core->pmu) || !pmu_tree_has(planner->tree, core->pmu, "events") ||
	    !may_have_pebs(planner, core))
		return pmu_refuse_core(planner, core, EVENT_INSTRUCTIONS);
	if (quirk->instructions_alone && has_company(planner))
		return pmu_plan_refuse(
			planner->plan, core->pmu, EVENT_INSTRUCTIONS,
			"on this CPU (caps/pmu_name is %s: CPUID 06_2A and 06_2D) the manual (18.9.4.4) "
			"wants the other programmable counters quiet while instructions are sampled with "
			"precise distribution, so they are not sampled beside other events: set events = "
			"instructions alone, or leave instructions out",
			core->name);
	planner_opening(planner, core->pmu, core->type, EVENT_INSTRUCTIONS, &opening);
	r = planner_place(planner, core->pmu, EVENT_INSTRUCTIONS, "instructions", terms, ARRAY_SIZE(terms),
			  &opening);
	if (r <= 0)
		return r;
	opening.precise_ip = precise_ip(planner, core);
	/* With a lower precise_ip plain instructions are on any counter. */
	if (quirk->instructions_umask || opening.precise_ip == quirk->instructions_precise_ip)
		opening.only_counter = quirk->instructions_counter;
	opening.period_min = SMALLEST_PERIOD;
	if (quirk->instructions_step)
		opening.period_step = quirk->instructions_step;
	opening.event.settings.has_code_address = 1;
	opening.event.settings.has_address = quirk->any_address;
	r = planner_period(planner, planner->wish->instructions_period,
			   quirk->instructions_step ? (u64)INSTRUCTIONS_STEPS * quirk->instructions_step
						    : INSTRUCTIONS_PERIOD,
			   &opening);
	if (r < 0)
		return r;
	return planner_add(planner, &opening);
}
