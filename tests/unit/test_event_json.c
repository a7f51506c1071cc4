// SPDX-License-Identifier: GPL-2.0
/* The settings of an event as a text of the history, and texts that somebody else wrote. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>

#include "history/event_json.h"

static const char *origin;

static struct event example(void)
{
	struct event event = {
		.role = EVENT_LOADS,
		.ldlat = 30,
		.period = 2003,
		.latency_kind = LATENCY_CACHE,
		.nominal_hz = 2.1e9,
		.settings = {.has_latency = 1,
			     .has_instruction_latency = 1,
			     .has_source = 1,
			     .has_address = 1,
			     .has_code_address = 1,
			     .weight_struct = 1,
			     .operations = 2,
			     .first_record = 7},
		.pmu = "cpu_core",
	};

	return event;
}

Test(event_json, an_event_is_written_as_expected)
{
	const struct event event = example();
	char text[EVENT_JSON_MAX];

	cr_assert_eq(event_json_write(&event, "perf", text), 0);
	cr_expect_str_eq(
		text,
		"{\"role\":\"loads\",\"origin\":\"perf\",\"pmu\":\"cpu_core\",\"ldlat\":30,\"latency_kind\":\"cache\",\"nominal_hz\":2100000000,\"operations\":2,\"latency\":true,\"instruction_latency\":true,\"source\":true,\"address\":true,\"code_address\":true,\"weight_struct\":true}");
}

Test(event_json, all_roles_and_kinds_are_read_unchanged)
{
	char text[EVENT_JSON_MAX];

	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		for (enum latency_kind latency = LATENCY_NONE; latency <= LATENCY_DC_MISS; latency++)
			for (enum count_kind count = COUNT_NONE; count <= COUNT_MISSES_DEMAND_FILLS;
			     count++) {
				struct event event = example(), back;

				event.role = role;
				event.latency_kind = latency;
				event.count_kind = count;
				cr_assert_eq(event_json_write(&event, "perf", text), 0);
				cr_assert_eq(event_json_read(text, &back, &origin), 0);
				/* They are not settings. */
				event.period = event.settings.first_record = 0;
				cr_expect_arr_eq(&back.settings, &event.settings, sizeof(event.settings));
				cr_expect(event_json_same(&event, &back));
				cr_expect_eq(back.period, 0);
				cr_expect_float_eq(back.nominal_hz, event.nominal_hz, 0.5);
			}
}

Test(event_json, an_empty_event_has_only_its_role)
{
	struct event event = {.role = EVENT_STORES}, back;
	char text[EVENT_JSON_MAX];

	cr_assert_eq(event_json_write(&event, "perf", text), 0);
	cr_expect_str_eq(text, "{\"role\":\"stores\",\"origin\":\"perf\"}");
	cr_assert_eq(event_json_read(text, &back, &origin), 0);
	cr_expect(event_json_same(&event, &back));
	cr_expect_str_eq(origin, "perf");
}

Test(event_json, events_differ_if_a_setting_that_figures_depend_on_differs)
{
	const struct event event = example();
	struct event other;

#define DIFFERS(change)                                                  \
	do {                                                             \
		other = event;                                           \
		other.change;                                            \
		cr_expect_not(event_json_same(&event, &other), #change); \
	} while (0)
	DIFFERS(role = EVENT_STORES);
	DIFFERS(ldlat = 3);
	DIFFERS(latency_kind = LATENCY_USE);
	DIFFERS(count_kind = COUNT_MISSES_L2);
	DIFFERS(pmu[4] = 0);
	DIFFERS(settings.has_latency = 0);
	DIFFERS(settings.has_instruction_latency = 0);
	DIFFERS(settings.has_source = 0);
	DIFFERS(settings.operations = 0);
	other = event;
	other.period = 1;
	other.nominal_hz = 0;
	other.settings.has_address = 0;
	cr_expect(event_json_same(&event, &other),
		  "the period and the frequency do not change what a count means");
}

Test(event_json, a_later_version_may_add_members)
{
	struct event event;

	cr_assert_eq(event_json_read("{\"role\":\"loads\",\"origin\":\"perf\",\"ldlat\":3,\"later\":[1]}",
				     &event, &origin),
		     0);
	cr_expect_eq(event.ldlat, 3);
}

Test(event_json, other_texts_are_refused)
{
	static const char *const texts[] = {
		"",
		"null",
		"7",
		"[]",
		"{}",
		"{\"role\":\"loads\"}",
		"{\"role\":\"loads\",\"origin\":\"guess\"}",
		"{\"role\":\"loads\",\"origin\":[]}",
		"{\"role\":7,\"origin\":\"perf\"}",
		"{\"role\":\"unknown\",\"origin\":\"perf\"}",
		"{\"role\":\"load\",\"origin\":\"perf\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\"",
		"{\"role\":\"loads\",\"origin\":\"perf\"} x",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"ldlat\":-1}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"ldlat\":4294967296}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"ldlat\":\"3\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"latency_kind\":\"\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"latency_kind\":1}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"count_kind\":\"l4\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"count_kind\":{}}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"nominal_hz\":1000000000001}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"operations\":256}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"latency\":1}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"pmu\":1}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"pmu\":\"\xff\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"pmu\":\"0123456789012345678901234567890123456789012345678901234567890123\"}",
		"{\"role\":\"loads\",\"origin\":\"perf\",\"later\":[[[[[[1]]]]]]}",
	};
	struct event event;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(event_json_read(texts[i], &event, &origin), -EBADMSG, "%s", texts[i]);
}

Test(event_json, a_long_text_is_refused)
{
	char text[2 * EVENT_JSON_MAX];
	struct event event;
	int length = snprintf(text, sizeof(text), "{\"role\":\"loads\",\"origin\":\"perf\"%*s}",
			      EVENT_JSON_MAX, "");

	cr_assert_gt(length, EVENT_JSON_MAX);
	cr_expect_eq(event_json_read(text, &event, &origin), -EBADMSG);
}
