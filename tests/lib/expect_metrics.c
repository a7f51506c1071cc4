// SPDX-License-Identifier: GPL-2.0
#include "expect_metrics.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_metrics.h"

static struct metrics metrics;

void metrics_read(const char *text, bool openmetrics)
{
	char mistake[256];

	metrics_free(&metrics);
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	cr_assert_null(metrics_parse(text, openmetrics, &metrics, mistake), "%s in\n%s", mistake, text);
}

void metrics_expect(const char *series, const char *value)
{
	const char *found = metrics_value(&metrics, series);

	if (!value)
		cr_expect_null(found, "%s is there", series);
	else
		cr_expect_str_eq(found ? found : "(nothing)", value, "%s is %s, not %s", series,
				 found ? found : "not there", value);
}

size_t metrics_count(const char *beginning)
{
	size_t n = 0;

	for (size_t i = 0; i < metrics.n; i++)
		n += strncmp(metrics.list[i].series, beginning, strlen(beginning)) == 0;
	return n;
}

void metrics_expect_accepted(const char *text)
{
	FILE *promtool;

	if (system("command -v promtool >/dev/null") != 0)
		cr_skip("needs promtool (package prometheus)");
	promtool = popen("promtool check metrics", "w");
	cr_assert_not_null(promtool);
	cr_expect_eq(fwrite(text, 1, strlen(text), promtool), strlen(text));
	cr_expect_eq(pclose(promtool), 0);
}
