// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call_when.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "history/shared/history_pane.h"

#define NOW 1795240800 /* 2026-11-21T06:00:00Z */

static void expect(const struct ctl_options *options, double seconds, const char *json)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	cr_assert(call_add_when(parameters, options, seconds));
	cr_expect_str_eq(json_object_to_json_string_ext(parameters, JSON_C_TO_STRING_PLAIN), json);
}

Test(call_when, options_are_converted_to_a_range)
{
	expect(&(struct ctl_options){.now = NOW}, 10, "{}");
	expect(&(struct ctl_options){.now = NOW, .has_at = true, .at = NOW - 60}, 10,
	       "{\"since\":\"2026-11-21T05:58:50Z\",\"until\":\"2026-11-21T05:59:00Z\"}");
	expect(&(struct ctl_options){.now = NOW, .has_until = true, .until = NOW - 60}, 0.5,
	       "{\"since\":\"2026-11-21T05:58:59Z\",\"until\":\"2026-11-21T05:59:00Z\"}");
	expect(&(struct ctl_options){.now = NOW, .has_since = true, .since = NOW - 3600}, 10,
	       "{\"since\":\"2026-11-21T05:00:00Z\",\"until\":\"2026-11-21T06:00:00Z\"}");
	expect(&(struct ctl_options){.now = NOW,
				     .has_since = true,
				     .since = NOW - 3600,
				     .has_until = true,
				     .until = NOW - 1800},
	       10, "{\"since\":\"2026-11-21T05:00:00Z\",\"until\":\"2026-11-21T05:30:00Z\"}");
	cr_expect_not(call_add_when(NULL, &(struct ctl_options){.now = NOW}, 10));
}

/* The pane of 10 s that contains the present is not stored yet. */
Test(call_when, a_moment_after_the_last_stored_pane_is_that_pane)
{
	static const struct {
		time_t now, at, since, until;
	} moments[] = {
		{NOW + 36, NOW + 36, NOW + 20, NOW + 30}, {NOW + 36, NOW + 34, NOW + 24, NOW + 34},
		{NOW + 33, NOW + 33, NOW + 23, NOW + 33}, {NOW + 39, NOW + 38, NOW + 20, NOW + 30},
		{NOW + 41, NOW + 41, NOW + 20, NOW + 30}, {NOW + 42, NOW + 42, NOW + 32, NOW + 42},
		{NOW + 36, NOW + 6, NOW - 4, NOW + 6},
	};
	struct call_range range;

	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		range = call_stored_range(&(struct ctl_options){.now = moments[i].now,
								.has_at = i % 2 == 0,
								.at = moments[i].at,
								.has_until = i % 2 == 1,
								.until = moments[i].at},
					  10);
		cr_expect_eq(range.since, moments[i].since, "%zu: %+ld", i, range.since - NOW);
		cr_expect_eq(range.until, moments[i].until, "%zu: %+ld", i, range.until - NOW);
		cr_expect_eq(range.until - range.since, HISTORY_PANE_SECONDS);
	}
	/* A longer time has stored panes, and a start is meant as it was given. */
	range = call_stored_range(&(struct ctl_options){.now = NOW + 36, .has_at = true, .at = NOW + 36}, 30);
	cr_expect_eq(range.until, NOW + 36);
	range = call_stored_range(
		&(struct ctl_options){.now = NOW + 36, .has_since = true, .since = NOW + 30}, 10);
	cr_expect_eq(range.since, NOW + 30);
	cr_expect_eq(range.until, NOW + 36);
}

/* The daemon refuses earlier times. */
Test(call_when, no_range_begins_before_1970)
{
	expect(&(struct ctl_options){.now = NOW, .has_at = true, .at = 100}, 3600,
	       "{\"since\":\"1970-01-01T00:00:01Z\",\"until\":\"1970-01-01T00:01:40Z\"}");
	expect(&(struct ctl_options){.now = NOW, .has_at = true, .at = 0}, 10,
	       "{\"since\":\"1970-01-01T00:00:01Z\",\"until\":\"1970-01-01T00:00:02Z\"}");
}

Test(call_when, neighbours_are_compared_around_a_moment)
{
	static const struct {
		time_t ago, length, after;
	} moments[] = {
		{60, 1200, 60},
		{900, 1200, 600},
		{3000, 1200, 600},  /* most of it has panes of 10 s */
		{3060, 7200, 3060}, /* 20 panes of a minute would be too few */
		{(time_t)2 * 86400, 72000, 36000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		const struct call_range range = call_neighbours_range(NOW - moments[i].ago, NOW);

		cr_expect_eq(range.until - range.since, moments[i].length, "%zu", i);
		cr_expect_eq(range.until, NOW - moments[i].ago + moments[i].after, "%zu", i);
	}
}
