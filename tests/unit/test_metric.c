// SPDX-License-Identifier: GPL-2.0
#include "rule/metric.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

Test(metric, each_word_is_read_and_written_again)
{
	size_t n = 0;

	for (; metric_words[n]; n++) {
		char ratio_word[METRIC_TEXT_MAX];
		char text[METRIC_TEXT_MAX];
		struct metric metric;

		cr_expect_eq(metric_parse(metric_words[n], &metric), 0, "%s", metric_words[n]);
		cr_expect_not(metric.ratio);
		metric_format(&metric, text);
		cr_expect_str_eq(text, metric_words[n]);

		cr_assert_lt(snprintf(ratio_word, sizeof(ratio_word), "ratio:%s", metric_words[n]),
			     (int)sizeof(ratio_word));
		cr_expect_eq(metric_parse(ratio_word, &metric), 0, "%s", ratio_word);
		cr_expect(metric.ratio);
		metric_format(&metric, text);
		cr_expect_str_eq(text, ratio_word);
	}
	cr_expect_eq(n, 7 + 4 + 3 + SOURCE_COUNT);
}

Test(metric, each_word_means_its_metric)
{
	struct metric metric;

	cr_assert_eq(metric_parse("p999", &metric), 0);
	cr_expect_eq(metric.kind, METRIC_QUANTILE);
	cr_expect_eq(metric.quantile, 0.999);
	cr_assert_eq(metric_parse("ratio:mean", &metric), 0);
	cr_expect_eq(metric.kind, METRIC_MEAN);
	cr_expect(metric.ratio);
	cr_assert_eq(metric_parse("rate", &metric), 0);
	cr_expect_eq(metric.kind, METRIC_RATE);
	cr_assert_eq(metric_parse("share:remote_dram", &metric), 0);
	cr_expect_eq(metric.kind, METRIC_SHARE);
	cr_expect_eq(metric.share, METRIC_SHARE_SOURCE);
	cr_expect_eq(metric.source, SOURCE_REMOTE_DRAM);
	cr_assert_eq(metric_parse("share:tlb_walk", &metric), 0);
	cr_expect_eq(metric.share, METRIC_SHARE_TLB_WALK);
}

Test(metric, some_metrics_imply_their_event)
{
	static const struct {
		const char *text;
		size_t n;
		enum event_role roles[METRIC_EVENTS_MAX];
	} cases[] = {
		{"wait", 2, {EVENT_STALLS, EVENT_CYCLES}},
		{"cores-lost", 2, {EVENT_STALLS, EVENT_CYCLES}},
		{"ratio:cpi", 2, {EVENT_CYCLES, EVENT_INSTRUCTIONS}},
		{"traffic", 1, {EVENT_MISSES}},
		{"rate", 0, {0}},
		{"p99", 0, {0}},
		{"share:hitm", 0, {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum event_role roles[METRIC_EVENTS_MAX];
		struct metric metric;
		size_t n;

		cr_assert_eq(metric_parse(cases[i].text, &metric), 0);
		n = metric_events(&metric, roles);
		cr_assert_eq(n, cases[i].n, "%s", cases[i].text);
		for (size_t j = 0; j < n; j++)
			cr_expect_eq(roles[j], cases[i].roles[j], "%s", cases[i].text);
		cr_expect_eq(metric_has_second(&metric), n == 2);
		if (n == 2)
			cr_expect_eq(metric_second_role(roles[0]), roles[1]);
		if (n == 1)
			cr_expect_eq(metric_second_role(roles[0]), EVENT_ROLES);
	}
}

/* Only a number of cores needs the frequency. A ratio of them does not. */
Test(metric, only_lost_cores_need_the_frequency)
{
	for (size_t i = 0; metric_words[i]; i++) {
		struct metric metric;

		cr_assert_eq(metric_parse(metric_words[i], &metric), 0);
		cr_expect_eq(metric_needs_frequency(&metric), strcmp(metric_words[i], "cores-lost") == 0);
		metric.ratio = true;
		cr_expect_not(metric_needs_frequency(&metric));
	}
}

Test(metric, unknown_words_are_refused)
{
	static const char *const bad[] = {
		"",        "p98",       "P99",        "p99 ",       "ratio:", "ratio:ratio:p99",
		"share",   "share:",    "share:dram", "l3",         "ratio",  "share:ratio:l3",
		"hitm",    "share:p99", "Wait",       "cores_lost", "cores",  "CPI",
		"traffic:"};
	struct metric metric = {.kind = METRIC_RATE};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect_eq(metric_parse(bad[i], &metric), -EINVAL, "\"%s\"", bad[i]);
	cr_expect_eq(metric.kind, METRIC_RATE, "it is not written");
}

Test(metric, metrics_have_units)
{
	static const struct {
		const char *text;
		const char *unit;
		const char *word;
	} cases[] = {
		{"p50", "cycles", "cycles"},
		{"mean", "cycles", "cycles"},
		{"rate", "weighted samples a second", "per_second"},
		{"share:l1", "of the samples", "share"},
		{"wait", "of its cycles", "share"},
		{"cores-lost", "cores", "cores"},
		{"cpi", "cycles per instruction", "cycles_per_instruction"},
		{"traffic", "bytes a second", "bytes_per_second"},
		{"ratio:wait", "times its baseline", "ratio"},
		{"ratio:p50", "times its baseline", "ratio"},
		{"ratio:share:hitm", "times its baseline", "ratio"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct metric metric;

		cr_assert_eq(metric_parse(cases[i].text, &metric), 0);
		cr_expect_str_eq(metric_unit(&metric), cases[i].unit);
		cr_expect_str_eq(metric_unit_word(&metric), cases[i].word);
	}
}

Test(metric, thresholds_are_checked_by_metric)
{
	static const struct {
		const char *metric;
		const char *text;
		double value; /* -1: refused */
	} cases[] = {
		{"p99", "1", 1},
		{"p99", "0.9", -1},
		{"p99", "1048576", 1048576},
		{"p99", "1048577", -1},
		{"p99", "30%", -1},
		{"mean", "2", 2},
		{"mean", "131072", 131072},
		{"mean", "131073", -1},
		{"rate", "0", -1},
		{"rate", "0.1", 0.1},
		{"rate", "5%", -1},
		{"share:l3", "0%", -1},
		{"share:l3", "0.1%", 0.001},
		{"share:l3", "0.999", 0.999},
		{"share:l3", "1", -1},
		{"ratio:p50", "0.01", 0.01},
		{"ratio:p50", "100", 100},
		{"ratio:p50", "101", -1},
		{"ratio:share:l3", "150%", -1},
		{"ratio:share:l3", "1.5", 1.5},
		{"wait", "40%", 0.4},
		{"wait", "0.4", 0.4},
		{"wait", "1", -1},
		{"wait", "100%", -1},
		{"cores-lost", "3.2", 3.2},
		{"cores-lost", "0", -1},
		{"cores-lost", "30%", -1},
		{"cpi", "2.5", 2.5},
		{"cpi", "0", -1},
		{"cpi", "250%", -1},
		{"traffic", "5GB/s", 5e9},
		{"traffic", "500MB/s", 5e8},
		{"traffic", "123456", 123456},
		{"traffic", "0GB/s", -1},
		{"traffic", "5GB", -1},
		{"traffic", "1000TB/s", -1},
		{"ratio:traffic", "2", 2},
		{"ratio:traffic", "2GB/s", -1},
		{"rate", "5GB/s", -1},
		{"p99", "", -1},
		{"p99", "-5", -1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct metric metric;
		double value = -1;

		cr_assert_eq(metric_parse(cases[i].metric, &metric), 0);
		cr_expect_eq(metric_parse_threshold(&metric, cases[i].text, &value),
			     cases[i].value < 0 ? -EINVAL : 0, "%s %s", cases[i].metric, cases[i].text);
		cr_expect_eq(value, cases[i].value, "%s %s", cases[i].metric, cases[i].text);
		cr_expect_gt(strlen(metric_threshold_form(&metric)), 0);
	}
}
