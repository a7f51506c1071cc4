// SPDX-License-Identifier: GPL-2.0
/* Walks over the PMUs of a tree. */
#include "origin/pmu/pmu.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

/*
 * The manual's minimum for MSR_PEBS_LD_LAT_THRESHOLD, and the maximum that fits format/ldlat (config1:0-15).
 */
#define LDLAT_MIN 3
#define LDLAT_MAX 65535

enum pmu_class {
	PMU_OTHER, /* cannot sample memory accesses: uncore, tracing, software */
	PMU_CORE,
	PMU_AMD_IBS_OP,
	PMU_ARM_SPE,
	PMU_ARM_CORE,
};

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum pmu_class pmu_class_of(const char *name)
{
	/* cpu_core, cpu_atom, cpu_lowpower: intel_hybrid_pmu_type_map in arch/x86/events/intel/core.c. */
	if (strcmp(name, "cpu") == 0 || has_prefix(name, "cpu_"))
		return PMU_CORE;
	if (strcmp(name, "ibs_op") == 0)
		return PMU_AMD_IBS_OP;
	if (has_prefix(name, "arm_spe_"))
		return PMU_ARM_SPE;
	if (has_prefix(name, "armv7_") || has_prefix(name, "armv8_") || has_prefix(name, "armv9_"))
		return PMU_ARM_CORE;
	return PMU_OTHER;
}

static int plan_counts(const struct planner *planner, const struct pmu_core *core)
{
	static const enum event_role counts[] = {EVENT_CYCLES, EVENT_STALLS, EVENT_MISSES};
	int r = 0;

	if (planner_wants(planner, EVENT_INSTRUCTIONS))
		r = planner->request->automatic ? pmu_plan_count(planner, core, EVENT_INSTRUCTIONS)
						: pmu_plan_instructions(planner, core);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(counts); i++)
		if (planner_wants(planner, counts[i]))
			r = pmu_plan_count(planner, core, counts[i]);
	return r;
}

/* Returns true if nobody asked for counts by name, and they would make the core lose records of loads. */
static bool spares_loads(const struct planner *planner, const struct pmu_core *core)
{
	return planner->request->automatic && core->quirk->collides &&
	       planner_find(planner, core->pmu, EVENT_LOADS);
}

static int plan_roles(const struct planner *planner, const struct pmu_core *core)
{
	int r = 0;

	if (planner_wants(planner, EVENT_LOADS))
		r = pmu_plan_loads(planner, core);
	if (r >= 0 && planner_wants(planner, EVENT_STORES))
		r = pmu_plan_stores(planner, core);
	if (r >= 0)
		r = spares_loads(planner, core) ? pmu_refuse_colliding(planner, core)
						: plan_counts(planner, core);
	planner_mark_collisions(planner, core);
	if (r >= 0 && planner_wants(planner, EVENT_OFFCORE))
		r = pmu_plan_offcore(planner, core);
	return r;
}

static int plan_core(const struct planner *planner, const char *pmu)
{
	struct pmu_core core = {.pmu = pmu};
	_cleanup_free_ char *name = NULL;
	int r;

	if (pmu_tree_text(planner->tree, pmu, "caps/pmu_name", &name) >= 0 && pmu_tree_plain_name(name))
		core.name = name;
	core.quirk = pmu_quirk_find(core.name, pmu);
	r = pmu_tree_number(planner->tree, pmu, "type", &core.type);
	/* Without a type number, a copy that also lacks events/ is refused later with a better reason. */
	if (r >= 0 || !pmu_tree_has(planner->tree, pmu, "events"))
		return plan_roles(planner, &core);
	return pmu_refuse_type(planner, pmu, ~0U, r);
}

static int refuse_arm_core(const struct planner *planner, const char *pmu)
{
	const unsigned counts = 1U << EVENT_CYCLES | 1U << EVENT_STALLS | 1U << EVENT_MISSES;
	int r = pmu_refuse_roles(
		planner, pmu, ~counts,
		"Arm's core counters report neither latency nor source of an access, and do not "
		"sample instructions precisely; look at recordings of other machines with pebsd "
		"--replay FILE");

	return r < 0 ? r
		     : pmu_refuse_roles(
			       planner, pmu, counts,
			       "this version of pebsd knows only the events of x86 CPUs, not those of Arm's core counters; look at recordings of other machines with pebsd --replay FILE");
}

/* Returns 1 if the PMU could be expected to sample loads, 0 if not, or -errno. */
static int plan_pmu(const struct planner *planner, const char *name)
{
	int r = 0;

	switch (pmu_class_of(name)) {
	case PMU_OTHER:
		return 0;
	case PMU_CORE:
		r = plan_core(planner, name);
		break;
	case PMU_AMD_IBS_OP:
		r = pmu_plan_ibs(planner, name);
		break;
	case PMU_ARM_SPE:
		r = pmu_refuse_all(
			planner, name,
			"Arm's Statistical Profiling Extension writes only to the AUX buffer, and a BPF "
			"program attached to it never runs; look at recordings of other machines with "
			"pebsd --replay FILE");
		break;
	case PMU_ARM_CORE:
		r = refuse_arm_core(planner, name);
		break;
	}
	return r < 0 ? r : 1;
}

static bool is_of_earlier_pmu(const struct pmu_plan *plan, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(plan->specs[i].event.pmu, plan->specs[index].event.pmu) == 0)
			return true;
	return false;
}

static int note_copy(const struct planner *planner)
{
	struct pmu_plan *plan = planner->plan;
	int r;

	for (size_t i = 0; i < plan->n_specs; i++) {
		const struct event_spec *spec = &plan->specs[i];

		if (spec->cpus_known || is_of_earlier_pmu(plan, i))
			continue;
		r = pmu_plan_note(plan,
				  "%s: the sysfs tree does not say which CPUs are online; pebsd opens an "
				  "event on each online CPU",
				  spec->event.pmu);
		if (r < 0)
			return r;
	}
	return pmu_plan_note(
		plan,
		"read from %s instead of /sys; nothing was opened. Only opening an event shows whether "
		"the kernel accepts it, whether another user holds the counters, and which privileges are "
		"missing",
		planner->tree->root);
}

static int plan_tree(const struct planner *planner)
{
	const struct pmu_tree *tree = planner->tree;
	bool found = false;
	int r;

	for (size_t i = 0; i < tree->n_names; i++) {
		r = plan_pmu(planner, tree->names[i]);
		if (r < 0)
			return r;
		found = found || r > 0;
	}
	return found ? 0 : pmu_refuse_machine(planner, 0);
}

/* Keeps the order of the events that only count, and that of the others. */
static void put_counts_last(struct pmu_plan *plan)
{
	struct event_spec counts[EVENTS_MAX] = {0};
	size_t n_counts = 0, n = 0;

	for (size_t i = 0; i < plan->n_specs; i++)
		if (event_is_count(&plan->specs[i].event))
			counts[n_counts++] = plan->specs[i];
		else
			plan->specs[n++] = plan->specs[i];
	memcpy(&plan->specs[n], counts, n_counts * sizeof(counts[0]));
}

static bool in_range(const struct pmu_request *request)
{
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		if (event_period_of(&request->periods, role) > SAMPLE_WEIGHTED_PERIOD_MAX)
			return false;
	return request->ldlat >= LDLAT_MIN && request->ldlat <= LDLAT_MAX &&
	       !(request->roles & ~((1U << EVENT_ROLES) - 1));
}

int pmu_plan(const char *sysfs_root, const struct pmu_request *request, struct pmu_plan *ret)
{
	struct pmu_plan plan = {.automatic = request->automatic};
	struct pmu_tree tree = {0};
	const struct planner planner = {.tree = &tree, .request = request, .plan = &plan};
	int r = 0;

	if (!in_range(request))
		return -EINVAL;
	if (request->roles) {
		r = pmu_tree_open(sysfs_root, &tree);
		if (r >= 0)
			r = plan_tree(&planner);
		else if (r != -ENOMEM)
			r = pmu_refuse_machine(&planner, r);
	}
	put_counts_last(&plan);
	if (r >= 0 && strcmp(sysfs_root, "/sys") != 0)
		r = note_copy(&planner);
	pmu_tree_close(&tree);
	if (r < 0) {
		pmu_plan_done(&plan);
		return r;
	}
	*ret = plan;
	return 0;
}
