// SPDX-License-Identifier: GPL-2.0
/* Zooms and hot tables as metrics. */
#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_snapshot.h"
#include "export/prometheus/prometheus.h"
#include "parse_metrics.h"

static const char *const hot[] = {"/a", "/b", NULL};
static const struct detail_figures detail = {
	.zooms_running = 2, .taken = 1000, .limited = 50, .lost = 0, .dropped = 3, .hot = hot, .hot_max = 8};

static char *render(bool openmetrics, const struct detail_figures *of)
{
	const struct prometheus_options options = {.openmetrics = openmetrics};
	struct snapshot *snapshot = example_perf();
	size_t length;
	char *text;

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	snapshot->detail = of;
	cr_assert_eq(prometheus_render(snapshot, NULL, 0, &options, NULL, &text, &length), 0);
	return text;
}

static void expect(const struct metrics *metrics, const char *series, const char *value)
{
	const char *found = metrics_value(metrics, series);

	cr_expect_str_eq(found ? found : "(nothing)", value, "%s", series);
}

Test(prometheus_detail, zooms_and_hot_tables_are_exported_in_both_formats)
{
	for (int openmetrics = 0; openmetrics <= 1; openmetrics++) {
		_cleanup_free_ char *text = render(openmetrics, &detail);
		struct metrics metrics = {0};
		char mistake[256];

		cr_assert_null(metrics_parse(text, openmetrics, &metrics, mistake), "%s in\n%s", mistake,
			       text);
		expect(&metrics, "pebsd_zooms_running", "2");
		expect(&metrics, "pebsd_zoom_samples_total{result=\"taken\"}", "1000");
		expect(&metrics, "pebsd_zoom_samples_total{result=\"limited\"}", "50");
		expect(&metrics, "pebsd_zoom_samples_total{result=\"lost\"}", "0");
		expect(&metrics, "pebsd_zoom_samples_total{result=\"dropped\"}", "3");
		expect(&metrics, "pebsd_hot_cgroups", "2");
		metrics_free(&metrics);
	}
}

Test(prometheus_detail, without_zooms_and_hot_tables_there_are_no_metrics)
{
	_cleanup_free_ char *text = render(false, NULL);

	cr_expect_null(strstr(text, "pebsd_zoom"));
	cr_expect_null(strstr(text, "pebsd_hot"));
}

Test(prometheus_detail, promtool_accepts_the_metrics)
{
	_cleanup_free_ char *text = render(false, &detail);
	FILE *promtool;

	if (system("command -v promtool >/dev/null") != 0)
		cr_skip("needs promtool (package prometheus)");
	promtool = popen("promtool check metrics", "w");
	cr_assert_not_null(promtool);
	cr_expect_eq(fwrite(text, 1, strlen(text), promtool), strlen(text));
	cr_expect_eq(pclose(promtool), 0);
}
