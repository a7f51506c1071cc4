// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/json_get.h"
#include "format/format.h"
#include "formatted.h"

#define NOW 1795244400 /* Sat 2026-11-21 07:00:00 UTC */

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};

#define RULES                                                                  \
	"{'rules':[{'rule':'slow-database','metric':'mean'},{'rule':'remote'," \
	"'metric':'share:remote_dram','cgroups':{'firing':1,'unknown':{'samples':2,'lost':1}}}]}"
#define RESOLVED                                                                              \
	"{'alert':9,'rule':'slow-database','cgroup':'/c','event':'loads','severity':'page',"  \
	"'state':'resolved','metric':'p99','unit':'cycles','value':600,'low':590,'high':640," \
	"'above':896,'since':'2026-11-21T06:30:00Z','end':'clear'}"
#define PENDING                                                                                  \
	"{'rule':'remote','cgroup':'/b','event':'loads','severity':'warning','state':'pending'," \
	"'metric':'share:remote_dram','unit':'share','value':0.3612,'low':0.3301,'high':0.3934," \
	"'above':0.25,'for_s':300,'held_s':21,'since':'2026-11-21T06:59:39Z',"                   \
	"'preference':{'threshold':0.25}}"
#define FIRING                                                                               \
	"{'alert':17,'rule':'slow-database','cgroup':'/system.slice/postgresql@15.service'," \
	"'event':'loads','severity':'page','state':'firing','metric':'p99','unit':'cycles'," \
	"'value':912.5,'low':898,'above':896,'since':'2026-11-21T06:47:55Z'}"
#define POD                                                                                        \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c9d4e_11aa_4c1e.slice/" \
	"cri-containerd-77ab01f2c3d4e5f6.scope"
#define HELD                                                                                          \
	"{'alert':12,'rule':'remote','cgroup':'" POD                                                  \
	"','event':'loads:cpu_core','severity':'warning','state':'unknown','held':'firing',"          \
	"'unknown':'samples','dry_run':true,'metric':'share:remote_dram','unit':'share','above':0.3," \
	"'since':'2026-11-21T05:58:00Z'}"
#define REPLY(alerts) "{'version':1,'origin':'perf','alerts':[" alerts "]}"

static char *text_of(const char *rules, const char *alerts, const struct format_style *style)
{
	_cleanup_json_ json_object *described = rules ? formatted_from(rules) : NULL;
	_cleanup_json_ json_object *reply = formatted_from(alerts);

	return FORMATTED(format_alerts(out, described, reply, NOW, style));
}

Test(format_alerts, firing_alerts_come_first_and_fit_80_columns)
{
	_cleanup_free_ char *text = text_of(RULES, REPLY(RESOLVED "," PENDING "," FIRING "," HELD), &narrow);

	cr_expect_str_eq(text,
			 "     Origin: perf\n"
			 "     Alerts: 2 firing, 1 pending, 1 resolved in the last hour; 1 of these\n"
			 "             unknown now; 1 in dry run\n"
			 "    Unknown: 3 cgroups (counted once for each rule) cannot be judged now, 2 of\n"
			 "             them because of too few samples; `pebsctl rules` says why\n"
			 "\n"
			 "STATE                 AGE  VALUE  BOUNDS          LIMIT\n"
			 "firing           12min 5s  912.5  from 898        p99 above 896 cycles\n"
			 "  slow-database  (page, alert 17)  /system.slice/postgresql@15.service\n"
			 "unknown (firing)  1h 2min      -  -               share:remote_dram above 30%\n"
			 "  remote  (warning, alert 12, loads:cpu_core)\n"
			 "    ...rstable-pod2f1c9d4e_11aa_4c1e.slice/cri-containerd-77ab01f2c3d4e5f6.scope\n"
			 "             unknown: too few samples\n"
			 "             dry run: changes are only logged\n"
			 "pending               21s 36.12%  33.01 - 39.34%  share:remote_dram above 25%\n"
			 "  remote  (warning)  /b\n"
			 "             breach proven for 21s of the required 5min 0s\n"
			 "             user.pebsd.threshold on the cgroup's directory: 25% instead of the\n"
			 "             rule's\n"
			 "resolved         30min 0s    600  590 - 640       p99 above 896 cycles\n"
			 "  slow-database  (page, alert 9)  /c\n"
			 "             ended: proven clear\n");
	formatted_expect_fit(text, 80);
}

#define LASTED                                                                                    \
	"{'alert':9,'rule':'slow-database','cgroup':'/c','event':'loads','severity':'page',"      \
	"'state':'resolved','metric':'p99','unit':'cycles','value':600,'worst':1453,'above':896," \
	"'since':'2026-11-21T06:30:00Z','fired':'2026-11-21T06:28:20Z',"                          \
	"'resolved':'2026-11-21T06:30:00Z','end':'clear'}"

Test(format_alerts, a_resolved_alert_has_its_start_length_and_worst_value)
{
	_cleanup_free_ char *text = text_of(NULL, REPLY(LASTED), &narrow);

	formatted_expect(text,
			 "  slow-database  (page, alert 9)  /c\n"
			 "             fired Sat 2026-11-21 06:28:20 UTC for 1min 40s, worst value 1,453\n"
			 "             cycles\n"
			 "             ended: proven clear\n");
	formatted_expect_fit(text, 80);
}

Test(format_alerts, an_alert_that_resolved_before_it_fired_has_no_length)
{
	json_object *alert = formatted_from(LASTED);
	_cleanup_free_ char *reply = NULL, *text = NULL;

	/* The clock was set back while the alert was firing. */
	json_object_object_add(alert, "fired", json_object_new_string("2026-11-21T06:31:40Z"));
	cr_assert_gt(asprintf(&reply, REPLY("%s"), json_object_to_json_string(alert)), 0);
	json_object_put(alert);
	text = text_of(NULL, reply, &narrow);
	formatted_expect(text, "             fired Sat 2026-11-21 06:31:40 UTC, worst value 1,453 cycles\n");
}

/* An empty list of a time in which pebsd did not run does not say that nothing fired. */
Test(format_alerts, in_a_gap_alerts_are_unknown)
{
#define IN_GAP(taken)                                                     \
	"{'origin':'perf','since':'2026-11-21T06:00:00Z','taken':'" taken \
	"','gaps':[{'since':'2026-11-21T06:10:00Z','until':'2026-11-21T06:20:00Z'}],'alerts':[]}"
	_cleanup_free_ char *in = text_of(NULL, IN_GAP("2026-11-21T06:20:00Z"), &narrow);
	_cleanup_free_ char *after = text_of(NULL, IN_GAP("2026-11-21T06:21:00Z"), &narrow);

	formatted_expect(in, "Alerts: unknown at the end of this time, for which nothing is stored\n");
	formatted_expect(after, "Alerts: none was firing or pending in this time, as far as is known\n");
}

/* Ages are counted up to the end of the range, not up to now. */
Test(format_alerts, ages_of_the_past_are_those_at_its_end)
{
	_cleanup_free_ char *text = text_of(
		NULL,
		"{'origin':'perf','since':'2026-11-21T06:00:00Z','taken':'2026-11-21T06:48:22Z','gaps':[],'alerts':[" FIRING
		"]}",
		&narrow);

	formatted_expect(text, "\nfiring 27s ");
	formatted_expect(text, "States are those at the end of this time; each value is from the\n");
	formatted_expect_fit(text, 80);
}

Test(format_alerts, on_a_wide_terminal_each_alert_is_one_row)
{
	static const struct format_style screen = {.width = 170};
	_cleanup_free_ char *text = text_of(RULES, REPLY(RESOLVED "," PENDING "," FIRING "," HELD), &wide);
	_cleanup_free_ char *cut = text_of(RULES, REPLY(HELD "," FIRING), &screen);

	cr_expect_str_eq(
		text,
		"     Origin: perf\n"
		"     Alerts: 2 firing, 1 pending, 1 resolved in the last hour; 1 of these unknown now; 1 in dry run\n"
		"    Unknown: 3 cgroups (counted once for each rule) cannot be judged now, 2 of them because of too few samples; `pebsctl rules` says why\n"
		"\n"
		"STATE                 AGE  VALUE  BOUNDS          LIMIT                        RULE           SEVERITY ALERT  CGROUP\n"
		"firing           12min 5s  912.5  from 898        p99 above 896 cycles         slow-database  page        17  /system.slice/postgresql@15.service\n"
		"unknown (firing)  1h 2min      -  -               share:remote_dram above 30%  remote         warning     12  /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c9d4e_11aa_4c1e.slice/cri-containerd-77ab01f2c3d4e5f6.scope\n"
		"             unknown: too few samples\n"
		"             dry run: changes are only logged\n"
		"pending               21s 36.12%  33.01 - 39.34%  share:remote_dram above 25%  remote         warning      -  /b\n"
		"             breach proven for 21s of the required 5min 0s\n"
		"             user.pebsd.threshold on the cgroup's directory: 25% instead of the rule's\n"
		"resolved         30min 0s    600  590 - 640       p99 above 896 cycles         slow-database  page         9  /c\n"
		"             ended: proven clear\n");
	formatted_expect_fit(cut, 170);
	formatted_expect(cut, "  ...");
	formatted_expect(cut, "cri-containerd-77ab01f2c3d4e5f6.scope\n");
}

Test(format_alerts, without_alerts_unknown_cgroups_are_mentioned)
{
	_cleanup_free_ char *none = text_of("{'rules':[]}", REPLY(""), &narrow);
	_cleanup_free_ char *unknown = text_of(RULES, REPLY(""), &narrow);
	_cleanup_free_ char *single =
		text_of("{'rules':[{'cgroups':{'unknown':{'no_slot':1}}}]}", REPLY(""), &narrow);
	_cleanup_free_ char *few =
		text_of("{'rules':[{'cgroups':{'unknown':{'samples':1}}}]}", REPLY(""), &wide);
	_cleanup_free_ char *absent = text_of(NULL, "{}", &narrow);

	formatted_expect(none, "     Alerts: none firing or pending, and none resolved in the last hour\n");
	formatted_expect(none, "      Rules: none, so no alert can fire");
	formatted_expect(unknown,
			 "    Unknown: 3 cgroups (counted once for each rule) cannot be judged now, 2 of\n");
	formatted_expect(single, "    Unknown: 1 cgroup (counted once for each rule) cannot be judged now;");
	formatted_expect(few,
			 " 1 cgroup (counted once for each rule) cannot be judged now, because of too few ");
	formatted_expect(absent, "     Alerts: not known\n");
}

Test(format_alerts, missing_samples_of_a_subtree_are_noted)
{
	_cleanup_free_ char *one = text_of(NULL, REPLY("{'state':'firing','subtree_without_slot':1}"), &wide);
	_cleanup_free_ char *many =
		text_of(NULL, REPLY("{'state':'firing','subtree_without_slot':1200}"), &wide);
	_cleanup_free_ char *silent =
		text_of("{'rules':[{'cgroups':{'partial':2}},{'cgroups':{'partial':1}}]}", REPLY(""), &wide);

	formatted_expect(one, " 1 cgroup of the subtree has no slot: its samples are not in the value\n");
	formatted_expect(many,
			 " 1,200 cgroups of the subtree have no slot: their samples are not in the value\n");
	formatted_expect(
		silent,
		"    In part: 3 subtrees (counted for each rule) are judged without the samples of cgroups that have no slot\n");
	formatted_expect_not(silent, "Unknown");
}

/* A missing number or name is shown as a dash. A missing metric is left out. */
Test(format_alerts, absent_values_are_a_dash)
{
	_cleanup_free_ char *text = text_of(NULL, REPLY("{'state':'firing','unit':'cycles'}"), &narrow);

	formatted_expect(text, "\nfiring   -     -  -       -\n  -  (-)  -\n");
}

Test(format_alerts, many_resolved_alerts_do_not_hide_firing_ones)
{
	_cleanup_json_ json_object *reply = formatted_from(REPLY(RESOLVED));
	json_object *list = json_get_array(reply, "alerts");
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *all = NULL;
	size_t shown = 0;

	for (int i = 0; i < 999; i++)
		(void)json_object_array_add(list, json_object_get(json_object_array_get_idx(list, 0)));
	text = FORMATTED(format_alerts(out, NULL, reply, NOW, &narrow));
	formatted_expect(text, "     Alerts: 0 firing, 1,000 resolved in the last hour\n");
	formatted_expect(text, "\n990 more resolved: `pebsctl alerts | cat` lists all\n");
	for (const char *at = text; (at = strstr(at, "\nresolved ")); at++)
		shown++;
	cr_expect_eq(shown, 10);
	all = FORMATTED(format_alerts(out, NULL, reply, NOW, &wide));
	shown = 0;
	for (const char *at = all; (at = strstr(at, "\nresolved ")); at++)
		shown++;
	cr_expect_eq(shown, 1000, "%zu", shown);
}

Test(format_alerts, a_thousand_firing_alerts_are_all_shown)
{
	_cleanup_json_ json_object *reply = formatted_from(REPLY(FIRING));
	json_object *list = json_get_array(reply, "alerts");
	_cleanup_free_ char *text = NULL;
	size_t shown = 0;

	for (int i = 0; i < 999; i++)
		(void)json_object_array_add(list, json_object_get(json_object_array_get_idx(list, 0)));
	text = FORMATTED(format_alerts(out, NULL, reply, NOW, &narrow));
	for (const char *at = text; (at = strstr(at, "\nfiring ")); at++)
		shown++;
	cr_expect_eq(shown, 1000, "%zu", shown);
}

/* Users pass the rule's name to `explain`, so it must not be cut. */
Test(format_alerts, names_are_never_cut)
{
	static const char name[] = "a-rule-whose-name-is-as-long-as-names-of-rules-may-be-at-most-63";
	static const size_t widths[] = {40, 80, 139, 140, 200};
	_cleanup_free_ char *reply = NULL;

	cr_assert_geq(asprintf(&reply,
			       REPLY("{'alert':1234567,'rule':'%s','cgroup':'" POD
				     "','severity':'thirty-one-letters-of-severity-x',"
				     "'event':'instructions:cpu_atom','state':'firing'}," HELD),
			       name),
		      0);
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		const struct format_style style = {.width = widths[i]};
		_cleanup_free_ char *text = text_of(RULES, reply, &style);

		formatted_expect_fit(text, widths[i] < 80 ? 80 : widths[i]);
		formatted_expect(text, name);
		formatted_expect(text, "77ab01f2c3d4e5f6.scope\n");
	}
}

Test(format_alerts, a_watched_alert_is_one_line)
{
	_cleanup_json_ json_object *item =
		formatted_from("{'time':'2026-11-21T06:00:00Z','event':'alert','text':'t','from':'pending',"
			       "'rule':'slow','cgroup':'/a','state':'firing','severity':'page'}");
	_cleanup_json_ json_object *words =
		formatted_from("{'time':'2026-11-21T06:00:00Z','event':'alert','text':'in words'}");
	_cleanup_free_ char *text = FORMATTED({
		format_item(out, item, &(struct format_style){0});
		format_item(out, words, &(struct format_style){0});
	});

	cr_expect_str_eq(text, "Sat 2026-11-21 06:00:00 UTC alert   slow firing (was pending) /a; page\n"
			       "Sat 2026-11-21 06:00:00 UTC alert   in words\n");
}

Test(format_alerts, states_are_coloured_if_the_terminal_has_colours)
{
	const struct format_style coloured = {.colour = true};
	_cleanup_free_ char *text =
		text_of(RULES, REPLY(RESOLVED "," PENDING "," FIRING "," HELD), &coloured);

	cr_expect_not_null(strstr(text, "\n\033[31mfiring\033[0m "), "%s", text);
	cr_expect_not_null(strstr(text, "\n\033[33munknown (firing)\033[0m "), "%s", text);
	cr_expect_not_null(strstr(text, "\n\033[33mpending\033[0m "), "%s", text);
	cr_expect_not_null(strstr(text, "\n\033[32mresolved\033[0m "), "%s", text);
	cr_expect_not_null(strstr(text, "\nSTATE "), "%s", text);
}
