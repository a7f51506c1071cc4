// SPDX-License-Identifier: GPL-2.0
/* The journal entries about alerts. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "act/journal.h"
#include "alert_example.h"
#include "base/cleanup.h"
#include "base/text_file.h"

static void expect_message(const struct transition *transition, const char *expected)
{
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(journal_message(transition, &message), 0);
	cr_assert_str_eq(message, expected);
}

Test(act_journal, a_firing_alert_has_a_message)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);

	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads p99 is 912.5 cycles, at least 900 with confidence 95%, above 896 for 1min 0s");
	rule.for_ns = 0;
	rule.below = true;
	rule.confidence = 0.9999;
	rule.metric = (struct metric){.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM};
	fires.alert.limits.threshold = 0.3;
	fires.alert.estimate.value = 0.1234;
	fires.alert.estimate.bounds = (struct bounds){0.1, 0.2};
	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads share:hitm is 12.3% of the samples, at most 20% with confidence 99.99%, below 30%");
}

Test(act_journal, a_latency_is_also_shown_as_time)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);

	fires.alert.nominal_hz = 2.6e9;
	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads p99 is 912.5 cycles (about 351 ns at 2.6 GHz, the nominal frequency), at least 900 with confidence 95%, above 896 for 1min 0s");
}

Test(act_journal, metrics_of_counts_have_their_units)
{
	static const struct {
		const char *metric;
		double threshold, value, low;
		const char *text;
	} cases[] = {
		{"wait", 0.4, 0.4567, 0.42,
		 "wait is 45.7% of its cycles, at least 42% with confidence 95%, above 40% for 1min 0s"},
		{"cores-lost", 2, 3.2, 3.04,
		 "cores-lost is 3.20 cores, at least 3.04 with confidence 95%, above 2.00 for 1min 0s"},
		{"cpi", 2, 2.314, 2.2,
		 "cpi is 2.31 cycles per instruction, at least 2.20 with confidence 95%, above 2.00 for 1min 0s"},
		{"traffic", 5e9, 5.2e9, 5.01e9,
		 "traffic is 5.2 GB/s, at least 5 GB/s with confidence 95%, above 5 GB/s for 1min 0s"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule rule;
		struct transition fires = alert_example_fires(17, &rule);
		_cleanup_free_ char *expected = NULL;

		cr_assert_eq(metric_parse(cases[i].metric, &rule.metric), 0);
		fires.alert.event_key = "stalls";
		fires.alert.limits.threshold = cases[i].threshold;
		fires.alert.estimate.value = cases[i].value;
		fires.alert.estimate.bounds.low = cases[i].low;
		cr_assert_gt(
			asprintf(
				&expected,
				"alert 17 (warning): slow-database fires on /system.slice/db.service: stalls %s",
				cases[i].text),
			0);
		expect_message(&fires, expected);
	}
}

Test(act_journal, a_resolved_alert_has_a_message_with_the_reason)
{
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);

	expect_message(
		&resolves,
		"alert 17: slow-database resolved on /system.slice/db.service after 5min 0s: loads p99 is 600 cycles, at most 640 with confidence 95%, no longer above 704");
	resolves.alert.end = ALERT_END_GONE;
	expect_message(
		&resolves,
		"alert 17: slow-database resolved on /system.slice/db.service after 5min 0s: the cgroup was removed");
	resolves.alert.end = ALERT_END_RULE;
	resolves.alert.resolved.tv_sec -= 3600;
	expect_message(
		&resolves,
		"alert 17: slow-database resolved on /system.slice/db.service: the rule was changed or removed from the configuration");
}

Test(act_journal, a_dry_run_says_what_would_be_done)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule), resolves;

	rule.dry_run = true;
	expect_message(
		&fires,
		"dry run: slow-database would fire on /system.slice/db.service: loads p99 is 912.5 cycles, at least 900 with confidence 95%, above 896 for 1min 0s");
	resolves = alert_example_resolves(17, &rule);
	rule.dry_run = true;
	resolves.alert.end = ALERT_END_GONE;
	expect_message(
		&resolves,
		"dry run: slow-database would resolve on /system.slice/db.service: the cgroup was removed");
}

/* The baseline of the ratio is 0. */
Test(act_journal, an_infinite_ratio_is_not_printed)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);

	cr_assert_eq(metric_parse("ratio:share:hitm", &rule.metric), 0);
	fires.alert.estimate.value = INFINITY;
	fires.alert.estimate.bounds = (struct bounds){2.314, INFINITY};
	fires.alert.limits.threshold = 1.5;
	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads ratio:share:hitm is at least 2.31 times its baseline with confidence 95%, above 1.50 for 1min 0s");
}

Test(act_journal, an_unknown_bound_is_not_claimed)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);

	rule.metric.ratio = true;
	fires.alert.estimate.value = 1.625;
	fires.alert.estimate.bounds.low = -INFINITY;
	fires.alert.limits.threshold = 1.5;
	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads ratio:p99 is 1.62 times its baseline, above 1.50 for 1min 0s");
	fires.alert.estimate.known = false;
	expect_message(
		&fires,
		"alert 17 (warning): slow-database fires on /system.slice/db.service: loads ratio:p99, above 1.50 for 1min 0s");
}

Test(act_journal, names_cannot_write_to_a_terminal)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);
	_cleanup_free_ char *message = NULL;

	fires.alert.cgroup = "/evil\x1b[2J\nfake: line\xff";
	cr_assert_eq(journal_message(&fires, &message), 0);
	cr_assert_not_null(strstr(message, "/evil\\x1b[2J\\x0afake: line\\xff:"), "%s", message);
}

static const char *field(const struct log_field *fields, const char *name)
{
	for (; fields->name; fields++)
		if (strcmp(fields->name, name) == 0)
			return fields->value;
	return NULL;
}

Test(act_journal, each_fact_and_the_message_id_are_fields)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);
	struct log_field fields[FACTS_MAX + 2];
	_cleanup_(facts_clear) struct facts facts;

	cr_assert_eq(facts_make(&fires, &facts), 0);
	journal_fields(&fires, &facts, fields);
	for (size_t i = 0; i < facts.n; i++)
		cr_assert_str_eq(field(fields, facts.list[i].name), facts.list[i].value);
	cr_assert_str_eq(field(fields, "MESSAGE_ID"), JOURNAL_FIRING_ID);
	rule.dry_run = true;
	journal_fields(&fires, &facts, fields);
	cr_assert_null(field(fields, "MESSAGE_ID"));
	rule.dry_run = false;
	fires.to = ALERT_RESOLVED;
	journal_fields(&fires, &facts, fields);
	cr_assert_str_eq(field(fields, "MESSAGE_ID"), JOURNAL_RESOLVED_ID);
}

Test(act_journal, severities_are_priorities)
{
	cr_expect_eq(journal_priority("critical"), LOG_CRIT);
	cr_expect_eq(journal_priority("Error"), LOG_ERR);
	cr_expect_eq(journal_priority("warning"), LOG_WARNING);
	cr_expect_eq(journal_priority("info"), LOG_INFO);
	cr_expect_eq(journal_priority("page"), LOG_WARNING);
	cr_expect_eq(journal_priority(""), LOG_WARNING);
}

/* The catalog may use only fields that the entries have. */
Test(act_journal, the_catalog_explains_both_ids_by_existing_fields)
{
	_cleanup_free_ char *catalog = NULL;
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);
	_cleanup_(facts_clear) struct facts facts;

	cr_assert_eq(text_file_read("units/pebsd.catalog", &catalog), 0);
	cr_assert_not_null(strstr(catalog, "-- " JOURNAL_FIRING_ID "\n"));
	cr_assert_not_null(strstr(catalog, "-- " JOURNAL_RESOLVED_ID "\n"));
	cr_assert_eq(facts_make(&resolves, &facts), 0);
	for (char *at = strchr(catalog, '@'); at; at = strchr(at + 1, '@')) {
		size_t length = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		char *name;

		if (length == 0 || at[1 + length] != '@')
			continue;
		name = strndup(at + 1, length);
		cr_expect_not_null(facts_get(&facts, name), "%s is not a field", name);
		free(name);
		at += length + 1;
	}
}
