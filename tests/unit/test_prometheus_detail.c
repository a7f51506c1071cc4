// SPDX-License-Identifier: GPL-2.0
/* Zooms and hot tables as metrics. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_snapshot.h"
#include "expect_metrics.h"
#include "export/prometheus/prometheus.h"

static const char *const hot[] = {"/a", "/b", NULL};
static const struct detail_counts detail = {
	.zooms_running = 2, .taken = 1000, .limited = 50, .lost = 0, .dropped = 3, .hot = hot, .hot_max = 8};

static char *render(bool openmetrics, const struct detail_counts *of)
{
	const struct prometheus_options options = {.openmetrics = openmetrics};
	struct snapshot *snapshot = example_perf();
	size_t length;
	char *text;

	snapshot->detail = of;
	cr_assert_eq(prometheus_render(snapshot, NULL, 0, &options, NULL, &text, &length), 0);
	return text;
}

Test(prometheus_detail, zooms_and_hot_tables_are_exported_in_both_formats)
{
	for (int openmetrics = 0; openmetrics <= 1; openmetrics++) {
		_cleanup_free_ char *text = render(openmetrics, &detail);

		metrics_read(text, openmetrics);
		metrics_expect("pebsd_zooms_running", "2");
		metrics_expect("pebsd_zoom_samples_total{result=\"taken\"}", "1000");
		metrics_expect("pebsd_zoom_samples_total{result=\"limited\"}", "50");
		metrics_expect("pebsd_zoom_samples_total{result=\"lost\"}", "0");
		metrics_expect("pebsd_zoom_samples_total{result=\"dropped\"}", "3");
		metrics_expect("pebsd_hot_cgroups", "2");
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

	metrics_expect_accepted(text);
}
