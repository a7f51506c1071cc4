// SPDX-License-Identifier: GPL-2.0
/* Collections become panes whose sums are exact, at the times that the wall clock has. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/totals.h"
#include "history/event_json.h"
#include "history/labels_json.h"
#include "history/panes.h"
#include "scarce_memory.h"

#define SEC_US 1000000ULL
#define NOON   1795240800ULL /* a multiple of 10 s */

/* A copy of what a pane has, as far as the tests look at it. */
struct seen_pane {
	u64 start_us, end_us, covered_ns, run, period, frequency_hz;
	u64 seen, expected, paused_ns;
	char settings[EVENT_JSON_MAX];
	size_t n_events, n_cgroups, n_rows;
	char paths[8][64];
	char labels[8][128];
	u64 ids[8];
	struct counters sums[8][2];
};

static struct seen_pane seen[64];
static size_t n_seen, n_lost;
static int lost_error;

static struct totals *totals;
static struct panes *panes;
static struct snapshot head;
static struct reading readings[EVENTS_MAX];
static struct clocks now;
static struct panes_settings settings;

static struct delta list[4096];
static u8 room[256][PACKED_MAX];
static size_t n;

static void on_complete(void *userdata, const struct history_pane *pane)
{
	struct seen_pane *to = &seen[n_seen++];

	(void)userdata;
	cr_assert_leq(n_seen, ARRAY_SIZE(seen));
	*to = (struct seen_pane){
		.start_us = pane->start_us,
		.end_us = pane->end_us,
		.covered_ns = pane->covered_ns,
		.run = pane->run,
		.n_events = pane->n_events,
		.n_cgroups = pane->n_cgroups,
		.n_rows = pane->n_rows,
		.period = pane->events[0].period,
		.frequency_hz = pane->events[0].frequency_hz,
		.seen = pane->events[0].seen,
		.expected = pane->events[0].expected,
		.paused_ns = pane->events[0].paused_ns,
	};
	(void)snprintf(to->settings, sizeof(to->settings), "%s", pane->events[0].settings);
	for (size_t i = 0; i < pane->n_cgroups && i < 8; i++) {
		(void)snprintf(to->paths[i], sizeof(to->paths[i]), "%s", pane->cgroups[i].path);
		(void)snprintf(to->labels[i], sizeof(to->labels[i]), "%s", pane->cgroups[i].labels);
		to->ids[i] = pane->cgroups[i].id;
	}
	for (size_t i = 0; i < pane->n_rows; i++) {
		const struct history_row *row = &pane->rows[i];

		cr_expect(packed_sound(row->packed, row->size));
		if (row->cgroup < 8)
			packed_add(row->packed, row->size, &to->sums[row->cgroup][row->event]);
		if (i > 0)
			cr_expect(row->cgroup > row[-1].cgroup ||
				  (row->cgroup == row[-1].cgroup && row->event > row[-1].event));
	}
}

static void on_lost(void *userdata, int error)
{
	(void)userdata;
	n_lost++;
	lost_error = error;
}

static void setup(void)
{
	cr_assert_eq(totals_new(&totals), 0);
	head = (struct snapshot){
		.origin = "perf",
		.n_events = 2,
		.events = {{.event = {.role = EVENT_LOADS, .ldlat = 30, .period = 1009, .pmu = "cpu"},
			    .key = "loads"},
			   {.event = {.role = EVENT_CYCLES, .period = 1000003, .pmu = "cpu"},
			    .key = "cycles"}},
	};
	settings = (struct panes_settings){.complete = on_complete, .lost = on_lost, .ids = true};
	now = (struct clocks){.realtime_us = (NOON + 2) * SEC_US, .monotonic_ns = 50 * NSEC_PER_SEC};
	readings[0].seen = 1000;
	cr_assert_eq(panes_new(&settings, &now, readings, &panes), 0);
}

static void teardown(void)
{
	panes_free(panes);
	totals_free(totals);
}

TestSuite(panes, .init = setup, .fini = teardown);

/* Adds a delta to the next collection. */
static void gain(const char *path, unsigned event, const struct counters *counters)
{
	struct totals_entry *entry;

	cr_assert_lt(n, ARRAY_SIZE(room));
	cr_assert_eq(totals_get(totals, path, &entry), 0);
	entry->id = strlen(path);
	list[n] = (struct delta){.entry = entry, .event = event, .packed = room[n]};
	list[n].size = (u32)packed_of(counters, room[n]);
	n++;
}

static void gain_samples(const char *path, unsigned event, u64 samples)
{
	struct counters counters = {0};

	counters.samples[SOURCE_L2] = samples;
	counters.weight[SOURCE_L2] = 1009 * samples;
	gain(path, event, &counters);
}

/* One collection `seconds` after the last one. */
static void collect_after(double seconds)
{
	struct panes_collection collection = {.head = &head, .readings = readings, .list = list, .n = n};

	now.realtime_us += (u64)(seconds * SEC_US);
	now.monotonic_ns += (u64)(seconds * NSEC_PER_SEC);
	collection.at = now;
	panes_add(panes, &collection);
	n = 0;
}

Test(panes, a_pane_ends_after_a_multiple_of_ten_seconds)
{
	for (unsigned i = 0; i < 30; i++)
		collect_after(1.0625);
	/* Since 2 s; collections after 10, 20 and 30 s. */
	cr_assert_eq(n_seen, 3);
	cr_expect_eq(seen[0].start_us, (NOON + 2) * SEC_US);
	cr_expect_eq(seen[0].end_us, NOON * SEC_US + 10500000);
	cr_expect_eq(seen[0].covered_ns, 8500 * NSEC_PER_MSEC);
	cr_expect_eq(seen[1].start_us, seen[0].end_us);
	cr_expect_eq(seen[1].end_us, NOON * SEC_US + 20062500);
	cr_expect_eq(seen[2].start_us, seen[1].end_us);
	cr_expect_eq(seen[2].end_us, NOON * SEC_US + 30687500);
	cr_expect_eq(seen[1].covered_ns, (seen[1].end_us - seen[1].start_us) * 1000);
	cr_expect_eq(seen[1].run, seen[0].run);
	cr_expect_eq(seen[2].run, seen[0].run);
}

Test(panes, a_collection_longer_than_a_pane_is_a_pane)
{
	collect_after(25);
	collect_after(25);
	cr_assert_eq(n_seen, 2);
	cr_expect_eq(seen[1].covered_ns, 25 * NSEC_PER_SEC);
}

Test(panes, the_sum_of_panes_is_that_of_the_collections)
{
	static struct counters sums[3][2], found[3][2];
	static const char *const paths[] = {"/a", "/b", "unattributed"};
	u64 random = 1;

	for (unsigned i = 0; i < 100; i++) {
		for (unsigned cgroup = 0; cgroup < 3; cgroup++)
			for (unsigned event = 0; event < 2; event++) {
				struct counters counters = {0};
				u64 *values = (u64 *)&counters;

				for (unsigned k = 0; k < 20; k++) {
					random = random * 6364136223846793005ULL + 1442695040888963407ULL;
					if (random >> 63)
						values[(random >> 33) % COUNTER_COUNT] += random >> 40;
				}
				counters_add(&sums[cgroup][event], &counters);
				gain(paths[cgroup], event, &counters);
			}
		collect_after(1);
	}
	panes_end(panes);
	for (size_t i = 0; i < n_seen; i++)
		for (size_t j = 0; j < seen[i].n_cgroups; j++)
			for (unsigned event = 0; event < 2; event++)
				for (unsigned k = 0; k < 3; k++)
					if (strcmp(seen[i].paths[j], paths[k]) == 0)
						counters_add(&found[k][event], &seen[i].sums[j][event]);
	cr_expect_eq(n_seen, 11);
	cr_expect_arr_eq(found, sums, sizeof(sums));
	cr_expect_eq(n_lost, 0);
}

Test(panes, a_sum_saturates)
{
	gain_samples("/a", 0, UINT64_MAX / 1009);
	collect_after(1);
	gain_samples("/a", 0, UINT64_MAX / 1009);
	collect_after(1);
	panes_end(panes);
	cr_assert_eq(n_seen, 1);
	cr_expect_eq(seen[0].sums[0][0].weight[SOURCE_L2], UINT64_MAX);
}

Test(panes, a_path_with_two_slots_is_one_row)
{
	gain_samples("/a", 0, 1);
	gain_samples("/b", 0, 2);
	gain_samples("/a", 0, 4);
	collect_after(1);
	panes_end(panes);
	cr_assert_eq(n_seen, 1);
	cr_expect_eq(seen[0].n_rows, 2);
	cr_expect_eq(seen[0].sums[0][0].samples[SOURCE_L2], 5);
}

Test(panes, a_cgroup_without_samples_is_not_in_the_pane)
{
	gain_samples("/a", 0, 1);
	gain_samples("/b", 1, 2);
	collect_after(9);
	gain_samples("/b", 1, 4);
	collect_after(10);
	collect_after(10);
	cr_assert_eq(n_seen, 3);
	cr_expect_eq(seen[0].n_cgroups, 2);
	cr_assert_eq(seen[1].n_cgroups, 1);
	cr_expect_str_eq(seen[1].paths[0], "/b");
	cr_expect_eq(seen[1].ids[0], 2);
	cr_expect_eq(seen[1].sums[0][1].samples[SOURCE_L2], 4);
	cr_expect_eq(seen[2].n_cgroups, 0);
	cr_expect_eq(seen[2].n_rows, 0);
}

Test(panes, labels_that_are_too_long_for_a_pane_are_left_out)
{
	_cleanup_(labels_json_done) struct labels_json labels = {0};
	struct container container = {0};
	char text[CONTAINER_TEXT_MAX] = "";

	container.text[CONTAINER_LABEL_POD] = "shop";
	cr_expect_str_eq(labels_json_of(&labels, &container), "{\"pod\":\"shop\"}");
	memset(text, 1, sizeof(text) - 1);
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		container.text[label] = text;
	cr_expect_str_eq(labels_json_of(&labels, &container), "");
}

Test(panes, labels_that_had_no_memory_are_made_again)
{
	const struct container container = {.text = {[CONTAINER_LABEL_POD] = "shop"}};
	_cleanup_(labels_json_done) struct labels_json labels = {0};

	scarce_memory_after(0);
	cr_expect_str_eq(labels_json_of(&labels, &container), "");
	cr_expect(scarce_memory_end());
	cr_expect_str_eq(labels_json_of(&labels, &container), "{\"pod\":\"shop\"}");
}

Test(panes, synthetic_ids_are_not_stored)
{
	panes_free(panes);
	settings.ids = false;
	cr_assert_eq(panes_new(&settings, &now, readings, &panes), 0);
	gain_samples("/a", 0, 1);
	collect_after(9);
	cr_expect_eq(seen[0].ids[0], 0);
}

Test(panes, counts_of_events_are_deltas)
{
	readings[0].counted = readings[0].throttle_known = true;
	readings[0].seen += 7;
	readings[0].expected += 9;
	head.events[0].frequency_hz = (struct maybe_double){true, 3e9};
	collect_after(5);
	head.events[0].event.period = 2003;
	readings[0].seen += 1;
	collect_after(5);
	readings[0].seen += 4;
	collect_after(10);
	cr_assert_eq(n_seen, 2);
	/* What was counted before the first collection began is not part of it. */
	cr_expect_eq(seen[0].seen, 8);
	cr_expect_eq(seen[0].expected, 9);
	cr_expect_eq(seen[0].period, 2003);
	cr_expect_eq(seen[0].frequency_hz, 3000000000);
	cr_expect_eq(seen[1].seen, 4);
	cr_expect_eq(seen[1].expected, 0);
}

Test(panes, a_restart_continues_where_the_last_process_stopped)
{
	const struct clocks began = {.realtime_us = now.realtime_us - 4 * SEC_US,
				     .monotonic_ns = now.monotonic_ns - 4 * NSEC_PER_SEC};

	panes_free(panes);
	cr_assert_eq(panes_new(&settings, &began, readings, &panes), 0);
	gain_samples("/a", 0, 40);
	collect_after(0.5);
	collect_after(9);
	/* 4 s before 2 s is before noon. */
	cr_assert_eq(n_seen, 2);
	cr_expect_eq(seen[0].start_us, (NOON - 2) * SEC_US);
	cr_expect_eq(seen[0].covered_ns, 4500 * NSEC_PER_MSEC);
	cr_expect_eq(seen[0].sums[0][0].samples[SOURCE_L2], 40);
	cr_expect_eq(seen[0].run, seen[0].start_us);
}

Test(panes, a_pause_is_a_pane)
{
	collect_after(2);
	/* The collection when the pause begins still belongs to the time before it. */
	head.paused = true;
	collect_after(1);
	readings[0].paused_ns = 3 * NSEC_PER_SEC;
	collect_after(1);
	head.paused = false;
	collect_after(2);
	collect_after(2);
	cr_assert_eq(n_seen, 3);
	cr_expect_eq(seen[0].covered_ns, 3 * NSEC_PER_SEC);
	cr_expect_eq(seen[0].paused_ns, 0);
	cr_expect_eq(seen[1].covered_ns, 3 * NSEC_PER_SEC);
	cr_expect_eq(seen[1].paused_ns, 3 * NSEC_PER_SEC);
	cr_expect_eq(seen[2].paused_ns, 0);
	cr_expect_eq(seen[2].run, seen[0].run);
}

Test(panes, a_clock_that_was_set_back_ends_the_pane_and_the_run)
{
	gain_samples("/a", 0, 1);
	collect_after(3);
	now.realtime_us -= 3600 * SEC_US;
	gain_samples("/a", 0, 2);
	collect_after(1);
	collect_after(10);
	cr_assert_eq(n_seen, 2);
	cr_expect_eq(seen[0].end_us, (NOON + 5) * SEC_US);
	cr_expect_eq(seen[0].sums[0][0].samples[SOURCE_L2], 1);
	/* The pane in which the clock was set has the times of the new clock. */
	cr_expect_eq(seen[1].start_us, (NOON + 5 - 3600) * SEC_US);
	cr_expect_eq(seen[1].sums[0][0].samples[SOURCE_L2], 2);
	cr_expect_eq(seen[1].covered_ns, 11 * NSEC_PER_SEC);
	cr_expect_neq(seen[1].run, seen[0].run);
}

Test(panes, a_clock_that_jumps_ahead_leaves_a_gap)
{
	collect_after(3);
	now.realtime_us += 3600 * SEC_US; /* or the machine was suspended */
	collect_after(1);
	collect_after(10);
	cr_assert_eq(n_seen, 2);
	cr_expect_eq(seen[0].end_us, (NOON + 5) * SEC_US);
	cr_expect_eq(seen[1].start_us, (NOON + 5 + 3600) * SEC_US);
	cr_expect_eq(seen[1].covered_ns, 11 * NSEC_PER_SEC);
	cr_expect_neq(seen[1].run, seen[0].run);
}

Test(panes, a_clock_that_was_set_twice_has_three_runs)
{
	collect_after(1);
	now.realtime_us += 100 * SEC_US;
	collect_after(1);
	now.realtime_us -= 100 * SEC_US;
	collect_after(1);
	panes_end(panes);
	cr_assert_eq(n_seen, 3);
	cr_expect_neq(seen[0].run, seen[1].run);
	cr_expect_neq(seen[1].run, seen[2].run);
	cr_expect_neq(seen[0].run, seen[2].run);
}

Test(panes, clocks_read_at_slightly_different_times_are_not_a_step)
{
	for (unsigned i = 0; i < 8; i++) {
		now.realtime_us += i % 2 ? 200000 : -200000ULL;
		collect_after(1);
	}
	cr_assert_eq(n_seen, 1);
	cr_expect_eq(seen[0].start_us, (NOON + 2) * SEC_US);
}

Test(panes, other_settings_of_an_event_end_the_pane)
{
	gain_samples("/a", 0, 1);
	collect_after(1);
	head.events[0].event.ldlat = 3;
	gain_samples("/a", 0, 2);
	collect_after(1);
	panes_end(panes);
	cr_assert_eq(n_seen, 2);
	cr_expect_not_null(strstr(seen[0].settings, "\"ldlat\":30"));
	cr_expect_eq(seen[0].sums[0][0].samples[SOURCE_L2], 1);
	cr_expect_not_null(strstr(seen[1].settings, "\"ldlat\":3}"));
	cr_expect_eq(seen[1].sums[0][0].samples[SOURCE_L2], 2);
	cr_expect_eq(seen[1].run, seen[0].run);
}

Test(panes, an_end_without_a_collection_makes_no_pane)
{
	panes_end(panes);
	collect_after(10);
	panes_end(panes);
	cr_expect_eq(n_seen, 1);
}

Test(panes, a_lost_pane_begins_a_new_run)
{
	collect_after(10);
	panes_break(panes);
	collect_after(10);
	collect_after(10);
	cr_assert_eq(n_seen, 3);
	cr_expect_neq(seen[1].run, seen[0].run);
	cr_expect_eq(seen[2].run, seen[1].run);
}

Test(panes, many_collections_in_a_pane_take_little_memory)
{
	u64 expected = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct counters counters = {0};
		u64 *values = (u64 *)&counters;

		for (unsigned k = 0; k < COUNTER_COUNT; k++)
			values[k] = 1000000;
		gain("/a", 0, &counters);
		expected += 1000000;
		collect_after(0.001);
		cr_assert_lt(panes_bytes(panes), 3 * PANES_BYTES);
	}
	cr_assert_eq(n_seen, 0);
	panes_end(panes);
	cr_assert_eq(n_seen, 1);
	for (unsigned k = 0; k < COUNTER_COUNT; k++)
		cr_expect_eq(((const u64 *)&seen[0].sums[0][0])[k], expected);
}

static const struct container *find(void *userdata, const char *path)
{
	const struct container *container = userdata;

	return strcmp(path, "/a") == 0 ? container : NULL;
}

Test(panes, labels_are_those_at_the_end_of_the_pane)
{
	struct container container = {.text = {[CONTAINER_LABEL_UNIT] = "db.service"}};
	const struct container_lookup lookup = {.find = find, .userdata = &container};

	panes_free(panes);
	settings.containers = &lookup;
	cr_assert_eq(panes_new(&settings, &now, readings, &panes), 0);
	for (unsigned i = 0; i < 3; i++) {
		gain_samples("/a", 0, 1);
		gain_samples("/b", 0, 1);
		collect_after(10);
		container.text[CONTAINER_LABEL_POD] = "say \"hi\"";
		container.text[CONTAINER_LABEL_USER] = "\xff";
	}
	cr_assert_eq(n_seen, 3);
	cr_expect_str_eq(seen[0].labels[0], "{\"unit\":\"db.service\"}");
	cr_expect_str_eq(seen[1].labels[0], "{\"pod\":\"say \\\"hi\\\"\",\"unit\":\"db.service\"}");
	cr_expect_str_eq(seen[2].labels[0], seen[1].labels[0]);
	cr_expect_str_eq(seen[0].labels[1], "");
}

Test(panes, thousands_of_short_lived_cgroups_are_counted)
{
	u64 sum = 0;

	for (unsigned i = 0; i < 60; i++) {
		for (unsigned k = 0; k < 200; k++) {
			char path[32];

			(void)snprintf(path, sizeof(path), "/%u", 100 * i + k);
			gain_samples(path, 1, 1);
		}
		collect_after(10);
	}
	cr_assert_eq(n_seen, 60);
	for (size_t i = 0; i < n_seen; i++)
		sum += seen[i].n_rows;
	cr_expect_eq(sum, 12000);
}
