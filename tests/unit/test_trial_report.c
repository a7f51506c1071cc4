// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "trial/json_trial.h"
#include "trial/trial_text.h"

static char *patterns[] = {(char *)"comm:*"};

static const struct rule rules[] = {
	{
		.name = "db-p99",
		.patterns = patterns,
		.n_patterns = 1,
		.event = EVENT_LOADS,
		.metric = {.kind = METRIC_QUANTILE, .quantile = 0.99},
		.threshold = 900,
		.clear = 700,
		.window_ns = 30 * NSEC_PER_SEC,
		.for_ns = 60 * NSEC_PER_SEC,
		.min_samples = 500,
		.confidence = 0.95,
		.severity = "warning",
		.actions = RULE_LOG | RULE_UNIT | RULE_ZOOM | RULE_HOT,
		.zoom_ns = 30 * NSEC_PER_SEC,
		.hot_ns = 600 * NSEC_PER_SEC,
	},
	{
		.name = "few",
		.patterns = patterns,
		.n_patterns = 1,
		.event = EVENT_STORES,
		.metric = {.kind = METRIC_RATE},
		.below = true,
		.threshold = 200,
		.clear = 300,
		.window_ns = 60 * NSEC_PER_SEC,
		.confidence = 0.95,
		.severity = "warning",
		.dry_run = true,
	},
};

static struct trial_report *report;

static void begin(void)
{
	struct trial_stretch stretch = {.start_ns = 1000 * NSEC_PER_SEC, .elapsed_ns = 600 * NSEC_PER_SEC};

	cr_assert_eq(trial_report_new("replay", rules, ARRAY_SIZE(rules), &report), 0);
	stretch.name = strdup("a.data");
	cr_assert_eq(trial_report_stretch(report, &stretch), 0);
	report->roles = 1U << EVENT_LOADS | 1U << EVENT_STORES;
	report->cgroups = 2;
	report->some_cgroups[0] = "comm:db";
	report->some_cgroups[1] = "comm:w\033b";
}

static void end(void)
{
	report = trial_report_free(report);
}

TestSuite(trial_report, .init = begin, .fini = end);

static void fire(u64 at_ns)
{
	const struct trial_transition fired = {
		.at_ns = at_ns,
		.transition = {.from = ALERT_PENDING,
			       .to = ALERT_FIRING,
			       .alert = {.number = 3,
					 .rule = &rules[0],
					 .cgroup = "comm:w\033b",
					 .event_key = "loads",
					 .limits = rule_limits(&rules[0], 900),
					 .decision = {.state = ALERT_FIRING},
					 .estimate = {.known = true,
						      .value = 1204.5,
						      .bounds = {1024, INFINITY},
						      .samples = 3000}}},
	};

	cr_assert_eq(trial_report_transition(report, &fired), 0);
}

static bool full;

static char *text(void)
{
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	cr_assert(out);
	trial_text(out, report, &(struct format_style){.full = full});
	(void)fclose(out);
	return bytes;
}

#define expect_text(expected)                                      \
	do {                                                       \
		_cleanup_free_ char *_text = text();               \
		cr_expect(strstr(_text, (expected)), "%s", _text); \
	} while (0)

static struct trial_closest at(double value, u64 at_ns)
{
	return (struct trial_closest){
		.threshold = 896,
		.cgroup = "comm:db",
		.event_key = "loads",
		.estimate = {.known = true, .value = value, .bounds = {value - 10, value + 10}},
		.at_ns = at_ns};
}

Test(trial_report, the_estimate_closest_to_the_threshold_is_kept)
{
	struct trial_rule *of_rule = &report->of_rules[0];
	struct trial_closest estimate = at(448, 1);

	trial_rule_approach(of_rule, &rules[0], &estimate);
	estimate = at(672, 2);
	trial_rule_approach(of_rule, &rules[0], &estimate);
	estimate = at(600, 3);
	trial_rule_approach(of_rule, &rules[0], &estimate);
	cr_assert(of_rule->closest.known);
	cr_expect_eq(of_rule->closest.at_ns, 2);
	cr_expect_float_eq(of_rule->closest.share, 0.75, 1e-9);
}

/* The order in which cgroups are looked at differs from run to run. */
Test(trial_report, of_cgroups_that_are_equally_close_the_first_by_name_is_kept)
{
	static const char *const names[] = {"comm:b", "comm:a", "comm:c"};
	struct trial_rule *of_rule = &report->of_rules[0];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct trial_closest estimate = at(448, 1);

		estimate.cgroup = names[i];
		trial_rule_approach(of_rule, &rules[0], &estimate);
	}
	cr_expect_str_eq(of_rule->closest.cgroup, "comm:a");
}

Test(trial_report, of_times_that_are_equally_close_the_first_is_kept)
{
	struct trial_rule *of_rule = &report->of_rules[0];
	struct trial_closest estimate = at(448, 1);

	trial_rule_approach(of_rule, &rules[0], &estimate);
	estimate = at(448, 2);
	estimate.cgroup = "comm:a";
	trial_rule_approach(of_rule, &rules[0], &estimate);
	cr_expect_eq(of_rule->closest.at_ns, 1);
	cr_expect_str_eq(of_rule->closest.cgroup, "comm:db");
}

Test(trial_report, below_a_threshold_the_lowest_estimate_is_closest)
{
	struct trial_rule *of_rule = &report->of_rules[1];
	struct trial_closest estimate = at(1792, 1);

	trial_rule_approach(of_rule, &rules[1], &estimate);
	estimate = at(1120, 2);
	trial_rule_approach(of_rule, &rules[1], &estimate);
	estimate = at(1400, 3);
	trial_rule_approach(of_rule, &rules[1], &estimate);
	cr_expect_eq(of_rule->closest.at_ns, 2);
	cr_expect_float_eq(of_rule->closest.share, 0.8, 1e-9);
	/* A value or a threshold of 0 has no ratio. */
	estimate = at(5, 4);
	estimate.threshold = 0;
	of_rule->closest.known = false;
	trial_rule_approach(of_rule, &rules[1], &estimate);
	cr_expect_not(of_rule->closest.known);
	of_rule->closest.known = true;
	estimate = at(0, 4);
	trial_rule_approach(of_rule, &rules[1], &estimate);
	cr_expect_eq(of_rule->closest.at_ns, 2);
}

Test(trial_report, the_main_reason_is_the_one_of_the_longest_time)
{
	struct trial_rule rule = {.unknown_s = {[UNKNOWN_WINDOW] = 30, [UNKNOWN_SAMPLES] = 50}};
	const struct trial_rule known = {.known_s = 7};
	double s;

	cr_expect_eq(trial_rule_main_reason(&rule, &s), UNKNOWN_SAMPLES);
	cr_expect_eq(s, 80);
	cr_expect_eq(trial_rule_main_reason(&known, &s), UNKNOWN_NOT);
	cr_expect_eq(s, 0);
}

Test(trial_report, each_transition_is_one_line)
{
	fire(315 * NSEC_PER_SEC);
	expect_text("a.data: 10m\n+00:05:15  db-p99  w\\x1bb  pending -> firing  1,204.5 cycles [1,024, -], "
		    "fires above 896 cycles\n");
}

/* The baseline of the ratio is 0. */
Test(trial_report, an_infinite_ratio_is_not_printed)
{
	struct rule rule = rules[0];
	struct alert *alert;

	rule.metric.ratio = true;
	fire(315 * NSEC_PER_SEC);
	alert = &report->transitions[0].transition.alert;
	alert->rule = &rule;
	alert->limits.threshold = 2;
	alert->estimate.value = INFINITY;
	alert->estimate.bounds.low = 2.5;
	expect_text("pending -> firing  no value [2.5, -], fires above 2 times its baseline\n");
}

Test(trial_report, the_time_of_day_is_shown_if_known)
{
	report->stretches[0].real_time = true;
	report->stretches[0].start = (struct timespec){.tv_sec = 1795240800, .tv_nsec = 900000000};
	fire(315 * NSEC_PER_SEC + 200 * NSEC_PER_MSEC);
	expect_text("+00:05:15.200  Sat 2026-11-21 06:05:16 UTC  db-p99");
}

Test(trial_report, each_rule_is_summarized)
{
	struct trial_rule *of_rule = &report->of_rules[0];
	struct trial_closest estimate = at(672, 190 * NSEC_PER_SEC);

	of_rule->fired = 2;
	of_rule->cgroups_fired = 1;
	of_rule->firing_s = 160;
	of_rule->still_firing = 1;
	of_rule->cgroups = of_rule->cgroups_judged = 2;
	of_rule->known_s = 900;
	of_rule->unknown_s[UNKNOWN_WINDOW] = 100;
	trial_rule_approach(of_rule, &rules[0], &estimate);
	expect_text(
		"\n\ndb-p99: p99 of loads above 896 cycles for 1m, window 30s\n  fired 2 times on 1 "
		"cgroup, firing for 2m 40s in total, 1 still firing at the end\n  each time it would have "
		"started its unit, zoomed in for 30s, tracked hot code and data for 10m\n  judged 2 "
		"cgroups of 2 that match; unknown for 10.0% of their time, mostly because: ");
	expect_text("\n  closest: db, 672 cycles [662, 682] at +00:03:10: 0.75 times the threshold\n");
	full = true;
	expect_text("\n  closest: comm:db, 672 cycles [662, 682] at +00:03:10: 0.75 times the threshold\n");
	expect_text("\n\nfew: rate of stores below 200 ");
	expect_text(", window 1m, dry run\n  matches none of 2 cgroups: comm:db, comm:w\\x1bb\n");
}

static void expect_closest(size_t rule, double value, const char *expected)
{
	struct trial_closest estimate = at(value, 1);

	report->of_rules[rule].cgroups = report->of_rules[rule].cgroups_judged = 1;
	report->of_rules[rule].closest.known = false;
	trial_rule_approach(&report->of_rules[rule], &rules[rule], &estimate);
	expect_text(expected);
}

Test(trial_report, the_value_is_related_to_the_threshold)
{
	expect_closest(0, 2329.6, " at +00:00:00: 2.6 times the threshold\n");
	expect_closest(0, 896, ": 1 times the threshold\n");
	expect_closest(0, 895.9, ": just below the threshold\n");
	expect_closest(0, 896e5, ": 100000 times the threshold\n");
	/* The rule has `below`: the value stays above the threshold twice, then falls below it. */
	expect_closest(1, 2240, ": 2.5 times the threshold\n");
	expect_closest(1, 896.1, ": just above the threshold\n");
	expect_closest(1, 8.96, ": 0.01 times the threshold\n");
}

Test(trial_report, too_few_samples_are_reported_with_their_number)
{
	report->of_rules[0].cgroups = 1;
	report->of_rules[0].unknown_s[UNKNOWN_SAMPLES] = 5;
	report->of_rules[0].most_samples = 212;
	expect_text("(at most 212 of the 500 samples that the rule needs)\n");
}

Test(trial_report, rules_on_absent_events_cannot_be_judged)
{
	report->roles = 1U << EVENT_LOADS;
	report->only_comms = true;
	expect_text("dry run\n  nothing to judge: no samples of stores\n");
	expect_text("or record with --all-cgroups\n");
}

Test(trial_report, missing_events_of_count_metrics_are_named)
{
	struct rule of_counts[3];
	struct trial_rule *of_rule;

	for (size_t i = 0; i < ARRAY_SIZE(of_counts); i++) {
		of_counts[i] = rules[0];
		of_counts[i].event = EVENT_STALLS;
		of_counts[i].threshold = of_counts[i].clear = 0.4;
		of_counts[i].actions = RULE_LOG;
	}
	(void)snprintf(of_counts[0].name, sizeof(of_counts[0].name), "waits");
	of_counts[0].metric = (struct metric){.kind = METRIC_WAIT};
	(void)snprintf(of_counts[1].name, sizeof(of_counts[1].name), "lost");
	of_counts[1].metric = (struct metric){.kind = METRIC_CORES_LOST};
	(void)snprintf(of_counts[2].name, sizeof(of_counts[2].name), "traffic");
	of_counts[2].metric = (struct metric){.kind = METRIC_TRAFFIC};
	of_counts[2].event = EVENT_MISSES;
	of_counts[2].threshold = 5e9;
	report = trial_report_free(report);
	cr_assert_eq(trial_report_new("replay", of_counts, ARRAY_SIZE(of_counts), &report), 0);
	expect_text(
		"waits: wait above 40% of its cycles for 1m, window 30s\n  nothing to judge: no samples of stalls\n");
	report->roles = 1U << EVENT_STALLS | 1U << EVENT_MISSES;
	expect_text("  nothing to judge: no samples of cycles, which wait is also computed from\n");
	report->roles |= 1U << EVENT_CYCLES;
	expect_text(
		"lost: cores-lost above 0.4 cores for 1m, window 30s\n  nothing to judge: --test-rules does not know the running frequency of the CPUs, which cores-lost needs; ratio:cores-lost does not need it\n");
	/* The bounds of traffic keep their units, which may differ from that of the value. */
	of_rule = &report->of_rules[2];
	of_rule->cgroups = of_rule->cgroups_judged = 1;
	of_rule->closest = (struct trial_closest){
		.known = true,
		.threshold = 5e9,
		.cgroup = "comm:db",
		.event_key = "misses",
		.estimate = {.known = true, .value = 1.05e9, .bounds = {9.8e8, 1.12e9}},
	};
	expect_text(
		"  closest: db, 1.05 GB/s [980 MB/s, 1.12 GB/s] at +00:00:00: 0.21 times the threshold\n");
}

static json_object *member(json_object *object, const char *key)
{
	json_object *found = json_object_object_get(object, key);

	cr_assert(found, "%s", key);
	return found;
}

Test(trial_report, json_has_the_same_content)
{
	struct trial_closest estimate = at(672, 190 * NSEC_PER_SEC);
	json_object *json, *transition, *rule;

	fire(315 * NSEC_PER_SEC);
	report->of_rules[0].fired = 1;
	report->of_rules[0].unknown_s[UNKNOWN_WINDOW] = 1.5;
	trial_rule_approach(&report->of_rules[0], &rules[0], &estimate);
	json = json_trial(report);
	cr_assert(json);
	cr_expect_null(json_object_object_get(json, "from"));
	transition = json_object_array_get_idx(member(json, "transitions"), 0);
	cr_expect_float_eq(json_object_get_double(member(transition, "at_s")), 315, 1e-9);
	cr_expect_str_eq(json_object_get_string(member(transition, "from")), "pending");
	cr_expect_str_eq(json_object_get_string(member(transition, "state")), "firing");
	cr_expect_null(json_object_object_get(transition, "since"), "no time of day is made up");
	cr_expect_null(json_object_object_get(transition, "high"));
	rule = json_object_array_get_idx(member(json, "rules"), 0);
	cr_expect_str_eq(json_object_get_string(member(rule, "metric")), "p99");
	cr_expect_eq(json_object_get_int64(member(rule, "fired")), 1);
	cr_expect_null(json_object_object_get(rule, "cgroups"));
	cr_expect_float_eq(json_object_get_double(member(member(rule, "unknown_s"), "window")), 1.5, 1e-9);
	cr_expect_float_eq(json_object_get_double(member(member(rule, "closest"), "of_threshold")), 0.75,
			   1e-9);
	rule = json_object_array_get_idx(member(json, "rules"), 1);
	cr_expect_null(json_object_object_get(rule, "closest"));
	json_object_put(json);
}
