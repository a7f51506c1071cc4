// SPDX-License-Identifier: GPL-2.0
/*
 * The facts of an alert, and their file as systemd reads it. The reader in this test follows systemd.exec(5)
 * and shares no code with the writer. The tests in guests read the file with systemd itself.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "act/facts.h"
#include "alert_example.h"
#include "base/cleanup.h"
#include "base/utf8.h"

static struct facts facts_of(const struct transition *transition)
{
	struct facts facts;

	cr_assert_eq(facts_make(transition, &facts), 0);
	return facts;
}

static void expect(const struct facts *facts, const char *name, const char *value)
{
	const char *found = facts_get(facts, name);

	if (value)
		cr_assert(found && strcmp(found, value) == 0, "%s: '%s', not '%s'", name,
			  found ? found : "absent", value);
	else
		cr_assert_null(found, "%s: '%s', not absent", name, found);
}

Test(act_facts, facts_describe_a_firing_alert)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);
	_cleanup_(facts_clear) struct facts facts = facts_of(&fires);

	expect(&facts, "PEBSD_ALERT", "17");
	expect(&facts, "PEBSD_RULE", "slow-database");
	expect(&facts, "PEBSD_CGROUP", "/system.slice/db.service");
	expect(&facts, "PEBSD_EVENT", "loads");
	expect(&facts, "PEBSD_SEVERITY", "warning");
	expect(&facts, "PEBSD_STATE", "firing");
	expect(&facts, "PEBSD_METRIC", "p99");
	expect(&facts, "PEBSD_UNIT", "cycles");
	expect(&facts, "PEBSD_VALUE", "912.5");
	expect(&facts, "PEBSD_LOW", "900");
	expect(&facts, "PEBSD_HIGH", "1024");
	expect(&facts, "PEBSD_SIDE", "above");
	expect(&facts, "PEBSD_THRESHOLD", "896");
	expect(&facts, "PEBSD_CLEAR", "704");
	expect(&facts, "PEBSD_CONFIDENCE", "0.95");
	expect(&facts, "PEBSD_SAMPLES", "2310");
	expect(&facts, "PEBSD_BASE_SAMPLES", NULL);
	expect(&facts, "PEBSD_WINDOW", "30");
	expect(&facts, "PEBSD_FOR", "60");
	expect(&facts, "PEBSD_SINCE", "2026-11-21T06:00:00Z");
	expect(&facts, "PEBSD_FIRED", "2026-11-21T06:01:00Z");
	expect(&facts, "PEBSD_RESOLVED", NULL);
	expect(&facts, "PEBSD_END", NULL);
	expect(&facts, "PEBSD_DRY_RUN", NULL);
}

Test(act_facts, facts_describe_a_resolved_alert)
{
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);
	_cleanup_(facts_clear) struct facts facts = facts_of(&resolves);

	expect(&facts, "PEBSD_STATE", "resolved");
	expect(&facts, "PEBSD_RESOLVED", "2026-11-21T06:06:00Z");
	expect(&facts, "PEBSD_END", "clear");
}

Test(act_facts, unknown_facts_are_absent)
{
	struct rule rule;
	struct transition fires = alert_example_fires(17, &rule);
	_cleanup_(facts_clear) struct facts facts;

	fires.alert.estimate.bounds.high = INFINITY;
	facts = facts_of(&fires);
	expect(&facts, "PEBSD_LOW", "900");
	expect(&facts, "PEBSD_HIGH", NULL);
	facts_clear(&facts);

	fires.alert.estimate.known = false;
	fires.alert.breached.tv_sec = 0;
	facts = facts_of(&fires);
	expect(&facts, "PEBSD_VALUE", NULL);
	expect(&facts, "PEBSD_LOW", NULL);
	expect(&facts, "PEBSD_SAMPLES", NULL);
	expect(&facts, "PEBSD_SINCE", NULL);
}

/*
 * The alert fired before a restart and ends after it, because its cgroup is gone. Only the value and its
 * bounds were stored.
 */
Test(act_facts, a_value_from_before_a_restart_has_no_samples)
{
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);
	_cleanup_(facts_clear) struct facts facts;

	resolves.alert.end = ALERT_END_GONE;
	resolves.alert.estimate.samples = 0;
	facts = facts_of(&resolves);
	expect(&facts, "PEBSD_VALUE", "600");
	expect(&facts, "PEBSD_LOW", "512");
	expect(&facts, "PEBSD_SAMPLES", NULL);
	expect(&facts, "PEBSD_WINDOW", NULL);
	facts_clear(&facts);

	rule.metric = (struct metric){.kind = METRIC_MEAN, .ratio = true};
	facts = facts_of(&resolves);
	expect(&facts, "PEBSD_SAMPLES", NULL);
	expect(&facts, "PEBSD_BASE_SAMPLES", NULL);
	facts_clear(&facts);

	/* For a rate, no sample at all is a measurement as well. */
	rule.metric = (struct metric){.kind = METRIC_RATE};
	resolves.alert.estimate.value = 0;
	facts = facts_of(&resolves);
	expect(&facts, "PEBSD_SAMPLES", "0");
	expect(&facts, "PEBSD_WINDOW", "30");
}

Test(act_facts, facts_describe_a_ratio_and_a_dry_run)
{
	struct rule rule;
	struct transition fires = alert_example_fires(0, &rule);
	_cleanup_(facts_clear) struct facts facts;

	rule.metric.ratio = true;
	rule.dry_run = true;
	rule.below = true;
	fires.alert.estimate.base_samples = 70000;
	fires.alert.estimate.worth = 610;
	facts = facts_of(&fires);
	expect(&facts, "PEBSD_ALERT", NULL);
	expect(&facts, "PEBSD_METRIC", "ratio:p99");
	expect(&facts, "PEBSD_UNIT", "ratio");
	expect(&facts, "PEBSD_BASE_SAMPLES", "70000");
	expect(&facts, "PEBSD_WORTH", "610");
	expect(&facts, "PEBSD_DRY_RUN", "1");
	expect(&facts, "PEBSD_SIDE", "below");
}

/* After a restart, the rule is no longer configured. The policy knows only its name. */
Test(act_facts, of_a_removed_rule_only_the_name_is_given)
{
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);
	_cleanup_(facts_clear) struct facts facts;

	rule = (struct rule){.name = "slow-database", .actions = RULE_LOG};
	resolves.alert.end = ALERT_END_RULE;
	resolves.alert.estimate = (struct estimate){0};
	resolves.alert.limits = (struct limits){0};
	facts = facts_of(&resolves);
	expect(&facts, "PEBSD_RULE", "slow-database");
	expect(&facts, "PEBSD_CGROUP", "/system.slice/db.service");
	expect(&facts, "PEBSD_END", "rule");
	expect(&facts, "PEBSD_METRIC", NULL);
	expect(&facts, "PEBSD_UNIT", NULL);
	expect(&facts, "PEBSD_THRESHOLD", NULL);
	expect(&facts, "PEBSD_CONFIDENCE", NULL);
	expect(&facts, "PEBSD_SEVERITY", NULL);
	expect(&facts, "PEBSD_DRY_RUN", NULL);
}

/* After a restart, the rule has other limits. The policy knows only its name, and that it is a dry run. */
Test(act_facts, of_a_changed_rule_the_dry_run_is_given)
{
	struct rule rule;
	struct transition resolves = alert_example_resolves(17, &rule);
	_cleanup_(facts_clear) struct facts facts;

	rule = (struct rule){.name = "slow-database", .actions = RULE_LOG, .dry_run = true};
	resolves.alert.end = ALERT_END_RULE;
	facts = facts_of(&resolves);
	expect(&facts, "PEBSD_METRIC", NULL);
	expect(&facts, "PEBSD_DRY_RUN", "1");
}

Test(act_facts, numbers_have_no_exponent_or_separator)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0"},
		{-0.0, "0"},
		{1e-9, "0"},
		{-1e-9, "0"},
		{0.3, "0.3"},
		{100, "100"},
		{1e15, "1000000000000000"},
		{1.0000004, "1"},
		{2.0000006, "2.000001"},
	};
	char text[FACTS_NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		facts_number(cases[i].value, text);
		cr_expect_str_eq(text, cases[i].text);
	}
	facts_number(-1.7e308, text);
	cr_expect_eq(strlen(text), 310, "the longest");
}

/* Reads one assignment with double quotes. Moves `*from` past the end of its line. */
static char *read_value(const char **from, const char *name)
{
	size_t length = strlen(name);
	char *value = malloc(strlen(*from) + 1), *to = value;
	const char *c = *from;

	cr_assert(strncmp(c, name, length) == 0 && strncmp(c + length, "=\"", 2) == 0, "%s is not next: %s",
		  name, c);
	for (c += length + 2; *c != '"'; c++) {
		cr_assert_neq(*c, '\0', "%s does not end", name);
		if (*c == '\\') {
			c++;
			cr_assert(strchr("\"\\`$", *c) && *c, "%s: an escape that stays as it is", name);
		}
		*to++ = *c;
	}
	*to = '\0';
	cr_assert_eq(c[1], '\n');
	*from = c + 2;
	return value;
}

Test(act_facts, a_hostile_name_cannot_add_a_fact)
{
	static const char *const names[] = {
		"/a\nPEBSD_RULE=evil",
		"/a\"\nLD_PRELOAD=/tmp/x.so\n\"",
		"/a\\\"; rm -rf $HOME `id` $(id) ${PATH} %i %%",
		"/ends in a backslash\\",
		"/a'b#c;d\te\x01\x1b[2J\x7f\r\n\n",
		"/bytes \xff\xfe\xc3( \xed\xa0\x80 and \xef\xbf\xbd itself",
		"/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		" blanks ",
		"\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *text = NULL;
		struct rule rule;
		struct transition fires = alert_example_fires(17, &rule);
		struct facts facts;
		const char *at;

		fires.alert.cgroup = names[i];
		facts = facts_of(&fires);
		cr_assert_str_eq(facts_get(&facts, "PEBSD_CGROUP"), names[i]);
		cr_assert_eq(facts_format(&facts, &text), 0);
		cr_assert(utf8_is_valid(text), "systemd refuses the whole file");
		at = text;
		for (size_t k = 0; k < facts.n; k++) {
			_cleanup_free_ char *value = read_value(&at, facts.list[k].name);

			cr_assert(utf8_is_shown_as(facts.list[k].value, value), "'%s' of '%s'", value,
				  facts.list[k].value);
			if (utf8_is_valid(names[i]) && !strstr(names[i], "\xef\xbf\xbd"))
				cr_assert_str_eq(value, facts.list[k].value);
		}
		cr_assert_eq(*at, '\0');
		facts_clear(&facts);
	}
}
