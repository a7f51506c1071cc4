// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "serve_health.h"

#define SECOND_US 1000000ULL

static void expect(const struct serve_health *health, int error, const char *reason)
{
	char text[SERVE_HEALTH_TEXT_MAX];
	const char *found = "";

	cr_expect_eq(serve_health_judge(health, text, &found), error);
	cr_expect_str_eq(found, reason);
}

Test(serve_health, the_first_reason_is_given)
{
	struct serve_health health = {.age_us = SECOND_US, .interval_us = SECOND_US};

	expect(&health, 0, "");
	health.collection_error = -ENOMEM;
	expect(&health, -ENOMEM, "the last collection failed; see the log");
	health.age_us = 12 * SECOND_US;
	expect(&health, -ETIME, "no collection for 12s; see the log");
	health.collection_error = 0;
	expect(&health, -ETIME, "no collection for 12s; see the log");
	health.paused = "paused until `pebsctl resume`";
	expect(&health, -ECANCELED, "paused until `pebsctl resume`");
}
