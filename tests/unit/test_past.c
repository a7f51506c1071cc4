// SPDX-License-Identifier: GPL-2.0
/* Panes of the history become the same snapshot, window, trend and neighbours as collections of the present. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "history/past.h"
#include "in_packed.h"
#include "snapshot/snapshot_build.h"
#include "some_panes.h"

#define SECOND  NSEC_PER_SEC
#define SEC_US  1000000ULL
#define PANES   100
#define PANE_S  10
#define CGROUPS 5

static struct event loads = {.role = EVENT_LOADS,
			     .ldlat = 30,
			     .period = 1009,
			     .latency_kind = LATENCY_USE,
			     .nominal_hz = 2e9,
			     .settings = {.has_latency = 1, .has_source = 1},
			     .pmu = "cpu"};
static struct event cycles = {.role = EVENT_CYCLES, .period = 1000003, .nominal_hz = 2e9, .pmu = "cpu"};
static struct event stalls = {.role = EVENT_STALLS,
			      .count_kind = COUNT_STALLS_LOAD,
			      .period = 500009,
			      .nominal_hz = 2e9,
			      .pmu = "cpu"};

static struct some_panes panes;
static struct past *past;

static void teardown(void)
{
	past = past_free(past);
	some_panes_done(&panes);
	loads.ldlat = 30;
	loads.period = 1009;
}

TestSuite(past, .fini = teardown);

static void make(u64 until_us)
{
	const struct past_settings settings = {.range = {SOME_PANES_START_US, until_us}};

	cr_assert_eq(past_new(&settings, panes.list, panes.n, &past), 0);
}

static void make_all(void)
{
	make(panes.list[panes.n - 1].end_us);
}

static struct counters some_loads(u64 n, enum source source, u32 cycles_each)
{
	struct counters counters = {0};

	example_add(&counters, n, source, cycles_each, loads.period, SNOOP_NONE, TLB_L1_HIT);
	return counters;
}

static const struct snapshot_cgroup *find(const struct snapshot *snapshot, const char *path)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return &snapshot->cgroups[i];
	return NULL;
}

static u64 samples(const struct snapshot *snapshot, const char *path, unsigned event)
{
	const struct snapshot_cgroup *cgroup = find(snapshot, path);

	return cgroup ? example_samples(snapshot, cgroup, event) : 0;
}

/* A pane with one event of loads, and `n` samples of /a. */
static struct history_pane *add_loads(u64 gap_s, u64 seconds, u64 n)
{
	struct history_pane *pane = some_panes_add(&panes, gap_s, seconds);
	const struct counters counters = some_loads(n, SOURCE_L3, 50);

	some_panes_row(pane, "/a", some_panes_event(pane, "loads", &loads, 4), &counters);
	return pane;
}

/* ---- the same as the present ---- */

static const char *const paths[CGROUPS] = {"unattributed", "other", "/victim", "/noisy", "/quiet"};

static bool is_burst(size_t bin)
{
	static const size_t begins[] = {3, 9, 19, 24, 38, 45, 51, 66, 70, 83, 92};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (bin >= begins[i] && bin < begins[i] + 3)
			return true;
	return false;
}

static struct counters counters_at(size_t bin, size_t cgroup, unsigned event)
{
	const u64 some = 20 + (bin * 7 + cgroup * 13 + bin * bin * (cgroup + 3)) % 11;
	struct counters counters = {0};

	if (event > 0) {
		const u64 period = event == 1 ? cycles.period : stalls.period;

		example_add(&counters, event == 1 ? 4 * some : some, SOURCE_UNKNOWN, 0, period, SNOOP_NA,
			    TLB_NA);
		memset(counters.latency, 0, sizeof(counters.latency));
		memset(counters.source_latency, 0, sizeof(counters.source_latency));
		return counters;
	}
	if (cgroup == 2)
		return some_loads(some, SOURCE_LOCAL_DRAM, (is_burst(bin) ? 2000 : 200) + (u32)some);
	if (cgroup == 3)
		return some_loads(is_burst(bin) ? 200 + some : some, SOURCE_L3, 80);
	return some_loads(some, SOURCE_REMOTE_DRAM, 300);
}

/* What the engine has after collections with the same deltas. */
struct present {
	struct totals *totals;
	struct window *window;
	struct trend *trend;
	struct readings *readings;
	struct snapshot head, *snapshot;
};

static struct totals_entry *entry_of(const struct present *present, size_t cgroup)
{
	struct totals_entry *entry;

	if (cgroup < 2)
		return cgroup ? totals_other(present->totals) : totals_unattributed(present->totals);
	cr_assert_eq(totals_get(present->totals, paths[cgroup], &entry), 0);
	entry->living = 1;
	return entry;
}

static void collect(const struct present *present, size_t bin, struct reading readings[3])
{
	const u64 now_ns = (bin + 1) * PANE_S * SECOND;
	const struct timespec now = {.tv_sec = (time_t)(SOME_PANES_START_US / SEC_US + (bin + 1) * PANE_S)};

	window_begin(present->window, now_ns, &now);
	cr_assert_eq(trend_begin(present->trend, now_ns), 0);
	for (size_t cgroup = 0; cgroup < CGROUPS; cgroup++)
		for (unsigned event = 0; event < 3; event++) {
			const struct counters counters = counters_at(bin, cgroup, event);
			const struct totals_entry *entry = entry_of(present, cgroup);
			struct in_packed room;

			window_put_counters(present->window, entry->number, event, &counters);
			(void)in_packed(&room, event, &counters);
			cr_assert_eq(
				trend_put(present->trend, entry->number, event, room.room, room.delta.size),
				0);
			readings[event].seen += counters_samples(&counters);
		}
	cr_assert_eq(window_end(present->window), 0);
	for (unsigned event = 0; event < 3; event++) {
		readings[event].counted = readings[event].throttle_known = true;
		readings[event].enabled_ns += 4ULL * PANE_S * SECOND;
		readings[event].running_ns += (event == 2 ? 2ULL : 4ULL) * PANE_S * SECOND;
		readings[event].unexplained += 3;
		readings[event].throttled_ns += 5000;
	}
	readings_push(present->readings, now_ns, readings);
}

static void present_open(struct present *present)
{
	const struct timespec start = {.tv_sec = (time_t)(SOME_PANES_START_US / SEC_US)};
	struct reading readings[3] = {0};
	struct snapshot_sources sources;

	cr_assert_eq(totals_new(&present->totals), 0);
	cr_assert_eq(window_new(64 << 20, 6000 * SECOND, 0, &start, &present->window), 0);
	cr_assert_eq(trend_new(16 << 20, 6000 * SECOND, 0, &present->trend), 0);
	cr_assert_eq(readings_new(6000 * SECOND, 3, &present->readings), 0);
	for (size_t bin = 0; bin < PANES; bin++)
		collect(present, bin, readings);
	present->head = (struct snapshot){
		.origin = "model",
		.sequence = PANES,
		.n_events = 3,
		.nominal_hz = {true, 2e9},
		.interval_seconds = PANE_S,
		.taken = {.tv_sec = start.tv_sec + (time_t)PANES * PANE_S},
		.events = {{.event = loads, .key = "loads"},
			   {.event = cycles, .key = "cycles"},
			   {.event = stalls, .key = "stalls"}},
	};
	for (unsigned event = 0; event < 3; event++)
		present->head.events[event].frequency_hz = (struct maybe_double){true, 2.5e9};
	sources = (struct snapshot_sources){
		.head = &present->head, .totals = present->totals, .readings = readings};
	cr_assert_eq(window_sum(present->window, (u64)PANES * PANE_S * SECOND, &sources.sums), 0);
	cr_assert_eq(snapshot_build(&sources, &present->snapshot), 0);
	present->snapshot->window = present->window;
	present->snapshot->trend = present->trend;
}

static void present_close(const struct present *present)
{
	snapshot_free(present->snapshot);
	readings_free(present->readings);
	trend_free(present->trend);
	window_free(present->window);
	totals_free(present->totals);
}

static void fill_panes(void)
{
	for (size_t bin = 0; bin < PANES; bin++) {
		struct history_pane *pane = some_panes_add(&panes, 0, PANE_S);

		(void)some_panes_event(pane, "loads", &loads, 4);
		(void)some_panes_event(pane, "cycles", &cycles, 4);
		(void)some_panes_event(pane, "stalls", &stalls, 4);
		pane->events[2].running_ns /= 2;
		for (size_t cgroup = 0; cgroup < CGROUPS; cgroup++)
			for (unsigned event = 0; event < 3; event++) {
				const struct counters counters = counters_at(bin, cgroup, event);

				some_panes_row(pane, paths[cgroup], event, &counters);
			}
		for (unsigned event = 0; event < 3; event++) {
			pane->events[event].frequency_hz = 2500000000;
			pane->events[event].unexplained = 3;
			pane->events[event].throttled_ns = 5000;
		}
	}
}

static int append(const char *text, size_t length, void *userdata)
{
	cr_assert_eq(fwrite(text, 1, length, userdata), length);
	return 0;
}

static char *top_text(const struct snapshot *snapshot)
{
	const struct json_more more = {.histograms = true, .trend = {.bins = 50, .bin_ns = 20 * SECOND}};
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	cr_assert_not_null(stream);
	cr_assert_eq(json_write_top(snapshot, NULL, snapshot->n_cgroups, &more, JSON_C_TO_STRING_PLAIN,
				    append, stream),
		     0);
	cr_assert_eq(fclose(stream), 0);
	return text;
}

Test(past, a_snapshot_of_panes_equals_that_of_the_collections)
{
	_cleanup_(present_close) struct present present;
	_cleanup_free_ char *expected = NULL, *found = NULL;

	present_open(&present);
	fill_panes();
	make_all();
	expected = top_text(present.snapshot);
	found = top_text(past_snapshot(past));
	cr_expect_str_eq(found, expected);
	/* The comparison is one of figures that exist. */
	cr_expect(strstr(found, "\"p99\":") && strstr(found, "\"trend\":") && strstr(found, "\"waits\":"),
		  "%s", found);
	for (size_t i = 0; i < present.snapshot->n_cgroups; i++) {
		_cleanup_json_ json_object *was = json_cgroup(present.snapshot, i, NULL);
		_cleanup_json_ json_object *is = json_cgroup(past_snapshot(past), i, NULL);

		cr_expect_str_eq(json_object_to_json_string(is), json_object_to_json_string(was));
		cr_expect(strstr(json_object_to_json_string(is), "\"bounds\""));
	}
}

Test(past, neighbours_equal_those_of_the_collections)
{
	_cleanup_(present_close) struct present present;
	struct neighbours_report *expected, *found;

	present_open(&present);
	fill_panes();
	make_all();
	cr_assert_eq(neighbours_report_make(
			     &(struct neighbours_sources){
				     .window = present.window,
				     .readings = present.readings,
				     .now_ns = (u64)PANES * PANE_S * SECOND,
				     .span_ns = (u64)PANES * PANE_S * SECOND,
				     .entries = totals_entries(present.totals, &(size_t){0}),
				     .n_entries = CGROUPS - 2,
				     .victim = entry_of(&present, 2),
				     .head = &present.head,
			     },
			     -1, "/sys", &expected),
		     0);
	cr_assert_eq(past_neighbours(past, "/victim", -1, "/sys", &found), 0);
	cr_expect_eq(found->ranking.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(found->ranking.bins, expected->ranking.bins);
	cr_assert_eq(found->n_cgroups, expected->n_cgroups);
	for (size_t i = 0; i < found->n_cgroups; i++)
		cr_expect_str_eq(found->cgroups[i], expected->cgroups[i]);
	cr_assert_eq(found->ranking.n, expected->ranking.n);
	for (size_t i = 0; i < found->ranking.n; i++)
		cr_expect_float_eq(found->ranking.list[i].strength, expected->ranking.list[i].strength,
				   1e-12);
	cr_expect_str_eq(found->cgroups[found->ranking.list[0].index], "/noisy");
	cr_expect_eq(past_neighbours(past, "/nobody", -1, "/sys", &found), -ENOENT);
	neighbours_report_free(expected);
	neighbours_report_free(found);
}

Test(past, long_panes_have_neighbours_too)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *found = NULL;

	fill_panes();
	/* A day later, each pane covers a minute. */
	for (size_t i = 0; i < panes.n; i++) {
		panes.list[i].start_us = SOME_PANES_START_US + i * 60 * SEC_US;
		panes.list[i].end_us = panes.list[i].start_us + 60 * SEC_US;
		panes.list[i].covered_ns = 60 * SECOND;
	}
	make_all();
	cr_assert_eq(past_neighbours(past, "/victim", -1, "/sys", &found), 0);
	cr_expect_eq(found->ranking.verdict, NEIGHBOURS_NAMED);
	cr_expect_float_eq(found->bin_seconds, 60, 1e-9);
	cr_expect_float_eq(found->covered_seconds, 6000, 1e-9);
}

/* Two panes of 10 s may lie in one bin of the query. */
Test(past, a_long_pane_leaves_the_bins_of_the_others_short)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *found = NULL;

	fill_panes();
	panes.list[PANES / 2].covered_ns *= 2;
	make_all();
	cr_assert_eq(past_neighbours(past, "/victim", -1, "/sys", &found), 0);
	cr_expect_geq(found->ranking.bins, PANES - 1);
}

Test(past, neighbours_are_compared_in_all_of_a_long_time)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *found = NULL;

	fill_panes();
	for (size_t i = 0; i < PANES; i++)
		panes.list[i].covered_ns = (i < PANES / 2 ? 60 : 10) * SECOND;
	make_all();
	cr_assert_eq(past_neighbours(past, "/victim", -1, "/sys", &found), 0);
	cr_expect_float_eq(found->covered_seconds, (double)PANES * 70 / 2, 60);
}

Test(past, a_bin_is_a_snapshot_of_its_pane)
{
	struct snapshot *bin;
	u64 sum = 0;

	fill_panes();
	make_all();
	cr_assert_eq(past_bins(past), PANES);
	for (size_t i = 0; i < PANES; i++) {
		const struct counters expected = counters_at(i, 3, 0);

		cr_assert_eq(past_bin_snapshot(past, i, &bin), 0);
		cr_expect_eq(samples(bin, "/noisy", 0), counters_samples(&expected));
		cr_expect_eq(bin->since.tv_sec, (time_t)(SOME_PANES_START_US / SEC_US + i * PANE_S));
		cr_expect_eq(bin->taken.tv_sec, bin->since.tv_sec + PANE_S);
		cr_expect_float_eq(bin->window_seconds.value, PANE_S, 1e-9);
		cr_expect_float_eq(bin->events[2].running_ratio.value, 0.5, 1e-9);
		cr_expect_eq(bin->events[0].lost_unexplained.value, 3);
		cr_expect_eq(past_bin(past, i).covered_ns, PANE_S * SECOND);
		cr_expect_eq(past_bin(past, i).span.since_us, SOME_PANES_START_US + i * PANE_S * SEC_US);
		sum += samples(bin, "/noisy", 0);
		snapshot_free(bin);
	}
	cr_expect_eq(samples(past_snapshot(past), "/noisy", 0), sum);
}

/* ---- gaps ---- */

Test(past, gaps_are_parts_of_the_range_without_a_pane)
{
	const struct past_span *gaps;
	size_t n;

	add_loads(5, 10, 1);
	add_loads(0, 10, 2);
	add_loads(3600, 10, 4);
	make(panes.list[2].end_us + 7 * SEC_US);
	gaps = past_gaps(past, &n);
	cr_assert_eq(n, 3);
	cr_expect_eq(gaps[0].since_us, SOME_PANES_START_US);
	cr_expect_eq(gaps[0].until_us, SOME_PANES_START_US + 5 * SEC_US);
	cr_expect_eq(gaps[1].since_us, SOME_PANES_START_US + 25 * SEC_US);
	cr_expect_eq(gaps[1].until_us, SOME_PANES_START_US + 3625 * SEC_US);
	cr_expect_eq(gaps[2].since_us, SOME_PANES_START_US + 3635 * SEC_US);
	cr_expect_eq(gaps[2].until_us, SOME_PANES_START_US + 3642 * SEC_US);
	/* Rates are those of the covered time. */
	cr_expect_float_eq(past_snapshot(past)->window_seconds.value, 30, 1e-9);
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 7);
}

Test(past, a_pause_is_a_gap)
{
	const struct past_span *gaps;
	struct history_pane *pane;
	size_t n;

	add_loads(0, 10, 1);
	pane = some_panes_add(&panes, 0, 20);
	(void)some_panes_event(pane, "loads", &loads, 4);
	pane->events[0].enabled_ns = pane->events[0].running_ns = 0;
	pane->events[0].paused_ns = 80 * SECOND;
	add_loads(0, 10, 1);
	make_all();
	gaps = past_gaps(past, &n);
	cr_assert_eq(n, 1);
	cr_expect_eq(gaps[0].since_us, SOME_PANES_START_US + 10 * SEC_US);
	cr_expect_eq(gaps[0].until_us, SOME_PANES_START_US + 30 * SEC_US);
	cr_expect_float_eq(past_snapshot(past)->events[0].paused_seconds.value, 80, 1e-9);
}

Test(past, a_trend_keeps_the_length_of_gaps)
{
	struct trend_bins bins = {.bin_ns = 10 * SECOND, .n = 6};
	u32 entry;

	add_loads(0, 10, 1);
	add_loads(40, 10, 2);
	make_all();
	bins.bins = calloc(bins.n, sizeof(*bins.bins));
	entry = find(past_snapshot(past), "/a")->entry;
	trend_cover(past_snapshot(past)->trend, &bins);
	trend_add(past_snapshot(past)->trend, &entry, 1, 0, &bins);
	for (size_t i = 0; i < bins.n; i++) {
		cr_expect_eq(bins.bins[i].covered, i == 0 || i == 5, "bin %zu", i);
		cr_expect_float_eq(bins.bins[i].samples, i == 0 ? 1 : i == 5 ? 2 : 0, 1e-9);
	}
	free(bins.bins);
}

/* The cells are 72 s / 7, and the panes begin 3 s before them: none ends with a cell. */
Test(past, a_constant_load_has_a_constant_trend)
{
	const u64 since_us = SOME_PANES_START_US + 3 * SEC_US;
	const struct past_settings settings = {.range = {since_us, since_us + 72 * SEC_US}};
	struct trend_bins bins = {.n = 7};
	u32 entry;

	for (unsigned i = 0; i < 8; i++)
		add_loads(0, 10, 2600);
	cr_assert_eq(past_new(&settings, panes.list, panes.n, &past), 0);
	bins.end_ns = past_trend_end_ns(past);
	bins.bin_ns = bins.end_ns / bins.n;
	cr_assert_eq(bins.end_ns, 72 * SECOND);
	bins.bins = calloc(bins.n, sizeof(*bins.bins));
	entry = find(past_snapshot(past), "/a")->entry;
	trend_cover(past_snapshot(past)->trend, &bins);
	trend_add(past_snapshot(past)->trend, &entry, 1, 0, &bins);
	for (size_t i = 0; i < bins.n; i++) {
		cr_expect(bins.bins[i].covered, "bin %zu", i);
		cr_expect_float_eq(bins.bins[i].samples / bins.bins[i].covered_ns * SECOND, 260, 0.01,
				   "bin %zu", i);
	}
	free(bins.bins);
}

Test(past, a_pause_is_not_part_of_the_trend)
{
	struct trend_bins bins = {.bin_ns = 10 * SECOND, .end_ns = 30 * SECOND, .n = 3};
	struct trend_bin of[3] = {0};
	struct history_pane *pane;

	add_loads(0, 10, 1);
	pane = some_panes_add(&panes, 0, 10);
	(void)some_panes_event(pane, "loads", &loads, 4);
	pane->events[0].enabled_ns = pane->events[0].running_ns = 0;
	pane->events[0].paused_ns = 40 * SECOND;
	add_loads(0, 10, 1);
	make_all();
	bins.bins = of;
	trend_cover(past_snapshot(past)->trend, &bins);
	cr_expect(of[0].covered && !of[1].covered && of[2].covered);
}

Test(past, a_clock_that_was_set_back_loses_nothing)
{
	add_loads(0, 10, 1);
	add_loads(0, 10, 2);
	panes.list[1].start_us -= 8 * SEC_US;
	panes.list[1].end_us -= 15 * SEC_US;
	make_all();
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 3);
	cr_expect_float_eq(past_snapshot(past)->window_seconds.value, 20, 1e-9);
}

/* ---- events ---- */

static bool has_note(const char *part)
{
	for (const char *const *note = past_snapshot(past)->notes; *note; note++)
		if (strstr(*note, part))
			return true;
	return false;
}

Test(past, figures_of_other_settings_are_left_out_with_a_note)
{
	const struct snapshot *snapshot;

	add_loads(0, 30, 100);
	loads.ldlat = 3;
	loads.period = 5003;
	add_loads(0, 10, 7);
	make_all();
	snapshot = past_snapshot(past);
	cr_assert_eq(snapshot->n_events, 1);
	cr_expect_eq(snapshot->events[0].event.ldlat, 3);
	cr_expect_eq(snapshot->events[0].event.period, 5003);
	cr_expect_eq(samples(snapshot, "/a", 0), 7);
	cr_expect_float_eq(snapshot->events[0].running_ratio.value, 0.25, 1e-9, "it ran for 10 of 40 s");
	cr_expect(has_note("loads had other settings (ldlat 30) for 30 s"));
}

Test(past, another_period_does_not_count_as_another_setting)
{
	add_loads(0, 10, 1);
	loads.period = 2003;
	add_loads(0, 10, 2);
	make_all();
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 3);
	cr_expect_eq(past_snapshot(past)->events[0].event.period, 2003);
	cr_expect_null(past_snapshot(past)->notes[0]);
}

Test(past, two_settings_in_one_pane_are_distinguished)
{
	struct history_pane *pane = add_loads(0, 40, 100);
	const struct counters counters = some_loads(7, SOURCE_L3, 50);

	loads.ldlat = 3;
	some_panes_row(pane, "/a", some_panes_event(pane, "loads", &loads, 4), &counters);
	pane->events[0].enabled_ns = pane->events[0].running_ns = 120 * SECOND;
	pane->events[1].enabled_ns = pane->events[1].running_ns = 40 * SECOND;
	make_all();
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 7);
	cr_expect_float_eq(past_snapshot(past)->events[0].running_ratio.value, 0.25, 1e-9);
	cr_expect(has_note("for 30 s"));
}

Test(past, an_absent_event_has_no_running_time)
{
	struct history_pane *pane;
	struct counters counters = {0};

	add_loads(0, 30, 1);
	pane = add_loads(0, 10, 2);
	example_add(&counters, 5, SOURCE_UNKNOWN, 0, cycles.period, SNOOP_NA, TLB_NA);
	some_panes_row(pane, "/a", some_panes_event(pane, "cycles", &cycles, 4), &counters);
	make_all();
	cr_assert_eq(past_snapshot(past)->n_events, 2);
	cr_expect_float_eq(past_snapshot(past)->events[0].running_ratio.value, 1, 1e-9);
	cr_expect_float_eq(past_snapshot(past)->events[1].running_ratio.value, 0.25, 1e-9);
	cr_expect(has_note("cycles was not sampled for 30 s"));
	cr_expect_not(has_note("loads: "));
}

Test(past, an_event_that_ended_is_still_shown)
{
	struct history_pane *pane = add_loads(0, 10, 1);

	(void)some_panes_event(pane, "cycles", &cycles, 4);
	add_loads(0, 30, 2);
	make_all();
	cr_assert_eq(past_snapshot(past)->n_events, 2);
	cr_expect_str_eq(past_snapshot(past)->events[1].key, "cycles");
	cr_expect(has_note("cycles was not sampled for 30 s"));
}

Test(past, two_events_of_one_name_are_distinguished_by_the_pmu)
{
	add_loads(0, 10, 1);
	(void)strcpy(loads.pmu, "cpu_core");
	add_loads(0, 10, 2);
	(void)strcpy(loads.pmu, "cpu");
	make_all();
	cr_assert_eq(past_snapshot(past)->n_events, 2);
	cr_expect_str_eq(past_snapshot(past)->events[0].key, "loads");
	cr_expect_str_eq(past_snapshot(past)->events[1].key, "loads:cpu");
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 2);
	cr_expect_eq(samples(past_snapshot(past), "/a", 1), 1);
}

Test(past, settings_that_cannot_be_read_are_left_out_with_a_note)
{
	struct history_pane *pane = add_loads(0, 10, 1);
	const struct counters counters = some_loads(7, SOURCE_L3, 50);
	u32 event = some_panes_event(pane, "later", &loads, 4);

	some_panes_settings(pane, event, "{\"role\":\"later\"}");
	some_panes_row(pane, "/a", event, &counters);
	make_all();
	cr_expect_eq(past_snapshot(past)->n_events, 1);
	cr_expect_eq(samples(past_snapshot(past), "/a", 0), 1);
	cr_expect(has_note("settings that this version of pebsd does not know"));
}

Test(past, without_a_readable_pane_there_is_no_data)
{
	const struct past_settings settings = {.range = {1, 2}};
	struct history_pane *pane = some_panes_add(&panes, 0, 10);

	cr_expect_eq(past_new(&settings, panes.list, 0, &past), -ENODATA);
	cr_expect_eq(past_new(&settings, panes.list, 1, &past), -ENODATA);
	(void)some_panes_event(pane, "loads", &loads, 4);
	some_panes_settings(pane, 0, "x");
	cr_expect_eq(past_new(&settings, panes.list, 1, &past), -ENODATA);
}

Test(past, more_events_than_fit_leave_out_the_oldest)
{
	struct history_pane *pane = some_panes_add(&panes, 0, 10);

	for (unsigned i = 0; i <= EVENTS_MAX; i++) {
		char key[EVENT_KEY_MAX];
		struct event event = loads;

		(void)snprintf(event.pmu, sizeof(event.pmu), "cpu%u", i);
		(void)snprintf(key, sizeof(key), "loads:cpu%u", i);
		(void)some_panes_event(pane, key, &event, 4);
	}
	make_all();
	cr_expect_eq(past_snapshot(past)->n_events, EVENTS_MAX);
	cr_expect(has_note("left out"));
}

Test(past, an_event_that_is_not_counted_has_no_running_time)
{
	struct history_pane *pane;

	add_loads(0, 10, 1);
	pane = add_loads(0, 10, 1);
	pane->events[0].counted = pane->events[0].throttle_known = false;
	make_all();
	cr_expect_not(past_snapshot(past)->events[0].running_ratio.known);
	cr_expect_not(past_snapshot(past)->events[0].throttled_seconds.known);
	cr_expect_not(past_snapshot(past)->events[0].lost_unexplained.known);
}

/* ---- labels ---- */

Test(past, labels_are_those_of_the_past)
{
	const struct container_lookup *lookup;
	const struct container *container;
	struct history_pane *pane = add_loads(0, 10, 1);
	const struct counters counters = some_loads(7, SOURCE_L3, 50);

	some_panes_row(pane, "/b", 0, &counters);
	some_panes_row(pane, "/c", 0, &counters);
	some_panes_label(pane, "/a",
			 "{\"pod\":\"checkout-1\",\"namespace\":\"shop\",\"later\":\"x\",\"unit\":7}");
	some_panes_label(pane, "/b", "{\"pod\":");
	make_all();
	lookup = past_snapshot(past)->containers;
	container = lookup->find(lookup->userdata, "/a");
	cr_assert_not_null(container);
	cr_expect_str_eq(container->text[CONTAINER_LABEL_POD], "checkout-1");
	cr_expect_str_eq(container->text[CONTAINER_LABEL_NAMESPACE], "shop");
	cr_expect_null(container->text[CONTAINER_LABEL_UNIT]);
	cr_expect_eq(lookup->find(lookup->userdata, "/a"), container);
	cr_expect_null(lookup->find(lookup->userdata, "/b"));
	cr_expect_null(lookup->find(lookup->userdata, "/c"));
	cr_expect_null(lookup->find(lookup->userdata, "/nobody"));
}

Test(past, a_note_of_the_caller_comes_first)
{
	const struct past_settings settings = {.range = {SOME_PANES_START_US, SOME_PANES_START_US + SEC_US},
					       .note = "panes of 60 s"};

	add_loads(0, 10, 1);
	cr_assert_eq(past_new(&settings, panes.list, panes.n, &past), 0);
	cr_expect_str_eq(past_snapshot(past)->notes[0], "panes of 60 s");
	cr_expect_null(past_snapshot(past)->notes[1]);
}
