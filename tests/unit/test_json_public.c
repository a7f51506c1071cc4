// SPDX-License-Identifier: GPL-2.0
/* The JSON that every HTTP client may read: only cgroups, alerts and facts that /metrics also names. */
#include <criterion/criterion.h>

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "counted_strcmp.h"
#include "example_policy.h"
#include "example_rules.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "export/json/json_public.h"
#include "export/prometheus/prometheus_alerts.h"
#include "history/past.h"
#include "some_panes.h"

enum { SLOW_DB, REMOTE, WORSE, STARVED };

static json_object *parse(char *text, size_t length)
{
	json_object *object = json_tokener_parse(text);

	cr_assert_not_null(object, "%s", text);
	cr_expect_eq(strlen(text), length);
	free(text);
	return object;
}

static bool is_exported(const char *path, void *userdata)
{
	(void)userdata;
	return strcmp(path, "/secret") != 0;
}

/* Returns the JSON when these two paths have series of their own. */
static json_object *top(const struct snapshot *snapshot, const char *first, const char *second)
{
	const char *const names[] = {first, second, "other", "unattributed"};
	struct series series[ARRAY_SIZE(names)] = {0};
	const struct series *list[ARRAY_SIZE(names)];
	char *text = NULL;
	size_t n = 0, length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i]) {
			series[n].path = (char *)names[i];
			list[n] = &series[n];
			n++;
		}
	cr_assert_eq(json_public_top(snapshot,
				     &(struct json_public_names){
					     .series = list, .n_series = n, .exported = is_exported},
				     NULL, &text, &length),
		     0);
	return parse(text, length);
}

static json_object *alerts(const struct alert *list, size_t n)
{
	char *text = NULL;
	size_t length = 0;

	cr_assert_eq(json_public_alerts("perf", list, n, &(struct json_public_labels){0}, &text, &length), 0);
	return parse(text, length);
}

Test(json_public, only_cgroups_with_a_series_are_public)
{
	_cleanup_json_ json_object *both = top(example_perf(), "/system.slice/db.service", "/");
	_cleanup_json_ json_object *one = top(example_perf(), "/", "/gone.service");
	_cleanup_json_ json_object *none = top(example_perf(), NULL, NULL);
	json_object *list = json_get_array(one, "cgroups");

	cr_expect_eq(json_object_array_length(json_get_array(both, "cgroups")), 2);
	cr_expect_eq(json_object_array_length(json_get_array(none, "cgroups")), 0);
	cr_assert_eq(json_object_array_length(list), 1);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "cgroup"), "/");
	/* The total covers all cgroups, as in /metrics. */
	cr_expect_str_eq(json_object_to_json_string(json_get(none, "total")),
			 json_object_to_json_string(json_get(both, "total")));
}

/* The order is that of the snapshot, the costliest first. The order of the series does not matter. */
static const struct container *find_pod(void *userdata, const char *path)
{
	static const struct container labels = {
		.text = {[CONTAINER_LABEL_NAMESPACE] = "shop", [CONTAINER_LABEL_POD] = "cart-0"}};

	(void)userdata;
	return strstr(path, "docker") ? &labels : NULL;
}

Test(json_public, names_use_only_the_labels_of_metrics)
{
	static const struct container_lookup lookup = {.find = find_pod};
	static char path[] = "/docker/3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8";
	struct snapshot *snapshot = example_perf();
	struct series series = {.path = path};
	const struct series *list[] = {&series};
	static const struct {
		unsigned int labels;
		const char *name;
	} cases[] = {
		{0, "docker-3f4a1b9c0d2e"},
		{1U << CONTAINER_LABEL_POD, "cart-0/container-3f4a1b9c0d2e"},
		{1U << CONTAINER_LABEL_POD | 1U << CONTAINER_LABEL_NAMESPACE,
		 "shop/cart-0/container-3f4a1b9c0d2e"},
	};

	snapshot->cgroups[0].path = path;
	snapshot->containers = &lookup;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_object *cgroup, *shown;
		const struct json_public_names names = {.series = list,
							.n_series = 1,
							.exported = is_exported,
							.labels = {&lookup, cases[i].labels}};
		_cleanup_json_ json_object *object = NULL;
		size_t length = 0;
		char *text = NULL;

		cr_assert_eq(json_public_top(snapshot, &names, NULL, &text, &length), 0);
		object = parse(text, length);
		cgroup = json_object_array_get_idx(json_get_array(object, "cgroups"), 0);
		cr_expect_str_eq(json_get_text(cgroup, "name"), cases[i].name);
		shown = json_get_object(cgroup, "labels");
		cr_expect_eq(shown != NULL, cases[i].labels != 0);
		if (shown)
			cr_expect_eq(json_object_object_length(shown), i, "%s",
				     json_object_to_json_string(shown));
	}
}

Test(json_public, cgroups_have_the_order_of_the_snapshot)
{
	_cleanup_json_ json_object *object = top(example_several(), "/batch", "/system.slice/db.service");
	json_object *list = json_get_array(object, "cgroups");

	cr_assert_eq(json_object_array_length(list), 2);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "cgroup"),
			 "/system.slice/db.service");
}

Test(json_public, figures_have_histograms_but_only_values_of_metrics)
{
	static const char *const notes[] = {"another profiler holds a counter", NULL};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *object = NULL;
	json_object *cgroup, *loads;
	double interval;

	snapshot->notes = notes;
	snapshot->interval_seconds = 1;
	snapshot->taken = (struct timespec){1795240000, 0};
	object = top(snapshot, "/system.slice/db.service", NULL);
	cgroup = json_object_array_get_idx(json_get_array(object, "cgroups"), 0);
	loads = json_get_object(json_get_object(cgroup, "events"), snapshot->events[0].key);
	cr_expect_gt(json_object_array_length(json_get_array(loads, "histogram")), 0);
	cr_expect(json_get(loads, "sources"));
	cr_expect_str_eq(json_get_text(object, "taken"), "2026-11-21T05:46:40Z");
	cr_expect(json_get_double(object, "interval_s", &interval) && interval == 1);
	cr_expect_not(json_get(cgroup, "id"));
	cr_expect_not(json_get(object, "notes"));
}

static u64 unlisted_of(json_object *object)
{
	u64 unlisted = ~0ULL;

	cr_expect(json_get_u64(object, "unlisted", &unlisted));
	return unlisted;
}

Test(json_public, exported_cgroups_without_a_series_are_counted)
{
	struct snapshot *snapshot = example_several();
	const size_t n = snapshot->n_cgroups;
	_cleanup_json_ json_object *object = top(snapshot, NULL, NULL);

	cr_assert_gt(n, 2);
	cr_expect_eq(unlisted_of(object), n);
	json_object_put(object);
	object = top(snapshot, snapshot->cgroups[1].path, NULL);
	cr_expect_eq(unlisted_of(object), n - 1);
	json_object_put(object);
	snapshot->cgroups[0].path = "/secret";
	object = top(snapshot, snapshot->cgroups[1].path, NULL);
	cr_expect_eq(unlisted_of(object), n - 2, "one that is not exported is not even counted");
}

/* Returns the paths that a search finds, with a blank before each. */
static const char *found(const struct snapshot *snapshot, unsigned int labels, const char *match)
{
	static char all[1024];
	const struct json_public_names names = {.exported = is_exported,
						.labels = {snapshot->containers, labels}};
	_cleanup_json_ json_object *object = NULL;
	json_object *cgroups;
	char *text = NULL;
	size_t length;

	cr_assert_eq(json_public_top(snapshot, &names, match, &text, &length), 0);
	object = parse(text, length);
	cgroups = json_get_array(object, "cgroups");
	all[0] = '\0';
	for (size_t i = 0; i < json_object_array_length(cgroups); i++)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s",
			       json_get_text(json_object_array_get_idx(cgroups, i), "cgroup"));
	cr_expect_eq(unlisted_of(object), 0);
	return all;
}

Test(json_public, a_search_finds_cgroups_without_a_series_by_path_name_and_label)
{
	static const struct container_lookup lookup = {.find = find_pod};
	struct snapshot *snapshot = example_several();

	cr_assert_eq(snapshot->n_cgroups, 3);
	snapshot->containers = &lookup;
	snapshot->cgroups[0].path =
		"/docker/3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8";
	snapshot->cgroups[1].path = "/system.slice/db.service";
	snapshot->cgroups[2].path = "/secret";
	cr_expect_str_eq(found(snapshot, 0, "SLICE/db"), " /system.slice/db.service", "in either case");
	cr_expect_str_eq(found(snapshot, 0, "secret"), "", "not exported");
	cr_expect_str_eq(found(snapshot, 0, "d*b"), "", "no pattern");
	cr_expect_str_eq(found(snapshot, 0, "docker-3f"), found(snapshot, 0, "/docker/"), "a name");
	cr_expect(*found(snapshot, 0, "docker-3f"));
	cr_expect_str_eq(found(snapshot, 0, "pod=cart"), "", "a label that is not public");
	cr_expect(*found(snapshot, 1U << CONTAINER_LABEL_POD, "pod=cart"));
}

Test(json_public, names_of_any_bytes_are_strings)
{
	/* NOLINTBEGIN(misc-misleading-bidirectional): intended */
	static const char *const names[] = {"/<script>alert(1)</script>", "/\"},{\"cgroup\":\"/b",
					    "/\xe2\x80\xaegpj.exe", "/\xff\\\n"};
	/* NOLINTEND(misc-misleading-bidirectional) */

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct snapshot *snapshot = example_perf();
		_cleanup_json_ json_object *object = NULL;
		_cleanup_json_ json_object *shown = json_name(names[i]);
		json_object *list;

		snapshot->cgroups[0].path = names[i];
		object = top(snapshot, names[i], NULL);
		list = json_get_array(object, "cgroups");
		cr_assert_eq(json_object_array_length(list), 1, "%s", names[i]);
		cr_expect_str_eq(json_get_text(json_object_array_get_idx(list, 0), "cgroup"),
				 json_object_get_string(shown));
	}
}

Test(json_public, only_alerts_with_a_series_are_public)
{
	struct alert list[] = {
		example_measured(SLOW_DB, "/system.slice/db1.service", 900, 912, 1024),
		example_alert(SLOW_DB, "/system.slice/db2.service"),
		example_alert(REMOTE, "/"),
		example_alert(STARVED, "/a"),
	};
	_cleanup_json_ json_object *object = NULL;
	json_object *told;
	u64 unlisted;

	list[0].decision.state = ALERT_FIRING;
	list[0].since = (struct timespec){1795240000, 0};
	list[0].number = 7;
	list[1].decision.state = ALERT_INACTIVE;
	list[2].decision.state = ALERT_FIRING; /* a dry run */
	list[3].decision.state = ALERT_PENDING;
	object = alerts(list, ARRAY_SIZE(list));
	told = json_get_array(object, "alerts");
	cr_assert_eq(json_object_array_length(told), 2);
	cr_expect_str_eq(
		json_object_to_json_string_ext(json_object_array_get_idx(told, 0),
					       JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		"{\"rule\":\"slow-db\",\"cgroup\":\"/system.slice/db1.service\",\"event\":\"loads\",\"severity\":\"critical\",\"state\":\"firing\",\"metric\":\"p99\",\"unit\":\"cycles\",\"value\":912.0,\"low\":900.0,\"high\":1024.0,\"above\":896,\"clear\":704,\"samples\":2000,\"window_s\":30,\"for_s\":60,\"since\":\"2026-11-21T05:46:40Z\",\"name\":\"db1\"}");
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(told, 1), "state"), "pending");
	json_object_put(object);
	/* While nothing is known, a firing alert has the same state as in GetAlerts. */
	list[0].decision.unknown = UNKNOWN_SOURCE;
	object = alerts(list, ARRAY_SIZE(list));
	told = json_object_array_get_idx(json_get_array(object, "alerts"), 0);
	cr_expect_str_eq(json_get_text(told, "state"), "unknown");
	cr_expect_str_eq(json_get_text(told, "held"), "firing");
	cr_expect_str_eq(json_get_text(told, "unknown"), "source");
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == 0);
}

Test(json_public, alerts_are_bounded)
{
	size_t n = PROMETHEUS_ALERTS_MAX + 3;
	_cleanup_free_ struct alert *list = calloc(n, sizeof(*list));
	_cleanup_free_ char *paths = calloc(n, 16);
	_cleanup_json_ json_object *object = NULL;
	u64 unlisted;

	cr_assert(list && paths);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(paths + 16 * i, 16, "/%zu", i);
		list[i] = example_alert(SLOW_DB, paths + 16 * i);
		list[i].decision.state = i == n - 1 ? ALERT_FIRING : ALERT_PENDING;
	}
	object = alerts(list, n);
	cr_expect_eq(json_object_array_length(json_get_array(object, "alerts")), PROMETHEUS_ALERTS_MAX);
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == 3);
	cr_expect(strstr(json_object_to_json_string(object), "firing"), "before those that are pending");
}

/* ---- the past ---- */

static const struct json_public_labels no_labels;
static const struct json_public_names no_names;

/* 100 samples of /a, 90 of /secret, 80 of /b, and so on. */
static struct past *make_past(struct some_panes *panes)
{
	static const struct event loads = {.role = EVENT_LOADS,
					   .period = 1000,
					   .latency_kind = LATENCY_USE,
					   .nominal_hz = 2e9,
					   .settings = {.has_latency = 1, .has_source = 1},
					   .pmu = "cpu"};
	static const char *const paths[] = {"/a", "/b", "/c", "/d", "/secret"};
	static const u64 samples[] = {100, 80, 70, 60, 90};
	struct past_settings settings = {.range.since_us = SOME_PANES_START_US};
	struct past *past;

	for (size_t i = 0; i < 6; i++) {
		struct history_pane *pane = some_panes_add(panes, 0, 10);
		u32 event = some_panes_event(pane, "loads", &loads, 4);

		for (size_t j = 0; j < ARRAY_SIZE(paths); j++) {
			struct counters counters = {0};

			example_add(&counters, samples[j], SOURCE_L3, 50, 1000, SNOOP_NONE, TLB_L1_HIT);
			some_panes_row(pane, paths[j], event, &counters);
		}
		settings.range.until_us = pane->end_us;
	}
	cr_assert_eq(past_new(&settings, panes->list, panes->n, &past), 0);
	return past;
}

Test(json_public, the_past_has_only_cgroups_that_metrics_name_or_would_have_named)
{
	struct series series = {.path = (char *)"/d"};
	const struct series *list[] = {&series};
	const struct json_public_names names = {
		.series = list, .n_series = 1, .top = 2, .exported = is_exported};
	static const char *const expected[] = {"/a", "/b", "/d"};
	_cleanup_(some_panes_done) struct some_panes panes = {0};
	_cleanup_(past_freep) struct past *past = make_past(&panes);
	_cleanup_json_ json_object *object = NULL;
	json_object *cgroups;
	char *text = NULL;
	size_t length;

	cr_assert_eq(json_public_range(past, false, &names, NULL, &text, &length), 0);
	object = parse(text, length);
	cgroups = json_get_array(object, "cgroups");
	cr_assert_eq(json_object_array_length(cgroups), ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		cr_expect_str_eq(json_get_text(json_object_array_get_idx(cgroups, i), "cgroup"), expected[i]);
	cr_expect_eq(unlisted_of(object), 1, "/c");
	cr_expect(json_get_array(object, "gaps"));
	cr_expect_not(json_get(json_object_array_get_idx(cgroups, 0), "id"));

	cr_expect_str_eq(json_public_path(&names, past, "/b"), "/b");
	cr_expect_str_eq(json_public_path(&names, NULL, "/d"), "/d");
	cr_expect_null(json_public_path(&names, NULL, "/b"), "without a series now");
	cr_expect_null(json_public_path(&names, past, "/secret"));
	cr_expect_str_eq(json_public_path(&names, past, "/c"), "/c", "a search finds it");
}

#define MANY 3000

static struct past *make_many(struct some_panes *panes, char (*paths)[40])
{
	static const struct event loads = {.role = EVENT_LOADS,
					   .period = 1000,
					   .latency_kind = LATENCY_USE,
					   .nominal_hz = 2e9,
					   .settings = {.has_latency = 1, .has_source = 1},
					   .pmu = "cpu"};
	struct history_pane *pane = some_panes_add(panes, 0, 10);
	struct past_settings settings = {.range = {SOME_PANES_START_US, pane->end_us}};
	u32 event = some_panes_event(pane, "loads", &loads, 4);
	struct past *past;

	for (size_t i = 0; i < MANY; i++) {
		struct counters counters = {0};

		for (unsigned latency = 40; latency < 4000; latency += latency / 8)
			example_add(&counters, 2UL * MANY - i, SOURCE_L3, latency, 1000, SNOOP_NONE,
				    TLB_L1_HIT);
		(void)snprintf(paths[i], sizeof(paths[i]), "/some.slice/cgroup-%zu", i);
		some_panes_row(pane, paths[i], event, &counters);
	}
	cr_assert_eq(past_new(&settings, panes->list, panes->n, &past), 0);
	return past;
}

static void expect_bounded(char *text, size_t length)
{
	_cleanup_json_ json_object *object = parse(text, length);
	json_object *cgroups = json_get_array(object, "cgroups");
	size_t n = json_object_array_length(cgroups);
	u64 unlisted = 0;

	cr_expect_leq(length, JSON_PUBLIC_BYTES_MAX);
	cr_expect_gt(length, JSON_PUBLIC_BYTES_MAX - 20000, "as many as fit: %zu", length);
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == MANY - n, "%zu of %d", n, MANY);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(cgroups, 0), "cgroup"),
			 "/some.slice/cgroup-0");
	for (size_t i = 1; i < n; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "/some.slice/cgroup-%zu", i);
		cr_assert_str_eq(json_get_text(json_object_array_get_idx(cgroups, i), "cgroup"), path,
				 "the costliest ones");
	}
}

/* "-1" is in cgroup-1, -10 to -19, -100 to -199 and -1000 to -1999. */
static void expect_found(char *text, size_t length)
{
	_cleanup_json_ json_object *object = parse(text, length);
	json_object *cgroups = json_get_array(object, "cgroups");

	cr_assert_eq(json_object_array_length(cgroups), JSON_PUBLIC_MATCHES_MAX);
	cr_expect_eq(unlisted_of(object), 1111 - JSON_PUBLIC_MATCHES_MAX);
	cr_expect_str_eq(json_get_text(json_object_array_get_idx(cgroups, 1), "cgroup"),
			 "/some.slice/cgroup-10");
}

Test(json_public, a_table_is_bounded_and_counts_omitted_cgroups)
{
	static char paths[MANY][40];
	static struct series all[MANY];
	static const struct series *list[MANY];
	struct json_public_names names = {.top = MANY, .exported = is_exported};
	_cleanup_(some_panes_done) struct some_panes panes = {0};
	_cleanup_(past_freep) struct past *past = make_many(&panes, paths);
	char *text = NULL;
	size_t length;

	cr_assert_eq(json_public_range(past, false, &names, NULL, &text, &length), 0);
	expect_bounded(text, length);
	for (size_t i = 0; i < MANY; i++) {
		all[i].path = paths[i];
		list[i] = &all[i];
	}
	names.series = list;
	names.n_series = MANY;
	cr_assert_eq(json_public_top(past_snapshot(past), &names, NULL, &text, &length), 0);
	expect_bounded(text, length);
	/* A search lists fewer, and says how many more it found. */
	cr_assert_eq(json_public_top(past_snapshot(past), &names, "-1", &text, &length), 0);
	expect_found(text, length);
	cr_assert_eq(json_public_range(past, false, &names, "-1", &text, &length), 0);
	expect_found(text, length);
}

/* Sorting the series takes about 17 comparisons for each, and so does finding a cgroup among them. */
Test(json_public, a_range_does_not_compare_each_cgroup_with_each_series)
{
	enum { SERIES = 100000 };
	static char paths[MANY][40];
	struct series series = {.path = (char *)"/some.slice/cgroup"};
	_cleanup_free_ const struct series **list = calloc(SERIES, sizeof(*list));
	struct json_public_names names = {.n_series = SERIES, .exported = is_exported};
	_cleanup_(some_panes_done) struct some_panes panes = {0};
	_cleanup_(past_freep) struct past *past = make_many(&panes, paths);
	_cleanup_json_ json_object *object = NULL;
	char *text = NULL;
	size_t length;
	u64 unlisted = 1, before;

	cr_assert_not_null(list);
	for (size_t i = 0; i < SERIES; i++)
		list[i] = &series;
	names.series = list;
	before = counted_strcmp;
	cr_assert_eq(json_public_range(past, false, &names, NULL, &text, &length), 0);
	cr_expect_lt(counted_strcmp - before, 20ULL * (SERIES + MANY), "%llu comparisons",
		     (unsigned long long)(counted_strcmp - before));
	cr_expect_gt(counted_strcmp - before, SERIES, "comparisons are counted");
	object = parse(text, length);
	cr_expect_eq(json_object_array_length(json_get_array(object, "cgroups")), 0);
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == MANY);
}

Test(json_public, a_history_has_bins)
{
	_cleanup_(some_panes_done) struct some_panes panes = {0};
	_cleanup_(past_freep) struct past *past = make_past(&panes);
	const struct json_history history = {.past = past, .range = past_range(past), .bins = 3, .parts = 1};
	struct json_page page = {0};
	_cleanup_json_ json_object *object = NULL;
	char *text = NULL;
	size_t length;

	cr_assert_eq(json_public_history(&history, &page, &no_labels, &text, &length), 0);
	object = parse(text, length);
	cr_expect_eq(json_object_array_length(json_get_array(object, "bins")), 3);
}

/* The file of the history can have been changed by others: only texts and numbers with known names are passed on. */
Test(json_public, only_public_alerts_of_the_past_are_shown)
{
	_cleanup_json_ json_object *stored = json_tokener_parse(
		"[{\"rule\":\"r\",\"cgroup\":\"/a\",\"state\":\"resolved\",\"value\":7.5,\"above\":5,\"alert\":9,\"preference\":{\"ignored\":true},\"metric\":{\"x\":1}},{\"rule\":\"dry\",\"cgroup\":\"/a\",\"dry_run\":true},{\"rule\":\"no-cgroup\"},{\"rule\":\"odd\",\"cgroup\":\"/a\",\"dry_run\":1},7]");
	const struct timespec since = {1795240000, 0}, until = {1795240060, 0};
	_cleanup_json_ json_object *object = NULL;
	json_object *list;
	char *text = NULL;
	size_t length;

	cr_assert_not_null(stored);
	cr_assert_eq(json_public_past_alerts("perf", stored, &since, &until, &no_labels, &text, &length), 0);
	object = parse(text, length);
	list = json_get_array(object, "alerts");
	cr_assert_eq(json_object_array_length(list), 1);
	cr_expect_str_eq(
		json_object_to_json_string_ext(json_object_array_get_idx(list, 0),
					       JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		"{\"rule\":\"r\",\"cgroup\":\"/a\",\"state\":\"resolved\",\"value\":7.5,\"above\":5,\"name\":\"a\"}");
	cr_expect_str_eq(json_get_text(object, "until"), "2026-11-21T05:47:40Z");
}

Test(json_public, an_explanation_of_the_past_has_only_public_members)
{
	_cleanup_json_ json_object *stored = json_tokener_parse(
		"[null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,{\"rule\":\"r\",\"cgroup\":\"/a\",\"dry_run\":true},7,{\"rule\":\"r\",\"cgroup\":\"/a\",\"state\":\"resolved\",\"fired\":\"2026-11-21T05:40:00Z\",\"resolved\":\"2026-11-21T06:00:00Z\",\"firing\":{\"rule\":\"r\",\"cgroup\":\"/a\",\"state\":\"firing\",\"alert\":3,\"sentences\":[\"why\",{}]}}]");
	_cleanup_json_ json_object *object = NULL;
	char *text = NULL;
	size_t length;
	u64 unlisted = 0;

	cr_assert_not_null(stored);
	cr_assert_eq(json_public_explain_past("perf", "r", stored, 1795239000, 1795240000, &no_names,
					      (struct json_suspects){0}, &text, &length),
		     0);
	object = parse(text, length);
	cr_expect_str_eq(
		json_object_to_json_string_ext(json_get_array(object, "judged"),
					       JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		"[{\"rule\":\"r\",\"cgroup\":\"/a\",\"state\":\"firing\",\"sentences\":[\"why\"],\"name\":\"a\"}]");
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == 3,
		  "of 19, the newest 16 are not counted");
}

Test(json_public, alerts_of_the_past_are_bounded)
{
	_cleanup_json_ json_object *stored = json_object_new_array();
	const struct timespec time = {1795240000, 0};
	_cleanup_json_ json_object *object = NULL;
	char *text = NULL;
	size_t length;
	u64 unlisted;

	for (size_t i = 0; i < PROMETHEUS_ALERTS_MAX + 3; i++)
		json_object_array_add(stored, json_tokener_parse("{\"rule\":\"r\",\"cgroup\":\"/a\"}"));
	cr_assert_eq(json_public_past_alerts("perf", stored, &time, &time, &no_labels, &text, &length), 0);
	object = parse(text, length);
	cr_expect_eq(json_object_array_length(json_get_array(object, "alerts")), PROMETHEUS_ALERTS_MAX);
	cr_expect(json_get_u64(object, "unlisted", &unlisted) && unlisted == 3);
}

static int find_neighbours(void *userdata, const char *path, struct neighbours_report **ret)
{
	(void)userdata;
	cr_expect_str_eq(path, "/system.slice/db.service");
	*ret = example_neighbours();
	return *ret ? 0 : -ENOMEM;
}

static bool names_a_suspect(json_object *judged)
{
	return strstr(json_object_to_json_string(json_get_array(judged, "sentences")),
		      "batch may disturb this cgroup");
}

struct past_of_suspects {
	struct some_panes panes;
	struct past *past;
};

/* One pane in which /big has more loads than /batch. */
static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	static const struct event loads = {.role = EVENT_LOADS, .period = 1009, .pmu = "cpu"};
	const struct past_settings settings = {.range = {since_us, until_us}};
	struct past_of_suspects *of = userdata;
	struct history_pane *pane = some_panes_add(&of->panes, 0, 10);
	u32 event = some_panes_event(pane, "loads", &loads, 1);
	int r;

	(void)bins;
	(void)path;
	(void)subtree;
	some_panes_row(pane, "/batch", event,
		       &(struct counters){.samples[SOURCE_L1] = 9, .weight[SOURCE_L1] = 9});
	some_panes_row(pane, "/big", event,
		       &(struct counters){.samples[SOURCE_L1] = 99, .weight[SOURCE_L1] = 99});
	r = past_new(&settings, of->panes.list, of->panes.n, &of->past);
	*ret = of->past;
	return r;
}

static int find_past_neighbours(void *userdata, const struct past *past, const char *path,
				struct neighbours_report **ret)
{
	(void)past;
	return find_neighbours(userdata, path, ret);
}

static bool exports_none(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return false;
}

/* A neighbour of then must have a series now, or must be exported. */
Test(json_public, only_public_neighbours_of_the_past_are_shown)
{
	static const struct {
		bool (*exported)(const char *path, void *userdata);
		bool has_series, named;
	} cases[] = {{exports_none, true, true}, {exports_none, false, false}, {is_exported, false, true}};
	struct series batch = {.path = (char *)"/batch"};
	const struct series *list[] = {&batch};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct past_of_suspects of = {0};
		const struct json_suspects suspects = {.past = get_past,
						       .past_neighbours = find_past_neighbours,
						       .userdata = &of,
						       .now = 1795250000};
		const struct json_public_names names = {
			.series = list, .n_series = cases[i].has_series, .exported = cases[i].exported};
		_cleanup_json_ json_object *stored = json_tokener_parse(
			"[{\"rule\":\"r\",\"cgroup\":\"/system.slice/db.service\",\"event\":\"loads\",\"metric\":\"p99\",\"state\":\"resolved\",\"breached\":\"2026-11-21T05:39:00Z\",\"fired\":\"2026-11-21T05:40:00Z\",\"resolved\":\"2026-11-21T05:44:00Z\",\"sentences\":[\"why\"]}]");
		_cleanup_json_ json_object *object = NULL;
		char *text = NULL;
		size_t length;

		cr_assert_eq(json_public_explain_past("perf", "r", stored, 1795239000, 1795240000, &names,
						      suspects, &text, &length),
			     0);
		object = parse(text, length);
		cr_expect_eq(names_a_suspect(json_object_array_get_idx(json_get_array(object, "judged"), 0)),
			     cases[i].named, "%zu", i);
		past_free(of.past);
		some_panes_done(&of.panes);
	}
}

Test(json_public, only_a_public_alert_is_explained)
{
	struct series batch = {.path = (char *)"/batch"}, other = {.path = (char *)"/other"};
	const struct series *list[] = {&batch};
	const struct json_public_names names = {.series = list, .n_series = 1};
	const struct json_suspects suspects = {.find = find_neighbours};
	_cleanup_(policy_freep) struct policy *policy = example_policy();
	_cleanup_json_ json_object *object = NULL, *other_reply = NULL;
	json_object *judged;
	char *text = NULL;
	size_t length;

	cr_assert_not_null(policy);
	cr_assert_eq(json_public_explain("perf", policy, "slow-db", "/system.slice/db.service", &names,
					 suspects, &text, &length),
		     0);
	object = parse(text, length);
	cr_expect_str_eq(json_get_text(json_get_object(object, "rule"), "rule"), "slow-db");
	cr_expect_not(json_get(json_get_object(object, "rule"), "cgroup"), "patterns are not public");
	cr_expect_not(json_get(json_get_object(object, "rule"), "action"));
	judged = json_object_array_get_idx(json_get_array(object, "judged"), 0);
	cr_expect_str_eq(json_get_text(judged, "state"), "firing");
	cr_expect(json_get(judged, "worst"));
	cr_expect_gt(json_object_array_length(json_get_array(judged, "sentences")), 0);
	cr_expect_not(json_get(judged, "alert"), "its number is not public");
	cr_expect(names_a_suspect(judged));
	/* A neighbour that has no series is not public. */
	list[0] = &other;
	cr_assert_eq(json_public_explain("perf", policy, "slow-db", "/system.slice/db.service", &names,
					 suspects, &text, &length),
		     0);
	other_reply = parse(text, length);
	judged = json_object_array_get_idx(json_get_array(other_reply, "judged"), 0);
	cr_expect_gt(json_object_array_length(json_get_array(judged, "sentences")), 0);
	cr_expect_not(names_a_suspect(judged));
	/* The rule does not hold there, is a dry run, or does not exist. */
	cr_expect_eq(json_public_explain("perf", policy, "slow-db", "/", &names, suspects, &text, &length),
		     -ENOENT);
	cr_expect_eq(json_public_explain("perf", policy, "none", "/", &names, suspects, &text, &length),
		     -ENOENT);
}
