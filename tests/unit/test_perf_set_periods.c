// SPDX-License-Identifier: GPL-2.0
/* The periods of a reload: all events get theirs, or none does. The sets have no CPU, so no kernel is asked. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "origin/perf/perf_internal.h"
#include "origin/perf/perf_sets.h"

static struct perf_event_set *sets[2];
static char *message;

static struct perf_event_set *new_set(enum event_role role, u64 period)
{
	struct perf_event_set *set = calloc(1, sizeof(*set));

	cr_assert(set);
	set->spec.event = (struct event){.role = role, .period = period, .pmu = "cpu"};
	set->program_fd = -1;
	perf_mark_configured(set);
	return set;
}

static void setup(void)
{
	sets[0] = new_set(EVENT_LOADS, 1000);
	sets[1] = new_set(EVENT_INSTRUCTIONS, 5000);
}

static void teardown(void)
{
	perf_set_free(sets[0]);
	perf_set_free(sets[1]);
	free(message);
}

TestSuite(perf_set_periods, .init = setup, .fini = teardown);

static struct event_spec spec(enum event_role role, u64 period)
{
	return (struct event_spec){.event = {.role = role, .period = period, .pmu = "cpu"}};
}

Test(perf_set_periods, each_event_gets_the_period_of_the_new_plan)
{
	const struct pmu_plan plan = {.n_specs = 2,
				      .specs = {spec(EVENT_INSTRUCTIONS, 7000), spec(EVENT_LOADS, 2000)}};

	cr_expect_eq(perf_sets_set_periods(sets, 2, &plan, &message), 0, "%s", message);
	cr_expect_eq(perf_event(sets[0])->period, 2000);
	cr_expect_eq(perf_event(sets[1])->period, 7000);
	cr_expect_eq(sets[0]->configured_period, 2000);
}

/* The configuration keeps its old periods then, and a reload that is equal to it changes nothing. */
Test(perf_set_periods, if_one_event_keeps_its_period_all_do)
{
	const struct pmu_plan plan = {.n_specs = 1, .specs = {spec(EVENT_LOADS, 2000)}};

	cr_expect_eq(perf_sets_set_periods(sets, 2, &plan, &message), -EINVAL);
	cr_expect_eq(perf_event(sets[0])->period, 1000, "%llu",
		     (unsigned long long)perf_event(sets[0])->period);
	cr_expect_eq(sets[0]->configured_period, 1000);
	cr_expect_eq(perf_event(sets[1])->period, 5000);
	cr_expect_str_eq(
		message,
		"instructions on PMU cpu keeps its period of 5000: its PMU no longer exists. The other events keep their periods too");
}
