// SPDX-License-Identifier: GPL-2.0
/* JSON while memory runs out: each call of json-c fails once. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <malloc.h>

#include "alert_example.h"
#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "export/json/json_flame.h"
#include "export/json/json_public.h"
#include "export/json/json_rules.h"

/* Calls that succeed before one fails, and whether one has failed. */
static size_t before_failure;
static bool armed, failed;

static bool fails(void)
{
	if (!armed || failed || before_failure-- > 0)
		return false;
	failed = true;
	return true;
}

/* These replace json-c's functions, which they call. */
json_object *json_object_new_object(void)
{
	json_object *(*real)(void) = (json_object * (*)(void)) dlsym(RTLD_NEXT, "json_object_new_object");

	return fails() ? NULL : real();
}

json_object *json_object_new_array(void)
{
	json_object *(*real)(void) = (json_object * (*)(void)) dlsym(RTLD_NEXT, "json_object_new_array");

	return fails() ? NULL : real();
}

int json_object_object_add(json_object *object, const char *key, json_object *value)
{
	int (*real)(json_object *, const char *, json_object *) =
		(int (*)(json_object *, const char *, json_object *))dlsym(RTLD_NEXT,
									   "json_object_object_add");

	return fails() ? -1 : real(object, key, value);
}

static struct flame_node nodes[] = {
	{.parent = FLAME_NONE, .samples = 100, .latency = 1000, .sources = {100}},
	{.parent = 0, .name = "main", .samples = 60, .latency = 100, .sources = {60}},
	{.parent = 1, .name = "leaf", .file = "leaf.c", .line = 7, .samples = 50, .latency = 90},
	{.parent = 0, .samples = 40, .latency = 900, .sources = {40}},
};

static json_object *make_flame(void)
{
	static struct report_access access = {.function = "leaf", .samples = 3, .hitm = 2};
	static struct report_line lines[] = {{.address = 0x1000,
					      .object = "heap+0x40",
					      .samples = 3,
					      .hitm = 2,
					      .accesses = &access,
					      .n_accesses = 1},
					     {.address = 0x2000, .object = "quiet", .samples = 9}};
	static const struct zoom zoom = {.seconds = 3};
	static const struct zoom_about about = {.origin = "model", .cgroup = "/shop", .began_real_ns = 1};
	const struct json_zoom of = {.zoom = &zoom, .about = &about, .totals.samples = 100};
	const struct flame flame = {.nodes = nodes, .n = ARRAY_SIZE(nodes)};
	const struct profile_report report = {
		.lines = lines, .n_lines = ARRAY_SIZE(lines), .totals.with_address = 12};

	return json_flame(&of, &flame, &report, true);
}

Test(json_memory, a_flame_has_the_tree_and_the_contended_lines)
{
	_cleanup_json_ json_object *object = make_flame();
	json_object *root = json_get_object(object, "flame");
	json_object *children = json_get_array(root, "children");
	json_object *lines = json_get_array(object, "lines");

	cr_assert_not_null(object);
	cr_expect_str_eq(json_get_text(root, "name"), "/shop");
	cr_assert_eq(json_object_array_length(children), 2);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(children, 0), "name"), "main");
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(children, 1), "name"), "(other)");
	cr_expect_not_null(json_get_array(json_object_array_get_idx(children, 0), "children"));
	cr_assert_eq(json_object_array_length(lines), 1);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(lines, 0), "object"), "heap+0x40");
}

/* Makes the JSON again and again, until no call fails. `make` returns NULL if memory ran out. */
static void expect_failures(json_object *(*make)(void))
{
	json_object *object;
	size_t n = 0;

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer notices the use of freed memory itself */
	/* Freed memory is overwritten, so that its use is noticed. */
	cr_assert_eq(mallopt(M_PERTURB, 0xa5), 1);
#endif
	do {
		before_failure = n++;
		failed = false;
		armed = true;
		object = make();
		armed = false;
		cr_assert_eq(object == NULL, failed, "call %zu", n);
		json_object_put(object);
	} while (failed);
	cr_expect_gt(n, 5);
}

Test(json_memory, of_a_flame)
{
	expect_failures(make_flame);
}

static json_object *make_past_alerts(void)
{
	static const char text[] =
		"[{\"rule\":\"slow\",\"cgroup\":\"/a\",\"event\":\"loads\",\"state\":\"firing\",\"since\":\"1970-01-01T00:00:05Z\",\"fired\":\"1970-01-01T00:00:05Z\",\"to_us\":9000000},"
		"{\"rule\":\"slow\",\"cgroup\":\"/b\",\"event\":\"loads\",\"state\":\"pending\",\"since\":\"1970-01-01T00:00:04Z\"}]";
	const struct past_span gap = {1, 90000000};
	const struct json_alerts_range range = {.since_us = 1, .gaps = &gap, .n_gaps = 1};
	struct json_page page = {.taken.tv_sec = 60};
	_cleanup_json_ json_object *alerts = NULL;

	armed = false;
	alerts = json_tokener_parse(text);
	armed = true;
	return json_alerts_of_past("model", alerts, &range, &page);
}

Test(json_memory, of_alerts_of_the_past)
{
	expect_failures(make_past_alerts);
}

static json_object *make_public_alerts(void)
{
	struct rule rule;
	struct transition transition = alert_example_fires(1, &rule);
	_cleanup_free_ char *text = NULL;
	size_t length;

	transition.alert.decision.state = ALERT_FIRING;
	return json_public_alerts("model", &transition.alert, 1, &(struct json_public_labels){0}, &text,
				  &length) < 0
		       ? NULL
		       : json_object_new_string(text);
}

Test(json_memory, of_public_alerts)
{
	expect_failures(make_public_alerts);
}

static int discard(const char *text, size_t length, void *userdata)
{
	(void)text;
	(void)length;
	(void)userdata;
	return 0;
}

static struct snapshot *snapshot_of(void)
{
	static struct snapshot *snapshot;

	if (!snapshot) {
		armed = false;
		snapshot = example_perf();
		armed = true;
	}
	return snapshot;
}

static json_object *make_page_of_top(void)
{
	struct json_page page = {.first = 1, .taken.tv_sec = 7};
	const struct json_more more = {.page = &page};

	return json_write_top(snapshot_of(), NULL, 1, &more, JSON_C_TO_STRING_PLAIN, discard, NULL) < 0
		       ? NULL
		       : json_object_new_string("written");
}

Test(json_memory, of_a_page_of_top)
{
	expect_failures(make_page_of_top);
}

static json_object *make_status(void)
{
	return json_status(snapshot_of());
}

static json_object *make_top(void)
{
	return json_top(snapshot_of());
}

static json_object *make_cgroup(void)
{
	return json_cgroup(snapshot_of(), 0, NULL);
}

static json_object *make_explanation(void)
{
	struct rule rule;
	struct transition transition = alert_example_fires(1, &rule);

	return json_explain("model", &rule, &transition.alert, 1, NULL);
}

static json_object *make_transition(void)
{
	struct rule rule;
	struct transition transition = alert_example_fires(1, &rule);

	return json_transition(&transition);
}

Test(json_memory, of_figures)
{
	expect_failures(make_status);
	expect_failures(make_top);
	expect_failures(make_cgroup);
}

Test(json_memory, of_an_explanation)
{
	expect_failures(make_explanation);
	expect_failures(make_transition);
}
