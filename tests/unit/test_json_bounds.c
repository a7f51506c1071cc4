// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_bounds.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "in_packed.h"

#define COLLECTIONS 60

/*
 * A snapshot of the last `COLLECTIONS` seconds. Cgroup 0 has entry 3, cgroup 1 has entry 5. In each second each
 * has 90 loads of 20 cycles from L1 and 10 of 500 cycles from L3. If `late`, those from L3 come only in the second
 * half, 20 a second.
 */
static struct snapshot *new_snapshot(bool late)
{
	struct snapshot *snapshot = example_replay();
	struct window *window;
	u64 now_ns = 0;

	cr_assert_eq(window_new(1 << 20, 3600 * NSEC_PER_SEC, 0, &(struct timespec){0}, &window), 0);
	for (u64 i = 0; i < COLLECTIONS; i++) {
		struct counters counters = {0};
		u64 slow = !late ? 10 : i < COLLECTIONS / 2 ? 0 : 20;

		example_add(&counters, 90, SOURCE_L1, 20, 0, SNOOP_NONE, TLB_HIT);
		if (slow)
			example_add(&counters, slow, SOURCE_L3, 500, 0, SNOOP_NONE, TLB_HIT);
		now_ns += NSEC_PER_SEC;
		window_begin(window, now_ns, &(struct timespec){0});
		window_put_counters(window, 3, 0, &counters);
		window_put_counters(window, 5, 0, &counters);
		cr_assert_eq(window_end(window), 0);
	}
	snapshot->cgroups[0].entry = 3;
	snapshot->cgroups[1].entry = 5;
	snapshot->window = window;
	snapshot->window_seconds = (struct maybe_double){.known = true, .value = COLLECTIONS};
	return snapshot;
}

static void done(struct snapshot *snapshot)
{
	window_free((struct window *)snapshot->window);
}

static json_object *loads_of(json_object *cgroup)
{
	return json_get_object(json_get_object(cgroup, "events"), "loads");
}

static void expect_text(json_object *object, const char *expected)
{
	cr_assert_not_null(object, "%s", expected);
	cr_expect_str_eq(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), expected);
}

static json_object *quantile_bounds(json_object *cgroup, const char *name)
{
	return json_get(json_get_object(json_get_object(loads_of(cgroup), "latency"), name), "bounds");
}

static json_object *source_bounds(json_object *cgroup, const char *name)
{
	return json_get(json_get_object(json_get_object(loads_of(cgroup), "sources"), name), "bounds");
}

Test(json_bounds, a_window_has_bounds)
{
	struct snapshot *snapshot = new_snapshot(false);
	_cleanup_json_ json_object *cgroup = json_cgroup(snapshot, 0, NULL);

	expect_text(json_get(loads_of(cgroup), "confidence"), "0.95");
	expect_text(quantile_bounds(cgroup, "p50"), "{\"low\":18,\"high\":20,\"worth\":6000}");
	expect_text(quantile_bounds(cgroup, "p99"), "{\"low\":480,\"high\":512,\"worth\":6000}");
	/* 600 of 6,000 samples: the binomial tails give 0.0936910 to 0.1065986. */
	expect_text(source_bounds(cgroup, "l3"), "{\"low\":0.093690,\"high\":0.106599}");
	done(snapshot);
}

/* The name of the PMU is that of a recording. */
Test(json_bounds, an_event_whose_key_is_not_utf8_has_bounds)
{
	struct snapshot *snapshot = new_snapshot(false);
	_cleanup_json_ json_object *cgroup = NULL;

	(void)stpcpy(snapshot->events[0].key, "loads:\xff");
	cgroup = json_cgroup(snapshot, 0, NULL);
	expect_text(
		json_get(json_get_object(json_get_object(cgroup, "events"), "loads:\uFFFDff"), "confidence"),
		"0.95");
	done(snapshot);
}

Test(json_bounds, the_bounds_of_a_subtree_include_all_its_members)
{
	struct snapshot *snapshot = new_snapshot(false);
	const struct snapshot_cgroup *members[] = {&snapshot->cgroups[1], &snapshot->cgroups[0]};
	struct snapshot_cgroup sum = snapshot->cgroups[0];
	_cleanup_json_ json_object *cgroup = NULL;

	sum.entry = 77;
	sum.members = members;
	sum.n_members = 2;
	snapshot->cgroups[0] = sum;
	members[1] = &(struct snapshot_cgroup){.entry = 3};
	cgroup = json_cgroup(snapshot, 0, NULL);
	expect_text(quantile_bounds(cgroup, "p50"), "{\"low\":18,\"high\":20,\"worth\":12000}");
	done(snapshot);
}

Test(json_bounds, one_long_burst_has_no_bounds)
{
	struct snapshot *snapshot = new_snapshot(true);
	_cleanup_json_ json_object *cgroup = json_cgroup(snapshot, 0, NULL);

	expect_text(json_get(loads_of(cgroup), "confidence"), "0.95");
	cr_expect_null(quantile_bounds(cgroup, "p99"));
	cr_expect_null(source_bounds(cgroup, "l3"));
	done(snapshot);
}

Test(json_bounds, too_few_samples_give_no_upper_bound)
{
	struct snapshot *snapshot = new_snapshot(false);
	_cleanup_json_ json_object *cgroup = NULL;

	/* One collection has 100 samples. Four of them are too few for the upper bound of p999. */
	snapshot->window_seconds.value = 4;
	cgroup = json_cgroup(snapshot, 0, NULL);
	expect_text(quantile_bounds(cgroup, "p999"), "{\"low\":480,\"worth\":400}");
	done(snapshot);
}

Test(json_bounds, without_a_window_there_are_no_bounds)
{
	struct snapshot *snapshot = new_snapshot(false);
	_cleanup_json_ json_object *whole = NULL, *brief = NULL;

	snapshot->window_seconds.value = 3;
	brief = json_cgroup(snapshot, 0, NULL);
	cr_expect_null(json_get(loads_of(brief), "confidence"), "three collections");
	cr_expect_null(quantile_bounds(brief, "p50"));
	snapshot->window_seconds = (struct maybe_double){0};
	whole = json_cgroup(snapshot, 0, NULL);
	cr_assert_not_null(loads_of(whole));
	cr_expect_null(json_get(loads_of(whole), "confidence"), "the whole time");
	cr_expect_null(source_bounds(whole, "l1"));
	done(snapshot);
}
