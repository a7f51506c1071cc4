// SPDX-License-Identifier: GPL-2.0
/* Which events are left out for `leave-counters`. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_leave.h"

#define ALL ((1U << EVENT_ROLES) - 1)

static void add(struct pmu_plan *plan, const char *pmu, enum event_role role)
{
	struct event_spec *spec = &plan->specs[plan->n_specs++];

	*spec = (struct event_spec){.event.role = role, .precise_ip = role <= EVENT_STORES ? 2 : 0};
	(void)snprintf(spec->event.pmu, sizeof(spec->event.pmu), "%s", pmu);
}

/* All kinds of events of a core PMU. */
static struct pmu_plan plan_of_all(void)
{
	struct pmu_plan plan = {0};

	add(&plan, "cpu", EVENT_LOADS);
	add(&plan, "cpu", EVENT_STORES);
	add(&plan, "cpu", EVENT_INSTRUCTIONS);
	add(&plan, "cpu", EVENT_CYCLES);
	add(&plan, "cpu", EVENT_STALLS);
	add(&plan, "cpu", EVENT_MISSES);
	return plan;
}

static unsigned roles_of(const struct pmu_plan *plan, const char *pmu)
{
	unsigned roles = 0;

	for (size_t i = 0; i < plan->n_specs; i++)
		if (strcmp(plan->specs[i].event.pmu, pmu) == 0)
			roles |= 1U << plan->specs[i].event.role;
	return roles;
}

static const struct pmu_general intel = {"cpu", 4, true, true};

Test(pmu_leave, misses_are_dropped_first_and_loads_last)
{
	static const struct {
		unsigned leave, left;
	} cases[] = {
		{0, 1 << EVENT_LOADS | 1 << EVENT_STORES | 1 << EVENT_STALLS | 1 << EVENT_MISSES},
		{1, 1 << EVENT_LOADS | 1 << EVENT_STORES | 1 << EVENT_STALLS},
		{2, 1 << EVENT_LOADS | 1 << EVENT_STORES},
		{3, 1 << EVENT_LOADS},
		{4, 0},
		{8, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of_all();

		cr_assert_eq(pmu_leave_counters(&plan, ALL, cases[i].leave, &intel, 1), 0);
		cr_expect_eq(roles_of(&plan, "cpu"),
			     cases[i].left | 1 << EVENT_INSTRUCTIONS | 1 << EVENT_CYCLES, "%u: %#x",
			     cases[i].leave, roles_of(&plan, "cpu"));
		cr_expect_eq(plan.n_specs + plan.n_refusals, 6);
	}
}

Test(pmu_leave, the_refusal_names_the_users_of_the_counters)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of_all();

	cr_assert_eq(pmu_leave_counters(&plan, ALL, 2, &intel, 1), 0);
	cr_assert_eq(plan.n_refusals, 2);
	cr_expect_eq(plan.refusals[0].role, EVENT_STALLS);
	cr_expect_eq(plan.refusals[1].role, EVENT_MISSES);
	cr_expect_str_eq(plan.refusals[1].pmu, "cpu");
	cr_expect_str_eq(
		plan.refusals[1].reason,
		"leave-counters = 2 in [sampling] leaves pebsd 2 of the 4 general-purpose counters of each CPU, of which loads and stores need all, and this event needs 1; use a smaller number, or leave another event out of `events`");
}

/* The watchdog has the fixed counter of cycles; AMD has no fixed counters. */
Test(pmu_leave, without_fixed_counters_cycles_and_instructions_need_general_ones)
{
	static const struct pmu_general watched = {"cpu", 4, false, true}, amd = {"cpu", 6, false, false};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of_all(), other = plan_of_all();

	cr_assert_eq(pmu_leave_counters(&plan, ALL, 1, &watched, 1), 0);
	cr_expect_eq(roles_of(&plan, "cpu"),
		     1 << EVENT_LOADS | 1 << EVENT_STORES | 1 << EVENT_INSTRUCTIONS | 1 << EVENT_CYCLES);
	cr_assert_eq(pmu_leave_counters(&other, ALL, 2, &amd, 1), 0);
	cr_expect_eq(roles_of(&other, "cpu"),
		     1 << EVENT_LOADS | 1 << EVENT_STORES | 1 << EVENT_INSTRUCTIONS | 1 << EVENT_CYCLES);
}

Test(pmu_leave, a_leader_needs_a_counter_too)
{
	static const struct pmu_general two = {"cpu", 2, true, true};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};

	add(&plan, "cpu", EVENT_LOADS);
	add(&plan, "cpu", EVENT_STORES);
	plan.specs[0].has_leader = true;
	cr_assert_eq(pmu_leave_counters(&plan, ALL, 1, &two, 1), 0);
	cr_expect_eq(roles_of(&plan, "cpu"), 1 << EVENT_STORES);
	cr_assert_eq(plan.n_refusals, 1);
	cr_expect_not_null(strstr(plan.refusals[0].reason, "of each CPU, and this event needs 2;"), "%s",
			   plan.refusals[0].reason);
}

/* Before Skylake, loads and stores run on counter 3 alone; precise instructions run on fixed counter 0 later. */
Test(pmu_leave, multiplexed_events_need_one_counter)
{
	static const struct pmu_general two = {"cpu", 2, true, true};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};

	add(&plan, "cpu", EVENT_LOADS);
	add(&plan, "cpu", EVENT_STORES);
	add(&plan, "cpu", EVENT_INSTRUCTIONS);
	plan.specs[0].only_counter = plan.specs[1].only_counter = 4;
	plan.specs[2].only_counter = 33;
	plan.specs[2].precise_ip = 3;
	cr_assert_eq(pmu_leave_counters(&plan, ALL, 1, &two, 1), 0);
	cr_expect_eq(plan.n_specs, 3);
	plan.specs[2].only_counter = 2;
	cr_assert_eq(pmu_leave_counters(&plan, ALL, 1, &two, 1), 0);
	cr_expect_eq(roles_of(&plan, "cpu"), 1 << EVENT_LOADS | 1 << EVENT_STORES);
}

static void add_offcore(struct pmu_plan *plan, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pmu_counter *counter = &plan->counters[plan->n_counters++];

		*counter = (struct pmu_counter){.kind = (enum offcore_kind)i};
		(void)snprintf(counter->pmu, sizeof(counter->pmu), "cpu");
	}
}

Test(pmu_leave, off_core_counters_run_two_at_a_time)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of_all(), less = plan_of_all();

	add_offcore(&plan, 5);
	cr_assert_eq(pmu_leave_counters(&plan, ALL, 0, &intel, 1), 0);
	cr_assert_eq(pmu_leave_counters(&plan, ALL & ~(1U << EVENT_STORES), 1, &intel, 1), 0);
	cr_expect_eq(plan.n_counters, 5);
	cr_expect_not(roles_of(&plan, "cpu") & (1 << EVENT_STALLS | 1 << EVENT_MISSES));
	add_offcore(&less, 5);
	cr_assert_eq(pmu_leave_counters(&less, ALL, 1, &intel, 1), 0);
	cr_expect_eq(less.n_counters, 0);
	cr_expect_eq(less.refusals[0].role, EVENT_OFFCORE);
	cr_expect(roles_of(&less, "cpu") & 1 << EVENT_STALLS, "the counter that is left fits");
}

Test(pmu_leave, each_pmu_has_its_own_counters_and_ibs_needs_none)
{
	static const struct pmu_general pmus[] = {{"cpu_atom", 2, true, true}, {"cpu_core", 8, true, true}};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};

	add(&plan, "cpu_atom", EVENT_LOADS);
	add(&plan, "cpu_atom", EVENT_STORES);
	add(&plan, "cpu_core", EVENT_LOADS);
	add(&plan, "cpu_core", EVENT_STORES);
	add(&plan, "ibs_op", EVENT_LOADS);
	cr_assert_eq(pmu_leave_counters(&plan, ALL, 1, pmus, 2), 0);
	cr_expect_eq(roles_of(&plan, "cpu_atom"), 1 << EVENT_LOADS);
	cr_expect_eq(roles_of(&plan, "cpu_core"), 1 << EVENT_LOADS | 1 << EVENT_STORES);
	cr_expect_eq(roles_of(&plan, "ibs_op"), 1 << EVENT_LOADS);
	cr_expect(pmu_leave_concerns(&plan, ALL, "cpu_core"));
	cr_expect_not(pmu_leave_concerns(&plan, 1 << EVENT_STALLS, "cpu_core"));
	cr_expect_not(pmu_leave_concerns(&plan, ALL, "ibs_op"));
}

Test(pmu_leave, other_roles_and_unknown_pmus_are_kept)
{
	static const struct pmu_general unknown = {"cpu", 0, false, false};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of_all();

	cr_assert_eq(pmu_leave_counters(&plan, ALL, 4, &unknown, 1), 0);
	cr_assert_eq(pmu_leave_counters(&plan, 1 << EVENT_LOADS, 3, &intel, 1), 0);
	cr_expect_eq(plan.n_specs, 6);
	cr_assert_eq(pmu_leave_counters(&plan, 1 << EVENT_LOADS, 4, &intel, 1), 0);
	cr_expect_eq(plan.n_specs, 5);
}
