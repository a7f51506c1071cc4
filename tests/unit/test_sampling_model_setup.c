// SPDX-License-Identifier: GPL-2.0
/* What a reload says about periods that the model keeps. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "sampling/model_setup.h"

static const struct event events[] = {
	{.role = EVENT_LOADS, .period = 10007, .settings = {.has_latency = 1}},
	{.role = EVENT_CYCLES, .period = 10000019},
	{.role = EVENT_MISSES, .period = 999},
};

static void expect(int result, const char *message, struct event_periods periods)
{
	char *said = NULL;

	cr_expect_eq(model_check_periods(events, 3, 10007, &periods, &said), result);
	if (message)
		cr_expect_str_eq(said, message);
	else
		cr_expect_null(said);
	free(said);
}

Test(sampling_model_setup, periods_that_stay_are_in_force)
{
	expect(0, NULL, (struct event_periods){.misses = 999});
	expect(0, NULL, (struct event_periods){.accesses = 10007, .cycles = 10000019, .misses = 999});
	/* The model does not count instructions here, so their period changes nothing. */
	expect(0, NULL, (struct event_periods){.instructions = 77, .misses = 999});
}

Test(sampling_model_setup, a_changed_period_is_refused)
{
	expect(-EOPNOTSUPP, "the model keeps its period of 10007: restart pebsd to change it",
	       (struct event_periods){.accesses = 4001, .misses = 999});
	expect(-EOPNOTSUPP, "the model keeps its period of 10000019 for cycles: restart pebsd to change it",
	       (struct event_periods){.cycles = 5003, .misses = 999});
	expect(-EOPNOTSUPP, "the model keeps its period of 999 for misses: restart pebsd to change it",
	       (struct event_periods){0});
}
