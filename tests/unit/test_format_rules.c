// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/json_get.h"
#include "format/format.h"
#include "formatted.h"

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};

#define DATABASE                                                                                   \
	"{'rule':'slow-database','cgroup':['/system.slice/postgresql*.service'],'event':'loads',"  \
	"'metric':'p99','unit':'cycles','above':900,'judged_at':896,'clear':700,"                  \
	"'clear_judged_at':704,'window_s':30,'for_s':60,'min_samples':500,'needs_samples':299,"    \
	"'confidence':0.95,'severity':'page','subtree':false,'dry_run':false,'trust_owner':false," \
	"'action':['log','unit'],'cgroups':{'firing':1,'pending':0,'inactive':2,"                  \
	"'unknown':{'samples':3,'window':1}}}"
#define STORM                                                                                   \
	"{'rule':'storm','cgroup':['/a/**','/b'],'event':'stores','metric':'rate',"             \
	"'unit':'per_second','below':50000000,'clear':60000000,'window_s':10,'for_s':0,"        \
	"'min_samples':0,'needs_samples':0,'confidence':0.99,'severity':'info','subtree':true," \
	"'dry_run':true,'trust_owner':true,'action':['log'],'cgroups':{'firing':0,'pending':0}}"
#define RATIO                                                                                     \
	"{'rule':'slower','cgroup':['/**'],'event':'loads','metric':'ratio:mean','unit':'ratio'," \
	"'above':1.5,'clear':1.2,'baseline_s':3600,'window_s':60,'for_s':60}"
#define REPLY(rules) "{'version':1,'origin':'perf','rules':[" rules "]}"

static char *text_of(const char *reply, const struct format_style *style)
{
	_cleanup_json_ json_object *rules = formatted_from(reply);

	return FORMATTED(format_rules(out, rules, style));
}

/* The rule has `above = 346ns` and `clear = 269ns`. */
Test(format_rules, limits_given_as_times_are_shown_next_to_the_cycles)
{
	_cleanup_json_ json_object *rules = formatted_from(REPLY(DATABASE));
	_cleanup_free_ char *text = NULL;

	json_object_object_add(json_object_array_get_idx(json_get_array(rules, "rules"), 0),
			       "nominal_frequency", json_object_new_uint64(2600000000));
	text = FORMATTED(format_rules(out, rules, &wide));
	formatted_expect(
		text,
		"Fires: p99 of loads above 896 cycles (configured: 346 ns, 900 cycles at 2.6 GHz), over the last 30s, for 1min 0s\n");
	formatted_expect(text, "Clears: 704 cycles or less (configured: 269 ns, 700 cycles at 2.6 GHz)\n");
}

/* A metric with two events implies them, so only its name is printed. */
Test(format_rules, a_metric_with_two_events_shows_both)
{
	_cleanup_free_ char *text = text_of(
		REPLY("{'rule':'lost','cgroup':['/**'],'event':'stalls','second_event':'cycles','metric':'cores-lost','unit':'cores','above':2,'clear':1.5,'window_s':30,'for_s':300}"),
		&wide);

	cr_expect_not_null(
		strstr(text, "      Fires: cores-lost above 2 cores, over the last 30s, for 5min 0s\n"), "%s",
		text);
	cr_expect_not_null(strstr(text, "     Clears: 1.5 cores or less\n"), "%s", text);
}

Test(format_rules, a_rule_on_unsampled_events_says_so)
{
	_cleanup_free_ char *text = text_of(
		REPLY("{'rule':'lost','cgroup':['/**'],'event':'stalls','second_event':'cycles','metric':'cores-lost','unit':'cores','above':2,'clear':1.5,'window_s':30,'for_s':300,'not_sampled':['cycles','stalls'],'cgroups':{'pending':0,'firing':0}}"),
		&wide);

	cr_expect_not_null(
		strstr(text,
		       "    Unknown: on every cgroup: cycles and stalls are not sampled here; `pebsctl status` names the events, and pebsd --probe says why some are missing\n"),
		"%s", text);
	cr_expect_null(strstr(text, "Matches"), "%s", text);
}

Test(format_rules, rules_fit_80_columns)
{
	_cleanup_free_ char *text = text_of(REPLY(DATABASE "," STORM), &narrow);

	cr_expect_str_eq(text,
			 "     Origin: perf\n"
			 "      Rules: 2; for each: the number of cgroups in each state, then the rule\n"
			 "             itself\n"
			 "\n"
			 "RULE          FIRING PENDING RESOLVED INACTIVE IGNORED UNKNOWN\n"
			 "slow-database      1       0        0        2       0       4\n"
			 "      Fires: p99 of loads above 896 cycles (configured: 900), over the last 30s,\n"
			 "             for 1min 0s\n"
			 "     Clears: 704 cycles or less (configured: 700)\n"
			 "         On: /system.slice/postgresql*.service\n"
			 "      Needs: 500 samples in the window (fewer than 299 can never decide), 95%\n"
			 "             confidence\n"
			 "       Does: log, unit; severity page\n"
			 "    Unknown: on 3 cgroups: too few samples\n"
			 "    Unknown: on 1 cgroup: the window is not covered yet\n"
			 "\n"
			 "storm              0       0        0        0       0       0\n"
			 "      Fires: rate of stores below 50,000,000/s, over the last 10s, at once\n"
			 "     Clears: 60,000,000/s or more\n"
			 "         On: /a/** /b, each with its whole subtree; user.pebsd.* attributes of a\n"
			 "             cgroup's directory apply, no matter who owns it\n"
			 "      Needs: any number of samples in the window, 99% confidence\n"
			 "       Does: log (dry run: only logged, as \"would fire\"); severity info\n"
			 "    Matches: none of the cgroups sampled so far; `pebsctl top --window all`\n"
			 "             lists them\n");
	formatted_expect_fit(text, 80);
}

Test(format_rules, a_ratio_names_its_baseline_and_absent_values_are_a_dash)
{
	_cleanup_free_ char *text = text_of(REPLY(RATIO), &wide);

	formatted_expect(text, "\nslower            -       -        -        -       -       -\n");
	formatted_expect(
		text,
		"      Fires: ratio:mean of loads above 1.5 times its baseline (half-life 1h 0min), over the last 1min 0s, for 1min 0s\n"
		"     Clears: 1.2 times or less\n"
		"         On: /**\n"
		"      Needs: -, - confidence\n"
		"       Does: -; severity -\n");
	formatted_expect_not(text, "Matches");
}

Test(format_rules, one_sample_is_not_plural)
{
	_cleanup_free_ char *text = text_of(REPLY("{'rule':'a','min_samples':1,'confidence':0.95}"), &wide);

	formatted_expect(text, "      Needs: 1 sample in the window, 95% confidence\n");
}

Test(format_rules, without_rules_the_text_says_how_to_configure_one)
{
	_cleanup_free_ char *text = text_of(REPLY(""), &narrow);
	_cleanup_free_ char *unknown = text_of("{'origin':'perf'}", &narrow);
	_cleanup_free_ char *replay = text_of("{'origin':'replay','rules':[]}", &narrow);

	formatted_expect_fit(text, 80);
	formatted_expect(text, "Rules: none, so there are no alerts");
	formatted_expect(text, "pebsd.conf(5)");
	formatted_expect(unknown, "      Rules: not known\n");
	formatted_expect(replay,
			 "      Rules: none: rules are not applied to recordings that are served; `pebsd\n");
}

Test(format_rules, subtrees_that_are_judged_in_part_are_marked)
{
	_cleanup_free_ char *text =
		text_of(REPLY("{'rule':'a','cgroups':{'firing':12,'partial':2,"
			      "'unknown':{'subtree_no_slot':1}}},{'rule':'b','cgroups':{'firing':12,"
			      "'partial':1}},{'rule':'c','cgroups':{'firing':12}}"),
			&wide);
	char *second = strstr(text, "\nb "), *third = strstr(text, "\nc ");

	cr_assert(second && third);
	formatted_expect(third, "c ");
	formatted_expect_not(third, "In part");
	*third = '\0';
	formatted_expect(
		second,
		"    In part: 1 subtree is judged without the samples of cgroups that have no slot; `pebsctl explain` says of how many");
	*second = '\0';
	formatted_expect(
		text,
		"    Unknown: on 1 cgroup: cgroups of the subtree have no slot, or had none in the window\n");
	formatted_expect(
		text,
		"    In part: 2 subtrees are judged without the samples of cgroups that have no slot; `pebsctl explain` says of how many");
}

/* Users pass the rule's name to `explain`, so it must not be cut. */
Test(format_rules, long_names_stay_whole)
{
	static const char name[] = "a-rule-whose-name-is-as-long-as-names-of-rules-may-be-at-most-63";
	_cleanup_free_ char *reply = NULL;
	_cleanup_free_ char *text = NULL;

	cr_assert_geq(asprintf(&reply, REPLY("{'rule':'%s','cgroups':{'firing':12}}," DATABASE), name), 0);
	text = text_of(reply, &narrow);
	formatted_expect_fit(text, 80);
	formatted_expect(text, name);
	formatted_expect(
		text,
		"-63\n                                    12       0        0        0       0       0\n");
}
