// SPDX-License-Identifier: GPL-2.0
/* The daemon's replies as the values of the live top. */
#include <criterion/criterion.h>

#include "base/json_get.h"
#include "ctl/top/top_table.h"

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
