// SPDX-License-Identifier: GPL-2.0
/*
 * The governor with events of the running kernel: page faults, which a child makes as fast as it can. The
 * time of a sample depends on the machine, so the tests check that the program was timed, and in which
 * direction the period changes. Needs root.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "govern/calibrate.h"
#include "page_faults.h"
#include "sampling/sampling_govern.h"
#include "some_stripes.h"
#include "tree.h"

#define USUAL    3UL
#define MAX_RATE 100000

static struct event_spec faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = USUAL},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period_min = 1,
	.period_step = 1,
	.pinned = true,
};

static char *root;
static char online[64];
static struct kernel *kernel;
static struct perf_event_set *set;
static struct config *config;
static struct perf_notes notes;
static struct snapshot head;
static struct sampling_govern *govern;
static char *message;
static int child = -1;

static void setup(void)
{
	struct kernel_settings settings = {
		.slots = 16, .stripes = machine_stripes(), .hardware = true, .n_events = 1};

	if (geteuid() != 0)
		cr_skip_test("opening events on all CPUs needs root");
	root = tree_new();
	(void)snprintf(online, sizeof(online), "%s/online", root);
	tree_write(root, "online", "0\n");
	cr_assert_eq(config_new(&config), 0);
	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	cr_assert_eq(perf_open(&faults, online, &set, &message), 0, "%s", message);
	cr_assert_eq(perf_start(set, kernel_program_fd(kernel, 0), &message), 0, "%s", message);
	head.n_events = 1;
	head.events[0].event = faults.event;
	(void)stpcpy(head.events[0].key, "loads");
	head.interval_seconds = 0.05;
	child = page_faults_begin(0);
}

static void teardown(void)
{
	if (child >= 0)
		page_faults_end(child);
	sampling_govern_free(govern);
	perf_set_free(set);
	kernel_free(kernel);
	config_free(config);
	perf_notes_done(&notes);
	free(message);
	if (root)
		tree_remove(root);
}

TestSuite(sampling_govern, .init = setup, .fini = teardown);

static void begin(double budget, u64 period)
{
	const struct sampling_govern_settings settings = {
		.config = config,
		.kernel = kernel,
		.head = &head,
		.sets = &set,
		.n_sets = 1,
		.notes = &notes,
	};

	config->budget = budget;
	config->periods.accesses = period;
	cr_assert_eq(sampling_govern_new(&settings, &govern), 0);
}

/* Makes `n` collections, each after a wait of 60 ms. */
static void collect_at(u64 max_rate, int n)
{
	const struct timespec interval = {.tv_nsec = 60000000};
	struct perf_counts counts;

	while (n--) {
		(void)nanosleep(&interval, NULL);
		perf_count(set, &counts);
		sampling_govern_counted(govern, max_rate);
	}
}

static void collect(int n)
{
	collect_at(MAX_RATE, n);
}

/* Collects until the period is more than ten times the usual one. The load may have to wait long for a CPU. */
static void collect_until_grown(void)
{
	for (int i = 0; i < 1000 && perf_event(set)->period <= USUAL * 10; i++)
		collect(1);
	cr_expect_gt(perf_event(set)->period, USUAL * 10);
}

static u64 changes(void)
{
	u64 sum = 0;

	for (int reason = 0; reason < GOVERNOR_REASONS; reason++)
		sum += head.events[0].cost.changes[reason];
	return sum;
}

Test(sampling_govern, over_budget_the_period_grows_and_is_shown)
{
	const struct snapshot_cost *cost = &head.events[0].cost;
	u64 period;

	begin(0.0001, CONFIG_PERIOD_AUTO);
	collect_until_grown();
	period = perf_event(set)->period;
	cr_expect_eq(head.events[0].event.period, period);
	cr_expect_geq(cost->changes[GOVERNOR_OVER_BUDGET], 1);
	cr_expect_eq(cost->changes[GOVERNOR_OVER_BUDGET], changes());
	cr_expect(cost->budget.known && cost->budget.value == 0.0001);
	cr_expect(cost->program_ns.known && cost->program_ns.value > 0, "the program was not timed");
	cr_expect_not_null(cost->state);
	/* No load is left, and the period stays. */
	page_faults_end(child);
	child = -1;
	collect(3);
	cr_expect_eq(perf_event(set)->period, period);
}

/* The budget is a whole CPU, but the kernel's limit of 1,000 samples a second holds the rate far below it. */
Test(sampling_govern, a_note_says_that_the_kernels_limit_reduces_samples)
{
	const struct snapshot_cost *cost = &head.events[0].cost;
	const char *note = NULL;

	begin(1, CONFIG_PERIOD_AUTO);
	for (int i = 0; i < 1000 && !notes.texts[PERF_NOTE_OF(0, PERF_NOTE_HELD)]; i++)
		collect_at(1000, 1);
	note = notes.texts[PERF_NOTE_OF(0, PERF_NOTE_HELD)];
	cr_assert_not_null(note, "the period is %llu, the state %s",
			   (unsigned long long)perf_event(set)->period, cost->state);
	cr_expect(strstr(note, "loads has few samples, "), "%s", note);
	cr_expect(strstr(note, "kernel.perf_event_max_sample_rate (1000)"), "%s", note);
	cr_expect_str_eq(cost->state, "at the kernel's sample rate limit");
	/* Without a budget nothing is held back. */
	sampling_govern_set_budget(govern, 0);
	collect_at(1000, 1);
	cr_expect_null(notes.texts[PERF_NOTE_OF(0, PERF_NOTE_HELD)]);
}

/* The calibration's work causes no page faults, so the cost of their interrupts cannot be measured. */
Test(sampling_govern, an_unmeasured_cost_is_absent_and_noted)
{
	const struct snapshot_cost *cost = &head.events[0].cost;

	begin(0.0001, CONFIG_PERIOD_AUTO);
	for (int i = 0; i < 1000 && !notes.list[0]; i++)
		collect(1);
	cr_assert_not_null(notes.list[0], "the calibration came to no end");
	cr_expect(strstr(notes.list[0], "cannot measure how long an interrupt of loads takes: "), "%s",
		  notes.list[0]);
	/* The program is timed nevertheless, once it has run often enough. */
	for (int i = 0; i < 1000 && !cost->program_ns.known; i++)
		collect(1);
	cr_expect(cost->program_ns.known);
	cr_expect_not(cost->interrupt_ns.known);
	cr_expect_not(cost->ratio.known);
}

/*
 * A CPU clock samples everything that runs, including the calibration's work. Each sample is a timer
 * interrupt.
 */
Test(sampling_govern, the_shown_interrupt_cost_is_between_both_timings)
{
	const struct snapshot_cost *cost = &head.events[0].cost;
	struct event_spec ticks = faults;

	ticks.event.period = 1000003;
	ticks.config = PERF_COUNT_SW_CPU_CLOCK;
	ticks.period_min = 10000;
	perf_set_free(set);
	cr_assert_eq(perf_open(&ticks, online, &set, &message), 0, "%s", message);
	cr_assert_eq(perf_start(set, kernel_program_fd(kernel, 0), &message), 0, "%s", message);
	begin(0.5, CONFIG_PERIOD_AUTO);
	for (int i = 0; i < 200 && !cost->dense.known && !notes.list[0]; i++)
		collect(1);
	if (!cost->dense.known)
		cr_skip_test("on this machine, now: %s", notes.list[0] ? notes.list[0] : "it came to no end");
	collect(1);
	cr_assert(cost->interrupt_ns.known);
	cr_expect_geq(cost->dense.per_second, 1000);
	cr_expect_geq(cost->interrupt_ns.value, cost->dense.ns);
	if (cost->sparse.known) {
		cr_expect_eq(cost->sparse.per_second, CALIBRATE_SPARSE_PER_SECOND);
		cr_expect_leq(cost->interrupt_ns.value, fmax(cost->sparse.ns, cost->dense.ns));
		cr_expect_null(notes.list[0], "%s", notes.list[0]);
	} else {
		cr_expect_eq(cost->interrupt_ns.value, cost->dense.ns);
		cr_expect(strstr(notes.list[0], "takes when samples are rare"), "%s", notes.list[0]);
	}
	cr_expect(cost->ratio.known);
}

Test(sampling_govern, a_configured_period_is_not_changed)
{
	begin(0.0001, USUAL);
	collect(5);
	cr_expect_eq(perf_event(set)->period, USUAL);
	cr_expect_eq(changes(), 0);
	cr_expect_str_eq(head.events[0].cost.state, "fixed");
	cr_expect_not(head.events[0].cost.budget.known, "a missing share is not a budget of 0");
}

Test(sampling_govern, without_a_budget_nothing_is_governed_or_calibrated)
{
	const struct snapshot_cost *cost = &head.events[0].cost;

	begin(0, CONFIG_PERIOD_AUTO);
	collect(5);
	cr_expect_eq(perf_event(set)->period, USUAL);
	cr_expect_null(cost->state);
	cr_expect_not(cost->budget.known);
	cr_expect_not(cost->ratio.known);
	for (int i = 0; i < 1000 && !cost->program_ns.known; i++)
		collect(1);
	cr_expect(cost->program_ns.known);
	cr_expect_null(notes.list[0]);
	/* A reload sets a budget. */
	sampling_govern_set_budget(govern, 0.0001);
	collect_until_grown();
}

Test(sampling_govern, a_reload_keeps_governed_periods_and_applies_configured_ones)
{
	bool kept[EVENTS_MAX] = {0};

	begin(0.0001, CONFIG_PERIOD_AUTO);
	collect(5);
	/* This changes the period of instructions only, so the event of loads stays governed. */
	sampling_govern_keeps(govern, &(struct event_periods){.instructions = 5000}, kept);
	cr_expect(kept[0]);
	sampling_govern_keeps(govern, &(struct event_periods){.accesses = 17}, kept);
	cr_expect_not(kept[0]);
	cr_assert_eq(perf_set_period(set, 17, &message), 0, "%s", message);
	sampling_govern_periods_set(govern, &(struct event_periods){.accesses = 17});
	collect(5);
	cr_expect_eq(perf_event(set)->period, 17);
	cr_expect_str_eq(head.events[0].cost.state, "fixed");
	sampling_govern_keeps(govern, &(struct event_periods){0}, kept);
	cr_expect_not(kept[0], "it begins again with the PMU's own");
	cr_assert_eq(perf_set_period(set, USUAL, &message), 0, "%s", message);
	sampling_govern_periods_set(govern, &(struct event_periods){0});
	collect(5);
	cr_expect_gt(perf_event(set)->period, USUAL * 10);
	sampling_govern_set_budget(govern, 0);
	sampling_govern_keeps(govern, &(struct event_periods){0}, kept);
	cr_expect_not(kept[0], "nobody governs it");
}

Test(sampling_govern, a_too_short_interval_is_left_to_the_next)
{
	struct perf_counts counts;

	begin(0.0001, CONFIG_PERIOD_AUTO);
	head.interval_seconds = 1000;
	for (int i = 0; i < 5; i++) {
		perf_count(set, &counts);
		sampling_govern_counted(govern, MAX_RATE);
	}
	cr_expect_null(head.events[0].cost.state);
	cr_expect_eq(perf_event(set)->period, USUAL);
}
