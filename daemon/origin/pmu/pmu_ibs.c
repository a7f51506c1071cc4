// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's instruction based sampling of operations (arch/x86/events/amd/ibs.c, Linux 6.1, 6.12 and 7.3).
 *
 * The unit samples operations of every kind, and the BPF program keeps those of the role. No exclude bit may
 * be set, not even for guests. A period is a multiple of 16 and at least 90H (perf_ibs_init, 7.3; earlier
 * kernels silently drop the low bits).
 *
 * The kernel fills in a latency only for loads that missed L1: the cycles until the line arrived. It also
 * fills in the cycles from tagging to retirement. An operation is tagged when it is dispatched, so this is
 * the same instruction latency that other CPUs have, but only for those loads. A load threshold exists from
 * Linux 6.15 on, from 128 to 2048 cycles.
 */
#include <errno.h>
#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

/*
 * 16 times the prime 65521. This is a little over a million operations and fits the unit's counter in every
 * generation.
 */
#define OPERATIONS_PERIOD 1048336
#define PERIOD_STEP       16
#define PERIOD_MIN        0x90

/*
 * The unit's own thresholds are multiples of 128 (IBS_OP_CTL bits 62:59). A load between the unit's threshold
 * and ldlat would cause an interrupt, and the handler would count it but drop it before any program sees it
 * (perf_ibs_handle_irq, 7.3). The sample would look lost, so the threshold is always one of the unit's.
 */
#define LDLAT_STEP 128
#define LDLAT_MIN  128
#define LDLAT_MAX  2048

static u32 threshold_of(u32 ldlat)
{
	return (ldlat + LDLAT_STEP - 1) / LDLAT_STEP * LDLAT_STEP;
}

/* Sets the threshold of the spec. Returns 1, 0 if CPU, kernel or value do not allow one, or -ENOMEM. */
static int place_threshold(const struct planner *planner, const char *pmu, struct event_spec *spec)
{
	const u32 ldlat = planner->request->ldlat;
	const struct pmu_term term = {.name = "ldlat", .value = threshold_of(ldlat)};
	u64 configs[PMU_CONFIGS] = {spec->config, spec->config1, spec->config2};
	u32 capable;
	int r;

	if (pmu_tree_number(planner->tree, pmu, "caps/ldlat", &capable) < 0 || capable != 1 ||
	    ldlat < LDLAT_MIN || ldlat > LDLAT_MAX)
		return 0;
	r = pmu_tree_place(planner->tree, pmu, &term, configs);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	spec->config = configs[0];
	spec->config1 = configs[1];
	spec->config2 = configs[2];
	spec->event.ldlat = threshold_of(ldlat);
	return 1;
}

static int plan_threshold(const struct planner *planner, const char *pmu, struct event_spec *spec)
{
	const u32 ldlat = planner->request->ldlat;
	int r = place_threshold(planner, pmu, spec);

	if (r > 0 && spec->event.ldlat != ldlat)
		r = pmu_plan_note(planner->plan,
				  "%s: the latency threshold is %u cycles, not %u: this unit supports "
				  "multiples of %d",
				  pmu, spec->event.ldlat, ldlat, LDLAT_STEP);
	if (r < 0)
		return r;
	if (spec->event.ldlat)
		return pmu_plan_note(
			planner->plan,
			"%s: with ldlat = %u the kernel keeps only samples of loads with a higher "
			"latency, and a Zen 5 CPU samples only loads that missed L3: the shares of "
			"sources cover only such loads",
			pmu, spec->event.ldlat);
	return pmu_plan_note(
		planner->plan,
		"%s: ldlat = %u is not applied, so loads of any latency are sampled: a threshold needs "
		"128 to 2048 cycles and a CPU and kernel that support it (caps/ldlat is 1: from Zen 5 and "
		"Linux 6.15 on)",
		pmu, ldlat);
}

static int plan_role(const struct planner *planner, const char *pmu, u32 type, enum event_role role)
{
	const struct pmu_term cnt_ctl = {.name = "cnt_ctl", .value = 1};
	const bool loads = role == EVENT_LOADS;
	struct event_spec spec;
	int r = 0;

	planner_spec(planner, pmu, type, role, &spec);
	spec.exclude_guest = false;
	/*
	 * perf_ibs_add() in arch/x86/events/amd/ibs.c (Linux 6.1, 6.12 and 7.3) accepts one event for each
	 * CPU.
	 */
	spec.only_counter = 1;
	spec.period_step = PERIOD_STEP;
	spec.period_min = PERIOD_MIN;
	/* Stores have no latency, so do not ask for one. */
	spec.event.latency_kind = loads ? LATENCY_DC_MISS : LATENCY_NONE;
	spec.event.settings =
		(struct event_settings){.has_latency = loads,
					.has_instruction_latency = loads,
					.has_source = 1,
					.has_address = 1,
					.has_code_address = 1,
					.weight_struct = loads,
					.operations = loads ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE};
	if (pmu_tree_has(planner->tree, pmu, "format/cnt_ctl")) {
		r = planner_place(planner, pmu, role, "operations", &cnt_ctl, 1, &spec);
		if (r <= 0)
			return r;
	} else {
		r = pmu_plan_note(
			planner->plan,
			"%s: this CPU cannot count operations (format/cnt_ctl is missing): it counts "
			"cycles, so operations that wait long are sampled more often",
			pmu);
	}
	if (r >= 0 && loads)
		r = plan_threshold(planner, pmu, &spec);
	if (r >= 0)
		r = planner_period(planner, OPERATIONS_PERIOD, &spec);
	if (r >= 0)
		r = pmu_plan_add(planner->plan, &spec);
	if (r < 0)
		return r;
	return pmu_plan_note(
		planner->plan,
		loads ? "%s: the CPU samples operations of all kinds, and pebsd ignores those that are "
			"not loads; loads that hit L1 have a source, but no latency"
		      : "%s: the CPU samples operations of all kinds, and pebsd ignores those that are "
			"not stores; stores have no latency",
		pmu);
}

/* PMU `cpu` plans the other roles. */
#define IBS_ROLES (1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_OFFCORE)

int pmu_plan_ibs(const struct planner *planner, const char *pmu)
{
	const bool loads = planner_wants(planner, EVENT_LOADS);
	struct pmu_plan *plan = planner->plan;
	u32 type;
	int r = 0;

	if (!pmu_tree_has(planner->tree, pmu, "format"))
		return pmu_refuse_roles(
			planner, pmu, IBS_ROLES,
			"the sysfs tree lacks the directory format/ of this PMU, so it does not say how to request samples (kernels omit format/ only for the first CPUs with IBS, which count only cycles); copy the whole tree, or run pebsd --probe on the machine itself");
	r = pmu_tree_number(planner->tree, pmu, "type", &type);
	if (r < 0)
		return pmu_refuse_type(planner, pmu, IBS_ROLES, r);
	if (loads)
		r = plan_role(planner, pmu, type, EVENT_LOADS);
	if (r >= 0 && planner_wants(planner, EVENT_STORES)) {
		if (loads)
			r = pmu_plan_refuse(
				plan, pmu, EVENT_STORES,
				"a core has one unit for instruction based sampling, which runs one "
				"event, and loads use it; to sample stores instead, leave `loads` out of `events` "
				"in [sampling]");
		else
			r = plan_role(planner, pmu, type, EVENT_STORES);
	}
	if (r >= 0 && planner_wants(planner, EVENT_OFFCORE))
		r = pmu_plan_refuse(
			plan, pmu, EVENT_OFFCORE,
			"AMD's cores cannot count off-core responses; leave `offcore` out of `events`");
	return r;
}
