// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "schedule/health.h"

#define SECOND_US 1000000ULL

static void expect(const struct health *health, int error, bool works, const char *reason)
{
	char text[HEALTH_TEXT_MAX];
	const char *found = "";
	bool found_works = !works;

	cr_expect_eq(health_judge(health, text, &found_works, &found), error);
	cr_expect_eq(found_works, works);
	cr_expect_str_eq(found, reason);
}

Test(health, the_first_reason_is_reported)
{
	struct health health = {.age_us = SECOND_US, .interval_us = SECOND_US};

	expect(&health, 0, true, "");
	health.collection_error = -ENOMEM;
	expect(&health, -ENOMEM, false, "the last collection failed; see the log");
	health.age_us = 12 * SECOND_US;
	expect(&health, -ETIME, false, "no collection for 12s; see the log");
	health.collection_error = 0;
	expect(&health, -ETIME, false, "no collection for 12s; see the log");
}

Test(health, a_paused_pebsd_works_while_collections_run)
{
	struct health health = {
		.age_us = SECOND_US, .interval_us = SECOND_US, .paused = "paused until `pebsctl resume`"};

	expect(&health, -ECANCELED, true, "paused until `pebsctl resume`");
	health.collection_error = -ENOMEM;
	expect(&health, -ENOMEM, false, "the last collection failed; see the log");
	health.age_us = 12 * SECOND_US;
	expect(&health, -ETIME, false, "no collection for 12s; see the log");
}
