// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_snapshot.h"
#include "heap.h"
#include "in_packed.h"
#include "snapshot/snapshot_build.h"

#define SECOND NSEC_PER_SEC

static struct totals *totals;
static struct window *window;
static struct snapshot head;
static struct reading readings[EVENTS_MAX];

static void setup(void)
{
	const struct timespec start = {.tv_sec = 1000};

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(window_new(1 << 20, 600 * SECOND, 0, &start, &window), 0);
	head = (struct snapshot){.origin = "replay", .sequence = 1, .n_events = 1};
	memset(readings, 0, sizeof(readings));
}

static void teardown(void)
{
	window_free(window);
	totals_free(totals);
}

TestSuite(snapshot, .init = setup, .fini = teardown);

/* Adds samples of L2 with a latency and a weighted latency of 10 cycles each, as a collection would. */
static void count(struct totals_entry *entry, u64 samples)
{
	struct counters counters = {0};
	struct in_packed room;

	counters.samples[SOURCE_L2] = samples;
	counters.latency_sum[SOURCE_L2] = counters.weighted_latency[SOURCE_L2] = 10 * samples;
	(void)in_packed(&room, 0, &counters);
	cr_assert_eq(totals_add(entry, 0, room.room, room.delta.size), 0);
	window_put(window, entry->number, 0, room.room, room.delta.size);
}

static struct totals_entry *entry_of(const char *path)
{
	struct totals_entry *entry;

	cr_assert_eq(totals_get(totals, path, &entry), 0);
	return entry;
}

static struct snapshot *build(u64 window_ns)
{
	struct snapshot_sources sources = {.head = &head, .totals = totals, .readings = readings};
	struct snapshot *snapshot;

	if (window_ns)
		cr_assert_eq(window_sum(window, window_ns, &sources.sums), 0);
	cr_assert_eq(snapshot_build(&sources, &snapshot), 0);
	return snapshot;
}

static u64 samples_of(const struct snapshot *snapshot, const char *path)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return example_samples(snapshot, &snapshot->cgroups[i], 0);
	return 0;
}

Test(snapshot, cgroups_are_ordered_by_weighted_latency_and_add_up)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	count(entry_of("/few"), 1);
	count(entry_of("/many"), 5);
	count(entry_of("/some"), 3);
	count(totals_unattributed(totals), 7);
	entry_of("/none");
	cr_assert_eq(window_end(window), 0);

	snapshot = build(0);
	cr_assert_eq(snapshot->n_cgroups, 3, "one without samples is not in it");
	cr_expect_str_eq(snapshot->cgroups[0].path, "/many");
	cr_expect_str_eq(snapshot->cgroups[1].path, "/some");
	cr_expect_str_eq(snapshot->cgroups[2].path, "/few");
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 16);
	cr_expect_eq(snapshot->events[0].unattributed, 7);
	cr_expect_not(snapshot->window_seconds.known);
}

Test(snapshot, a_window_has_the_samples_of_its_time)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	count(entry_of("/a"), 100);
	count(totals_unattributed(totals), 7);
	cr_assert_eq(window_end(window), 0);
	window_begin(window, 2 * SECOND, &(struct timespec){.tv_sec = 1002});
	count(entry_of("/a"), 1);
	count(entry_of("/b"), 2);
	cr_assert_eq(window_end(window), 0);

	snapshot = build(SECOND);
	cr_expect_eq(samples_of(snapshot, "/a"), 1);
	cr_expect_eq(samples_of(snapshot, "/b"), 2);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 3);
	cr_expect_eq(snapshot->events[0].unattributed, 0);
	cr_expect(snapshot->window_seconds.known);
	cr_expect_float_eq(snapshot->window_seconds.value, 1.0, 1e-9);
	cr_expect_eq(snapshot->since.tv_sec, 1001);
	snapshot_free(snapshot);

	snapshot = build(2 * SECOND);
	cr_expect_eq(samples_of(snapshot, "/a"), 101);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 110);
}

Test(snapshot, cgroups_with_virtual_machines_are_marked)
{
	const u64 ids[] = {7, 9};
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	count(entry_of("/plain"), 1);
	count(entry_of("/machine"), 2);
	cr_assert_eq(window_end(window), 0);
	entry_of("/plain")->id = 8;
	entry_of("/machine")->id = 9;
	totals_mark_guests(totals, ids, 0);
	snapshot = build(0);
	cr_expect_not(snapshot->cgroups[0].guest_not_sampled || snapshot->cgroups[1].guest_not_sampled);
	snapshot_free(snapshot);

	totals_mark_guests(totals, ids, 2);
	snapshot = build(SECOND);
	cr_expect_str_eq(snapshot->cgroups[0].path, "/machine");
	cr_expect(snapshot->cgroups[0].guest_not_sampled);
	cr_expect_not(snapshot->cgroups[1].guest_not_sampled);
	snapshot_free(snapshot);

	totals_mark_guests(totals, ids, 1);
	snapshot = build(0);
	cr_expect(snapshot->cgroups[0].guest_not_sampled,
		  "its figures are of the time with the machine, too");
}

/* The window outlives the entries of removed cgroups. Their samples are in `other` and in the total. */
Test(snapshot, a_folded_entry_keeps_its_samples_in_the_window)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	count(entry_of("/gone-1"), 4);
	count(entry_of("/stays"), 8);
	count(entry_of("/gone-2"), 16);
	cr_assert_eq(window_end(window), 0);
	totals_hold(entry_of("/stays"));
	cr_assert_eq(totals_fold(totals, 1, 100), 0);
	cr_assert_null(totals_find(totals, "/gone-1"));

	snapshot = build(SECOND);
	cr_expect_eq(samples_of(snapshot, "/stays"), 8);
	cr_expect_eq(samples_of(snapshot, "other"), 20);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 28);
	snapshot_free(snapshot);
	snapshot = build(0);
	cr_expect_eq(samples_of(snapshot, "other"), 20);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 28);
}

Test(snapshot, uncounted_values_are_unknown)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	cr_assert_eq(window_end(window), 0);
	snapshot = build(0);
	cr_expect_not(snapshot->events[0].lost_unexplained.known);
	cr_expect_not(snapshot->events[0].running_ratio.known);
	cr_expect_not(snapshot->events[0].multiplexed_seconds.known);
	cr_expect_not(snapshot->events[0].throttled_seconds.known);
	cr_expect_not(snapshot->events[0].throttles.known);
	cr_expect_not(snapshot->events[0].rearmed.known);
	cr_expect_not(snapshot->events[0].paused_seconds.known);
	snapshot_free(snapshot);

	readings[0] = (struct reading){.malformed = 2,
				       .counted = true,
				       .enabled_ns = 4 * SECOND,
				       .running_ns = 3 * SECOND,
				       .waiting_ns = SECOND,
				       .throttle_known = true,
				       .throttled_ns = SECOND / 4,
				       .paused_ns = 3 * SECOND / 2,
				       .throttles = 63,
				       .rearmed = 2,
				       .unexplained = 9};
	snapshot = build(0);
	cr_expect_eq(snapshot->events[0].lost_malformed.value, 2);
	cr_expect_eq(snapshot->events[0].lost_unexplained.value, 9);
	cr_expect_float_eq(snapshot->events[0].running_ratio.value, 0.75, 1e-9);
	cr_expect_float_eq(snapshot->events[0].multiplexed_seconds.value, 1.0, 1e-9);
	cr_expect(snapshot->events[0].throttled_seconds.known);
	cr_expect_float_eq(snapshot->events[0].throttled_seconds.value, 0.25, 1e-9);
	cr_expect(snapshot->events[0].paused_seconds.known);
	cr_expect_float_eq(snapshot->events[0].paused_seconds.value, 1.5, 1e-9);
	cr_expect_eq(snapshot->events[0].throttles.value, 63);
	cr_expect(snapshot->events[0].rearmed.known);
	cr_expect_eq(snapshot->events[0].rearmed.value, 2);
}

/* Figures by CPU cover the time since the start, so a shorter window does not show them. */
Test(snapshot, figures_by_cpu_exist_only_for_the_whole_time)
{
	const struct snapshot_cpu cpus[] = {{.cpu = 0, .online = true, .expected = 7}};
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	head.events[0].per_cpu = cpus;
	head.events[0].n_per_cpu = 1;
	window_begin(window, SECOND, &(struct timespec){.tv_sec = 1001});
	cr_assert_eq(window_end(window), 0);
	snapshot = build(0);
	cr_assert_eq(snapshot->events[0].n_per_cpu, 1);
	cr_expect_eq(snapshot->events[0].per_cpu[0].expected, 7);
	snapshot_free(snapshot);
	snapshot = build(SECOND);
	cr_expect_eq(snapshot->events[0].n_per_cpu, 0);
	cr_expect_null(snapshot->events[0].per_cpu);
}

/* Adds samples of an event without latency. */
static void count_plain(struct totals_entry *entry, unsigned event, u64 samples)
{
	struct counters counters = {0};
	struct in_packed room;

	counters.samples[SOURCE_UNKNOWN] = samples;
	(void)in_packed(&room, event, &counters);
	cr_assert_eq(totals_add(entry, event, room.room, room.delta.size), 0);
}

/* Stores without latency, and instructions. A thousand instructions do not count more than one store. */
Test(snapshot, without_latency_cgroups_are_ordered_by_samples)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	head.n_events = 3;
	head.events[0].event.role = EVENT_INSTRUCTIONS;
	head.events[1].event.role = EVENT_STORES;
	head.events[2].event.role = EVENT_STORES; /* on another PMU */
	count_plain(entry_of("/computes"), 0, 1000);
	count_plain(entry_of("/computes"), 1, 2);
	count_plain(entry_of("/stores"), 1, 2);
	count_plain(entry_of("/stores"), 2, 2);
	count_plain(entry_of("/idles"), 0, 5);
	count_plain(entry_of("/waits"), 0, 7);
	snapshot = build(0);
	cr_assert_eq(snapshot->n_cgroups, 4);
	cr_expect_str_eq(snapshot->cgroups[0].path, "/stores");
	cr_expect_str_eq(snapshot->cgroups[1].path, "/computes");
	cr_expect_str_eq(snapshot->cgroups[2].path, "/waits");
	cr_expect_str_eq(snapshot->cgroups[3].path, "/idles");
}

Test(snapshot, filtered_samples_are_known_if_the_event_filters)
{
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	head.n_events = 2;
	head.events[0].event.settings.operations = OP_LOAD;
	readings[0].filtered = 12;
	snapshot = build(0);
	cr_expect(snapshot->events[0].filtered.known);
	cr_expect_eq(snapshot->events[0].filtered.value, 12);
	cr_expect_not(snapshot->events[1].filtered.known);
}

Test(snapshot, a_summary_has_sums_and_the_cgroups_with_machines)
{
	struct snapshot_sources sources = {.head = &head, .totals = totals, .readings = readings};
	struct counters sums[1] = {{.samples[SOURCE_L2] = 42}};
	_cleanup_(snapshot_freep) struct snapshot *snapshot = NULL;

	readings[0].malformed = 5;
	count(entry_of("/plain"), 12);
	count(totals_unattributed(totals), 9);
	entry_of("/machine")->guest = true;
	entry_of("/machine")->living = 1;
	count(entry_of("/machine"), 21);
	cr_assert_eq(snapshot_build_summary(&sources, sums, &snapshot), 0);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), 42, "as it is given");
	cr_expect_eq(snapshot->events[0].unattributed, 9);
	cr_expect_eq(snapshot->events[0].lost_malformed.value, 5);
	cr_assert_eq(snapshot->n_cgroups, 1);
	cr_expect_str_eq(snapshot->cgroups[0].path, "/machine");
	cr_expect(snapshot->cgroups[0].alive);
	cr_expect(snapshot->cgroups[0].guest_not_sampled);
	cr_expect_eq(example_samples(snapshot, &snapshot->cgroups[0], 0), 0);
}

/* Unpacked counters would take 5 KB for each cgroup and event. */
Test(snapshot, a_snapshot_of_many_cgroups_is_small)
{
	const size_t n = 1000;
	size_t before;

	window_begin(window, 5 * SECOND, &(struct timespec){.tv_sec = 1005});
	for (size_t i = 0; i < n; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/many-%zu", i);
		count(entry_of(path), 1 + i);
	}
	cr_assert_eq(window_end(window), 0);
	for (u64 window_ns = 0; window_ns <= 5 * SECOND; window_ns += 5 * SECOND) {
		struct snapshot *snapshot;

		before = heap_bytes();
		snapshot = build(window_ns);
		cr_assert_eq(snapshot->n_cgroups, n);
		cr_expect_str_eq(snapshot->cgroups[0].path, "/many-999");
		cr_expect_eq(samples_of(snapshot, "/many-700"), 701);
		cr_expect_eq(counters_samples(&snapshot->events[0].total), n * (n + 1) / 2);
		cr_expect_lt(heap_bytes() - before, n * 600, "%zu", heap_bytes() - before);
		snapshot_free(snapshot);
	}
}
