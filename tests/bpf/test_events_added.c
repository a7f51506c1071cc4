// SPDX-License-Identifier: GPL-2.0
/* Which saved counts an engine continues if it samples other events than the previous process. Needs root. */
#include <criterion/criterion.h>

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "engine/engine_internal.h"
#include "engine_fixture.h"
#include "kernel/kernel.h"
#include "some_stripes.h"
#include "state/state_kinds.h"

#define CGROUP 1000

static const struct event loads = FIXTURE_LOADS;
static const struct event stores = FIXTURE_STORES;
static const struct event cycles = {.role = EVENT_CYCLES, .pmu = "cpu"};

static struct state *state;
static struct engine *engine;
static u64 offcore_hash;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("loading BPF programs needs root");
	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
}

static void teardown(void)
{
	engine_free(engine);
	state_free(state);
}

TestSuite(events_added, .init = setup, .fini = teardown);

static void open_engine(const struct event *first, const struct event *second)
{
	struct engine_settings settings = engine_fixture_settings(48);

	settings.n_events = second ? 2 : 1;
	settings.events[0] = *first;
	settings.events[1] = second ? *second : (struct event){0};
	settings.stripes = one_stripe();
	settings.state = state;
	settings.offcore_hash = offcore_hash;
	engine = engine_fixture_open(&settings);
	cr_assert_eq(engine_adopt(engine, CGROUP, "/a"), 0);
}

/* Takes one sample of each of the first `n_events` events in the cgroup, and collects them. */
static void take(unsigned n_events)
{
	for (unsigned event = 0; event < n_events; event++) {
		const struct sample sample = {
			.cgroup_id = CGROUP,
			.latency = event ? 0 : 300,
			.period = 10,
			.event = (u16)event,
			.fields = event ? 0 : SAMPLE_LATENCY,
		};

		cr_assert_eq(kernel_inject(engine_kernel(engine), &sample, 1), 0);
	}
	cr_assert_eq(engine_collect(engine), 0);
}

/* The next process gets the memory of the state, and new maps, since the events differ. */
static void restart(const struct event *first, const struct event *second)
{
	const int fd = dup(state_fd(state));
	const char *wrong;

	cr_assert_geq(fd, 0);
	engine = engine_free(engine);
	state_free(state);
	cr_assert_eq(state_inherit(fd, STATE_RECORDS, &state, &wrong), 0);
	(void)close(fd);
	open_engine(first, second);
}

static void expect_samples(unsigned event, u64 samples)
{
	const struct totals_entry *entry = engine_find(engine, "/a");
	const struct snapshot *snapshot;
	struct counters total = {0};

	if (entry)
		totals_counters(entry, event, &total);
	cr_expect_eq(counters_samples(&total), samples, "event %u: %llu", event,
		     (unsigned long long)counters_samples(&total));
	cr_assert_eq(engine_summary(engine, &snapshot), 0);
	cr_expect_eq(counters_samples(&snapshot->events[event].total), samples, "event %u", event);
}

/* As from `events = loads` to `events = auto`. */
Test(events_added, events_before_the_added_ones_keep_their_counts)
{
	const struct series *const *series;
	size_t n;

	open_engine(&loads, NULL);
	take(1);
	take(1);
	restart(&loads, &cycles);
	cr_expect_eq(engine_head(engine)->sequence, 2);
	take(2);
	expect_samples(0, 3);
	expect_samples(1, 1);
	series = engine_series(engine, &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(series[i]->path, "/a") == 0)
			cr_expect_eq(counters_samples(series[i]->counters[0]), 3);
	cr_expect_gt(n, 0);
	/* The added event is saved as the first one is. */
	restart(&loads, &cycles);
	take(2);
	expect_samples(0, 4);
	expect_samples(1, 2);
}

/* An event is identified by its place in the list, so all begin at zero. The next process continues these counts. */
Test(events_added, events_at_other_places_start_at_zero)
{
	static const struct event *const next[][2] = {
		{&loads, NULL}, {&stores, &cycles}, {&loads, &stores}, {&cycles, &loads}};

	for (size_t i = 0; i < ARRAY_SIZE(next); i++) {
		open_engine(&loads, &cycles);
		take(2);
		restart(next[i][0], next[i][1]);
		cr_expect_eq(engine_head(engine)->sequence, 0, "%zu", i);
		take(1);
		take(1);
		expect_samples(0, 2);
		restart(next[i][0], next[i][1]);
		cr_expect_eq(engine_head(engine)->sequence, 2, "%zu", i);
		take(1);
		expect_samples(0, 3);
		engine = engine_free(engine);
		state_clear(state);
	}
}

static void restart_with_offcore(u64 hash)
{
	offcore_hash = hash;
	restart(&loads, NULL);
	take(1);
}

static u64 offcore_count(void)
{
	const struct totals_entry *entry = engine_find(engine, "/a");

	return entry && entry->offcore_total ? entry->offcore_total->of[0][OFFCORE_L3].count : 0;
}

/* They are saved by the number of their PMU, which is another PMU in the last process. */
Test(events_added, off_core_counts_of_other_pmus_are_dropped)
{
	const struct offcore_counts counts = {
		.of[0][OFFCORE_L3] = {.count = 7, .enabled_ns = 2, .running_ns = 2}};
	struct totals_entry *entry;

	offcore_hash = 1;
	open_engine(&loads, NULL);
	take(1);
	cr_assert_eq(totals_get(engine->totals, "/a", &entry), 0);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &counts);
	take(1);
	restart_with_offcore(1);
	cr_expect_eq(offcore_count(), 7);
	restart_with_offcore(0);
	cr_expect_eq(offcore_count(), 7, "they stay while none are counted");
	restart_with_offcore(1);
	cr_expect_eq(offcore_count(), 7);
	restart_with_offcore(2);
	cr_expect_eq(offcore_count(), 0);
	expect_samples(0, 6);
	restart_with_offcore(2);
	cr_expect_eq(offcore_count(), 0);
	expect_samples(0, 7);
}
