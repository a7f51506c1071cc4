// SPDX-License-Identifier: GPL-2.0
/*
 * Part of every Criterion program: a test that sets no time limit of its own gets the runner's, TEST_SECONDS.
 * (Criterion 2.4.1 reads its option --timeout and does nothing with it.)
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
