// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_waits.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "example_snapshot.h"
#include "snapshot/snapshot_counters.h"
#include "snapshot/snapshot_rank.h"
#include "snapshot/snapshot_view.h"

enum { CHECKOUT, OLD, BATCH };
enum { LOADS, CYCLES, INSTRUCTIONS, STALLS, MISSES };

static void read_waits(const struct snapshot *snapshot, const struct counters *const *counters,
		       struct wait_value ret[WAIT_FIGURES])
{
	struct snapshot_wait_parts parts;

	snapshot_wait_parts(snapshot, counters, &parts);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		double value = 0;
		bool known = snapshot_wait(snapshot, counters, figure, &value);

		waits_figure(parts.parts, parts.n, figure, 0.95, &ret[figure]);
		cr_expect(!known || fabs(ret[figure].value - value) <= 1e-9 * value);
		ret[figure].known = known;
	}
}

static void waits_of_cgroup(const struct snapshot *snapshot, size_t index,
			    struct wait_value ret[WAIT_FIGURES])
{
	static struct snapshot_counters counters;

	snapshot_counters_of(snapshot, &snapshot->cgroups[index], &counters);
	read_waits(snapshot, counters.of, ret);
}

static void expect_value(const struct wait_value *values, enum wait_figure figure, double expected)
{
	cr_assert(values[figure].known, "%s is not known", wait_figure_name(figure));
	cr_expect(fabs(values[figure].value - expected) <= 1e-9 * expected, "%s: %.12g is not %.12g",
		  wait_figure_name(figure), values[figure].value, expected);
}

static bool any_known(const struct wait_value values[WAIT_FIGURES])
{
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++)
		if (values[figure].known)
			return true;
	return false;
}

Test(snapshot_waits, figures_are_scaled_to_time_and_frequency)
{
	struct wait_value values[WAIT_FIGURES];
	double value;

	waits_of_cgroup(example_counts(), CHECKOUT, values);
	expect_value(values, WAIT_SHARE, 0.625);
	expect_value(values, WAIT_CORES_USED, 3.2);
	expect_value(values, WAIT_CORES_LOST, 2);
	expect_value(values, WAIT_CPI, 2);
	expect_value(values, WAIT_MISSES, 7.5);
	expect_value(values, WAIT_TRAFFIC, 64 * 3e7);
	cr_expect_lt(values[WAIT_SHARE].bounds.low, 0.6);
	cr_expect_gt(values[WAIT_SHARE].bounds.high, 0.65);
	cr_assert(snapshot_wait(example_counts(), example_counts()->cgroups[BATCH].counters, WAIT_CORES_USED,
				&value));
	cr_expect(fabs(value - 4) < 1e-9);
}

Test(snapshot_waits, totals_are_those_of_the_host)
{
	struct snapshot *snapshot = example_counts();
	const struct counters *totals[EVENTS_MAX] = {0};
	struct wait_value values[WAIT_FIGURES];

	for (size_t i = 0; i < snapshot->n_events; i++)
		totals[i] = &snapshot->events[i].total;
	read_waits(snapshot, totals, values);
	expect_value(values, WAIT_CORES_USED, 7.2);
	expect_value(values, WAIT_CORES_LOST, 2.2);
}

Test(snapshot_waits, cgroup_without_counts_has_no_figure)
{
	struct wait_value values[WAIT_FIGURES];

	waits_of_cgroup(example_counts(), OLD, values);
	cr_expect_not(any_known(values));
	waits_of_cgroup(example_several(), 0, values);
	cr_expect_not(any_known(values), "instructions alone yield no figure");
}

Test(snapshot_waits, the_nominal_frequency_replaces_an_unknown_one)
{
	struct snapshot *snapshot = example_counts();
	struct wait_value values[WAIT_FIGURES];

	snapshot->events[CYCLES].frequency_hz.known = false;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	expect_value(values, WAIT_CORES_LOST, 2.5);
	/* The PMU's own comes first: other cores of the machine may be faster. */
	for (size_t i = 0; i < snapshot->n_events; i++)
		snapshot->events[i].event.nominal_hz = snapshot->nominal_hz.value / 2;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	expect_value(values, WAIT_CORES_LOST, 5);
	for (size_t i = 0; i < snapshot->n_events; i++)
		snapshot->events[i].event.nominal_hz = 0;
	snapshot->nominal_hz.known = false;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	cr_expect_not(values[WAIT_CORES_LOST].known);
	expect_value(values, WAIT_SHARE, 0.625);
}

Test(snapshot_waits, pauses_and_throttling_take_no_part_in_rates)
{
	struct snapshot *snapshot = example_counts();
	struct wait_value values[WAIT_FIGURES];

	/* 8 CPUs: 4 and 1 of the 10 seconds. */
	snapshot->events[CYCLES].paused_seconds = (struct maybe_double){true, 32};
	snapshot->events[CYCLES].throttled_seconds = (struct maybe_double){true, 8};
	waits_of_cgroup(snapshot, CHECKOUT, values);
	expect_value(values, WAIT_CORES_USED, 6.4);
	snapshot->events[CYCLES].paused_seconds.value = 80;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	cr_expect_not(values[WAIT_CORES_USED].known);
}

Test(snapshot_waits, without_a_window_rates_are_since_the_start)
{
	struct snapshot *snapshot = example_counts();
	struct wait_value values[WAIT_FIGURES];

	snapshot->window_seconds.known = false;
	snapshot->taken.tv_sec = snapshot->since.tv_sec + 20;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	expect_value(values, WAIT_CORES_USED, 1.6);
}

/* The time of a recording is not known, so only ratios are. */
Test(snapshot_waits, a_replay_without_times_has_no_rates)
{
	struct snapshot *snapshot = example_counts();
	struct wait_value values[WAIT_FIGURES];
	double value;

	snapshot->origin = "replay";
	snapshot->window_seconds.known = false;
	waits_of_cgroup(snapshot, CHECKOUT, values);
	expect_value(values, WAIT_SHARE, 0.625);
	expect_value(values, WAIT_CPI, 2);
	expect_value(values, WAIT_MISSES, 7.5);
	cr_expect_not(values[WAIT_CORES_USED].known);
	cr_expect_not(values[WAIT_CORES_LOST].known);
	cr_expect_not(values[WAIT_TRAFFIC].known);
	cr_expect_not(snapshot_wait(snapshot, snapshot->cgroups[CHECKOUT].counters, WAIT_TRAFFIC, &value));
	cr_expect(snapshot_wait(snapshot, snapshot->cgroups[CHECKOUT].counters, WAIT_CPI, &value));
}

Test(snapshot_waits, each_pmu_contributes_a_part)
{
	struct snapshot *snapshot = example_counts();
	struct snapshot_wait_parts parts;

	(void)strcpy(snapshot->events[MISSES].event.pmu, "cpu_atom");
	snapshot_wait_parts(snapshot, snapshot->cgroups[CHECKOUT].counters, &parts);
	cr_assert_eq(parts.n, 2);
	cr_expect_eq(parts.events[0].cycles, CYCLES);
	cr_expect_eq(parts.events[0].misses, EVENTS_MAX);
	cr_expect_eq(parts.events[1].misses, MISSES);
	cr_expect_eq(parts.events[1].cycles, EVENTS_MAX);
	cr_expect(parts.parts[0].cycles.known);
	cr_expect_not(parts.parts[0].misses.known);
	cr_expect_eq(parts.parts[0].stalls.seconds, 5);
	cr_expect_eq(parts.parts[0].stalls.largest, 1e8);
}

Test(snapshot_rank, counts_rank_by_stalls_and_then_by_cycles)
{
	struct snapshot *snapshot = example_counts();
	struct snapshot_rank ranks[3] = {0};

	/* Without loads. */
	for (size_t i = 0; i < 3; i++) {
		snapshot->cgroups[i].counters[LOADS] = NULL;
		snapshot_rank_count(&ranks[i], snapshot, snapshot->cgroups[i].counters);
	}
	cr_expect_lt(snapshot_rank_compare(&ranks[CHECKOUT], &ranks[BATCH]), 0, "more stalls come first");
	ranks[CHECKOUT].samples[SAMPLES_STALLS] = ranks[BATCH].samples[SAMPLES_STALLS];
	cr_expect_gt(snapshot_rank_compare(&ranks[CHECKOUT], &ranks[BATCH]), 0, "then more cycles");
	ranks[OLD].samples[SAMPLES_LOADS] = 1;
	cr_expect_lt(snapshot_rank_compare(&ranks[OLD], &ranks[BATCH]), 0, "loads come before counts");
}

Test(snapshot_rank, off_core_responses_have_no_samples)
{
	const struct event offcore = {.role = EVENT_OFFCORE};

	cr_expect_eq(snapshot_samples_of(&offcore), SAMPLES_KINDS);
}

Test(snapshot_view, a_view_of_one_event_keeps_the_cost_of_waiting)
{
	struct snapshot *snapshot = example_counts();
	struct snapshot_view *view;
	struct wait_value values[WAIT_FIGURES];

	cr_assert_eq(
		snapshot_view_new(snapshot, &(struct view_request){.one_event = true, .event = LOADS}, &view),
		0);
	cr_assert_eq(snapshot_view_of(view)->n_cgroups, 2, "/batch has no loads");
	cr_expect_eq(snapshot_view_of(view)->unlisted,
		     1U << CYCLES | 1U << INSTRUCTIONS | 1U << STALLS | 1U << MISSES);
	waits_of_cgroup(snapshot_view_of(view), 0, values);
	expect_value(values, WAIT_CORES_LOST, 2);
	snapshot_view_free(view);

	cr_assert_eq(snapshot_view_new(snapshot, &(struct view_request){.one_event = true, .event = CYCLES},
				       &view),
		     0);
	cr_assert_eq(snapshot_view_of(view)->n_cgroups, 2);
	cr_expect_str_eq(snapshot_view_of(view)->cgroups[0].path, "/batch", "it has more cycles");
	cr_expect_eq(example_samples(snapshot_view_of(view), &snapshot_view_of(view)->cgroups[0], LOADS), 0);
	snapshot_view_free(view);
}
