// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "base/cleanup.h"
#include "example_snapshot.h"
#include "export/control/order.h"

static size_t first_by(const char *word)
{
	_cleanup_free_ size_t *indexes = NULL;
	struct order order;

	cr_assert_eq(order_parse(word, &order), 0, "%s", word);
	cr_assert_eq(order_cgroups(example_perf(), &order, &indexes), 0);
	cr_expect_neq(indexes[0], indexes[1]);
	return indexes[0];
}

/* In the example, cgroup 0 is slow and remote, and cgroup 1 is busy and near. */
Test(order, each_order_has_its_figure)
{
	cr_expect_eq(first_by("latency"), 0);
	cr_expect_eq(first_by("samples"), 1);
	cr_expect_eq(first_by("mean"), 0);
	cr_expect_eq(first_by("p99"), 0);
	cr_expect_eq(first_by("share:l1"), 1);
	cr_expect_eq(first_by("share:remote_dram"), 0);
	cr_expect_eq(first_by("share:hitm"), 0);
	cr_expect_eq(first_by("share:cxl"), 0, "equal figures stay as they are");
}

Test(order, unknown_orders_are_refused)
{
	static const char *const words[] = {"",      "Latency",  "latency ", "p50",  "share:",
					    "share", "share:l9", "share:L1", "hitm", "mean:l1"};
	struct order order;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		cr_expect_eq(order_parse(words[i], &order), -EINVAL, "'%s'", words[i]);
}

Test(order, cgroups_without_the_figure_come_last)
{
	struct snapshot *snapshot = example_perf();
	static const struct counters stores = {.samples[SOURCE_UNKNOWN] = 1000};
	const struct order by_mean = {.by = ORDER_MEAN};
	const struct order by_samples = {.by = ORDER_SAMPLES};
	_cleanup_free_ size_t *mean = NULL;
	_cleanup_free_ size_t *samples = NULL;

	snapshot->cgroups[0].counters[0] = &stores;
	snapshot->cgroups[0].counters[1] = NULL;
	cr_assert_eq(order_cgroups(snapshot, &by_mean, &mean), 0);
	cr_expect_eq(mean[0], 1);
	cr_assert_eq(order_cgroups(snapshot, &by_samples, &samples), 0);
	cr_expect_eq(samples[0], 0);
}

/*
 * The means of cpu_core and cpu_atom are not mixed. That of cpu_atom counts only if there is none of
 * cpu_core.
 */
Test(order, events_are_not_mixed)
{
	struct snapshot *snapshot = example_perf();
	struct counters slow_atom = {.samples[SOURCE_L1] = 1};
	const struct order by_mean = {.by = ORDER_MEAN};
	_cleanup_free_ size_t *indexes = NULL;

	example_add(&slow_atom, 1000, SOURCE_CXL, 9000, 1, SNOOP_NONE, TLB_HIT);
	snapshot->cgroups[1].counters[1] = &slow_atom;
	cr_assert_eq(order_cgroups(snapshot, &by_mean, &indexes), 0);
	cr_expect_eq(indexes[0], 0, "20 cycles on cpu_core stand for the second");
	free(TAKE_PTR(indexes));

	snapshot->cgroups[1].counters[0] = NULL;
	cr_assert_eq(order_cgroups(snapshot, &by_mean, &indexes), 0);
	cr_expect_eq(indexes[0], 1);
}

Test(order, an_empty_snapshot_has_an_empty_order)
{
	struct snapshot *snapshot = example_perf();
	const struct order order = {.by = ORDER_P99};
	_cleanup_free_ size_t *indexes = NULL;

	snapshot->n_cgroups = 0;
	cr_expect_eq(order_cgroups(snapshot, &order, &indexes), 0);
	cr_expect_not_null(indexes);
}

/*
 * With events of several roles, only those of the first role count as samples: loads, if any are sampled. A
 * share refers to the samples for which it was measured.
 */
Test(order, samples_of_different_roles_are_not_added)
{
	struct snapshot *snapshot = example_several();
	const struct order by_samples = {.by = ORDER_SAMPLES}, by_hitm = {.by = ORDER_SHARE_HITM};
	const struct order by_unknown = {.by = ORDER_SHARE_SOURCE, .source = SOURCE_UNKNOWN};
	_cleanup_free_ size_t *samples = NULL;
	_cleanup_free_ size_t *hitm = NULL;
	_cleanup_free_ size_t *unknown = NULL;

	cr_assert_eq(order_cgroups(snapshot, &by_samples, &samples), 0);
	cr_expect_eq(samples[0], 0, "40 and 10 loads");
	cr_expect_eq(samples[2], 2, "400 instructions are not loads");
	snapshot->events[0].event.role = snapshot->events[1].event.role = EVENT_INSTRUCTIONS;
	snapshot->events[2].event.role = EVENT_INSTRUCTIONS;
	free(TAKE_PTR(samples));
	cr_assert_eq(order_cgroups(snapshot, &by_samples, &samples), 0);
	cr_expect_eq(samples[0], 2, "where nothing else is sampled they decide");

	cr_assert_eq(order_cgroups(snapshot, &by_hitm, &hitm), 0);
	cr_expect_eq(hitm[2], 2, "precise store has no snoop");
	snapshot->cgroups[2].counters[2] = NULL;
	cr_assert_eq(order_cgroups(snapshot, &by_unknown, &unknown), 0);
	cr_expect_eq(unknown[2], 2, "instructions have no source");
}

static void expect_order(const char *word, const char *first, const char *second, const char *third)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_free_ size_t *indexes = NULL;
	struct order order;

	cr_assert_eq(order_parse(word, &order), 0, "%s", word);
	cr_assert_eq(order_cgroups(snapshot, &order, &indexes), 0);
	cr_expect_str_eq(snapshot->cgroups[indexes[0]].path, first, "%s", word);
	cr_expect_str_eq(snapshot->cgroups[indexes[1]].path, second, "%s", word);
	cr_expect_str_eq(snapshot->cgroups[indexes[2]].path, third, "%s", word);
}

Test(order, waiting_has_an_order_for_each_figure)
{
	expect_order("wait", "/checkout", "/batch", "/old");
	expect_order("cores-lost", "/checkout", "/batch", "/old");
	expect_order("cpi", "/checkout", "/batch", "/old");
	expect_order("misses", "/checkout", "/batch", "/old");
	expect_order("traffic", "/checkout", "/batch", "/old");
}

/* Samples of loads are compared, not those of cycles, of which there are more. */
Test(order, samples_of_counts_are_not_those_of_loads)
{
	expect_order("samples", "/checkout", "/old", "/batch");
}

Test(order, only_the_event_of_a_view_decides)
{
	struct snapshot *snapshot = example_counts();
	struct order by_samples = {.by = ORDER_SAMPLES, .one_event = true, .event = 1};
	_cleanup_free_ size_t *indexes = NULL;

	cr_assert_eq(order_cgroups(snapshot, &by_samples, &indexes), 0);
	cr_expect_str_eq(snapshot->cgroups[indexes[0]].path, "/batch");
}
