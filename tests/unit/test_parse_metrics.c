// SPDX-License-Identifier: GPL-2.0
/* The reader that checks the endpoint in other tests must refuse malformed metrics. */
#include <criterion/criterion.h>
#include <locale.h>

#include "base/cleanup.h"
#include "parse_metrics.h"

#define HISTOGRAM "# HELP h x\n# TYPE h histogram\n"
#define COUNTER   "# HELP c_total x\n# TYPE c_total counter\n"

static bool accepts(const char *text, bool openmetrics)
{
	struct metrics metrics;
	char mistake[256];
	bool accepted;

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	accepted = !metrics_parse(text, openmetrics, &metrics, mistake);
	metrics_free(&metrics);
	return accepted;
}

Test(parse_metrics, valid_metrics_are_accepted)
{
	cr_expect(accepts(COUNTER "c_total{a=\"\\\"\\\\\\n\xc3\xa9\"} 5\nc_total 1.5e3\n", false));
	cr_expect(accepts("# HELP c x\n# TYPE c counter\nc_total 1\n# EOF\n", true));
	cr_expect(accepts(HISTOGRAM "h_bucket{le=\"16.0\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 9\nh_count 2\n",
			  false));
}

Test(parse_metrics, invalid_metrics_are_refused)
{
	static const char *const text[] = {
		"c_total 1\n",
		COUNTER "c_total 1",
		COUNTER "c_total 1\n\n",
		COUNTER "c_total 1\nc_total 2\n",
		COUNTER "d_total 1\n",
		COUNTER "c_total -1\n",
		COUNTER "c_total NaN\n",
		COUNTER "c_total x\n",
		COUNTER "c_total{a=\"1\",a=\"2\"} 1\n",
		COUNTER "c_total{a=\"1\",} 1\n",
		COUNTER "c_total{a=\"\\t\"} 1\n",
		COUNTER "c_total{a=\"\xe9\"} 1\n",
		COUNTER "c_total{a=\"1\nb\"} 1\n",
		COUNTER "c_total 1\n" COUNTER "c_total{a=\"1\"} 1\n",
		COUNTER "# HELP d x\n# TYPE d gauge\nd 1\n",
		"# HELP c x\n# TYPE c counter\nc 1\n",
		"# HELP i x\n# TYPE i info\ni_info 1\n",
		HISTOGRAM "h_bucket{le=\"16\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 9\nh_count 2\n",
		HISTOGRAM "h_bucket{le=\"16.0\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_sum 9\nh_count 2\n",
		HISTOGRAM "h_bucket{le=\"16.0\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 9\nh_count 3\n",
		HISTOGRAM "h_bucket{le=\"16.0\"} 1\nh_sum 9\nh_count 1\n",
		HISTOGRAM "h_bucket{le=\"16.0\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 9\n",
	};
	static const char *const openmetrics[] = {
		"# HELP c x\n# TYPE c counter\nc_total 1\n",
		"# HELP c x\n# TYPE c counter\nc_total 1\n# EOF\n\n",
		COUNTER "c_total 1\n# EOF\n",
		"# HELP i_info x\n# TYPE i_info info\ni_info 1\n# EOF\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		cr_expect_not(accepts(text[i], false), "%s", text[i]);
	for (size_t i = 0; i < ARRAY_SIZE(openmetrics); i++)
		cr_expect_not(accepts(openmetrics[i], true), "%s", openmetrics[i]);
}
