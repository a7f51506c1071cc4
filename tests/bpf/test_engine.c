// SPDX-License-Identifier: GPL-2.0
/* The engine over the running kernel: cgroups from their birth into snapshots, and slots when they are short. */
#include <criterion/criterion.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt_existing.h"
#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "engine/engine_internal.h"
#include "engine_fixture.h"
#include "example_snapshot.h"
#include "fake_clock.h"
#include "some_stripes.h"

TestSuite(engine, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

/* Opens an engine that gives slots to new cgroups. */
static struct engine *open_engine(u32 slots)
{
	struct engine_settings settings = engine_fixture_settings(slots);

	settings.births = true;
	return engine_fixture_open(&settings);
}

static void sample(struct engine *engine, u64 cgroup_id)
{
	const struct sample one = {
		.cgroup_id = cgroup_id, .latency = 100, .period = 1, .fields = SAMPLE_LATENCY};

	cr_assert_eq(kernel_inject(engine_kernel(engine), &one, 1), 0);
}

static u64 samples_in(struct engine *engine, double seconds, const char *path)
{
	const struct maybe_double window = {seconds > 0, seconds};
	const struct snapshot *snapshot;

	cr_assert_eq(engine_snapshot(engine, &window, &snapshot), 0);
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return example_samples(snapshot, &snapshot->cgroups[i], 0);
	return 0;
}

/* A cgroup that lived less than an interval keeps its name as long as any other removed cgroup. */
struct seen_collections {
	const struct engine *engine;
	unsigned n;
	u64 samples;
};

static void on_collected(void *userdata)
{
	struct seen_collections *seen = userdata;
	const struct delta *list;
	size_t n;

	list = engine_deltas(seen->engine, &n);
	for (size_t i = 0; i < n; i++)
		seen->samples += packed_samples(list[i].packed, list[i].size);
	seen->n++;
}

Test(engine, every_collection_is_seen_including_the_last_ones)
{
	struct engine *engine = open_engine(64);
	struct seen_collections seen = {.engine = engine};
	const u64 collected_ns = engine_collected_ns(engine);
	const struct clocks began = engine_began(engine);

	cr_expect_eq(began.monotonic_ns, collected_ns);
	cr_expect_eq(began.realtime_us / 1000000, (u64)engine_head(engine)->since.tv_sec);
	engine_on_collected(engine, on_collected, &seen);
	sample(engine, 1);
	cr_assert_eq(engine_collect(engine), 0);
	sample(engine, 1);
	cr_assert_eq(engine_collect_last(engine), 0);
	/* Without a state, the end is two collections. */
	cr_expect_eq(seen.n, 3);
	cr_expect_eq(seen.samples, 2);
	engine_free(engine);
}

Test(engine, short_lived_cgroups_are_kept_as_long_as_long_lived_ones)
{
	_cleanup_(engine_freep) struct engine *engine = open_engine(512);
	_cleanup_free_ char *path = NULL;
	struct adopt_counts counts;
	const struct totals_entry *entry;

	cr_assert_geq(asprintf(&path, "%s/brief", cgroup_fixture.path), 0);
	cr_assert_eq(adopt_existing(engine_kernel(engine), cgroup_fixture.mount, &counts), 0);
	cr_assert_eq(engine_collect(engine), 0);
	sample(engine, cgroup_fixture_make("brief"));
	cgroup_fixture_remove("brief");
	fake_clock_stop();
	for (unsigned i = 0; i < 30; i++) {
		cr_assert_eq(engine_collect(engine), 0);
		fake_clock_advance(100 * NSEC_PER_MSEC);
	}
	entry = engine_find(engine, path);
	cr_assert_not_null(entry, "folded although it died a moment ago");
	cr_expect_eq(entry->holders, 0, "its slot was given back");
	cr_expect_neq(entry->died_ns, 0);
	cr_expect_eq(samples_in(engine, 600, path), 1);
	cr_expect_eq(samples_in(engine, 0, path), 1);
}

/* The event count of each of two CPUs. One sample stands for ten events. */
static u64 counted[2];

static void count(struct reading readings[EVENTS_MAX], void *userdata)
{
	(void)userdata;
	readings[0].counted = true;
	readings[0].expected = (counted[0] + counted[1]) / 10;
}

static struct engine_settings counted_settings(void)
{
	struct engine_settings settings = engine_fixture_settings(512);

	settings.events[0].period = 10;
	settings.events[0].settings = (struct event_settings){.has_latency = 1};
	settings.births = true;
	settings.count = count;
	return settings;
}

static const struct cpu_counts *count_cpus(unsigned event, size_t *ret_n, void *userdata)
{
	static struct cpu_counts cpus[2];

	(void)event;
	(void)userdata;
	for (int cpu = 0; cpu < 2; cpu++)
		cpus[cpu] = (struct cpu_counts){
			.cpu = cpu, .open = true, .count = counted[cpu], .expected = counted[cpu] / 10};
	*ret_n = 2;
	return cpus;
}

static void sample_on(struct engine *engine, size_t cpu, u64 cgroup_id, unsigned n)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	for (unsigned i = 0; i < n; i++)
		sample(engine, cgroup_id);
	counted[cpu] += 10ULL * n;
}

static void expect_seen(struct engine *engine, u64 on_0, u64 on_1)
{
	const struct snapshot *snapshot;

	cr_assert_eq(engine_collect(engine), 0);
	cr_assert_eq(engine_snapshot(engine, &(struct maybe_double){0}, &snapshot), 0);
	cr_assert_eq(snapshot->events[0].n_per_cpu, 2);
	cr_expect(snapshot->events[0].per_cpu[0].seen.known);
	cr_expect_eq(snapshot->events[0].per_cpu[0].seen.value, on_0);
	cr_expect_eq(snapshot->events[0].per_cpu[0].expected, on_0);
	cr_expect_eq(snapshot->events[0].per_cpu[1].seen.value, on_1);
	cr_expect_eq(snapshot->events[0].per_cpu[1].expected, on_1);
	cr_expect_eq(counters_samples(&snapshot->events[0].total), on_0 + on_1);
}

/* The samples are of cgroups with and without a slot of their own, in several collections. */
Test(engine, samples_are_counted_per_cpu)
{
	struct engine_settings settings = counted_settings();
	_cleanup_(engine_freep) struct engine *engine = NULL;
	u64 first, second;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip_test("needs CPUs 0 and 1");
	settings.count_cpus = count_cpus;
	engine = engine_fixture_open(&settings);
	first = cgroup_fixture_make("first");
	second = cgroup_fixture_make("second");
	expect_seen(engine, 0, 0);
	sample_on(engine, 0, first, 3);
	sample_on(engine, 1, first, 4);
	expect_seen(engine, 3, 4);
	expect_seen(engine, 3, 4);
	sample_on(engine, 1, second, 5);
	sample_on(engine, 1, 0xdeadbeefULL << 32, 2);
	expect_seen(engine, 3, 11);
	sample_on(engine, 0, first, 1);
	sample_on(engine, 0, second, 1);
	expect_seen(engine, 5, 11);
}

static struct reading last_settled;

static void settled(const struct reading readings[EVENTS_MAX], void *userdata)
{
	(void)userdata;
	last_settled = readings[0];
}

/*
 * An event goes silent after the last regular collection. Only engine_collect_last() can still account the
 * loss.
 */
Test(engine, missing_samples_are_settled_by_the_last_collection)
{
	struct engine_settings settings = counted_settings();
	_cleanup_(engine_freep) struct engine *engine = NULL;
	u64 cgroup;

	memset(counted, 0, sizeof(counted));
	settings.settled = settled;
	engine = engine_fixture_open(&settings);
	cgroup = cgroup_fixture_make("silent");
	sample_on(engine, 0, cgroup, 3);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(last_settled.expected, 3);
	cr_expect_eq(last_settled.unexplained, 0);
	counted[0] += 50;
	cr_assert_eq(engine_collect_last(engine), 0);
	cr_expect_eq(last_settled.expected, 8);
	cr_expect_eq(last_settled.unexplained, 5);
}

/* Returns the number of slots that cgroups of this name hold, as the kernel side knows them. */
static u64 alive_named(const struct engine *engine, const char *name)
{
	const struct kernel *kernel = engine_kernel(engine);
	u64 n = 0;

	for (u32 slot = 1; slot < kernel_settings(kernel)->slots; slot++)
		n += kernel_owner(kernel, slot)->state == SLOT_ALIVE &&
		     strcmp(kernel_owner(kernel, slot)->name, name) == 0;
	return n;
}

/* Cgroups come and go while the tracepoints are being attached: no removed cgroup may keep its slot. */
Test(engine, the_start_loses_no_slot)
{
	_cleanup_free_ char *path = NULL;
	pid_t pid;

	cr_assert_geq(asprintf(&path, "%s%s/churn", cgroup_fixture.mount, cgroup_fixture.path), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		for (;;) {
			(void)mkdir(path, 0755);
			(void)rmdir(path);
		}
	for (unsigned i = 0; i < 20; i++) {
		_cleanup_(engine_freep) struct engine *engine = open_engine(4096);
		struct adopt_counts counts;

		cr_assert_eq(adopt_existing(engine_kernel(engine), cgroup_fixture.mount, &counts), 0);
		cr_assert_eq(kill(pid, SIGSTOP), 0);
		cr_assert_eq(waitpid(pid, NULL, WUNTRACED), pid);
		cr_expect_leq(alive_named(engine, "churn"), access(path, F_OK) == 0);
		cr_assert_eq(kill(pid, SIGCONT), 0);
	}
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(engine, cgroups_without_a_slot_are_tried_again)
{
	_cleanup_(engine_freep) struct engine *engine = open_engine(8);
	struct adopt_counts counts;
	char name[16];

	/* Short-lived cgroups take all slots before the walk. */
	for (unsigned i = 0; i < 7; i++) {
		(void)snprintf(name, sizeof(name), "short-%u", i);
		cgroup_fixture_make(name);
	}
	engine_adopting(engine);
	cr_assert_eq(adopt_existing(engine_kernel(engine), cgroup_fixture.mount, &counts), 0);
	cr_assert_gt(counts.without_slot, 0);
	engine_adopted(engine, counts.without_slot);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_not(engine_should_adopt(engine), "no slot is free");

	for (unsigned i = 0; i < 7; i++) {
		(void)snprintf(name, sizeof(name), "short-%u", i);
		cgroup_fixture_remove(name);
	}
	/* Cgroups that other tests make may take these slots for a time. */
	for (unsigned i = 0; i < 600 && !engine_should_adopt(engine); i++) {
		cr_assert_eq(engine_collect(engine), 0);
		(void)usleep(100000);
	}
	cr_expect(engine_should_adopt(engine), "slots are free again");
}

static bool hot_path(const char *path, void *userdata)
{
	(void)userdata;
	return strcmp(path, "model:hot") == 0;
}

/* Replay and the model work like this: a configured cgroup has tables before its first sample. */
Test(engine, hot_tables_count_from_the_first_sample)
{
	struct engine_settings settings = engine_fixture_settings(16);
	const struct sample one = {.cgroup_id = 5,
				   .address = 0x1234,
				   .code_address = 0x401000,
				   .latency = 70,
				   .period = 1,
				   .fields = SAMPLE_LATENCY | SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS};
	_cleanup_(engine_freep) struct engine *engine = NULL;
	struct hot_places places;
	struct hot_choice how;

	settings.origin = "model";
	settings.events[0] = (struct event){
		.role = EVENT_LOADS, .settings = {.has_latency = 1, .has_address = 1, .has_code_address = 1}};
	settings.stripes = one_stripe();
	settings.hot_max = 1;
	settings.hot = hot_path;
	engine = engine_fixture_open(&settings);
	cr_expect_eq(engine_hot_max(engine), 1);
	cr_assert_eq(engine_adopt(engine, 4, "model:cold"), 0);
	cr_assert_eq(engine_adopt(engine, 5, "model:hot"), 0);
	cr_assert_eq(kernel_inject(engine_kernel(engine), &one, 1), 0);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_str_eq(engine_hot_nth(engine, 0), "model:hot");
	cr_expect_null(engine_hot_nth(engine, 1));
	cr_assert(engine_hot_choice(engine, "model:hot", &how));
	cr_expect(how.configured);
	cr_assert_eq(engine_hot_places(engine, "model:hot", 0, HOT_LINES, &places), 0);
	cr_assert_eq(places.n, 1);
	cr_expect_eq(places.places[0].address, 0x1200);
	cr_expect_eq(places.places[0].weight, 70);
	hot_places_done(&places);
	cr_expect_eq(engine_hot_places(engine, "model:cold", 0, HOT_LINES, &places), -ENODATA);
	cr_expect_eq(engine_hot_choose(engine, "model:cold", UINT64_MAX), -ENOSPC);
	engine_set_hot(engine, NULL, NULL);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_not(engine_hot_choice(engine, "model:hot", &how));
	(void)usleep(KERNEL_REST_NS / NSEC_PER_USEC + 1000);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(engine_hot_choose(engine, "model:cold", UINT64_MAX), 0);
	cr_expect_eq(engine_hot_choose(engine, "model:none", UINT64_MAX), -ENOENT);
}

static unsigned asked;
static bool answer;

static bool counted_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	asked++;
	return answer;
}

static const struct series *series_of(const struct engine *engine, const char *path)
{
	const struct series *const *list;
	size_t n;

	list = engine_series(engine, &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i]->path, path) == 0)
			return list[i];
	return NULL;
}

/* An engine for two cgroups of a recording, over one stripe. */
static struct engine *open_plain_engine(void)
{
	struct engine_settings settings = engine_fixture_settings(16);
	struct engine *engine;

	settings.origin = "replay";
	settings.events[0] =
		(struct event){.role = EVENT_LOADS, .settings = {.has_latency = 1, .has_source = 1}};
	settings.stripes = one_stripe();
	settings.exported = counted_path;
	engine = engine_fixture_open(&settings);
	cr_assert_eq(engine_adopt(engine, 5, "/five"), 0);
	cr_assert_eq(engine_adopt(engine, 6, "/six"), 0);
	return engine;
}

Test(engine, export_of_a_series_is_decided_once_and_again_after_a_reload)
{
	_cleanup_(engine_freep) struct engine *engine = open_plain_engine();

	asked = 0;
	answer = true;
	for (unsigned i = 0; i < 3; i++) {
		sample(engine, 5);
		sample(engine, 6);
		sample(engine, 7); /* id without a slot: unattributed */
		cr_assert_eq(engine_collect(engine), 0);
	}
	cr_expect_eq(asked, 2, "%u", asked);
	cr_assert_not_null(series_of(engine, "/five"));
	cr_expect_eq(counters_samples(series_of(engine, "/five")->counters[0]), 3);
	answer = false;
	engine_exports_changed(engine);
	sample(engine, 5);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(asked, 3, "%u", asked);
	cr_expect_eq(counters_samples(series_of(engine, TOTALS_OTHER)->counters[0]), 1);
	cr_expect_eq(counters_samples(series_of(engine, TOTALS_UNATTRIBUTED)->counters[0]), 3);
}

Test(engine, a_summary_agrees_with_the_snapshot)
{
	_cleanup_(engine_freep) struct engine *engine = open_plain_engine();
	const struct snapshot *all, *summary;

	cr_expect_eq(engine_summary(engine, &summary), -ENODATA);
	for (unsigned i = 0; i < 5; i++) {
		sample(engine, 5);
		sample(engine, i);
		cr_assert_eq(engine_collect(engine), 0);
	}
	cr_assert_eq(engine_summary(engine, &summary), 0);
	cr_assert_eq(engine_snapshot(engine, &(struct maybe_double){0}, &all), 0);
	cr_expect_eq(counters_samples(&summary->events[0].total), 10);
	cr_expect_eq(memcmp(&summary->events[0].total, &all->events[0].total, sizeof(struct counters)), 0);
	cr_expect_eq(summary->events[0].unattributed, 5);
	cr_expect_eq(all->events[0].unattributed, 5);
	cr_expect_eq(all->n_cgroups, 1);
	cr_expect_eq(summary->n_cgroups, 0, "none of them holds a machine");
	cr_expect_eq(summary->sequence, all->sequence);
}

/* The times of an event that yields its counter to another user, since the start. */
static u64 enabled_ns, running_ns;

static void count_times(struct reading readings[EVENTS_MAX], void *userdata)
{
	(void)userdata;
	readings[0].counted = true;
	readings[0].enabled_ns = enabled_ns;
	readings[0].running_ns = running_ns;
}

Test(engine, estimates_scale_each_collection_for_the_time_that_the_event_ran)
{
	struct engine_settings settings = engine_fixture_settings(512);
	const struct sample stalls = {.cgroup_id = 5, .period = 1000};
	_cleanup_(engine_freep) struct engine *engine = NULL;
	const struct snapshot *snapshot;

	settings.events[0] = (struct event){
		.role = EVENT_STALLS, .pmu = "cpu", .period = 1000, .count_kind = COUNT_STALLS_LOAD};
	settings.count = count_times;
	enabled_ns = running_ns = 0;
	engine = engine_fixture_open(&settings);
	cr_assert_eq(engine_adopt(engine, 5, "/five"), 0);
	cr_assert_eq(kernel_inject(engine_kernel(engine), &stalls, 1), 0);
	enabled_ns = running_ns = 2 * NSEC_PER_SEC;
	cr_assert_eq(engine_collect(engine), 0);
	cr_assert_not_null(series_of(engine, "/five")->estimates);
	cr_expect_eq(series_of(engine, "/five")->estimates[0], 1000);
	/* Now another event has the counter for three quarters of the time. */
	cr_assert_eq(kernel_inject(engine_kernel(engine), &stalls, 1), 0);
	enabled_ns += 2 * NSEC_PER_SEC;
	running_ns += NSEC_PER_SEC / 2;
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(series_of(engine, "/five")->estimates[0], 5000);
	cr_assert_eq(engine_summary(engine, &snapshot), 0);
	cr_expect_float_eq(snapshot->events[0].enabled_seconds.value, 4, 1e-9);
	cr_expect_float_eq(snapshot->events[0].running_seconds.value, 2.5, 1e-9);
}
