// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/pmu_planner.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

bool planner_wants(const struct planner *planner, enum event_role role)
{
	return planner->request->roles & 1U << role;
}

void planner_cpus(const struct planner *planner, const char *pmu, struct event_spec *spec)
{
	const struct pmu_tree *tree = planner->tree;
	_cleanup_free_ char *text = NULL;
	bool grows;

	/*
	 * `cpus` lists the CPUs of a hybrid core PMU. `cpumask` says on which CPUs a PMU wants its events
	 * opened.
	 */
	grows = pmu_tree_text(tree, pmu, "cpus", &text) >= 0;
	spec->has_members = (grows || pmu_tree_text(tree, pmu, "cpumask", &text) >= 0) &&
			    cpu_list_parse(text, &spec->members) >= 0;
	spec->members_source = (struct pmu_members_source){0};
	if (grows)
		pmu_tree_path(tree, pmu, "cpus", sizeof(spec->members_source.path),
			      spec->members_source.path);
	spec->cpus_known = tree->online_known || spec->has_members;
	spec->cpus = tree->online_known ? tree->online : spec->members;
	if (tree->online_known && spec->has_members)
		cpu_list_keep(&spec->cpus, &spec->members);
}

/*
 * Returns the precise_ip for the load and store events of this core: 1 or 2, but never 3, which asks for
 * precise distribution. On Sapphire Rapids and Alder Lake that works only on counter 0, where load latency
 * cannot run (glc_get_event_constraints, arch/x86/events/intel/core.c, Linux 6.12). Store latency could use 3
 * on its only counter. But 3 sets a minimum for the period there (glc_limit_period), and its even distribution
 * over instructions is not needed for stores, which the hardware picks at random. On an idle machine without
 * NMI watchdog, caps/max_precise reads 0, so that only opening shows the maximum.
 */
static u8 precise_ip_of(const struct planner *planner, const struct pmu_core *core)
{
	u32 max;

	if (core->quirk->costly_ip)
		return 1;
	if (pmu_tree_number(planner->tree, core->pmu, "caps/max_precise", &max) == 0 && max == 1)
		return 1;
	return 2;
}

int planner_refuse_event(const struct planner *planner, const char *pmu, enum event_role role,
			 const char *file, const char *culprit, int error)
{
	if (error == -ENOMEM)
		return error;
	return pmu_plan_refuse(
		planner->plan, pmu, role, "cannot build the event %s because of \"%s\": %s", file, culprit,
		error == -EINVAL   ? "this version of pebsd does not know this term or its format"
		: error == -ERANGE ? "the value of this term has more bits than its format"
		: error == -ENOENT ? "the PMU's format/ folder does not have this term"
				   : strerror(-error));
}

void planner_spec(const struct planner *planner, const char *pmu, u32 type, enum event_role role,
		  struct event_spec *ret)
{
	*ret = (struct event_spec){
		.event = {.role = role},
		.type = type,
		.period_min = 1,
		.period_step = 1,
		.pinned = true,
		.exclude_guest = true,
	};
	(void)snprintf(ret->event.pmu, sizeof(ret->event.pmu), "%s", pmu);
	planner_cpus(planner, pmu, ret);
}

int planner_open(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		 const char *file, struct event_spec *ret)
{
	u64 configs[PMU_CONFIGS] = {0};
	char culprit[PMU_TERM_MAX];
	int r;

	r = pmu_tree_event(planner->tree, core->pmu, file, configs, culprit);
	if (r < 0)
		return planner_refuse_event(planner, core->pmu, role, file, culprit, r);
	if (configs[3])
		return pmu_plan_refuse(planner->plan, core->pmu, role,
				       "%s sets config3, which this version of pebsd does not support", file);
	planner_spec(planner, core->pmu, core->type, role, ret);
	ret->config = configs[0];
	ret->config1 = configs[1];
	ret->config2 = configs[2];
	ret->precise_ip = precise_ip_of(planner, core);
	if (core->quirk->smallest_period)
		ret->period_min = core->quirk->smallest_period;
	return 1;
}

int planner_place(const struct planner *planner, const char *pmu, enum event_role role, const char *what,
		  const struct pmu_term *terms, size_t n, struct event_spec *spec)
{
	u64 configs[PMU_CONFIGS] = {spec->config, spec->config1, spec->config2};

	for (size_t i = 0; i < n; i++) {
		int r = pmu_tree_place(planner->tree, pmu, &terms[i], configs);

		if (r >= 0 && configs[3])
			r = -EINVAL;
		if (r < 0)
			return planner_refuse_event(planner, pmu, role, what, terms[i].name, r);
	}
	spec->config = configs[0];
	spec->config1 = configs[1];
	spec->config2 = configs[2];
	return 1;
}

int planner_period(const struct planner *planner, u64 usual, struct event_spec *spec)
{
	const u64 requested = event_period_of(&planner->request->periods, spec->event.role);
	u64 period = requested ? requested : usual;

	period -= period % spec->period_step;
	if (period < spec->period_min)
		period = spec->period_min;
	spec->event.period = period;
	if (!requested || period == requested)
		return 0;
	if (spec->period_step == 1)
		return pmu_plan_note(
			planner->plan,
			"%s: the period of %s is %llu, not %llu: this PMU supports only periods of at least %u",
			spec->event.pmu, event_role_name(spec->event.role), (unsigned long long)period,
			(unsigned long long)requested, spec->period_min);
	return pmu_plan_note(
		planner->plan,
		"%s: the period of %s is %llu, not %llu: this PMU supports multiples of %u, at least %u",
		spec->event.pmu, event_role_name(spec->event.role), (unsigned long long)period,
		(unsigned long long)requested, spec->period_step, spec->period_min);
}

/*
 * Returns true if a record of `one` is dropped because of `other`, on a core whose records collide. Two events with
 * records collide only if one is pinned: multiplexed ones never run at the same time. An event that only counts runs
 * at the same time as either, and its interrupt can come between the overflow and the record of the other event. That
 * matters if several bits of pebs_enabled are set (perf_stall.h): loads and precise stores set two themselves.
 */
static bool drops_record(const struct pmu_core *core, const struct event_spec *one,
			 const struct event_spec *other)
{
	if (one->precise_ip == 0 || strcmp(one->event.pmu, core->pmu) != 0 ||
	    strcmp(other->event.pmu, core->pmu) != 0)
		return false;
	if (other->precise_ip > 0)
		return one->pinned || other->pinned;
	return one->event.role == EVENT_LOADS ||
	       (one->event.role == EVENT_STORES && core->quirk->precise_store);
}

void planner_mark_collisions(const struct planner *planner, const struct pmu_core *core)
{
	struct pmu_plan *plan = planner->plan;

	if (!core->quirk->collides)
		return;
	for (size_t i = 0; i < plan->n_specs; i++)
		for (size_t j = 0; j < plan->n_specs; j++)
			if (i != j && drops_record(core, &plan->specs[i], &plan->specs[j]))
				plan->specs[i].collides = true;
}

struct event_spec *planner_find(const struct planner *planner, const char *pmu, enum event_role role)
{
	struct pmu_plan *plan = planner->plan;

	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == role && strcmp(plan->specs[i].event.pmu, pmu) == 0)
			return &plan->specs[i];
	return NULL;
}
