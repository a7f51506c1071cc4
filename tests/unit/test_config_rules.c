// SPDX-License-Identifier: GPL-2.0
/* The sections [rule NAME]. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/config_rule_keys.h"
#include "config/config_rules.h"

static struct config *config;
static struct config_mistakes mistakes;

static void begin(void)
{
	cr_assert_eq(config_new(&config), 0);
}

static void end(void)
{
	config = config_free(config);
	config_mistakes_clear(&mistakes);
}

TestSuite(config_rules, .init = begin, .fini = end);

static void read_as(const char *file, const char *text)
{
	cr_assert_eq(config_file_parse(file, text, strlen(text), config, &mistakes), 0);
}

static const char *finish(void)
{
	static char buffer[16384];
	_cleanup_fclose_ FILE *out = fmemopen(buffer, sizeof(buffer), "w");

	cr_assert_eq(config_rules_finish(config, &mistakes), 0);
	cr_assert(out);
	config_mistakes_print(&mistakes, "", out);
	(void)fflush(out);
	return mistakes.n ? buffer : "";
}

/* Returns the mistakes in one file with `text`, as they are printed. */
static const char *mistakes_of(const char *text)
{
	end();
	begin();
	read_as("x.conf", text);
	return finish();
}

#define expect_mistakes(text, expected)                                   \
	do {                                                              \
		const char *_said = mistakes_of(text);                    \
		cr_expect_str_eq(_said, expected, "%s: %s", text, _said); \
	} while (0)

#define expect_right(text) expect_mistakes(text, "")

/* One file with the rule `slow` (p99 above 900), with `more` appended to it. */
#define SLOW(more) "[rule slow]\ncgroup = /a\nmetric = p99\nabove = 900\n" more

Test(config_rules, a_new_rule_has_the_defaults)
{
	const struct rule *rule;

	expect_right(SLOW(""));
	cr_assert_eq(config->n_rules, 1);
	rule = &config->rules[0];
	cr_expect_str_eq(rule->name, "slow");
	cr_assert_eq(rule->n_patterns, 1);
	cr_expect_str_eq(rule->patterns[0], "/a");
	cr_expect_eq(rule->event, EVENT_LOADS);
	cr_expect_eq(rule->metric.kind, METRIC_QUANTILE);
	cr_expect_eq(rule->metric.quantile, 0.99);
	cr_expect_not(rule->below);
	cr_expect_eq(rule->threshold, 900);
	cr_expect_eq(rule->clear, 900);
	cr_expect_eq(rule->window_ns, 30 * NSEC_PER_SEC);
	cr_expect_eq(rule->for_ns, 60 * NSEC_PER_SEC);
	cr_expect_eq(rule->baseline_ns, 3600 * NSEC_PER_SEC);
	cr_expect_eq(rule->min_samples, 500);
	cr_expect_eq(rule->confidence, 0.95);
	cr_expect_str_eq(rule->severity, "warning");
	cr_expect_not(rule->subtree);
	cr_expect_not(rule->dry_run);
	cr_expect_not(rule->trust_owner);
	cr_expect_eq(rule->actions, RULE_LOG);
}

Test(config_rules, every_key_is_read)
{
	const struct rule *rule;

	expect_right(
		"[sampling]\nevents = loads stores\n"
		"[rule  far.away-1_x ]\n"
		"cgroup = /system.slice/*.service  comm:x\n"
		"event = stores\nmetric = ratio:share:remote_dram\nbelow = 0.5\nclear = 0.8\nwindow = 1m\n"
		"for = 0\nbaseline = 2h\nmin-samples = 1000\nconfidence = 99%\nseverity = page-me\n"
		"subtree = yes\ndry-run = yes\ntrust-owner = yes\naction = unit log\n");
	cr_assert_eq(config->n_rules, 1);
	rule = &config->rules[0];
	cr_expect_str_eq(rule->name, "far.away-1_x");
	cr_assert_eq(rule->n_patterns, 2);
	cr_expect_str_eq(rule->patterns[1], "comm:x");
	cr_expect_eq(rule->event, EVENT_STORES);
	cr_expect_eq(rule->metric.kind, METRIC_SHARE);
	cr_expect(rule->metric.ratio);
	cr_expect_eq(rule->metric.source, SOURCE_REMOTE_DRAM);
	cr_expect(rule->below);
	cr_expect_eq(rule->threshold, 0.5);
	cr_expect_eq(rule->clear, 0.8);
	cr_expect_eq(rule->window_ns, 60 * NSEC_PER_SEC);
	cr_expect_eq(rule->for_ns, 0);
	cr_expect_eq(rule->baseline_ns, 7200 * NSEC_PER_SEC);
	cr_expect_eq(rule->min_samples, 1000);
	cr_expect_eq(rule->confidence, 0.99);
	cr_expect_str_eq(rule->severity, "page-me");
	cr_expect(rule->subtree);
	cr_expect(rule->dry_run);
	cr_expect(rule->trust_owner);
	cr_expect_eq(rule->actions, RULE_LOG | RULE_UNIT);
}

Test(config_rules, a_zoom_action_has_a_duration)
{
	expect_right(SLOW("action = zoom:30s log hot:90m\n"));
	cr_expect_eq(config->rules[0].actions, RULE_LOG | RULE_ZOOM | RULE_HOT);
	cr_expect_eq(config->rules[0].zoom_ns, 30 * NSEC_PER_SEC);
	cr_expect_eq(config->rules[0].hot_ns, 5400 * NSEC_PER_SEC);
	expect_right(SLOW("action = log\n"));
	cr_expect_eq(config->rules[0].zoom_ns, 0);
	cr_expect_eq(config->rules[0].hot_ns, 0);
}

Test(config_rules, a_mistake_in_the_actions_keeps_the_earlier_ones)
{
	static const char *const wrong[] = {"zoom:10s units", "hot:5s zoom", "hot:1d hot:2d", "log:3s",
					    "unit unit"};
	struct rule rule = {
		.actions = RULE_ZOOM | RULE_HOT, .zoom_ns = 30 * NSEC_PER_SEC, .hot_ns = 60 * NSEC_PER_SEC};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *problem = NULL;

		cr_expect_eq(config_rule_key_set(RULE_KEY_ACTION, &rule, wrong[i], &problem), -EINVAL, "%s",
			     wrong[i]);
		cr_expect_not_null(problem);
		cr_expect_eq(rule.actions, RULE_ZOOM | RULE_HOT);
		cr_expect_eq(rule.zoom_ns, 30 * NSEC_PER_SEC, "%s", wrong[i]);
		cr_expect_eq(rule.hot_ns, 60 * NSEC_PER_SEC, "%s", wrong[i]);
	}
}

Test(config_rules, thresholds_have_the_unit_and_range_of_the_metric)
{
	static const struct {
		const char *line;
		double threshold;
	} good[] = {
		{"metric = share:hitm\nabove = 30%", 0.3},   {"metric = share:hitm\nabove = 0.3", 0.3},
		{"metric = share:l3\nabove = 12.5%", 0.125}, {"metric = mean\nabove = 99.5", 99.5},
		{"metric = rate\nabove = 1000000", 1000000}, {"metric = p50\nabove = 1048576", 1048576},
		{"metric = ratio:p50\nabove = 1.5", 1.5},
	};
	static const struct {
		const char *line;
		const char *said;
	} bad[] = {
		{"metric = p99\nabove = 30%",
		 "above = 30%: expected 1 to 1048576 cycles, or that time in ns or us for the metric p99"},
		{"metric = p99\nabove = 1048577",
		 "above = 1048577: expected 1 to 1048576 cycles, or that time in ns or us for the metric"},
		{"metric = share:l3\nabove = 30",
		 "above = 30: expected a share between 0 and 1, such as 0.3 or 30% "},
		{"metric = share:l3\nabove = 100%", "above = 100%: expected a share between 0 and 1"},
		{"metric = share:l3\nbelow = 0", "below = 0: expected a share between 0 and 1"},
		{"metric = mean\nabove = 1",
		 "above = 1: expected 2 to 131072 cycles, or that time in ns or us for the metric mean"},
		{"metric = rate\nbelow = 0", "below = 0: expected more than 0 weighted samples a second for"},
		{"metric = ratio:share:l3\nabove = 150%",
		 "above = 150%: expected a multiple of the baseline"},
		{"metric = ratio:p50\nabove = 0",
		 "above = 0: expected a multiple of the baseline from 0.01 to 100 for"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[rule a]\ncgroup = /\n%s\n", good[i].line);
		expect_right(text);
		cr_assert_eq(config->n_rules, 1, "%s", good[i].line);
		cr_expect_eq(config->rules[0].threshold, good[i].threshold, "%s", good[i].line);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[128];
		const char *said;

		(void)snprintf(text, sizeof(text), "[rule a]\ncgroup = /\n%s\n", bad[i].line);
		said = mistakes_of(text);
		cr_expect_eq(mistakes.n, 1, "%s: %s", bad[i].line, said);
		cr_expect_eq(strncmp(said, "x.conf:4: [rule a]: ", 20), 0, "%s", said);
		cr_expect_eq(strncmp(said + 20, bad[i].said, strlen(bad[i].said)), 0, "%s", said);
		cr_expect_eq(config->n_rules, 0);
	}
}

Test(config_rules, limits_of_latencies_may_be_times)
{
	static const char text[] = "[rule a]\ncgroup = /\nmetric = p99\nabove = 1.5us\nclear = 900\n"
				   "[rule b]\ncgroup = /\nmetric = mean\nabove = 260\n";

	read_as("x.conf", "[rule c]\ncgroup = /\nmetric = mean\nabove = 260\n");
	cr_expect_not(config_rules_have_times(config));
	end();
	begin();
	config->nominal_hz = 2.6e9;
	read_as("x.conf", text);
	cr_expect(config_rules_have_times(config));
	cr_assert_str_eq(finish(), "");
	cr_assert_eq(config->n_rules, 2);
	cr_expect_float_eq(config->rules[0].threshold, 3900, 0);
	cr_expect_float_eq(config->rules[0].clear, 900, 0);
	cr_expect_float_eq(config->rules[0].nominal_hz, 2.6e9, 0);
	cr_expect(config->rules[0].nanoseconds);
	cr_expect_float_eq(config->rules[1].nominal_hz, 2.6e9, 0, "a preference may be a time");
	cr_expect_not(config->rules[1].nanoseconds);
}

Test(config_rules, missing_required_keys_are_reported)
{
	expect_mistakes(
		"[rule a]\nsubtree = yes\n",
		"x.conf:1: [rule a]: cgroup is missing; set the paths of the cgroups to judge, such as cgroup = /system.slice/*\n"
		"x.conf:1: [rule a]: metric is missing; set the value to judge, such as metric = p99\n"
		"x.conf:1: [rule a]: above or below is missing; set one of the two, in the unit of the metric\n");
	expect_mistakes(
		"[rule a]\nmetric =\ncgroup =\nabove =\n",
		"x.conf:3: [rule a]: cgroup is missing; set the paths of the cgroups to judge, such as cgroup = /system.slice/*\n"
		"x.conf:2: [rule a]: metric is missing; set the value to judge, such as metric = p99\n"
		"x.conf:4: [rule a]: above or below is missing; set one of the two, in the unit of the metric\n");
	expect_mistakes(
		SLOW("below = 100\n"),
		"x.conf:5: [rule slow]: below = 100 cannot be used with above = 900 in x.conf:4; keep one of the two (a later line `above =` removes it)\n");
	expect_mistakes(
		"[rule a]\nbelow = 100\nabove = 900\ncgroup = /\nmetric = p50\n",
		"x.conf:3: [rule a]: above = 900 cannot be used with below = 100 in x.conf:2; keep one of the two (a later line `below =` removes it)\n");
	cr_expect_eq(config->n_rules, 0);
	/* Each mistake is reported once. */
	expect_mistakes(
		"[rule a]\ncgroup = a\nmetric = p98\nabove = x\n",
		"x.conf:2: cgroup: the pattern a cannot match a cgroup; begin it with / or ** (comm: or cgroup: for a recording, model: for the model), and leave out // and a / at its end\n"
		"x.conf:3: metric = p98: unknown value; did you mean p90? Expected one of p50, p90, p95, p99, p999, mean, rate, wait, cores-lost, cpi, traffic, share:hitm, share:tlb_walk, share:locked, share:l1, share:lfb, share:l2, share:l2_mhb, share:l3, share:l4, share:msc, share:local_cache, share:remote_cache, share:local_dram, share:remote_dram, share:pmem, share:cxl, share:io, share:uncached, share:unknown, also with ratio: before it (value that is judged)\n"
		"x.conf:4: above = x: expected a number such as 900 or 0.3, for a share also a percentage such as 30%, for a latency also a time such as 100ns or 1.5us, or for traffic also bytes a second such as 5GB/s (fires when the metric is above this value)\n");
}

Test(config_rules, names_of_rules_are_checked)
{
	char name[RULE_NAME_MAX + 1];
	char text[256];

	expect_mistakes(
		"[rule slow database]\nabove = 3\n",
		"x.conf:1: [rule slow database]: a rule's name can have only letters, digits, '-', '_' and '.'; use another name\n");
	expect_mistakes("[rule]\nabove = 3\n", "x.conf:1: [rule]: a rule needs a name; write [rule NAME]\n");
	expect_mistakes(
		"[rule \xc3\xa9]\nabove = 3\n",
		"x.conf:1: [rule \xc3\xa9]: a rule's name can have only letters, digits, '-', '_' and '.'; use another name\n");
	expect_mistakes(
		"[rule a/b]\nabove = y\nabvoe = 3\n",
		"x.conf:1: [rule a/b]: a rule's name can have only letters, digits, '-', '_' and '.'; use another name\n"
		"x.conf:2: above = y: expected a number such as 900 or 0.3, for a share also a percentage such as 30%, for a latency also a time such as 100ns or 1.5us, or for traffic also bytes a second such as 5GB/s (fires when the metric is above this value)\n"
		"x.conf:3: unknown key abvoe in [rule]; did you mean above?\n");
	expect_mistakes("[rules a]\nabove = 3\n",
			"x.conf:1: unknown section [rules a]; did you mean [rule NAME]?\n");
	memset(name, 'n', sizeof(name));
	name[RULE_NAME_MAX] = '\0';
	(void)snprintf(text, sizeof(text), "[rule %s]\nabove = 3\n", name);
	cr_expect(
		strstr(mistakes_of(text), ": a rule's name has at most 63 characters; use a shorter name\n"));
	name[RULE_NAME_MAX - 1] = '\0';
	(void)snprintf(text, sizeof(text), "[rule %s]\nabove = 99\nmetric = p50\ncgroup = /\n", name);
	expect_right(text);
	cr_expect_str_eq(config->rules[0].name, name);
	expect_mistakes(
		SLOW("[export]\ntop = 1\n") SLOW(""),
		"x.conf:7: [rule slow] is already in line 1; put all keys there, or use another name\n");
	cr_expect_eq(config->n_rules, 1);
	expect_mistakes(SLOW("above = 800\n"),
			"x.conf:5: above is already set in line 4; keep one of the two\n");
	expect_mistakes(
		SLOW("[rule b]\n"),
		"x.conf:5: the section [rule b] is empty; add a key or remove the section\n"
		"x.conf:5: [rule b]: cgroup is missing; set the paths of the cgroups to judge, such as cgroup = /system.slice/*\n"
		"x.conf:5: [rule b]: metric is missing; set the value to judge, such as metric = p99\n"
		"x.conf:5: [rule b]: above or below is missing; set one of the two, in the unit of the metric\n");
}

Test(config_rules, invalid_values_are_refused)
{
	static const struct {
		const char *line;
		const char *said;
	} lines[] = {
		{"event = load",
		 "event = load: unknown value; did you mean loads? Expected one of loads, stores, instructions, cycles, stalls, misses (samples that the metric is computed from)"},
		{"event = offcore",
		 "event = offcore: these events are counted, not sampled, so a rule on them can never fire; use loads, stores, instructions, cycles, stalls or misses (samples that the metric is computed from)"},
		{"window = 500ms",
		 "window = 500ms: expected a time from 1s to 1h, a whole number with ms, s, m, h or d (time over which the metric is computed)"},
		{"window = 2h",
		 "window = 2h: expected a time from 1s to 1h, a whole number with ms, s, m, h or d (time over which the metric is computed)"},
		{"for = 2d",
		 "for = 2d: expected a time from 0 to 1d, a whole number with ms, s, m, h or d (time for which the breach must be proven)"},
		{"min-samples = -1",
		 "min-samples = -1: expected a whole number from 0 to 1000000000 (samples that a window must have to be judged)"},
		{"confidence = 49%",
		 "confidence = 49%: expected 50% to 99.99%, or 0.5 to 0.9999 (confidence that a bound must have)"},
		{"confidence = 95",
		 "confidence = 95: expected 50% to 99.99%, or 0.5 to 0.9999 (confidence that a bound must have)"},
		{"confidence = 1",
		 "confidence = 1: expected 50% to 99.99%, or 0.5 to 0.9999 (confidence that a bound must have)"},
		{"severity = very bad",
		 "severity = very bad: expected one word of at most 31 letters, digits, - and _ that begins with a letter (label of the alert)"},
		{"severity = 1st",
		 "severity = 1st: expected one word of at most 31 letters, digits, - and _ that begins with a letter (label of the alert)"},
		{"subtree = true",
		 "subtree = true: expected yes or no (whether a cgroup is judged together with all cgroups below it)"},
		{"action = zoom",
		 "action: zoom needs a duration from 1s to 1h, such as zoom:30s (actions when the rule fires and resolves)"},
		{"action = zoom:2h",
		 "action: zoom needs a duration from 1s to 1h, such as zoom:30s (actions when the rule fires and resolves)"},
		{"action = log hot:0s",
		 "action: hot needs a duration from 1s to 7d, such as hot:30s (actions when the rule fires and resolves)"},
		{"action = zoom:30s zoom:10s",
		 "action: zoom is given twice; remove one (actions when the rule fires and resolves)"},
		{"action = log:3s",
		 "action = log:3s: unknown value; expected one of log, unit, zoom:DURATION, hot:DURATION (actions when the rule fires and resolves)"},
		{"action = log units",
		 "action = units: unknown value; did you mean unit? Expected one of log, unit, zoom:DURATION, hot:DURATION (actions when the rule fires and resolves)"},
		{"action = log log",
		 "action: log is given twice; remove one (actions when the rule fires and resolves)"},
		{"clear = 1e2",
		 "clear = 1e2: expected a number such as 900 or 0.3, for a share also a percentage such as 30%, for a latency also a time such as 100ns or 1.5us, or for traffic also bytes a second such as 5GB/s (resolves when the metric is on the good side of this value)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char text[256];
		char expected[512];

		(void)snprintf(text, sizeof(text), SLOW("%s\n"), lines[i].line);
		(void)snprintf(expected, sizeof(expected), "x.conf:5: %s\n", lines[i].said);
		expect_mistakes(text, expected);
		cr_expect_eq(config->n_rules, 0);
	}
	expect_mistakes(
		"[rule a]\ncgroup = /\nmetric = ratio:p98\nabove = 2\nbaseline = 59s\n",
		"x.conf:3: metric = ratio:p98: unknown value; did you mean ratio:p90? Expected one of p50, p90, p95, p99, p999, mean, rate, wait, cores-lost, cpi, traffic, share:hitm, share:tlb_walk, share:locked, share:l1, share:lfb, share:l2, share:l2_mhb, share:l3, share:l4, share:msc, share:local_cache, share:remote_cache, share:local_dram, share:remote_dram, share:pmem, share:cxl, share:io, share:uncached, share:unknown, also with ratio: before it (value that is judged)\n"
		"x.conf:5: baseline = 59s: expected a time from 1m to 30d, a whole number with ms, s, m, h or d (half-life of the baseline of a ratio)\n");
}

Test(config_rules, clear_on_the_wrong_side_is_refused)
{
	expect_mistakes(
		SLOW("clear = 901\n"),
		"x.conf:5: [rule slow]: clear = 901: on the wrong side of above = 900; use 900 or less\n");
	expect_mistakes(
		"[rule a]\nclear = 200\ncgroup = /\nmetric = p50\nbelow = 300\n",
		"x.conf:2: [rule a]: clear = 200: on the wrong side of below = 300; use 300 or more\n");
	expect_right(SLOW("clear = 900\n"));
	expect_right(SLOW("clear = 700\n"));
	cr_expect_eq(config->rules[0].clear, 700);
}

Test(config_rules, min_samples_below_what_the_confidence_needs_is_reported)
{
	expect_mistakes(
		"[rule a]\ncgroup = /\nmetric = p999\nabove = 900\n",
		"x.conf:3: [rule a]: min-samples = 500 (the default): p999 with these limits needs 2995 samples to fire and to clear at a confidence of 95%; use 2995 or more, or a lower confidence\n");
	expect_mistakes(
		"[rule a]\ncgroup = /\nmetric = p999\nabove = 900\nmin-samples = 2994\n",
		"x.conf:5: [rule a]: min-samples = 2994: p999 with these limits needs 2995 samples to fire and to clear at a confidence of 95%; use 2995 or more, or a lower confidence\n");
	expect_right("[rule a]\ncgroup = /\nmetric = p999\nabove = 900\nmin-samples = 2995\n");
	expect_mistakes(
		"[rule a]\ncgroup = /\nmetric = p99\nabove = 900\nconfidence = 99.9%\n",
		"x.conf:3: [rule a]: min-samples = 500 (the default): p99 with these limits needs 688 samples to fire and to clear at a confidence of 99.9%; use 688 or more, or a lower confidence\n");
	expect_right("[rule a]\ncgroup = /\nmetric = rate\nbelow = 900\n");
	cr_expect_eq(config->rules[0].min_samples, 0, "no sample is evidence");
	expect_right("[rule a]\ncgroup = /\nmetric = rate\nbelow = 900\nmin-samples = 10\n");
	cr_expect_eq(config->rules[0].min_samples, 10);
	expect_mistakes(
		"[sampling]\nldlat = 3\n[rule a]\ncgroup = /\nmetric = mean\nabove = 131072\nclear = 4\n",
		"x.conf:5: [rule a]: metric = mean: with these limits and a confidence of 95%, more samples are needed to fire and to clear than the maximum of min-samples, 1000000000; use a clear that is nearer to the threshold, or a less extreme threshold\n");
}

/* A rule named `lost`, with its metric and threshold, and `events` in [sampling]. */
#define LOST(events, metric, above) \
	"[sampling]\nevents = " events "\n[rule lost]\ncgroup = /a\nmetric = " metric "\nabove = " above "\n"

Test(config_rules, a_metric_implies_its_event)
{
	static const struct {
		const char *text;
		enum event_role event;
		double threshold;
		u64 min_samples;
	} cases[] = {
		{LOST("stalls cycles", "wait", "40%"), EVENT_STALLS, 0.4, 500},
		{LOST("stalls cycles", "ratio:wait", "1.5"), EVENT_STALLS, 1.5, 500},
		{LOST("stalls cycles", "cores-lost", "3.2"), EVENT_STALLS, 3.2, 0},
		{LOST("cycles instructions", "cpi", "2.5"), EVENT_CYCLES, 2.5, 500},
		{LOST("misses", "traffic", "5GB/s"), EVENT_MISSES, 5e9, 0},
		{LOST("misses", "traffic", "5000000000"), EVENT_MISSES, 5e9, 0},
		{LOST("stalls cycles", "wait", "0.4\nevent = stalls"), EVENT_STALLS, 0.4, 500},
		{LOST("stalls", "rate", "1000\nevent = stalls"), EVENT_STALLS, 1000, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		expect_right(cases[i].text);
		cr_assert_eq(config->n_rules, 1);
		cr_expect_eq(config->rules[0].event, cases[i].event, "%s", cases[i].text);
		cr_expect_eq(config->rules[0].threshold, cases[i].threshold, "%s", cases[i].text);
		cr_expect_eq(config->rules[0].min_samples, cases[i].min_samples, "%s", cases[i].text);
	}
}

/* Only the machine shows which of these events it has, so no rule on one is a mistake. */
Test(config_rules, every_metric_of_counts_may_be_judged_by_default)
{
	static const char *const metrics[] = {"wait", "cores-lost", "cpi", "traffic", "ratio:wait"};
	static const char *const events[] = {"loads", "instructions", "cycles", "stalls", "misses"};
	static const char *const origins[] = {"auto", "perf", "model"};
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(metrics); j++) {
			free(text);
			cr_assert_gt(
				asprintf(&text,
					 "[sampling]\norigin = %s\n[rule lost]\ncgroup = /a\nmetric = %s\n"
					 "above = 0.5\nclear = 0.4\n",
					 origins[i], metrics[j]),
				0);
			expect_right(text);
		}
		for (size_t j = 0; j < ARRAY_SIZE(events); j++) {
			free(text);
			cr_assert_gt(
				asprintf(&text,
					 "[sampling]\nevents = auto\norigin = %s\n[rule lost]\ncgroup = /a\n"
					 "event = %s\nmetric = rate\nabove = 1000\n",
					 origins[i], events[j]),
				0);
			expect_right(text);
		}
	}
}

Test(config_rules, mistakes_say_where_they_are_and_what_to_do)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		/* A time is refused without a frequency */
		{"[rule a]\ncgroup = /\nmetric = p99\nabove = 100ns\n",
		 "x.conf:4: [rule a]: above = 100ns: cannot be converted to cycles, because neither sysfs nor CPUID has the nominal frequency of this machine's CPUs; give the limit in cycles\n"},
		/* Only latencies have times */
		{"[rule a]\ncgroup = /\nmetric = ratio:p99\nabove = 100ns\n",
		 "x.conf:4: [rule a]: above = 100ns: expected a multiple of the baseline from 0.01 to 100 for the metric ratio:p99\n"},
		/* Unknown keys are refused */
		{SLOW("windw = 3s\n"), "x.conf:5: unknown key windw in [rule]; did you mean window?\n"},
		{SLOW("interval = 3s\n"), "x.conf:5: interval belongs in [sampling]; move it there\n"},
		{SLOW("events = loads\n"), "x.conf:5: unknown key events in [rule]; did you mean event?\n"},
		{SLOW("x = y\n"),
		 "x.conf:5: unknown key x in [rule]; valid keys: cgroup, event, metric, above, below, clear, window, for, baseline, min-samples, confidence, severity, subtree, dry-run, trust-owner, action\n"},
		{"[sampling]\nwindow = 3s\n", "x.conf:2: window belongs in [rule NAME]; move it there\n"},
		{"[sampling]\nevent = loads\n",
		 "x.conf:2: unknown key event in [sampling]; did you mean events?\n"},
		/* A rule on an unsampled event is reported */
		{SLOW("event = stores\n"),
		 "x.conf:5: [rule slow]: event = stores: stores are not sampled, so the rule can never fire; set events = loads stores instructions cycles stalls misses in [sampling], or use another event\n"},
		{SLOW("event = stores\n[sampling]\nevents = loads\n"),
		 "x.conf:5: [rule slow]: event = stores: stores are not sampled, so the rule can never fire; add them to events in [sampling], or use another event\n"},
		{SLOW("[sampling]\nevents = stores\n"),
		 "x.conf:1: [rule slow]: event = loads: loads are not sampled, so the rule can never fire; add them to events in [sampling], or use another event\n"},
		{SLOW("event = stores\n[sampling]\nevents = loads stores\norigin = model\n"),
		 "x.conf:5: [rule slow]: event = stores: the model has no stores, so the rule can never fire; use event = loads, or another origin in [sampling]\n"},
		{SLOW("event = stores\n[sampling]\norigin = replay\n"), ""},
		{SLOW("event = stores\n[sampling]\nevents = stores\n"), ""},
		/* A latency below ldlat is reported */
		{"[rule a]\ncgroup = /\nmetric = p50\nbelow = 25\n",
		 "x.conf:4: [rule a]: below = 25, judged at 24 cycles: CPUs that filter loads by latency do not sample those below ldlat = 31, so there the rule can never fire; use more than 31, or a smaller ldlat in [sampling]\n"},
		{"[rule a]\ncgroup = /\nmetric = p50\nabove = 20\n",
		 "x.conf:4: [rule a]: above = 20, judged at 20 cycles: CPUs that filter loads by latency do not sample those below ldlat = 31, so there the rule can never clear; use more than 31, or a smaller ldlat in [sampling]\n"},
		{"[rule a]\ncgroup = /\nmetric = mean\nabove = 100\nclear = 30\nmin-samples = 2000\n",
		 "x.conf:5: [rule a]: clear = 30, judged at 30 cycles: CPUs that filter loads by latency do not sample those below ldlat = 31, so there the rule can never clear; use more than 31, or a smaller ldlat in [sampling]\n"},
		{"[rule a]\ncgroup = /\nmetric = p50\nabove = 32\n", ""},
		{"[sampling]\norigin = replay\n[rule a]\ncgroup = /\nmetric = p50\nabove = 20\n", ""},
		{"[sampling]\nevents = stores\n[rule a]\nevent = stores\ncgroup = /\nmetric = p50\nabove "
		 "= 20\n",
		 ""},
		{"[rule a]\ncgroup = /\nmetric = ratio:p50\nabove = 2\n", ""},
		{"[rule a]\ncgroup = /\nmetric = share:l3\nabove = 20%\n", ""},
		/* A metric that implies its event refuses another */
		{LOST("loads stalls cycles", "wait", "0.4\nevent = loads"),
		 "x.conf:7: [rule lost]: event = loads: the metric wait is computed from cycles and stalls; remove the line, or use another metric\n"},
		{LOST("cycles instructions", "cpi", "2\nevent = instructions"),
		 "x.conf:7: [rule lost]: event = instructions: the metric cpi is computed from instructions and cycles; remove the line, or use another metric\n"},
		/* A metric whose second event is not sampled is reported */
		{LOST("loads cycles", "wait", "0.4"),
		 "x.conf:5: [rule lost]: metric = wait: it is computed from cycles and stalls, and stalls are not sampled, so the rule can never fire; set events = loads cycles stalls in [sampling]\n"},
		{LOST("loads", "cores-lost", "2"),
		 "x.conf:5: [rule lost]: metric = cores-lost: it is computed from cycles and stalls, and cycles and stalls are not sampled, so the rule can never fire; set events = loads cycles stalls in [sampling]\n"},
		{LOST("loads", "ratio:traffic", "2"),
		 "x.conf:5: [rule lost]: metric = ratio:traffic: it is computed from misses, and misses are not sampled, so the rule can never fire; set events = loads misses in [sampling]\n"},
		/* The events of a recording are not known here. The model samples loads in any case. */
		{LOST("loads\norigin = replay", "wait", "0.4"), ""},
		{LOST("loads stalls\norigin = model", "wait", "0.4"),
		 "x.conf:6: [rule lost]: metric = wait: it is computed from cycles and stalls, and cycles are not sampled, so the rule can never fire; set events = loads cycles stalls in [sampling]\n"},
		/* Thresholds of metrics of counts */
		{LOST("stalls cycles", "wait", "1.5"),
		 "x.conf:6: [rule lost]: above = 1.5: expected a share between 0 and 1, such as 0.3 or 30% for the metric wait\n"},
		{LOST("stalls cycles", "cores-lost", "2GB/s"),
		 "x.conf:6: [rule lost]: above = 2GB/s: expected a number of cores above 0, such as 3.2 for the metric cores-lost\n"},
		{LOST("misses", "traffic", "5GB"),
		 "x.conf:6: above = 5GB: expected a number such as 900 or 0.3, for a share also a percentage such as 30%, for a latency also a time such as 100ns or 1.5us, or for traffic also bytes a second such as 5GB/s (fires when the metric is above this value)\n"},
		{LOST("misses", "traffic", "30%"),
		 "x.conf:6: [rule lost]: above = 30%: expected bytes a second above 0, such as 500MB/s, 5GB/s or 5000000000 for the metric traffic\n"},
		{LOST("stalls cycles", "wait", "0.4\nmin-samples = 0"),
		 "x.conf:7: [rule lost]: min-samples = 0: wait with these limits needs 1 sample to fire and to clear at a confidence of 95%; use 1 or more, or a lower confidence\n"},
		/* Counts only have a rate */
		{LOST("misses", "p99", "900\nevent = misses"),
		 "x.conf:5: [rule lost]: metric = p99: samples of misses have no latency and no data source, so the rule can never fire; use rate or ratio:rate, or another event\n"},
		/* Instructions only have a rate */
		{"[sampling]\nevents = instructions\n[rule a]\ncgroup = /\nevent = instructions\n"
		 "metric = share:l3\nabove = 20%\n",
		 "x.conf:6: [rule a]: metric = share:l3: samples of instructions have no latency and no data source, so the rule can never fire; use rate or ratio:rate, or another event\n"},
		{"[sampling]\nevents = instructions\n[rule a]\ncgroup = /\nevent = instructions\n"
		 "metric = ratio:rate\nbelow = 20\n",
		 ""},
		{"[sampling]\nevents = stalls\n[rule a]\ncgroup = /\nevent = stalls\nmetric = p99\nabove = 900\n",
		 "x.conf:6: [rule a]: metric = p99: samples of stalls have no latency and no data source, so the rule can never fire; use rate or ratio:rate, or another event\n"},
		{"[sampling]\nevents = loads\n[rule a]\ncgroup = /\nevent = misses\nmetric = rate\nabove = 900\n",
		 "x.conf:5: [rule a]: event = misses: misses are not sampled, so the rule can never fire; add them to events in [sampling], or use another event\n"},
		{"[sampling]\nevents = cycles stalls misses\n[rule a]\ncgroup = /\nevent = cycles\n"
		 "metric = rate\nabove = 20\n[rule b]\ncgroup = /\nevent = stalls\nmetric = ratio:rate\n"
		 "above = 2\n[rule c]\ncgroup = /\nevent = misses\nmetric = rate\nabove = 20\n",
		 ""},
		{"[sampling]\norigin = replay\n[rule a]\ncgroup = /\nevent = instructions\n"
		 "metric = share:l3\nabove = 20%\n",
		 ""},
		/* Windows and times out of range are reported */
		{SLOW("window = 5s\n[sampling]\ninterval = 10s\n"),
		 "x.conf:5: [rule slow]: window = 5s: shorter than 4 times the interval of 10s in [sampling], too short to detect bursts, so the rule can never fire; use 40s or more, or a shorter interval\n"},
		{SLOW("window = 3s\n"),
		 "x.conf:5: [rule slow]: window = 3s: shorter than 4 times the interval of 1s in [sampling], too short to detect bursts, so the rule can never fire; use 4s or more, or a shorter interval\n"},
		{SLOW("window = 4s\n"), ""},
		{SLOW("window = 3s\n[sampling]\ninterval = 750ms\n"), ""},
		{SLOW("[sampling]\ninterval = 60s\n"),
		 "x.conf:1: [rule slow]: window = 30s (the default): shorter than 4 times the interval of 1m in [sampling], too short to detect bursts, so the rule can never fire; use 4m or more, or a shorter interval\n"},
		{SLOW("for = 100ms\nwindow = 40s\n[sampling]\ninterval = 10s\n"), ""},
		{SLOW("baseline = 2h\n"),
		 "x.conf:5: [rule slow]: baseline = 2h: the metric p99 has no baseline, only ratio:METRIC has one; remove the line, or use metric = ratio:p99\n"},
		{"[rule a]\ncgroup = /\nmetric = ratio:p50\nabove = 2\nbaseline = 5m\nwindow = 10m\n",
		 "x.conf:5: [rule a]: baseline = 5m: shorter than the window of 10m that is compared with it; use 10m or more\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_mistakes(cases[i].text, cases[i].said);
}

Test(config_rules, a_later_file_replaces_single_keys)
{
	read_as("a.conf",
		SLOW("clear = 700\nseverity = page\n[rule second]\ncgroup = /b\nmetric = p50\nabove = 99\n"));
	read_as("b.conf", "[rule slow]\nabove = 1000\nclear =\ncgroup = /x /y\nsubtree = yes\n");
	read_as("c.conf", "[rule slow]\nseverity =\n[rule third]\ncgroup = /c\nmetric = p50\nabove = 99\n");
	cr_expect_str_eq(finish(), "");
	cr_assert_eq(config->n_rules, 3);
	cr_expect_str_eq(config->rules[0].name, "slow");
	cr_expect_str_eq(config->rules[1].name, "second");
	cr_expect_str_eq(config->rules[2].name, "third");
	cr_expect_eq(config->rules[0].threshold, 1000);
	cr_expect_eq(config->rules[0].clear, 1000);
	cr_expect_str_eq(config->rules[0].severity, "warning");
	cr_expect_eq(config->rules[0].n_patterns, 2);
	cr_expect(config->rules[0].subtree);
}

Test(config_rules, a_later_file_can_turn_above_into_below)
{
	read_as("a.conf", SLOW("clear = 700\n"));
	read_as("b.conf", "[rule slow]\nbelow = 50\n");
	cr_expect_str_eq(
		finish(),
		"b.conf:2: [rule slow]: below = 50 cannot be used with above = 900 in a.conf:4; keep one of the two (a later line `above =` removes it)\n");
	end();
	begin();
	read_as("a.conf", SLOW("clear = 700\n"));
	read_as("b.conf", "[rule slow]\nbelow = 50\nabove =\n");
	cr_expect_str_eq(finish(), "");
	cr_assert_eq(config->n_rules, 1);
	cr_expect(config->rules[0].below);
	cr_expect_eq(config->rules[0].clear, 700);
	end();
	begin();
	/* The contradiction is reported at the line of `clear`, although a later file causes it. */
	read_as("a.conf", SLOW("clear = 700\n"));
	read_as("b.conf", "\n[rule slow]\nabove = 600\n");
	cr_expect_str_eq(
		finish(),
		"a.conf:5: [rule slow]: clear = 700: on the wrong side of above = 600; use 600 or less\n");
}

Test(config_rules, a_mistake_in_one_rule_keeps_the_others)
{
	expect_mistakes(
		"[rule a]\ncgroup = /\nmetric = p50\nabove = 10%\n" SLOW(""),
		"x.conf:4: [rule a]: above = 10%: expected 1 to 1048576 cycles, or that time in ns or us for the metric p50\n");
	cr_assert_eq(config->n_rules, 1);
	cr_expect_str_eq(config->rules[0].name, "slow");
}

Test(config_rules, more_rules_than_the_maximum_are_refused)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	cr_assert(stream);
	for (unsigned int i = 0; i < CONFIG_RULES_MAX + 2; i++)
		(void)fprintf(stream, "[rule r%u]\ncgroup = /\nmetric = p50\nabove = 99\n", i);
	cr_assert_eq(fclose(stream), 0);
	expect_mistakes(text, "x.conf:4001: [rule r1000]: there are more than 1000 rules; remove some\n"
			      "x.conf:4005: [rule r1001]: there are more than 1000 rules; remove some\n");
	cr_expect_eq(config->n_rules, CONFIG_RULES_MAX);
}

Test(config_rules, a_reload_lists_added_changed_and_removed_rules)
{
	_cleanup_(config_freep) struct config *running = NULL;
	char **changes;

	read_as("x.conf", SLOW("[rule gone]\ncgroup = /\nmetric = p50\nabove = 99\n"
			       "[rule too]\ncgroup = /\nmetric = p50\nabove = 99\n"
			       "[rule same]\ncgroup = /\nmetric = p50\nabove = 99\n"
			       "[rule worse]\ncgroup = /\nmetric = p50\nabove = 99\n"));
	cr_expect_str_eq(finish(), "");
	running = TAKE_PTR(config);
	begin();
	read_as("x.conf", "[rule same]\ncgroup = /\nmetric = p50\nabove = 99\n"
			  "[rule worse]\ncgroup = /\nmetric = p50\nabove = 99\nseverity = critical\n"
			  "[rule new]\ncgroup = /\nmetric = p50\nabove = 99\n" SLOW("clear = 800\n"));
	cr_expect_str_eq(finish(), "");

	cr_assert_eq(config_rule_changes(running, config, &changes), 5);
	cr_expect_str_eq(changes[0], "rule worse changed");
	cr_expect_str_eq(changes[1], "rule new added");
	cr_expect_str_eq(changes[2], "rule slow changed");
	cr_expect_str_eq(changes[3], "rule gone removed");
	cr_expect_str_eq(changes[4], "rule too removed");
	cr_expect_null(changes[5]);
	config_rule_changes_free(changes);

	config_reload(running, config);
	cr_assert_eq(running->n_rules, 4);
	cr_expect_str_eq(running->rules[3].name, "slow");
	cr_expect_eq(running->rules[3].clear, 800);
	cr_assert_eq(config->n_rules, 5);
	cr_expect_str_eq(config->rules[1].name, "gone", "the old ones are freed with what was loaded");
}

Test(config_rules, a_rule_with_changed_actions_is_listed_as_changed)
{
	static const char *const lines[] = {"dry-run = yes\n", "severity = page\n", "action = unit\n",
					    "trust-owner = yes\n"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(config_freep) struct config *running = NULL;
		char text[256];
		char **changes;

		expect_right(SLOW(""));
		running = TAKE_PTR(config);
		(void)snprintf(text, sizeof(text), SLOW("%s"), lines[i]);
		expect_right(text);
		cr_expect_eq(config_rule_changes(running, config, &changes), 1, "%s", lines[i]);
		config_rule_changes_free(changes);
		cr_expect_eq(config_rule_changes(config, config, &changes), 0, "%s", lines[i]);
		config_rule_changes_free(changes);
	}
}

Test(config_rules, the_manual_has_every_key_with_its_default)
{
	_cleanup_fclose_ FILE *file = fopen("daemon/man/pebsd.conf.5", "re");
	static char text[65536];

	cr_assert(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	for (size_t i = 0; i < RULE_KEYS; i++) {
		char item[128];

		(void)snprintf(item, sizeof(item), ".It Ic %s%s%s\n", config_rule_keys[i].name,
			       *config_rule_keys[i].default_text ? " = " : " =",
			       config_rule_keys[i].default_text);
		cr_expect(strstr(text, item), "%s", item);
	}
}

/*
 * Without the comment signs, the lines of the first example in pebsd.conf are a rule with the defaults. The second one
 * needs other events.
 */
Test(config_rules, the_installed_file_has_an_example_with_every_key)
{
	_cleanup_fclose_ FILE *file = fopen("config/pebsd.conf", "re");
	static char example[16384];
	bool named[RULE_KEYS] = {false};
	bool within = false;
	char line[256];
	size_t used =
		(size_t)snprintf(example, sizeof(example), "[sampling]\nevents = loads stalls cycles\n");
	const struct rule *rule;

	cr_assert(file);
	while (fgets(line, sizeof(line), file)) {
		within |= strncmp(line, "#[rule ", 7) == 0;
		if (!within || line[0] != '#' || line[1] == ' ')
			continue;
		used += (size_t)snprintf(example + used, sizeof(example) - used, "%s", line + 1);
		for (size_t i = 0; i < RULE_KEYS; i++) {
			size_t length = strlen(config_rule_keys[i].name);

			if (strncmp(line + 1, config_rule_keys[i].name, length) == 0 &&
			    strncmp(line + 1 + length, " =", 2) == 0)
				named[i] = true;
		}
	}
	expect_right(example);
	for (size_t i = 0; i < RULE_KEYS; i++)
		cr_expect(named[i], "%s", config_rule_keys[i].name);
	cr_assert_eq(config->n_rules, 2);
	rule = &config->rules[0];
	cr_expect_eq(rule->window_ns, 30 * NSEC_PER_SEC);
	cr_expect_eq(rule->for_ns, 60 * NSEC_PER_SEC);
	cr_expect_eq(rule->min_samples, 500);
	cr_expect_eq(rule->confidence, 0.95);
	cr_expect_str_eq(rule->severity, "warning");
	cr_expect_eq(rule->actions, RULE_LOG);
	cr_expect_eq(config->rules[1].metric.kind, METRIC_CORES_LOST);
	cr_expect_eq(config->rules[1].event, EVENT_STALLS);
}
