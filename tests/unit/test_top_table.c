// SPDX-License-Identifier: GPL-2.0
/* The daemon's replies as the values of the live top. */
#include <criterion/criterion.h>

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

Test(top_table, events_on_the_same_cpus_cost_the_sum)
{
	cr_expect_float_eq(cost(EVENT("loads", "0-7", "0.002") "," EVENT("stores", "0-7", "0.003")).value,
			   0.5, 1e-9);
}

Test(top_table, each_kind_of_core_has_its_own_events)
{
	struct top_number most = cost(EVENT("loads:cpu_atom", "8-15", "0.001") "," EVENT(
		"loads:cpu_core", "0-7", "0.002") "," EVENT("stores:cpu_core", "0-7", "0.0025"));

	cr_expect(most.known);
	cr_expect_float_eq(most.value, 0.45, 1e-9);
}

Test(top_table, an_event_without_cpus_is_on_all_of_them)
{
	cr_expect_float_eq(
		cost(EVENT("loads", "0-7", "0.002") ", \"stores\": {\"cost\": {\"ratio\": 0.001}}").value,
		0.3, 1e-9);
}

Test(top_table, a_cost_that_was_not_measured_is_not_known)
{
	cr_expect_not(cost("\"loads\": {\"cpus\": \"0-7\"}").known);
	cr_expect_not(cost("").known);
}

Test(top_table, rows_and_the_host_say_what_waiting_costs)
{
	_cleanup_json_ json_object *status = json_status(example_counts());
	_cleanup_json_ json_object *top = json_top(example_counts());
	struct top_table table;

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
	top_table_done(&table);
}

Test(top_table, replies_without_waits_have_none)
{
	_cleanup_json_ json_object *status = json_status(example_several());
	_cleanup_json_ json_object *top = json_top(example_several());
	struct top_table table;

	cr_assert_eq(top_table_read(status, top, 0, &table), 0);
	cr_expect_not(table.has_waits);
	cr_expect_str_eq(table.cores_lost, "");
	cr_expect_not(table.waits[SHOWN_WAIT]);
	top_table_done(&table);
}
