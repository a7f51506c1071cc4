// SPDX-License-Identifier: GPL-2.0
/*
 * Part of every Criterion program: sets the time limit TEST_SECONDS, from the runner, for each test without a
 * time limit of its own. (Criterion 2.4.1 parses its option --timeout and ignores it.)
 */
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>

ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
	const char *seconds = getenv("TEST_SECONDS");
	double limit = seconds ? strtod(seconds, NULL) : 0;

	if (limit <= 0)
		return;
	FOREACH_SET(struct criterion_suite_set * suite, set->suites)
	{
		FOREACH_SET(struct criterion_test * test, suite->tests)
		{
			if (test->data->timeout <= 0)
				test->data->timeout = limit;
		}
	}
}
