// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/pmu_leave.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* Fixed counters are numbered from 32 (pmu_quirks.h), and `only_counter` is 1 + the number. */
#define FIRST_FIXED 33

/* Two registers hold the values of off-core counters (pmu_quirks.h), so at most two run at a time. */
#define OFFCORE_AT_ONCE 2

/* The order in which events get counters. Precise instructions are not a count event. */
enum rank {
	RANK_LOADS,
	RANK_STORES,
	RANK_PRECISE,
	RANK_OFFCORE,
	RANK_CYCLES,
	RANK_INSTRUCTIONS,
	RANK_STALLS,
	RANK_MISSES,
	RANKS
};

/* The division of one PMU's counters. */
struct division {
	const struct pmu_general *general;
	unsigned leave;
	unsigned spare;   /* general-purpose counters that are neither left alone nor used */
	unsigned used_by; /* roles: 1 << enum event_role */
	bool kept[EVENTS_MAX];
};

static bool on_pmu(const struct event_spec *spec, const char *pmu)
{
	return strcmp(spec->event.pmu, pmu) == 0;
}

static bool is_ibs(const char *pmu)
{
	return strncmp(pmu, "ibs_", 4) == 0;
}

bool pmu_leave_concerns(const struct pmu_plan *plan, unsigned roles, const char *pmu)
{
	if (is_ibs(pmu))
		return false;
	for (size_t i = 0; i < plan->n_specs; i++)
		if (on_pmu(&plan->specs[i], pmu) && (roles & 1U << plan->specs[i].event.role))
			return true;
	for (size_t i = 0; i < plan->n_counters; i++)
		if (strcmp(plan->counters[i].pmu, pmu) == 0 && (roles & 1U << EVENT_OFFCORE))
			return true;
	return false;
}

static enum rank rank_of(const struct event_spec *spec)
{
	switch (spec->event.role) {
	case EVENT_LOADS:
		return RANK_LOADS;
	case EVENT_STORES:
		return RANK_STORES;
	case EVENT_INSTRUCTIONS:
		return spec->precise_ip > 0 ? RANK_PRECISE : RANK_INSTRUCTIONS;
	case EVENT_CYCLES:
		return RANK_CYCLES;
	case EVENT_STALLS:
		return RANK_STALLS;
	default:
		return RANK_MISSES;
	}
}

/* Returns the number of general-purpose counters that a spec needs besides those of the kept specs. */
static unsigned need_of(const struct pmu_plan *plan, size_t index, const struct division *division)
{
	const struct event_spec *spec = &plan->specs[index];
	const enum rank rank = rank_of(spec);

	if (spec->only_counter >= FIRST_FIXED || (rank == RANK_CYCLES && division->general->fixed_cycles) ||
	    (rank == RANK_INSTRUCTIONS && division->general->fixed_instructions))
		return 0;
	for (size_t i = 0; spec->only_counter && i < plan->n_specs; i++)
		if (division->kept[i] && on_pmu(&plan->specs[i], spec->event.pmu) &&
		    plan->specs[i].only_counter == spec->only_counter)
			return spec->has_leader;
	return 1U + spec->has_leader;
}

static int refuse(struct pmu_plan *plan, enum event_role role, unsigned need, const struct division *division)
{
	const struct pmu_general *general = division->general;
	const unsigned all = general->counters;
	const unsigned ours = all > division->leave ? all - division->leave : 0;
	_cleanup_free_ char *names = event_role_names(division->used_by);

	if (!names)
		return -ENOMEM;
	return pmu_plan_refuse(
		plan, general->pmu, role,
		"leave-counters = %u in [sampling] leaves pebsd %u of the %u general-purpose counters of each CPU, %s%s%s%u; use a smaller number, or leave another event out of `events`",
		division->leave, ours, all, *names ? "of which " : "", names,
		*names ? (division->spare ? " need the others, and this event needs "
					  : " need all, and this event needs ")
		       : "and this event needs ",
		need);
}

static int divide_offcore(struct pmu_plan *plan, struct division *division)
{
	const char *pmu = division->general->pmu;
	unsigned need = 0;

	for (size_t i = 0; i < plan->n_counters; i++)
		need += strcmp(plan->counters[i].pmu, pmu) == 0;
	if (need > OFFCORE_AT_ONCE)
		need = OFFCORE_AT_ONCE;
	if (need <= division->spare) {
		division->spare -= need;
		division->used_by |= need ? 1U << EVENT_OFFCORE : 0;
		return 0;
	}
	for (size_t i = plan->n_counters; i-- > 0;)
		if (strcmp(plan->counters[i].pmu, pmu) == 0)
			pmu_plan_drop_counter(plan, i);
	return refuse(plan, EVENT_OFFCORE, need, division);
}

static int divide_rank(struct pmu_plan *plan, unsigned roles, enum rank rank, struct division *division)
{
	for (size_t i = 0; i < plan->n_specs; i++) {
		const struct event_spec *spec = &plan->specs[i];
		unsigned need;
		int r;

		if (!on_pmu(spec, division->general->pmu) || rank_of(spec) != rank ||
		    !(roles & 1U << spec->event.role))
			continue;
		need = need_of(plan, i, division);
		division->kept[i] = need <= division->spare;
		if (division->kept[i]) {
			division->spare -= need;
			division->used_by |= need ? 1U << spec->event.role : 0;
			continue;
		}
		r = refuse(plan, spec->event.role, need, division);
		if (r < 0)
			return r;
	}
	return 0;
}

static int divide(struct pmu_plan *plan, unsigned roles, unsigned leave, const struct pmu_general *general)
{
	struct division division = {
		.general = general,
		.leave = leave,
		.spare = general->counters > leave ? general->counters - leave : 0,
	};
	int r = 0;

	for (enum rank rank = 0; r == 0 && rank < RANKS; rank++) {
		if (rank != RANK_OFFCORE)
			r = divide_rank(plan, roles, rank, &division);
		else if (roles & 1U << EVENT_OFFCORE)
			r = divide_offcore(plan, &division);
	}
	for (size_t i = plan->n_specs; r == 0 && i-- > 0;)
		if (on_pmu(&plan->specs[i], general->pmu) && !division.kept[i] &&
		    (roles & 1U << plan->specs[i].event.role))
			pmu_plan_drop(plan, i);
	return r;
}

int pmu_leave_counters(struct pmu_plan *plan, unsigned roles, unsigned leave, const struct pmu_general *pmus,
		       size_t n_pmus)
{
	for (size_t i = 0; leave > 0 && i < n_pmus; i++) {
		int r = pmus[i].counters ? divide(plan, roles, leave, &pmus[i]) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
