// SPDX-License-Identifier: GPL-2.0
/* The daemon's replies as the values of the live top. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "ctl/top/top_table.h"
#include "example_snapshot.h"
#include "export/json/json.h"

static struct top_number cost(const char *events)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_object *status = NULL, *top = json_object_new_object();
	struct top_table table;
	struct top_number number;

	cr_assert_geq(asprintf(&text, "{\"events\": {%s}}", events), 0);
	status = json_tokener_parse(text);
	cr_assert(status && top);
	cr_assert_eq(top_table_read(status, top, 0, &table), 0);
	number = table.cost;
	top_table_done(&table);
	return number;
}

#define EVENT(key, cpus, ratio) "\"" key "\": {\"cpus\": \"" cpus "\", \"cost\": {\"ratio\": " ratio "}}"

Test(top_table, costs_of_events_on_the_same_cpus_add_up)
{
	cr_expect_float_eq(cost(EVENT("loads", "0-7", "0.002") "," EVENT("stores", "0-7", "0.003")).value,
			   0.5, 1e-9);
}

Test(top_table, events_of_each_kind_of_core_are_added_separately)
{
	struct top_number most = cost(EVENT("loads:cpu_atom", "8-15", "0.001") "," EVENT(
		"loads:cpu_core", "0-7", "0.002") "," EVENT("stores:cpu_core", "0-7", "0.0025"));

	cr_expect(most.known);
	cr_expect_float_eq(most.value, 0.45, 1e-9);
}

Test(top_table, an_event_without_a_cpu_list_is_on_all_cpus)
{
	cr_expect_float_eq(
		cost(EVENT("loads", "0-7", "0.002") ", \"stores\": {\"cost\": {\"ratio\": 0.001}}").value,
		0.3, 1e-9);
}

Test(top_table, an_unmeasured_cost_is_unknown)
{
	cr_expect_not(cost("\"loads\": {\"cpus\": \"0-7\"}").known);
	cr_expect_not(cost("").known);
}

Test(top_table, rows_and_the_host_have_the_cost_of_waiting)
{
	_cleanup_json_ json_object *status = json_status(example_counts());
	_cleanup_json_ json_object *top = json_top(example_counts());
	_cleanup_(top_table_done) struct top_table table;

	cr_assert_eq(top_table_read(status, top, 0, &table), 0);
	cr_expect(table.has_waits);
	cr_expect_str_eq(table.cores_lost, "2.2 of 8 cores lost to memory");
	cr_expect(table.waits[SHOWN_WAIT] && table.waits[SHOWN_TRAFFIC]);
	cr_expect_float_eq(table.rows[0].waits[SHOWN_WAIT].value, 62.5, 1e-9);
	cr_expect_float_eq(table.rows[0].waits[SHOWN_LOST].value, 2, 1e-9);
	cr_expect_not(table.rows[1].waits[SHOWN_LOST].known, "/old has no counts");
	top_table_done(&table);

	cr_assert_eq(top_table_read(status, top, 3, &table), 0);
	cr_expect_str_eq(table.about, "cycles in which nothing executes while a load is outstanding");
	cr_expect_not(table.latency);
	cr_expect_eq(table.n, 2);
}

/* A row whose "waits" is this text. */
static json_object *top_with(const char *waits)
{
	json_object *top = json_top(example_counts());
	json_object *row = json_object_array_get_idx(json_get_array(top, "cgroups"), 0);

	json_object_object_add(row, "waits", json_tokener_parse(waits));
	return top;
}

Test(top_table, figures_with_wide_bounds_are_marked)
{
	static const struct {
		const char *waits;
		bool rough;
		const char *text;
	} cases[] = {
		{"{\"wait\":{\"value\":0.625,\"low\":0.3,\"high\":0.93},\"confidence\":0.95}", true, "62?"},
		{"{\"wait\":{\"value\":0.0625,\"low\":0.01,\"high\":0.3},\"confidence\":0.95}", true, "6.2?"},
		{"{\"wait\":{\"value\":0.625,\"low\":0.32,\"high\":0.93},\"confidence\":0.95}", false,
		 "62.5"},
		{"{\"wait\":{\"value\":0.625,\"low\":0.62},\"confidence\":0.95}", true, "62?"},
		{"{\"wait\":{\"value\":0.625},\"confidence\":0.95}", true, "62?"},
		/* A reply without bounds, as over the whole time. */
		{"{\"wait\":{\"value\":0.625}}", false, "62.5"},
		{"{\"wait\":{\"value\":0,\"low\":0,\"high\":0.01},\"confidence\":0.95}", false, "0.0"},
	};
	_cleanup_json_ json_object *status = json_status(example_counts());
	char text[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_object *top = top_with(cases[i].waits);
		struct top_table table;
		const struct top_number *wait;

		cr_assert_eq(top_table_read(status, top, 0, &table), 0);
		wait = &table.rows[0].waits[SHOWN_WAIT];
		cr_expect_eq(wait->few, cases[i].rough, "case %zu", i);
		waits_text(SHOWN_WAIT, wait->known, wait->few, wait->value, text);
		cr_expect_str_eq(text, cases[i].text, "case %zu", i);
		top_table_done(&table);
	}
	waits_text(SHOWN_TRAFFIC, true, true, 1.92e9, text);
	cr_expect_str_eq(text, "1.9G?");
	waits_text(SHOWN_TRAFFIC, true, true, 355e6, text);
	cr_expect_str_eq(text, "355M?");
	waits_text(SHOWN_LOST, true, true, 9999, text);
	cr_expect_str_eq(text, "9999?");
}

Test(top_table, replies_without_waits_show_none)
{
	_cleanup_json_ json_object *status = json_status(example_several());
	_cleanup_json_ json_object *top = json_top(example_several());
	_cleanup_(top_table_done) struct top_table table;

	cr_assert_eq(top_table_read(status, top, 0, &table), 0);
	cr_expect_not(table.has_waits);
	cr_expect_str_eq(table.cores_lost, "");
	cr_expect_not(table.waits[SHOWN_WAIT]);
}
