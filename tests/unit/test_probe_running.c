// SPDX-License-Identifier: GPL-2.0
/* The counters that a running pebsd holds, according to its status. */
#include <criterion/criterion.h>

#include "base/json_get.h"
#include "origin/probe/probe_running.h"

static struct perf_running running;

static void read_status(const char *text)
{
	_cleanup_json_ json_object *status = json_tokener_parse(text);

	cr_assert_not_null(status);
	probe_running_read(status, &running);
}

static void expect_held(size_t i, const char *pmu, const char *cpus)
{
	_cleanup_free_ char *names = cpu_list_format(&running.in_use[i].cpus);

	cr_assert_lt(i, running.n);
	cr_expect_str_eq(running.in_use[i].pmu, pmu);
	cr_expect_str_eq(names, cpus);
}

Test(probe_running, a_running_pebsd_holds_counters_of_its_counting_events)
{
	read_status("{\"paused\": false, \"events\": {"
		    "\"loads:cpu_core\": {\"role\": \"loads\", \"pmu\": \"cpu_core\", \"per_cpu\": ["
		    "{\"cpu\": 0, \"online\": true, \"in_error\": false},"
		    "{\"cpu\": 1, \"online\": true, \"in_error\": true},"
		    "{\"cpu\": 2, \"online\": false, \"in_error\": false}]},"
		    "\"stores:cpu_core\": {\"role\": \"stores\", \"pmu\": \"cpu_core\", \"per_cpu\": ["
		    "{\"cpu\": 3, \"online\": true, \"in_error\": false}]},"
		    "\"loads:cpu_atom\": {\"role\": \"loads\", \"pmu\": \"cpu_atom\", \"per_cpu\": ["
		    "{\"cpu\": 9, \"online\": true, \"in_error\": false}]}}}");
	cr_assert_eq(running.n, 2);
	expect_held(0, "cpu_core", "0,3");
	expect_held(1, "cpu_atom", "9");
}

Test(probe_running, while_paused_or_without_a_pmu_pebsd_holds_no_counter)
{
	read_status("{\"paused\": true, \"events\": {\"loads\": {\"pmu\": \"cpu\", \"per_cpu\": ["
		    "{\"cpu\": 0, \"online\": true, \"in_error\": false}]}}}");
	cr_expect_eq(running.n, 0);
	read_status("{\"paused\": false, \"events\": {\"loads\": {\"role\": \"loads\"}}}");
	cr_expect_eq(running.n, 0);
}

Test(probe_running, other_replies_mean_that_no_counter_is_held)
{
	static const char *const others[] = {
		"[]",
		"{}",
		"{\"events\": 7}",
		"{\"events\": {\"loads\": 7}}",
		"{\"events\": {\"loads\": {\"pmu\": 7, \"per_cpu\": []}}}",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		read_status(others[i]);
		cr_expect_eq(running.n, 0, "%s", others[i]);
	}
	read_status("{\"events\": {\"loads\": {\"pmu\": \"cpu\", \"per_cpu\": [7, {\"cpu\": -1}, "
		    "{\"cpu\": 99999999999, \"online\": true, \"in_error\": false}, {}]}}}");
	cr_assert_eq(running.n, 1);
	cr_expect_eq(cpu_list_count(&running.in_use[0].cpus), 0);
	probe_running_ask("/nonexistent/control.sock", &running);
	cr_expect_eq(running.n, 0);
}
