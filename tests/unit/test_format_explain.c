// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "format/format.h"
#include "formatted.h"

#define NOW 1795244400 /* Sat 2026-11-21 07:00:00 UTC */

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};
static const struct format_style tight = {.width = 34}; /* leaves 21 cells for the scale */

#define RULE                                                                                           \
	"{'rule':'slow','cgroup':['/db*'],'event':'loads','metric':'p99','unit':'cycles','above':900," \
	"'judged_at':896,'clear':700,'clear_judged_at':704,'window_s':30,'for_s':60,"                  \
	"'min_samples':500,'needs_samples':299,'confidence':0.95,'severity':'page','subtree':false,"   \
	"'dry_run':false,'trust_owner':false,'action':['log']}"
#define REPLY(judged) "{'version':1,'origin':'perf','rule':" RULE ",'judged':[" judged "]}"
#define FIRING                                                                                   \
	"{'alert':17,'rule':'slow','cgroup':'/db@15','event':'loads:cpu_core','state':'firing'," \
	"'metric':'p99','unit':'cycles','value':912.5,'low':898,'high':960,'samples':20412,"     \
	"'min_samples':500,'above':896,'clear':704,'window_s':30,'for_s':60,"                    \
	"'since':'2026-11-21T06:47:55Z','breached':'2026-11-21T06:46:55Z',"                      \
	"'fired':'2026-11-21T06:47:55Z','sentences':['it fires: 251 are above','it resolves when',7]}"
#define HELD                                                                                     \
	"{'rule':'slow','cgroup':'/db@15','event':'loads:cpu_atom','state':'unknown',"           \
	"'held':'pending','unknown':'samples','dry_run':true,'metric':'p99','unit':'cycles',"    \
	"'samples':120,'base_samples':7,'min_samples':500,'above':1200,'clear':900,'held_s':21," \
	"'for_s':60,'preference':{'threshold':1200},'sentences':['120 of 500 came']}"

static char *text_of(const char *reply, const struct format_style *style)
{
	_cleanup_json_ json_object *explained = formatted_from(reply);

	return FORMATTED(format_explain(out, explained, NULL, NULL, NOW, style));
}

Test(format_explain, each_event_is_explained_on_80_columns)
{
	_cleanup_free_ char *text = text_of(REPLY(FIRING "," HELD), &narrow);

	cr_expect_str_eq(text,
			 "       Rule: slow\n"
			 "     Cgroup: /db@15\n"
			 "     Origin: perf\n"
			 "         On: /db*\n"
			 "       Does: log; severity page\n"
			 "\n"
			 "      Event: loads:cpu_core\n"
			 "      State: firing since Sat 2026-11-21 06:47:55 UTC; 12min 5s ago; alert 17\n"
			 "      Value: p99 is 912.5 cycles; bounds: 898 - 960\n"
			 "     Limits: .....-------------------------------------!!!!!!!!!!!!!!!!!!\n"
			 "   Measured:                                            [=o=========]\n"
			 "             ! is above 896 cycles, . is 704 cycles or less; fires when all of\n"
			 "             [=o=] is in the ! zone, clears when all is in the . zone\n"
			 "    Verdict: it fires: 251 are above\n"
			 "             it resolves when\n"
			 "\n"
			 "      Event: loads:cpu_atom\n"
			 "      State: unknown (pending); dry run: changes are only logged\n"
			 "      Value: not known\n"
			 "    Verdict: 120 of 500 came\n");
	formatted_expect_fit(text, 80);
}

Test(format_explain, a_latency_is_also_shown_as_time)
{
	_cleanup_json_ json_object *explained = formatted_from(REPLY(FIRING));
	json_object *alert = json_object_array_get_idx(json_get_array(explained, "judged"), 0);
	_cleanup_free_ char *text = NULL;

	json_object_object_add(alert, "nominal_frequency", json_object_new_uint64(2600000000));
	text = FORMATTED(format_explain(out, explained, NULL, NULL, NOW, &wide));
	formatted_expect(
		text,
		"      Value: p99 is 912.5 cycles, about 351 ns at 2.6 GHz, the nominal frequency; bounds: 898 - 960\n");
}

/* The numbers replace the missing sentences. */
Test(format_explain, without_sentences_the_numbers_are_shown)
{
	_cleanup_json_ json_object *explained = formatted_from(REPLY(HELD "," FIRING));
	json_object *judged = json_get_array(explained, "judged");
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < 2; i++)
		json_object_object_del(json_object_array_get_idx(judged, i), "sentences");
	text = FORMATTED(format_explain(out, explained, NULL, NULL, NOW, &narrow));
	cr_expect_str_eq(text,
			 "       Rule: slow\n"
			 "     Cgroup: /db@15\n"
			 "     Origin: perf\n"
			 "      Fires: p99 of loads above 896 cycles (configured: 900), over the last 30s,\n"
			 "             for 1min 0s\n"
			 "     Clears: 704 cycles or less (configured: 700)\n"
			 "         On: /db*\n"
			 "      Needs: 500 samples in the window (fewer than 299 can never decide), 95%\n"
			 "             confidence\n"
			 "       Does: log; severity page\n"
			 "\n"
			 "      Event: loads:cpu_atom\n"
			 "      State: unknown (pending); dry run: changes are only logged\n"
			 "      Value: not known\n"
			 "    Unknown: too few samples; meanwhile the alert neither fires nor resolves\n"
			 "    Pending: breach proven for 21s of the required 1min 0s\n"
			 "    Samples: 120; the baseline has 7; at least 500 are needed in each\n"
			 " Attributes: user.pebsd.threshold on the cgroup's directory: 1,200 cycles\n"
			 "             instead of the rule's\n"
			 "\n"
			 "      Event: loads:cpu_core\n"
			 "      State: firing since Sat 2026-11-21 06:47:55 UTC; 12min 5s ago; alert 17\n"
			 "      Value: p99 is 912.5 cycles; bounds: 898 - 960, each at 95% confidence\n"
			 "     Limits: .....-------------------------------------!!!!!!!!!!!!!!!!!!\n"
			 "   Measured:                                            [=o=========]\n"
			 "             ! is above 896 cycles, . is 704 cycles or less; fires when all of\n"
			 "             [=o=] is in the ! zone, clears when all is in the . zone\n"
			 "    Samples: 20,412 in 30s; at least 500 are needed\n"
			 "   Breached: Sat 2026-11-21 06:46:55 UTC\n"
			 "      Fired: Sat 2026-11-21 06:47:55 UTC\n");
	formatted_expect_fit(text, 80);
}

/* The reply of Explain about an alert of the demo, whose rule is in config/demo.conf. */
#define LOST                                                                                                                                             \
	"{'origin':'model','rule':{'rule':'cores-lost','cgroup':['model:*','/**'],'event':'stalls',"                                                     \
	"'second_event':'cycles','metric':'cores-lost','unit':'cores','above':0.75,"                                                                     \
	"'severity':'warning','action':['log']},'judged':[{'alert':2,"                                                                                   \
	"'cgroup':'model:locked-counters','event':'stalls','state':'firing','metric':'cores-lost',"                                                      \
	"'unit':'cores','value':0.89612,'low':0.86577,'high':0.92721,'above':0.75,'clear':0.75,"                                                         \
	"'since':'2026-11-21T06:47:55Z',"                                                                                                                \
	"'sentences':['model:locked-counters loses 0.8961 of its 0.9999 cores to memory: at least 0.8657 and at most 0.9273 (each with 95% confidence)," \
	" from 2,330 samples of stalls in 10s; its cores run at 2.6 GHz',"                                                                               \
	"'memory costs the cgroup at most this much,"                                                                                                    \
	" whatever the cause: in a stalled cycle nothing executes and a load is outstanding',"                                                           \
	"'the rule fires when the lower bound is at least 0.75 cores for 5s,"                                                                            \
	" and clears when the upper bound is at most 0.75 cores',"                                                                                       \
	"'pebsctl hot model:locked-counters shows its code and data',"                                                                                   \
	"'pebsctl neighbours model:locked-counters shows possible causes']}]}"

/* The prompt needs the last of the 24 lines. */
Test(format_explain, cores_lost_fit_on_one_screen)
{
	_cleanup_json_ json_object *explained = formatted_from(LOST);
	_cleanup_json_ json_object *status = formatted_from(
		"{'events':{'loads':{'role':'loads','period':10007},'stalls':{'role':'stalls'}}}");
	_cleanup_json_ json_object *figures = formatted_from(
		"{'events':{'loads':{'samples':9876,'latency':{'sum':1500,'weighted_sum':15010500},'sources':{'l1':{'samples':1383,'latency_sum':60},'l3':{'samples':6814,'latency_sum':840},'remote_cache':{'samples':1679,'latency_sum':600}}}}}");
	_cleanup_free_ char *text = FORMATTED(format_explain(out, explained, status, figures, NOW, &narrow));
	size_t lines = 0;

	cr_expect(format_explain_waits(explained));
	formatted_expect(text,
			 "      State: firing since Sat 2026-11-21 06:47:55 UTC; 12min 5s ago; alert 2\n"
			 "      Value: cores-lost is 0.8961 cores; bounds: 0.8658 - 0.9272\n");
	formatted_expect(text,
			 "  By source: L1 4.0%, L3 56.0%, remote 40.0%; an estimate, from the weighted\n"
			 "             latency of its sampled loads\n");
	formatted_expect_fit(text, 80);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_expect_leq(lines, 23, "%zu lines", lines);
}

/* A rule on the waiting of a hybrid CPU's PMUs has one verdict for each. */
Test(format_explain, an_event_is_named_if_there_are_several)
{
	_cleanup_json_ json_object *explained = formatted_from(LOST);
	json_object *judged = json_get_array(explained, "judged");
	_cleanup_free_ char *one = NULL, *two = NULL;

	one = FORMATTED(format_explain(out, explained, NULL, NULL, NOW, &narrow));
	formatted_expect_not(one, "Event:");
	formatted_expect_not(one, "By source");
	json_object_array_add(judged, json_object_get(json_object_array_get_idx(judged, 0)));
	two = FORMATTED(format_explain(out, explained, NULL, NULL, NOW, &narrow));
	formatted_expect(two, "      Event: stalls\n");
	json_object_object_add(json_get_object(explained, "rule"), "metric", json_object_new_string("cpi"));
	cr_expect_not(format_explain_waits(explained));
}

Test(format_explain, an_explanation_without_samples_says_so)
{
	_cleanup_free_ char *text = text_of(REPLY(""), &narrow);

	formatted_expect_fit(text, 80);
	formatted_expect(text, "      State: nothing to judge: the rule matches");
	formatted_expect_not(text, "Cgroup:");
}

static void expect_scale(const char *numbers, const char *expected)
{
	_cleanup_free_ char *reply = NULL;
	_cleanup_free_ char *text = NULL;

	cr_assert_geq(asprintf(&reply, REPLY("{'unit':'cycles',%s}"), numbers), 0);
	text = text_of(reply, &tight);
	formatted_expect_fit(text, 34);
	if (expected)
		formatted_expect(text, expected);
	else
		formatted_expect_not(text, "Measured:");
}

/*
 * The picture agrees with the decision: [=o=] entirely in the ! zone is a breach, and entirely in the . zone
 * is clear.
 */
Test(format_explain, the_scale_agrees_with_the_verdict)
{
	expect_scale("'above':100,'clear':50,'value':150,'low':110,'high':160",
		     "     Limits: ..-------!!!!!!!!!!!!\n"
		     "   Measured:            [=====o=]\n");
	expect_scale("'above':100,'clear':50,'value':30,'low':20,'high':40",
		     "     Limits: .........----------!!\n"
		     "   Measured:  [==o=]\n");
	expect_scale("'below':50,'clear':100,'value':30,'low':20,'high':40",
		     "     Limits: !!!!!!!!!----------..\n"
		     "   Measured:  [==o=]\n");
	expect_scale("'above':100,'clear':100,'value':150,'low':50,'high':160",
		     "     Limits: .........!!!!!!!!!!!!\n");
}

/* 99.9 and 100 belong to the same cell. A bound that proves nothing is drawn one cell further out. */
Test(format_explain, a_bound_just_short_of_a_limit_does_not_look_past_it)
{
	expect_scale("'above':100,'clear':50,'value':150,'low':100,'high':160",
		     "     Limits: ..-------!!!!!!!!!!!!\n"
		     "   Measured:          [=======o=]\n");
	expect_scale("'above':100,'clear':50,'value':150,'low':99.9,'high':160",
		     "     Limits: ..-------!!!!!!!!!!!!\n"
		     "   Measured:         [========o=]\n");
	expect_scale("'above':100,'clear':50,'value':40,'low':30,'high':50",
		     "     Limits: .......------------!!\n"
		     "   Measured:  [==o=]\n");
	expect_scale("'above':100,'clear':50,'value':40,'low':30,'high':50.1",
		     "     Limits: .......------------!!\n"
		     "   Measured:  [==o==]\n");
	expect_scale("'below':50,'clear':100,'value':40,'low':30,'high':50.1",
		     "     Limits: !!!!!!!------------..\n"
		     "   Measured:  [==o==]\n");
	expect_scale("'below':50,'clear':100,'value':150,'low':99.9,'high':160",
		     "     Limits: !!-------............\n"
		     "   Measured:         [========o=]\n");
}

Test(format_explain, a_scale_without_bounds_is_open)
{
	expect_scale("'above':100,'clear':50,'value':80", "   Measured: <===========o=======>\n");
	expect_scale("'above':100,'clear':50,'value':80,'low':70", "[");
	expect_scale("'above':100,'clear':50", NULL);
	expect_scale("'value':80,'low':70,'high':90", NULL);
	expect_scale("'above':100,'clear':100,'value':100,'low':100,'high':100", NULL);
	expect_scale("'above':1e308,'clear':-1e308,'value':0", NULL);
	expect_scale("'above':100,'value':1e999", NULL);
}

Test(format_explain, an_unknown_value_is_not_0)
{
	_cleanup_free_ char *text = text_of(REPLY("{'state':'inactive'}"), &wide);

	formatted_expect(text, "      State: inactive\n      Value: not known\n");
	formatted_expect_not(text, "Samples");
}

/* The metric is the one that the alert was measured with, because its rule may have changed since. */
Test(format_explain, the_metric_of_the_alert_is_shown)
{
	_cleanup_free_ char *text = text_of(REPLY("{'metric':'mean','unit':'cycles','value':5}"), &narrow);

	formatted_expect(text, "Value: mean is 5 cycles; bounds: not known\n");
}

Test(format_explain, samples_that_came_in_bursts_are_worth_fewer)
{
	_cleanup_free_ char *bursts = text_of(REPLY("{'samples':5025,'worth':610,'window_s':30}"), &narrow);
	_cleanup_free_ char *even = text_of(REPLY("{'samples':5025,'worth':5025,'window_s':30}"), &narrow);

	formatted_expect(bursts, "Samples: 5,025 in 30s, worth 610 independent ones\n");
	formatted_expect(even, "Samples: 5,025 in 30");
}

/* The rule of a past alert is unknown, and ages are counted up to that time. */
Test(format_explain, an_explanation_of_the_past_says_so)
{
	char *past = text_of(
		"{'origin':'perf','taken':'2026-11-21T06:48:05Z','unlisted':2,'judged':[" FIRING "]}", &wide);
	char *none =
		text_of("{'origin':'perf','taken':'2026-11-21T06:48:05Z','unlisted':0,'judged':[]}", &wide);

	cr_expect_not_null(strstr(past, "Rule: slow\n"), "%s", past);
	cr_expect_not_null(strstr(past, "the figures of an alert are from the start of its state"), "%s",
			   past);
	cr_expect_not_null(strstr(past, "State: firing since "), "%s", past);
	cr_expect_not_null(strstr(past, "10s"), "its age then: %s", past);
	cr_expect_not_null(strstr(past, "Verdict: it fires: 251 are above\n"), "%s", past);
	cr_expect_not_null(strstr(past, "Older: 2 more alerts, not listed\n"), "%s", past);
	cr_expect_null(strstr(past, "Fires:"), "%s", past);
	cr_expect_not_null(
		strstr(none, "State: the rule had no pending or firing alert on this cgroup then\n"), "%s",
		none);
	free(past);
	free(none);
}

/* The stored sentences are older than the gap, and do not mention it. */
Test(format_explain, a_missing_end_of_an_alert_is_explained)
{
	_cleanup_free_ char *gap = text_of(
		REPLY("{'state':'unknown','held':'firing','unknown':'gap','sentences':['it fires']}"), &wide);
	_cleanup_free_ char *restart =
		text_of(REPLY("{'state':'unknown','held':'firing','unknown':'restart'}"), &wide);

	formatted_expect(
		gap, "Unknown: nothing is stored for this time: pebsd did not run, or sampling was paused\n");
	formatted_expect(gap, "Verdict: it fires\n");
	formatted_expect(restart,
			 "Unknown: its end is not stored: pebsd restarted and did not restore the alert\n");
	cr_expect_null(strstr(restart, "meanwhile"), "%s", restart);
}

/* Nobody knows whether the rule had an alert. */
Test(format_explain, an_explanation_in_a_gap_says_so)
{
	_cleanup_json_ json_object *reply = json_tokener_parse(
		"{'origin':'perf','taken':'2026-11-21T06:48:05Z','unlisted':0,'judged':[],'gaps':[{'since':'2026-11-21T06:40:00Z','until':'2026-11-21T06:48:05Z'}]}");
	_cleanup_json_ json_object *present = json_tokener_parse(REPLY("{}"));
	_cleanup_free_ char *text = NULL, *named = NULL;

	cr_assert(reply && present);
	text = FORMATTED(({
		format_explain_asked(out, reply, "slow", "/shop/\033db", &wide);
		format_explain(out, reply, NULL, NULL, NOW, &wide);
	}));
	formatted_expect(text, "Rule: slow\n");
	formatted_expect(text, "State: not known: nothing is stored for this time\n");
	formatted_expect(text, "Gap: ");
	cr_expect_not_null(strstr(text, "Cgroup: /shop/"), "%s", text);
	cr_expect_null(strchr(text, '\033'));
	named = FORMATTED(format_explain_asked(out, present, "slow", "/shop/db", &wide));
	cr_expect_str_empty(named, "the reply names them");
}
