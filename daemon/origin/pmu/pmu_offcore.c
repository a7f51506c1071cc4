// SPDX-License-Identifier: GPL-2.0
/* Plans the off-core response counters of a core PMU. */
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

static u64 value_of(const struct pmu_offcore_values *values, enum offcore_kind kind)
{
	switch (kind) {
	case OFFCORE_L3:
		return values->l3;
	case OFFCORE_LOCAL_DRAM:
		return values->local_dram;
	case OFFCORE_REMOTE_DRAM:
		return values->remote_dram;
	case OFFCORE_OUTSTANDING:
		return values->outstanding;
	case OFFCORE_REQUESTS:
		return values->requests;
	case OFFCORE_KINDS:
		break;
	}
	return 0;
}

/*
 * Returns true if the core can count this kind. Client CPUs have the PMU names of servers, but refuse the
 * bits of remote memory (intel_snb_extra_regs in arch/x86/events/intel/core.c, Linux 6.1). A client has one
 * node, and with one node there is no remote memory.
 */
static bool has_kind(const struct planner *planner, const struct pmu_offcore_values *values,
		     enum offcore_kind kind)
{
	if (kind == OFFCORE_REMOTE_DRAM && planner->tree->n_nodes == 1)
		return false;
	return value_of(values, kind) != 0;
}

static int refuse(const struct planner *planner, const struct pmu_core *core)
{
	struct pmu_plan *plan = planner->plan;

	if (pmu_is_amd(planner, core->pmu))
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_OFFCORE,
			"AMD's cores cannot count off-core responses; leave `offcore` out of `events`, and see "
			"the sources of the loads that ibs_op samples");
	if (!pmu_tree_has(planner->tree, core->pmu, "events"))
		return pmu_refuse_core(planner, core, EVENT_OFFCORE);
	if (core->name && strncmp(core->name, "generic_arch", strlen("generic_arch")) == 0)
		return pmu_refuse_core(planner, core, EVENT_OFFCORE);
	if (pmu_tree_has(planner->tree, core->pmu, "format/offmodule_rsp"))
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_OFFCORE,
			"this core counts off-module responses (format/offmodule_rsp) instead of off-core responses, and this version of pebsd does not know the values of their register; leave `offcore` out of `events`");
	if (!pmu_tree_has(planner->tree, core->pmu, "format/offcore_rsp"))
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_OFFCORE,
			"it cannot count off-core responses (format/offcore_rsp is missing): CPUs before "
			"Nehalem cannot, and a kernel that does not know the CPU model does not offer it; "
			"leave `offcore` out of `events`, or try a newer kernel");
	return pmu_plan_refuse(
		plan, core->pmu, EVENT_OFFCORE,
		"this version of pebsd does not know the values of MSR_OFFCORE_RSP for a core %s%s; leave `offcore` out of `events`",
		core->name ? "whose caps/pmu_name is " : "without caps/pmu_name",
		core->name ? core->name : "");
}

static int note_multiplexing(const struct planner *planner, const struct pmu_core *core, size_t n)
{
	const struct pmu_offcore_values *values = core->quirk->offcore;
	size_t registers = values->events[1] ? 2 : 1;
	int r = 0;

	if (values->note)
		r = pmu_plan_note(planner->plan, "%s: %s", core->pmu, values->note);
	if (r < 0 || n <= registers)
		return r;
	return pmu_plan_note(
		planner->plan,
		"%s: %zu off-core response counts share %zu register%s, which the threads of a core may "
		"share too: the kernel runs the counts in turns, and pebsd scales each count by the time "
		"that it ran",
		core->pmu, n, registers, registers == 1 ? "" : "s");
}

int pmu_plan_offcore(const struct planner *planner, const struct pmu_core *core)
{
	const struct pmu_offcore_values *values = core->quirk->offcore;
	struct pmu_plan *plan = planner->plan;
	const size_t before = plan->n_counters;
	int r;

	if (!values || pmu_is_amd(planner, core->pmu) || !pmu_tree_has(planner->tree, core->pmu, "events") ||
	    !pmu_tree_has(planner->tree, core->pmu, "format/offcore_rsp"))
		return refuse(planner, core);
	for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
		/*
		 * Only OFFCORE_REQUESTS uses the second register's event. The kernel moves any event to the
		 * register that is free (intel_alt_er, arch/x86/events/intel/core.c, Linux 6.1).
		 */
		const u16 event = values->events[kind == OFFCORE_REQUESTS && values->events[1] ? 1 : 0];
		const struct pmu_term terms[] = {{.name = "event", .value = event & 0xff},
						 {.name = "umask", .value = event >> 8},
						 {.name = "offcore_rsp", .value = value_of(values, kind)}};
		struct event_spec spec;
		struct pmu_counter *counter;

		if (!has_kind(planner, values, kind))
			continue;
		planner_spec(planner, core->pmu, core->type, EVENT_OFFCORE, &spec);
		r = planner_place(planner, core->pmu, EVENT_OFFCORE, "off-core response", terms,
				  ARRAY_SIZE(terms), &spec);
		if (r > 0 && spec.config2)
			r = pmu_plan_refuse(
				plan, core->pmu, EVENT_OFFCORE,
				"format/offcore_rsp is not in config1, the only place that this version of pebsd supports; leave `offcore` out of `events`");
		if (r <= 0) {
			plan->n_counters = before;
			return r;
		}
		if (plan->n_counters == PMU_COUNTERS_MAX) {
			plan->n_counters = before;
			return pmu_plan_refuse(
				plan, core->pmu, EVENT_OFFCORE,
				"pebsd counts at most %zu off-core responses on all PMUs together; leave `offcore` out of `events`",
				PMU_COUNTERS_MAX);
		}
		counter = &plan->counters[plan->n_counters++];
		*counter = (struct pmu_counter){.kind = kind,
						.type = spec.type,
						.config = spec.config,
						.config1 = spec.config1,
						.has_members = spec.has_members,
						.members = spec.members,
						.members_source = spec.members_source,
						.cpus_known = spec.cpus_known,
						.cpus = spec.cpus};
		(void)snprintf(counter->pmu, sizeof(counter->pmu), "%s", core->pmu);
	}
	return note_multiplexing(planner, core, plan->n_counters - before);
}
