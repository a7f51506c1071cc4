// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_waits.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "export/json/json_public.h"
#include "in_packed.h"
#include "snapshot/snapshot_view.h"

static void expect_text(const json_object *object, const char *expected)
{
	cr_assert_not_null(object, "%s", expected);
	cr_expect_str_eq(json_object_to_json_string_ext((json_object *)object, JSON_C_TO_STRING_PLAIN),
			 expected);
}

static json_object *row(json_object *top, size_t index)
{
	return json_object_array_get_idx(json_get_array(top, "cgroups"), index);
}

Test(json_waits, rows_and_totals_of_top_have_values)
{
	_cleanup_json_ json_object *top = json_top(example_counts());

	expect_text(json_get(row(top, 0), "waits"),
		    "{\"wait\":{\"value\":0.625000},\"cores_used\":{\"value\":3.200000},"
		    "\"cores_lost\":{\"value\":2.000000},\"cpi\":{\"value\":2.000000},"
		    "\"misses_per_thousand\":{\"value\":7.500000},\"traffic\":{\"value\":1920000000}}");
	expect_text(json_get(top, "waits"),
		    "{\"wait\":{\"value\":0.305556},\"cores_used\":{\"value\":7.200000},"
		    "\"cores_lost\":{\"value\":2.200000},\"cpi\":{\"value\":0.409091},"
		    "\"misses_per_thousand\":{\"value\":0.704545},\"traffic\":{\"value\":1984000000}}");
	cr_expect_null(json_get(row(top, 1), "waits"), "/old has no counts");
}

Test(json_waits, figures_with_an_unknown_part_are_absent)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *top = NULL, *none = NULL;

	snapshot->n_events = 3; /* loads, cycles and instructions */
	top = json_top(snapshot);
	expect_text(json_get(row(top, 0), "waits"),
		    "{\"cores_used\":{\"value\":3.200000},\"cpi\":{\"value\":2.000000}}");
	snapshot->n_events = 1;
	none = json_top(snapshot);
	cr_expect_null(json_get(none, "waits"));
	cr_expect_null(json_get(row(none, 0), "waits"));
}

Test(json_waits, view_of_one_event_lists_only_that_event)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	_cleanup_json_ json_object *top = NULL;

	cr_assert_eq(snapshot_view_new(example_counts(), &(struct view_request){.one_event = true}, &view),
		     0);
	top = json_top(snapshot_view_of(view));
	cr_expect_eq(json_object_object_length(json_get_object(row(top, 0), "events")), 1);
	expect_text(json_get(json_get_object(row(top, 0), "waits"), "cores_lost"), "{\"value\":2.000000}");
	cr_expect_eq(json_object_object_length(json_get_object(json_get_object(top, "total"), "events")), 5);
}

Test(json_waits, status_has_the_kinds_of_counts_and_the_frequencies)
{
	_cleanup_json_ json_object *status = json_status(example_counts());
	json_object *events = json_get_object(status, "events");

	expect_text(json_get(status, "nominal_frequency"), "2000000000");
	expect_text(json_get(json_get_object(events, "cycles"), "frequency"), "2500000000");
	cr_expect_null(json_get(json_get_object(events, "stalls"), "frequency"));
	expect_text(json_get(json_get_object(events, "stalls"), "counts"), "\"load\"");
	expect_text(json_get(json_get_object(events, "misses"), "counts"), "\"l3\"");
	cr_expect_null(json_get(json_get_object(events, "cycles"), "counts"));
	expect_text(json_get(json_get_object(status, "waits"), "cores_lost"), "{\"value\":2.200000}");
}

Test(json_waits, an_event_of_a_cgroup_has_its_kind_of_count)
{
	_cleanup_json_ json_object *cgroup = json_cgroup(example_counts(), 0, NULL);
	json_object *stalls = json_get_object(json_get_object(cgroup, "events"), "stalls");

	expect_text(json_get(stalls, "counts"), "\"load\"");
	expect_text(json_get(stalls, "samples"), "250");
	cr_expect_null(json_get(stalls, "latency"));
	cr_expect_null(json_get(stalls, "sources"));
	cr_expect_null(json_get(stalls, "per_thousand_instructions"));
}

/* A twentieth of the samples of /checkout in each of 20 collections. */
static struct window *window_of(const struct snapshot *snapshot)
{
	static const u64 samples[5] = {0, 40, 20, 12, 150};
	struct window *window;

	cr_assert_eq(window_new(1 << 20, 3600 * NSEC_PER_SEC, 0, &(struct timespec){0}, &window), 0);
	for (u64 i = 0; i < 20; i++) {
		window_begin(window, (i + 1) * NSEC_PER_SEC / 2, &(struct timespec){0});
		for (unsigned event = 1; event < 5; event++) {
			struct counters counters = {0};

			u64 n = samples[event] + (event == 3 && i % 2);

			counters.samples[SOURCE_UNKNOWN] = n;
			counters.weight[SOURCE_UNKNOWN] = n * snapshot->events[event].event.period;
			window_put_counters(window, 3, event, &counters);
		}
		cr_assert_eq(window_end(window), 0);
	}
	return window;
}

Test(json_waits, window_of_a_cgroup_has_bounds)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_(window_freep) struct window *window = window_of(snapshot);
	_cleanup_json_ json_object *cgroup = NULL;
	const json_object *waits;

	snapshot->cgroups[0].entry = 3;
	snapshot->window = window;
	cgroup = json_cgroup(snapshot, 0, NULL);
	waits = json_get(cgroup, "waits");
	expect_text(json_get(waits, "confidence"), "0.95");
	/* 800 cycles, and 250 stalls in half of the time. */
	expect_text(json_get(waits, "cores_used"), "{\"value\":3.200000,\"low\":3.016207,\"high\":3.392457}");
	expect_text(json_get(waits, "cores_lost"), "{\"value\":2.000000,\"low\":1.796587,\"high\":2.220924}");
	expect_text(json_get(waits, "wait"), "{\"value\":0.625000,\"low\":0.552850,\"high\":0.705346}");
	expect_text(json_get(waits, "traffic"),
		    "{\"value\":1920000000,\"low\":1862707035,\"high\":1978670260}");
}

/* A cgroup of the window that is not /checkout. It has a few more stalls from the middle on. */
static void add_other(struct window *window, const struct snapshot *snapshot, u64 i)
{
	struct counters counters = {0};

	counters.samples[SOURCE_UNKNOWN] = 5 + (i > 10);
	counters.weight[SOURCE_UNKNOWN] = counters.samples[SOURCE_UNKNOWN] * snapshot->events[3].event.period;
	window_put_counters(window, 7, 3, &counters);
}

static struct window *window_of_two(const struct snapshot *snapshot)
{
	struct window *window;

	cr_assert_eq(window_new(1 << 20, 3600 * NSEC_PER_SEC, 0, &(struct timespec){0}, &window), 0);
	for (u64 i = 0; i < 20; i++) {
		window_begin(window, (i + 1) * NSEC_PER_SEC / 2, &(struct timespec){0});
		for (unsigned event = 0; event < 5; event++) {
			struct counters counters = {0};
			u64 n = 20 + event + i % 3;

			counters.samples[SOURCE_UNKNOWN] = n;
			counters.weight[SOURCE_UNKNOWN] = n * snapshot->events[event].event.period;
			window_put_counters(window, 3, event, &counters);
		}
		add_other(window, snapshot, i);
		cr_assert_eq(window_end(window), 0);
	}
	return window;
}

static const char *waits_text_of(json_object *object)
{
	return json_object_to_json_string_ext(json_get_object(object, "waits"), JSON_C_TO_STRING_PLAIN);
}

/* Rows are read many at a time, and a cgroup alone: the bounds are the same to the last digit. */
Test(json_waits, rows_of_top_have_the_bounds_of_show)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_(window_freep) struct window *window = window_of_two(snapshot);
	_cleanup_json_ json_object *cgroup = NULL, *top = NULL, *reversed = NULL;
	static const size_t order[] = {1, 0};

	snapshot->cgroups[0].entry = 3;
	snapshot->cgroups[1].entry = 7;
	snapshot->window = window;
	cgroup = json_cgroup(snapshot, 0, NULL);
	top = json_top(snapshot);
	expect_text(json_get(json_get_object(row(top, 0), "waits"), "confidence"), "0.95");
	cr_expect_not_null(json_get(json_get_object(json_get_object(row(top, 0), "waits"), "wait"), "low"));
	cr_expect_str_eq(waits_text_of(row(top, 0)), waits_text_of(cgroup));
	reversed = example_top(snapshot, order, 2);
	cr_expect_str_eq(waits_text_of(row(reversed, 1)), waits_text_of(cgroup));
	cr_expect_null(json_get(row(top, 1), "waits"), "/old has no counts in the snapshot");
}

Test(json_waits, sums_and_the_host_have_the_bounds_of_all_their_cgroups)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_(window_freep) struct window *window = window_of_two(snapshot);
	const struct snapshot_cgroup one = snapshot->cgroups[0], two = snapshot->cgroups[1];
	struct snapshot_cgroup members[2] = {one, two};
	const struct snapshot_cgroup *const list[] = {&members[0], &members[1]};
	_cleanup_json_ json_object *sum = NULL, *top = NULL, *alone = NULL;
	const json_object *lost;

	members[0].entry = 3;
	members[1].entry = 7;
	snapshot->cgroups[0].entry = 3;
	snapshot->window = window;
	alone = json_cgroup(snapshot, 0, NULL);
	snapshot->cgroups[0].members = list;
	snapshot->cgroups[0].n_members = 2;
	sum = json_cgroup(snapshot, 0, NULL);
	top = json_top(snapshot);
	cr_expect_str_eq(waits_text_of(row(top, 0)), waits_text_of(sum));
	cr_expect_str_neq(waits_text_of(row(top, 0)), waits_text_of(alone));
	/* The value is that of the example's totals, and the bounds are those of 588 samples in the window. */
	lost = json_get(json_get_object(top, "waits"), "cores_lost");
	expect_text(json_get(json_get_object(top, "waits"), "confidence"), "0.95");
	expect_text(lost, "{\"value\":2.200000,\"low\":4.389527,\"high\":5.035839}");
}

static bool is_exported(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

Test(json_waits, public_rows_have_no_bounds)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_(window_freep) struct window *window = window_of_two(snapshot);
	const struct series checkout = {.path = "/checkout"};
	const struct series *const series[] = {&checkout};
	const struct json_public_names names = {.series = series, .n_series = 1, .exported = is_exported};
	_cleanup_free_ char *text = NULL;
	size_t length;

	snapshot->cgroups[0].entry = 3;
	snapshot->window = window;
	cr_assert_eq(json_public_top(snapshot, &names, NULL, &text, &length), 0);
	cr_expect_not_null(strstr(text, "\"cores_lost\":{\"value\":2.000000}"), "%s", text);
}

/* More rows than are read at a time. */
Test(json_waits, rows_of_a_large_table_have_bounds)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_(window_freep) struct window *window = window_of_two(snapshot);
	_cleanup_free_ struct snapshot_cgroup *many = calloc(2500, sizeof(*many));
	_cleanup_json_ json_object *top = NULL, *cgroup = NULL;

	cr_assert_not_null(many);
	for (size_t i = 0; i < 2500; i++) {
		many[i] = snapshot->cgroups[0];
		many[i].entry = i % 2 ? 3 : 1000;
	}
	snapshot->cgroups = many;
	snapshot->n_cgroups = 2500;
	snapshot->window = window;
	cgroup = json_cgroup(snapshot, 1, NULL);
	top = json_top(snapshot);
	for (size_t i = 1; i < 2500; i += 2)
		cr_assert_str_eq(waits_text_of(row(top, i)), waits_text_of(cgroup), "row %zu", i);
	cr_expect_str_neq(waits_text_of(row(top, 2498)), waits_text_of(cgroup));
}
