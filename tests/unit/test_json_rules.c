// SPDX-License-Identifier: GPL-2.0
/* Rules, alerts, transitions and neighbours as JSON. Each form is compared in full at least once. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/json_get.h"
#include "example_rules.h"
#include "export/json/json_neighbours.h"
#include "export/json/json_rules.h"
#include "formatted.h"
#include "history/shared/history_wire.h"

/* 2026-11-21T06:00:00Z */
#define SIX 1795240800

#define SLOW_DB                                                                                        \
	"'rule':'slow-db','cgroup':['/system.slice/db*.service','/kubepods.slice/*'],'event':'loads'," \
	"'metric':'p99','unit':'cycles','above':900,'judged_at':896,'clear':700,"                      \
	"'clear_judged_at':704,'window_s':30,'for_s':60,'min_samples':500,'needs_samples':299,"        \
	"'confidence':0.95,'severity':'critical','subtree':false,'dry_run':false,'trust_owner':false," \
	"'action':['log','unit']"
#define WORSE                                                                                        \
	"'rule':'worse','cgroup':['/*'],'event':'loads','metric':'ratio:mean','unit':'ratio',"       \
	"'above':1.5,'clear':1.2,'window_s':60,'for_s':60,'baseline_s':3600,'min_samples':500,"      \
	"'confidence':0.95,'severity':'warning','subtree':false,'dry_run':false,'trust_owner':true," \
	"'action':[]"

/* test_rule.c tests the number of samples that `worse` and `starved` need. */
Test(json_rules, rules_are_written_in_full)
{
	static const struct policy_counts counts[] = {
		{.states = {[ALERT_INACTIVE] = 7,
			    [ALERT_PENDING] = 1,
			    [ALERT_FIRING] = 2,
			    [ALERT_RESOLVED] = 3},
		 .unknown = {[UNKNOWN_SAMPLES] = 4,
			     [UNKNOWN_BURSTS] = 2,
			     [UNKNOWN_NO_SLOT] = 3,
			     [UNKNOWN_NOT_MEASURED] = 5},
		 .ignored = 6},
		{.states = {[ALERT_INACTIVE] = 1}, .not_sampled = 1U << EVENT_LOADS | 1U << EVENT_STALLS},
	};
	size_t n;
	const struct rule *rules = example_rules(&n);

	expect_json(json_rules("perf", rules, counts, 2, NULL),
		    "{'version':1,'origin':'perf','rules':[{" SLOW_DB
		    ",'cgroups':{'inactive':7,'pending':1,'firing':2,'resolved':3,'ignored':6,"
		    "'unknown':{'samples':4,'bursts':2,'no_slot':3,'not_measured':5}}},"
		    "{'rule':'remote','cgroup':['/*'],'event':'loads','metric':'share:remote_dram',"
		    "'unit':'share','above':0.05,'clear':0.03,'window_s':60,'for_s':1.5,"
		    "'min_samples':500,'needs_samples':152,'confidence':0.99,'severity':'warning',"
		    "'subtree':true,'dry_run':true,'trust_owner':false,'action':['log'],"
		    "'not_sampled':['loads','stalls'],'cgroups':{'inactive':1,'pending':0,"
		    "'firing':0}}]}");
	expect_json(json_rules("replay", NULL, NULL, 0, NULL), "{'version':1,'origin':'replay','rules':[]}");
}

Test(json_rules, rules_below_a_threshold_and_on_ratios_are_written)
{
	static const struct policy_counts counts[2];
	size_t n;
	const struct rule *rules = example_rules(&n);
	_cleanup_json_ json_object *reply = json_rules("perf", &rules[2], counts, 2, NULL);
	json_object *list = json_get_array(reply, "rules");
	json_object *worse, *starved;
	u64 needs = 0;

	cr_assert_eq(json_object_array_length(list), 2);
	worse = json_object_array_get_idx(list, 0);
	starved = json_object_array_get_idx(list, 1);
	cr_expect(json_get_u64(worse, "needs_samples", &needs) && needs > 0);
	cr_expect(json_get_u64(starved, "needs_samples", &needs) && needs == 0);
	json_object_object_del(worse, "needs_samples");
	json_object_object_del(worse, "cgroups");
	json_object_object_del(starved, "cgroups");
	expect_json(json_object_get(worse), "{" WORSE "}");
	expect_json(json_object_get(starved),
		    "{'rule':'starved','cgroup':['/*'],'event':'loads','metric':'rate',"
		    "'unit':'per_second','below':1000,'clear':1500,'window_s':60,'for_s':0,"
		    "'min_samples':0,'needs_samples':0,'confidence':0.95,'severity':'info',"
		    "'subtree':false,'dry_run':false,'trust_owner':false,'action':['log']}");
}

/* The members that only a metric with a second event has. */
Test(json_rules, a_rule_on_lost_cores_is_written_in_full)
{
	static char *everything[] = {"/*"};
	static const struct policy_counts counts[1];
	struct rule rule = {.name = "lost",
			    .patterns = everything,
			    .n_patterns = 1,
			    .event = EVENT_STALLS,
			    .metric = {.kind = METRIC_CORES_LOST},
			    .threshold = 2,
			    .clear = 1.5,
			    .window_ns = 30 * NSEC_PER_SEC,
			    .for_ns = 300 * NSEC_PER_SEC,
			    .confidence = 0.95,
			    .severity = "warning",
			    .actions = RULE_LOG};
	struct alert alert = {
		.number = 4,
		.rule = &rule,
		.cgroup = "/shop",
		.event_key = "stalls",
		.limits = rule_limits(&rule, 2),
		.decision.state = ALERT_FIRING,
		.worst = 4.5F,
		.covered_ns = 30 * NSEC_PER_SEC,
		.estimate = {.known = true,
			     .value = 3.2,
			     .bounds = {3.04, 3.37},
			     .samples = 1200,
			     .worth = 1100,
			     .second_samples = 3000,
			     .cores_used = 9.5F,
			     .frequency_hz = 2.5e9F},
	};
	_cleanup_json_ json_object *reply = json_rules("perf", &rule, counts, 1, NULL);
	json_object *only = json_object_array_get_idx(json_get_array(reply, "rules"), 0);

	json_object_object_del(only, "cgroups");
	expect_json(json_object_get(only),
		    "{'rule':'lost','cgroup':['/*'],'event':'stalls','second_event':'cycles',"
		    "'metric':'cores-lost','unit':'cores','above':2,'clear':1.5,'window_s':30,"
		    "'for_s':300,'min_samples':0,'needs_samples':0,'confidence':0.95,"
		    "'severity':'warning','subtree':false,'dry_run':false,'trust_owner':false,"
		    "'action':['log']}");
	expect_json(json_alerts("perf", &alert, 1, NULL),
		    "{'version':1,'origin':'perf','alerts':[{'alert':4,'rule':'lost','cgroup':'/shop',"
		    "'event':'stalls','severity':'warning','state':'firing','dry_run':false,"
		    "'metric':'cores-lost','unit':'cores','value':3.2,'worst':4.5,'low':3.04,"
		    "'high':3.37,'samples':1200,'second_samples':3000,'cores_used':9.5,"
		    "'frequency':2500000000,'worth':1100,'window_s':30,'above':2,'clear':1.5,"
		    "'for_s':300}]}");
}

Test(json_rules, alerts_are_written_in_each_state)
{
	struct alert list[] = {
		example_measured(0, "/system.slice/db.service", 832, 912.54, 1024),
		example_measured(0, "/kubepods.slice/a", 896, 950, INFINITY),
		example_measured(2, "/batch", 1.25, 1.3333333333, 1.6),
		example_measured(1, "/kubepods.slice", 0.01, 0.02, 0.029),
		example_alert(3, "/idle"),
	};

	list[0].number = 17;
	list[0].decision = (struct decision){.state = ALERT_FIRING, .unknown = UNKNOWN_SAMPLES};
	list[0].since = list[0].fired = (struct timespec){.tv_sec = SIX + 60};
	list[0].breached = (struct timespec){.tv_sec = SIX};
	list[0].preference = (struct preference_effect){.has_threshold = true, .threshold = 950.5};
	list[1].decision = (struct decision){.state = ALERT_PENDING, .held_ns = 25 * NSEC_PER_SEC};
	list[1].since = (struct timespec){.tv_sec = SIX};
	list[1].event_key = "loads:cpu_atom";
	list[3].number = 3;
	list[3].decision = (struct decision){.state = ALERT_RESOLVED, .unknown = UNKNOWN_WINDOW};
	list[3].end = ALERT_END_GONE;
	list[3].since = list[3].resolved = (struct timespec){.tv_sec = SIX + 90};
	list[4].preference =
		(struct preference_effect){.ignored = true, .untrusted = true, .malformed = true};
	expect_json(json_alerts("perf", list, ARRAY_SIZE(list), NULL),
		    "{'version':1,'origin':'perf','alerts':[{'alert':17,'rule':'slow-db',"
		    "'cgroup':'/system.slice/db.service','event':'loads','severity':'critical',"
		    "'state':'unknown','held':'firing','unknown':'samples','dry_run':false,"
		    "'metric':'p99','unit':'cycles','value':912.5,'low':832.0,'high':1024.0,"
		    "'samples':2000,'worth':1500,'above':896,'clear':704,'window_s':30,"
		    "'for_s':60,'since':'2026-11-21T06:01:00Z',"
		    "'breached':'2026-11-21T06:00:00Z','fired':'2026-11-21T06:01:00Z',"
		    "'preference':{'threshold':950.5}},{'rule':'slow-db',"
		    "'cgroup':'/kubepods.slice/a','event':'loads:cpu_atom',"
		    "'severity':'critical','state':'pending','dry_run':false,'metric':'p99',"
		    "'unit':'cycles','value':950.0,'low':896.0,'samples':2000,'worth':1500,"
		    "'above':896,'clear':704,'window_s':30,'for_s':60,'held_s':25,"
		    "'since':'2026-11-21T06:00:00Z'},{'rule':'worse','cgroup':'/batch','event':'loads',"
		    "'severity':'warning','state':'inactive','dry_run':false,'metric':'ratio:mean',"
		    "'unit':'ratio',"
		    "'value':1.333333,'low':1.25,'high':1.6,'samples':2000,'worth':1500,"
		    "'base_samples':12000,'above':1.5,'clear':1.2,'window_s':60,'for_s':60},"
		    "{'alert':3,'rule':'remote','cgroup':'/kubepods.slice','event':'loads',"
		    "'severity':'warning','state':'resolved','dry_run':true,'metric':'share:remote_dram',"
		    "'unit':'share','value':0.02,'low':0.01,'high':0.029,'samples':2000,"
		    "'worth':1500,'above':0.05,'clear':0.03,'window_s':60,'for_s':1.5,"
		    "'since':'2026-11-21T06:01:30Z','resolved':'2026-11-21T06:01:30Z',"
		    "'end':'gone'},{'rule':'starved','cgroup':'/idle','event':'loads','severity':'info',"
		    "'state':'inactive','dry_run':false,'metric':'rate','unit':'per_second',"
		    "'samples':0,'below':1000,'clear':1500,'window_s':0,'for_s':0,"
		    "'preference':{'ignored':true,'untrusted':true,'malformed':true}}]}");
}

/* After an alert was proven clear, the rule is still judged, so the state can be unknown. */
Test(json_rules, a_resolved_alert_can_be_unknown)
{
	struct alert alert = example_alert(0, "/a");
	_cleanup_json_ json_object *reply = NULL;
	json_object *shown;

	alert.decision = (struct decision){.state = ALERT_RESOLVED, .unknown = UNKNOWN_SOURCE};
	alert.end = ALERT_END_CLEAR;
	reply = json_alerts("perf", &alert, 1, NULL);
	shown = json_object_array_get_idx(json_get_array(reply, "alerts"), 0);
	cr_expect_str_eq(json_get_text(shown, "state"), "unknown");
	cr_expect_str_eq(json_get_text(shown, "held"), "resolved");
	cr_expect_str_eq(json_get_text(shown, "unknown"), "source");
	cr_expect_str_eq(json_get_text(shown, "end"), "clear");
}

Test(json_rules, of_a_removed_rule_only_the_name_is_written)
{
	const struct rule left = {.name = "slow", .actions = RULE_LOG};
	struct alert alert = {.number = 3,
			      .rule = &left,
			      .cgroup = "/a",
			      .event_key = "loads",
			      .decision = {.state = ALERT_RESOLVED},
			      .end = ALERT_END_RULE};
	_cleanup_json_ json_object *reply = json_alerts("perf", &alert, 1, NULL);

	expect_json(json_object_get(json_object_array_get_idx(json_get_array(reply, "alerts"), 0)),
		    "{'alert':3,'rule':'slow','cgroup':'/a','event':'loads','state':'resolved',"
		    "'dry_run':false,'end':'rule'}");
}

Test(json_rules, a_value_from_before_a_restart_has_no_samples)
{
	struct alert alert = example_measured(0, "/a", 512, 600, 640);
	_cleanup_json_ json_object *reply = NULL;
	json_object *shown;

	alert.decision = (struct decision){.state = ALERT_RESOLVED};
	alert.covered_ns = 0;
	alert.estimate.samples = 0;
	reply = json_alerts("perf", &alert, 1, NULL);
	shown = json_object_array_get_idx(json_get_array(reply, "alerts"), 0);
	cr_expect_not_null(json_object_object_get(shown, "value"));
	cr_expect_null(json_object_object_get(shown, "samples"));
	cr_expect_null(json_object_object_get(shown, "window_s"));
	json_object_put(reply);
	/* The window has covered some time since the restart, but the stored value does not come from it. */
	alert.end = ALERT_END_GONE;
	alert.covered_ns = 10 * NSEC_PER_SEC;
	reply = json_alerts("perf", &alert, 1, NULL);
	shown = json_object_array_get_idx(json_get_array(reply, "alerts"), 0);
	cr_expect_null(json_object_object_get(shown, "samples"));
	cr_expect_null(json_object_object_get(shown, "window_s"));
}

/* An alert that ended other than by clearing is no longer judged, so the member is absent. */
Test(json_rules, cgroups_of_the_subtree_without_a_slot_are_counted)
{
	static const struct policy_counts counts = {
		.states = {[ALERT_FIRING] = 3}, .partial = 2, .unknown = {[UNKNOWN_SUBTREE_NO_SLOT] = 4}};
	struct alert list[] = {example_measured(1, "/user.slice", 0.01, 0.02, 0.029),
			       example_measured(1, "/user.slice", 0.01, 0.02, 0.029),
			       example_measured(1, "/user.slice", 0.01, 0.02, 0.029)};
	_cleanup_json_ json_object *reply = NULL, *rules = NULL;
	json_object *alerts;
	u64 n = 0;

	list[0].subtree_without_slot = 12;
	list[0].decision.unknown = UNKNOWN_SUBTREE_NO_SLOT;
	list[2].subtree_without_slot = 12;
	list[2].decision.state = ALERT_RESOLVED;
	list[2].end = ALERT_END_GONE;
	reply = json_alerts("perf", list, ARRAY_SIZE(list), NULL);
	alerts = json_get_array(reply, "alerts");
	cr_expect(json_get_u64(json_object_array_get_idx(alerts, 0), "subtree_without_slot", &n) && n == 12);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(alerts, 0), "unknown"), "subtree_no_slot");
	cr_expect_null(json_get(json_object_array_get_idx(alerts, 1), "subtree_without_slot"));
	cr_expect_null(json_get(json_object_array_get_idx(alerts, 2), "subtree_without_slot"));

	rules = json_rules("perf", list[0].rule, &counts, 1, NULL);
	expect_json(json_object_get(json_get(json_object_array_get_idx(json_get_array(rules, "rules"), 0),
					     "cgroups")),
		    "{'pending':0,'firing':3,'partial':2,'unknown':{'subtree_no_slot':4}}");
}

/* A member that is not a finite number is absent: a baseline of 0 gives an infinite ratio. */
Test(json_rules, infinities_are_not_written_as_numbers)
{
	struct alert alert = example_measured(2, "/a", 3, INFINITY, INFINITY);
	_cleanup_json_ json_object *reply = json_alerts("perf", &alert, 1, NULL);
	json_object *shown = json_object_array_get_idx(json_get_array(reply, "alerts"), 0);
	double low = 0;

	cr_expect_null(json_get(shown, "value"));
	cr_expect_null(json_get(shown, "high"));
	cr_expect(json_get_double(shown, "low", &low) && low == 3);
}

/*
 * The upper bound is that of the mean of capped latencies. Some of these latencies exceed the cap, so the
 * value can be higher than the bound. The bound is then left out.
 */
Test(json_rules, no_upper_bound_is_below_the_value)
{
	struct alert alert = example_measured(2, "/a", 350.5, 401, 288.5);
	_cleanup_json_ json_object *reply = json_alerts("perf", &alert, 1, NULL);
	json_object *shown = json_object_array_get_idx(json_get_array(reply, "alerts"), 0);
	double low = 0;

	cr_expect_not_null(json_get(shown, "value"));
	cr_expect_null(json_get(shown, "high"));
	cr_expect(json_get_double(shown, "low", &low) && low == 350.5);
}

/* control_publish() makes names printable. json_transition() must not do that as well. */
Test(json_rules, a_transition_has_unescaped_names)
{
	struct transition transition = {.from = ALERT_PENDING, .to = ALERT_FIRING};

	transition.alert = example_measured(0, "/db\xff", 900, 1000, 1100);
	transition.alert.number = 18;
	transition.alert.decision.state = ALERT_FIRING;
	transition.alert.since = transition.alert.fired = (struct timespec){.tv_sec = SIX};
	_cleanup_json_ json_object *fields = json_transition(&transition);

	cr_assert_not_null(fields);
	cr_expect_str_eq(json_get_text(fields, "cgroup"), "/db\xff");
	json_object_object_add(fields, "cgroup", json_object_new_string("/db"));
	/* The other fields are those of an alert, but the key "source" replaces "event". */
	json_object_object_add(fields, "event", json_object_get(json_object_object_get(fields, "source")));
	json_object_object_del(fields, "source");
	expect_json(json_object_get(fields),
		    "{'from':'pending','alert':18,'rule':'slow-db','cgroup':'/db','event':'loads',"
		    "'severity':'critical','state':'firing','dry_run':false,'metric':'p99',"
		    "'unit':'cycles',"
		    "'value':1000.0,'low':900.0,'high':1100.0,'samples':2000,'worth':1500,"
		    "'above':896,'clear':704,'window_s':30,'for_s':60,"
		    "'since':'2026-11-21T06:00:00Z','fired':'2026-11-21T06:00:00Z'}");
}

/* A transition reports the new state, even if the value is unknown at that moment. */
Test(json_rules, a_transition_is_never_unknown)
{
	struct transition transition = {.from = ALERT_FIRING, .to = ALERT_RESOLVED};
	_cleanup_json_ json_object *fields = NULL;

	transition.alert = example_alert(0, "/db");
	transition.alert.decision = (struct decision){.state = ALERT_RESOLVED, .unknown = UNKNOWN_SOURCE};
	transition.alert.end = ALERT_END_CLEAR;
	fields = json_transition(&transition);
	cr_expect_str_eq(json_get_text(fields, "from"), "firing");
	cr_expect_str_eq(json_get_text(fields, "state"), "resolved");
	cr_expect_null(json_get(fields, "unknown"));
	cr_expect_null(json_get(fields, "held"));
}

Test(json_rules, an_explanation_is_written_in_full)
{
	struct alert alert = example_measured(0, "/db\xff", 832, 912.5, 1024);
	_cleanup_json_ json_object *reply = NULL;
	json_object *judged, *sentences;
	u64 min_samples = 0;
	size_t n;

	reply = json_explain("perf", &example_rules(&n)[0], &alert, 1, NULL);
	cr_assert_not_null(reply);
	judged = json_object_array_get_idx(json_get_array(reply, "judged"), 0);
	sentences = json_get_array(judged, "sentences");
	cr_assert_gt(json_object_array_length(sentences), 2);
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(sentences, 0)),
			 "p99 is 912.5 cycles, from 2,000 latencies in 30s");
	cr_expect(json_get_u64(judged, "min_samples", &min_samples) && min_samples == 500);
	json_object_object_del(judged, "sentences");
	expect_json(json_object_get(reply),
		    "{'version':1,'origin':'perf','rule':{" SLOW_DB "},'judged':[{"
		    "'rule':'slow-db','cgroup':'/db\xef\xbf\xbd"
		    "ff','event':'loads','severity':'critical','state':'inactive','dry_run':false,"
		    "'metric':'p99','unit':'cycles','value':912.5,'low':832.0,'high':1024.0,'samples':2000,"
		    "'worth':1500,'above':896,'clear':704,'window_s':30,'for_s':60,'min_samples':500}]}");
	expect_json(json_explain("perf", &example_rules(&n)[0], NULL, 0, NULL),
		    "{'version':1,'origin':'perf','rule':{" SLOW_DB "},'judged':[]}");
}

/* Returns the record of an alert that fired on a cgroup with a path of `length` control characters. */
static json_object *record_of_path(size_t length)
{
	static char path[4096];
	struct alert alert;
	struct rule rule;
	_cleanup_free_ char *text = NULL;
	json_object *record = NULL;

	memset(path, 1, length);
	path[0] = '/';
	path[length] = '\0';
	alert = example_measured(0, path, 1.9, 2, 2.1);
	rule = *alert.rule;
	rule.metric = (struct metric){.kind = METRIC_CORES_LOST};
	alert.rule = &rule;
	alert.samples_loads = true;
	alert.fired.tv_sec = SIX;
	alert.decision.state = ALERT_FIRING;
	text = json_alert_record(&alert);
	cr_assert_not_null(text);
	cr_assert_lt(strlen(text), HISTORY_ALERT_MAX);
	cr_assert_eq(json_parse(text, strlen(text), 32, &record), 0);
	return record;
}

/* The history stores no longer text, and without its last record an alert would never end there. */
Test(json_rules, the_record_of_an_alert_on_any_path_can_be_stored)
{
	_cleanup_json_ json_object *explained = record_of_path(100), *too_long = record_of_path(4095);
	u64 min_samples;

	cr_expect_gt(json_object_array_length(json_get_array(explained, "sentences")), 3);
	cr_expect(json_get_u64(explained, "min_samples", &min_samples) && min_samples == 500);
	cr_expect_null(json_get(too_long, "sentences"));
	cr_expect_eq(strlen(json_get_text(too_long, "cgroup")), 4095);
	cr_expect_str_eq(json_get_text(too_long, "state"), "firing");
}

Test(json_rules, neighbours_are_written_in_full)
{
	static char *cgroups[] = {(char *)"/batch\xff", (char *)"/web", (char *)"/idle"};
	struct neighbour list[] = {
		{.index = 1,
		 .strength = 0.8123,
		 .lag = 2,
		 .n = 58,
		 .needed = 0.4,
		 .traffic_slow = 12345.67,
		 .traffic_fast = 100,
		 .named = true},
		{.index = 0,
		 .strength = 0.1,
		 .n = 60,
		 .needed = 0.4,
		 .traffic_slow = NAN,
		 .traffic_fast = NAN},
	};
	struct neighbours_report report = {
		.ranking = {.verdict = NEIGHBOURS_NAMED,
			    .bins = 60,
			    .self_strength = -0.25,
			    .latency_slow = 400.04,
			    .latency_fast = 200,
			    .n = 2,
			    .list = list},
		.cgroups = cgroups,
		.n_cgroups = 3,
		.event = "loads",
		.bin_seconds = 5,
		.covered_seconds = 300.5,
		.apart = 4,
		.beyond = 7,
		.nodes_known = true,
	};

	expect_json(
		json_neighbours("perf", "/db\xff", &report, NULL),
		"{\"version\":1,\"origin\":\"perf\",\"cgroup\":\"/db\xef\xbf\xbd"
		"ff\",\"event\":\"loads\",\"traffic_from\":\"loads\",\"bin_s\":5.0,\"window_s\":300.5,\"bins\":60,"
		"\"verdict\":\"named\",\"self_strength\":-0.25,\"latency\":{\"slow\":400.0,\"fast\":200.0},"
		"\"nodes_known\":true,\"candidates\":3,\"apart\":4,\"beyond\":7,\"neighbours\":["
		"{\"cgroup\":\"/web\",\"named\":true,\"strength\":0.812,\"needed\":0.4,\"lag_s\":10.0,"
		"\"bins\":58,\"traffic\":{\"slow\":12345.7,\"fast\":100.0}},"
		"{\"cgroup\":\"/batch\xef\xbf\xbd"
		"ff\",\"named\":false,\"strength\":0.1,\"needed\":0.4,\"lag_s\":0.0,\"bins\":60}]}");

	/* No strength is enough if 1 is needed. */
	report.ranking.verdict = NEIGHBOURS_EPISODE;
	report.ranking.n = 1;
	report.ranking.list[0].needed = 1;
	report.ranking.list[0].named = false;
	expect_json(json_neighbours("perf", "/db", &report, NULL),
		    "{'version':1,'origin':'perf','cgroup':'/db','event':'loads',"
		    "'traffic_from':'loads','bin_s':5.0,'window_s':300.5,'bins':60,'verdict':'episode',"
		    "'self_strength':-0.25,'latency':{'slow':400.0,'fast':200.0},'nodes_known':true,"
		    "'candidates':3,'apart':4,'beyond':7,'neighbours':[{'cgroup':'/web','named':false,"
		    "'strength':0.812,'lag_s':10.0,'bins':58,'traffic':{'slow':12345.7,'fast':100.0}}]}");

	report.misses = true;
	report.ranking = (struct neighbours){.verdict = NEIGHBOURS_THIN, .bins = 3};
	report.nodes_known = false;
	report.apart = report.beyond = 0;
	expect_json(json_neighbours("replay", "/db", &report, NULL),
		    "{'version':1,'origin':'replay','cgroup':'/db','event':'loads',"
		    "'traffic_from':'misses','bin_s':5.0,'window_s':300.5,'bins':3,'verdict':'thin',"
		    "'nodes_known':false,'candidates':3,'apart':0,'neighbours':[]}");
}

Test(json_rules, each_verdict_has_a_word)
{
	static const char *const words[] = {"named", "self", "nobody", "thin", "steady", "episode"};

	for (enum neighbours_verdict verdict = NEIGHBOURS_NAMED; verdict <= NEIGHBOURS_EPISODE; verdict++)
		cr_expect_str_eq(json_neighbours_verdict(verdict), words[verdict]);
}
