// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "format/verdict.h"
#include "formatted.h"

static const char *quantity(double value, const char *unit)
{
	static char text[VERDICT_TEXT_MAX];

	verdict_quantity(value, unit, VERDICT_FULL, text);
	return text;
}

Test(verdict, quantities_have_their_unit)
{
	cr_expect_str_eq(quantity(896, "cycles"), "896 cycles");
	cr_expect_str_eq(quantity(912.5, "cycles"), "912.5 cycles");
	cr_expect_str_eq(quantity(1048576, "cycles"), "1,048,576 cycles");
	cr_expect_str_eq(quantity(50000000, "per_second"), "50,000,000/s");
	cr_expect_str_eq(quantity(0.5, "per_second"), "0.5/s");
	cr_expect_str_eq(quantity(0.3, "share"), "30%");
	cr_expect_str_eq(quantity(0.99964, "share"), "99.96%", "almost all is not all");
	cr_expect_str_eq(quantity(1e-9, "share"), "<0.001%");
	cr_expect_str_eq(quantity(0, "share"), "0%");
	cr_expect_str_eq(quantity(1.5, "ratio"), "1.5 times");
	cr_expect_str_eq(quantity(3.2, "cores"), "3.2 cores");
	cr_expect_str_eq(quantity(1, "cores"), "1 core");
	cr_expect_str_eq(quantity(1, "cycles"), "1 cycle");
	cr_expect_str_eq(quantity(2.31, "cycles_per_instruction"), "2.31 cycles per instruction");
	cr_expect_str_eq(quantity(5.2e9, "bytes_per_second"), "5.2 GB/s");
	cr_expect_str_eq(quantity(123, "bytes_per_second"), "123 B/s");
	cr_expect_str_eq(quantity(7, "furlongs"), "7", "a unit that is not known has no word");
	cr_expect_str_eq(quantity(7, NULL), "7");
}

/* Values that no machine measures do not widen a column either. The bounds leave some room above the longest text. */
Test(verdict, numbers_of_any_size_are_short)
{
	static const double values[] = {-1e308,   -1234567, -0.0,   5e-324, 999.95,  999.949,  999999.4,
					999999.5, 1e15,     1.8e19, 1e300,  1.7e308, INFINITY, NAN};
	static const char *const units[] = {"cycles", "per_second",       "share", "ratio",
					    "cores",  "bytes_per_second", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(units); j++) {
			char text[VERDICT_TEXT_MAX];

			verdict_quantity(values[i], units[j], VERDICT_SHORT, text);
			cr_expect_leq(strlen(text), 20, "%s", text);
			verdict_quantity(values[i], units[j], VERDICT_FULL, text);
			cr_expect_leq(strlen(text), 28, "%s", text);
		}
	}
	cr_expect_str_eq(quantity(999.95, NULL), "1,000");
	cr_expect_str_eq(quantity(1e15, NULL), "1e+15");
}

Test(verdict, columns_have_short_numbers)
{
	char text[VERDICT_TEXT_MAX];

	verdict_number(999999, NULL, VERDICT_SHORT, text);
	cr_expect_str_eq(text, "999,999");
	verdict_number(999999.5, NULL, VERDICT_SHORT, text);
	cr_expect_str_eq(text, "1.00M");
}

static void expect_bounds(const char *alert, const char *expected)
{
	_cleanup_json_ json_object *object = formatted_from(alert);
	char text[VERDICT_TEXT_MAX];

	verdict_bounds(object, VERDICT_FULL, text);
	cr_expect_str_eq(text, expected);
}

Test(verdict, a_missing_bound_is_not_invented)
{
	expect_bounds("{'unit':'cycles','low':898,'high':960}", "898 - 960");
	expect_bounds("{'unit':'share','low':0.2712,'high':0.5642}", "27.12 - 56.42%");
	expect_bounds("{'unit':'bytes_per_second','low':9.1e8,'high':1.2e9}", "910 MB/s - 1.2 GB/s");
	expect_bounds("{'unit':'cycles','low':898}", "from 898");
	expect_bounds("{'unit':'cycles','high':960}", "to 960");
	expect_bounds("{'unit':'cycles'}", "-");
	expect_bounds("{'low':'898','high':null}", "-");
	expect_bounds("{'low':1e999,'high':5}", "to 5");
}

static void expect_limit(const char *rule, const char *expected)
{
	_cleanup_json_ json_object *object = formatted_from(rule);
	char text[VERDICT_TEXT_MAX];

	verdict_limit(object, VERDICT_FULL, text);
	cr_expect_str_eq(text, expected);
}

Test(verdict, the_shown_limit_is_the_one_used_for_the_verdict)
{
	expect_limit("{'unit':'cycles','above':900,'judged_at':896}", "above 896 cycles");
	expect_limit("{'unit':'share','below':0.5}", "below 50%");
	expect_limit("{'unit':'share','judged_at':0.5}", "-");
	expect_limit("{}", "-");
}

Test(verdict, ages_are_formatted)
{
	_cleanup_json_ json_object *object =
		formatted_from("{'since':'2026-11-21T06:00:00Z','bad':'yesterday','number':5}");
	char text[TEXT_NUMBER_MAX];
	time_t since = 1795240800;

	verdict_age(object, "since", since + 725, text);
	cr_expect_str_eq(text, "12min 5s");
	verdict_age(object, "since", since, text);
	cr_expect_str_eq(text, "0s");
	verdict_age(object, "since", since - 1, text);
	cr_expect_str_eq(text, "-", "a clock was set back: %s", text);
	verdict_age(object, "bad", since, text);
	cr_expect_str_eq(text, "-");
	verdict_age(object, "number", since, text);
	cr_expect_str_eq(text, "-");
	verdict_age(object, "none", since, text);
	cr_expect_str_eq(text, "-");
}

static void expect_state(const char *alert, const char *expected, const char *held)
{
	_cleanup_json_ json_object *object = formatted_from(alert);
	_cleanup_free_ char *state = verdict_state(object);

	cr_expect_str_eq(state, expected);
	cr_expect_str_eq(verdict_state_held(object), held);
}

Test(verdict, an_unknown_state_names_the_held_one)
{
	expect_state("{'state':'firing'}", "firing", "firing");
	expect_state("{'state':'firing','held':'pending'}", "firing", "firing");
	expect_state("{'state':'unknown','held':'firing'}", "unknown (firing)", "firing");
	expect_state("{'state':'unknown','held':'inactive'}", "unknown", "inactive");
	expect_state("{'state':'unknown'}", "unknown", "");
	expect_state("{'state':7}", "-", "");
	expect_state("{'state':'\\u001b[1m'}", "\\x1b[1m", "\033[1m");
}

Test(verdict, unknown_words_are_shown_escaped)
{
	_cleanup_free_ char *kept = NULL;
	_cleanup_free_ char *other = NULL;
	_cleanup_free_ char *none = NULL;

	cr_expect_str_eq(verdict_reason("samples", &kept), "too few samples");
	cr_expect_str_eq(verdict_reason("eclip\tse", &other), "eclip\\x09se");
	cr_expect_str_eq(verdict_reason(NULL, &none), "-");
}

Test(verdict, preferences_are_described)
{
	_cleanup_json_ json_object *object =
		formatted_from("{'unit':'cycles','preference':{'ignored':true,'threshold':1200,"
			       "'untrusted':true,'malformed':true}}");
	_cleanup_json_ json_object *silent =
		formatted_from("{'preference':{'ignored':false,'threshold':'x','untrusted':1}}");
	_cleanup_free_ char *text = verdict_preference(object);

	formatted_expect(text, "user.pebsd.ignore on the cgroup's directory: not judged; ");
	formatted_expect(
		text,
		"; user.pebsd.threshold on the cgroup's directory: 1,200 cycles instead of the rule's; ");
	formatted_expect(text, "root does not own the directory");
	formatted_expect(text, "user.pebsd.threshold ignored: its value for this rule is invalid");
	cr_expect_null(verdict_preference(silent));
	cr_expect_null(verdict_preference(NULL));
}

/* A rule whose patterns no longer match the cgroup has changed: its alert ends as "rule". */
Test(verdict, each_end_has_a_text)
{
	static const char *const ends[][2] = {
		{"clear", "proven clear"},
		{"gone", "its cgroup was removed; recovery was not proven"},
		{"rule", "its rule was changed or removed; recovery was not proven"},
		{"ignored", "its cgroup is excluded, or ignores the rule; recovery was not proven"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		_cleanup_free_ char *kept = NULL;

		cr_expect_str_eq(verdict_end(ends[i][0], &kept), ends[i][1]);
	}
}

/* A transition as one line of watch. */
Test(verdict, transitions_are_described)
{
	_cleanup_json_ json_object *item = formatted_from(
		"{'time':'2026-11-21T06:00:00Z','event':'alert','text':'t','from':'pending','alert':17,"
		"'rule':'slow','cgroup':'/a\\nb','severity':'page','state':'firing','dry_run':false,"
		"'metric':'p99','unit':'cycles','value':912.5,'low':898,'high':960,"
		"'nominal_frequency':2600000000,'above':896}");
	_cleanup_json_ json_object *resolved =
		formatted_from("{'event':'alert','from':'firing','rule':'slow','cgroup':'/a',"
			       "'state':'resolved','dry_run':true,'end':'gone'}");
	_cleanup_json_ json_object *other = formatted_from("{'event':'born','rule':'slow','state':'firing'}");
	_cleanup_json_ json_object *bare = formatted_from("{'event':'alert','text':'words alone'}");
	_cleanup_free_ char *text = verdict_transition(&(struct format_style){0}, item);
	_cleanup_free_ char *dry = verdict_transition(&(struct format_style){0}, resolved);

	cr_expect_str_eq(
		text,
		"slow firing (was pending) /a\\x0ab: p99 is 912.5 cycles (898 - 960), about 351 ns; limit: above 896 cycles; page; alert 17");
	cr_expect_str_eq(
		dry,
		"dry run: slow resolved (was firing) /a; ended: its cgroup was removed; recovery was not proven");
	cr_expect_null(verdict_transition(&(struct format_style){0}, other));
	cr_expect_null(verdict_transition(&(struct format_style){0}, bare), "the daemon's own text is shown");
}
