// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/probe.h"
#include "tree.h"

static char *root;

static void setup(void)
{
	root = tree_new();
}

static void teardown(void)
{
	tree_remove(root);
}

TestSuite(probe, .init = setup, .fini = teardown);

/* Output of a run on the tree; the caller's to free. */
static char *probe(bool json, int expected)
{
	const struct pmu_wish wish = {.ldlat = 30, .period = 10007, .roles = 1U << EVENT_LOADS};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	cr_expect_eq(probe_run(root, &wish, json, out), expected);
	cr_assert_eq(fclose(out), 0);
	return text;
}

static struct json_object *get(struct json_object *object, const char *key, enum json_type type)
{
	struct json_object *value;

	cr_assert(json_object_object_get_ex(object, key, &value), "no %s", key);
	cr_assert_eq(json_object_get_type(value), type, "%s", key);
	return value;
}

static void expect_string(struct json_object *object, const char *key, const char *expected)
{
	cr_expect_str_eq(json_object_get_string(get(object, key, json_type_string)), expected);
}

Test(probe, json_of_an_event)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	cr_expect(json_object_get_boolean(get(all, "usable", json_type_boolean)));
	cr_expect_eq(json_object_array_length(get(all, "events", json_type_array)), 1);
	cr_expect_eq(json_object_array_length(get(all, "refused", json_type_array)), 0);
	cr_expect_gt(json_object_array_length(get(all, "notes", json_type_array)), 0);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	expect_string(event, "pmu", "cpu");
	expect_string(event, "role", "loads");
	cr_expect_eq(json_object_get_int(get(event, "type", json_type_int)), 4);
	expect_string(event, "config", "0x1cd");
	expect_string(event, "config1", "0x1e");
	expect_string(event, "config2", "0x0");
	cr_expect_eq(json_object_get_int(get(event, "precise_ip", json_type_int)), 2);
	expect_string(event, "cpus", "0-3");
	get(event, "leader", json_type_null);
	json_object_put(all);
}

Test(probe, json_of_a_leader)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	tree_pmu(root, "cpu", "events/mem-loads-aux", "event=0x03,umask=0x82\n");
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	expect_string(get(event, "leader", json_type_object), "config", "0x8203");
	json_object_put(all);
}

Test(probe, json_of_a_refusal)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *refusal;

	tree_pmu(root, "arm_spe_0", "type", "9\n");
	text = probe(true, PROBE_UNUSABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	cr_expect_not(json_object_get_boolean(get(all, "usable", json_type_boolean)));
	cr_expect_eq(json_object_array_length(get(all, "events", json_type_array)), 0);
	cr_assert_eq(json_object_array_length(get(all, "refused", json_type_array)), 1);
	refusal = json_object_array_get_idx(get(all, "refused", json_type_array), 0);
	expect_string(refusal, "pmu", "arm_spe_0");
	expect_string(refusal, "role", "loads");
	cr_expect_not_null(strstr(json_object_get_string(get(refusal, "reason", json_type_string)), "AUX"));
	json_object_put(all);
}

Test(probe, cpus_that_are_not_known_are_absent)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	tree_write(root, "devices/system/cpu/online", "not a list\n");
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	cr_expect_not(json_object_object_get_ex(event, "cpus", NULL));
	json_object_put(all);
}

Test(probe, text_for_people)
{
	_cleanup_free_ char *good = NULL;
	_cleanup_free_ char *bad = NULL;

	tree_skylake(root);
	good = probe(false, PROBE_USABLE);
	cr_expect_not_null(strstr(good, "can sample memory accesses here"), "%s", good);
	cr_expect_not_null(strstr(good, "config 0x1cd, config1 0x1e"), "%s", good);
	cr_expect_not_null(strstr(good, "more than 30 cycles of use latency"), "%s", good);
	cr_expect_not_null(strstr(good, "nothing was opened"), "%s", good);
	tree_remove(root);
	root = tree_new();
	tree_pmu(root, "arm_spe_0", "type", "10\n");
	bad = probe(false, PROBE_UNUSABLE);
	cr_expect_not_null(strstr(bad, "cannot sample memory accesses here"), "%s", bad);
	cr_expect_not_null(strstr(bad, "loads on PMU arm_spe_0: "), "%s", bad);
}

Test(probe, a_wish_out_of_range_is_an_error)
{
	const struct pmu_wish wish = {.ldlat = 1, .period = 10007, .roles = 1U << EVENT_LOADS};

	cr_expect_eq(probe_run(root, &wish, true, stderr), -EINVAL);
}

/* The kernel itself is asked: no machine has this type of PMU, so what it refuses is refused with its words.
 */
Test(probe, what_the_kernel_refuses_is_moved_to_the_refusals)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {.n_openings = 1};

	plan.openings[0] = (struct pmu_opening){
		.event = {.role = EVENT_LOADS, .pmu = "cpu", .ldlat = 30, .period = 10007},
		.type = 0x7fffffff,
		.config = 0x1cd,
		.precise_ip = 2,
	};
	cr_assert_eq(probe_try(&plan), 0);
	cr_expect_eq(plan.n_openings, 0);
	cr_assert_eq(plan.n_refusals, 1);
	cr_expect_not_null(strstr(plan.refusals[0].reason, "cannot open loads on PMU cpu, CPU 0"), "%s",
			   plan.refusals[0].reason);
}
