// SPDX-License-Identifier: GPL-2.0
/* From the data of an engine to a report: which cgroups are candidates, and which figures are used. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "in_packed.h"
#include "neighbours/neighbours_report.h"
#include "pebsd/data_source.h"
#include "pebsd/histogram.h"
#include "tree.h"

#define SECOND NSEC_PER_SEC
#define BINS   100

/*
 * The data of an engine that sampled loads on two PMUs, and stores. Made-up trees stand in for the kernel's
 * trees of cgroups and sysfs.
 */
struct fixture {
	char *tree; /* cgroups below cgroup/, sysfs below sys/ */
	char *sysfs;
	int cgroups;
	struct totals *totals;
	struct window *window;
	struct snapshot head;
	struct readings *readings; /* NULL: all events ran all the time */
};

static struct fixture fixture;

static void fixture_open(void)
{
	const struct timespec start = {.tv_sec = 1000};

	fixture = (struct fixture){.tree = tree_new(),
				   .head = {.n_events = 3,
					    .interval_seconds = 1,
					    .events = {[0] = {.key = "stores", .event.role = EVENT_STORES},
						       [1] = {.key = "loads:cpu_core"},
						       [2] = {.key = "loads:cpu_atom"}}}};
	for (size_t i = 0; i < 3; i++) {
		struct event *event = &fixture.head.events[i].event;

		event->role = i == 0 ? EVENT_STORES : EVENT_LOADS;
		event->settings.has_latency = event->settings.has_source = 1;
	}
	cr_assert_eq(totals_new(&fixture.totals), 0);
	cr_assert_eq(window_new(16 << 20, 600 * SECOND, 0, &start, &fixture.window), 0);
	tree_write(fixture.tree, "sys/devices/system/node/node0/cpulist", "0-3\n");
	tree_write(fixture.tree, "sys/devices/system/node/node1/cpulist", "4-7\n");
	tree_write(fixture.tree, "cgroup/cpuset.cpus.effective", "0-7\n");
	cr_assert_geq(asprintf(&fixture.sysfs, "%s/sys", fixture.tree), 0);
}

static void fixture_close(void)
{
	if (fixture.cgroups > 0)
		(void)close(fixture.cgroups);
	free(fixture.sysfs);
	totals_free(fixture.totals);
	window_free(fixture.window);
	readings_free(fixture.readings);
	tree_remove(fixture.tree);
}

static u32 number_of(const char *path)
{
	struct totals_entry *entry;

	cr_assert_eq(totals_get(fixture.totals, path, &entry), 0);
	return entry->number;
}

static void put(const char *path, unsigned event, enum source source, u64 n, u32 cycles)
{
	struct counters counters = {0};

	counters.samples[source] = n;
	counters.weight[source] = 1000 * n;
	counters.latency_sum[source] = n * cycles;
	counters.latency[histogram_fine_index(cycles)] = n;
	window_put_counters(fixture.window, number_of(path), event, &counters);
}

static bool is_burst(size_t bin)
{
	static const size_t begins[] = {3, 9, 19, 24, 38, 45, 51, 66, 70, 83, 92};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (bin >= begins[i] && bin < begins[i] + 3)
			return true;
	return false;
}

/* Variation that is unrelated to the bursts. */
static u64 some(size_t bin, size_t who)
{
	return 20 + (bin * 7 + who * 13 + bin * bin * (who + 3)) % 11;
}

/* `bursting` is busy when the victim is slow, and the others are not. Each collection takes 5 s. */
static void fill(const char *victim, const char *bursting, const char *const others[])
{
	for (size_t bin = 0; bin < BINS; bin++) {
		u64 now_ns = (bin + 1) * 5 * SECOND;

		window_begin(fixture.window, now_ns, &(struct timespec){.tv_sec = (time_t)(1000 + 5 * bin)});
		put(victim, 1, SOURCE_L1, 100, 10);
		put(victim, 2, SOURCE_LOCAL_DRAM, some(bin, 0), 200);
		put(victim, 1, SOURCE_LOCAL_DRAM, some(bin, 1),
		    (is_burst(bin) ? 2000 : 200) + (u32)some(bin, 5));
		if (bursting)
			put(bursting, 1, SOURCE_L3, is_burst(bin) ? 200 + some(bin, 2) : some(bin, 2), 80);
		for (size_t i = 0; others[i]; i++)
			put(others[i], 1 + i % 2, SOURCE_REMOTE_DRAM, some(bin, 3 + i), 300);
		put("/storing", 0, SOURCE_L3, is_burst(bin) ? 900 : 1, 300);
		for (unsigned event = 3; event < fixture.head.n_events; event++) {
			put(victim, event, SOURCE_UNKNOWN, some(bin, 6), 0);
			put("/prefetching", event, SOURCE_UNKNOWN,
			    is_burst(bin) ? 200 + some(bin, 2) : some(bin, 2), 0);
		}
		cr_assert_eq(window_end(fixture.window), 0);
	}
}

/* Adds an event of misses on a PMU. fill() then gives misses to the victim, and to `/prefetching` in the bursts. */
static void add_misses(const char *pmu)
{
	struct snapshot_event *event = &fixture.head.events[fixture.head.n_events++];

	*event = (struct snapshot_event){.event = {.role = EVENT_MISSES, .count_kind = COUNT_MISSES_L3}};
	(void)stpcpy(event->event.pmu, pmu);
}

/* Sets the PMUs of the events of loads. */
static void set_pmus(const char *first, const char *second)
{
	(void)stpcpy(fixture.head.events[1].event.pmu, first);
	(void)stpcpy(fixture.head.events[2].event.pmu, second);
}

static int make(const char *path, bool with_cgroups, struct neighbours_report **ret)
{
	struct neighbours_sources sources = {
		.window = fixture.window,
		.victim = totals_find(fixture.totals, path),
		.head = &fixture.head,
		.readings = fixture.readings,
		.now_ns = 5 * SECOND * BINS,
	};

	cr_assert_not_null(sources.victim);
	sources.entries = totals_entries(fixture.totals, &sources.n_entries);
	if (with_cgroups && !fixture.cgroups) {
		_cleanup_free_ char *cgroups = NULL;

		cr_assert_geq(asprintf(&cgroups, "%s/cgroup", fixture.tree), 0);
		fixture.cgroups = open(cgroups, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cr_assert_gt(fixture.cgroups, 0);
	}
	return neighbours_report_make(&sources, with_cgroups ? fixture.cgroups : -1, fixture.sysfs, ret);
}

static bool is_candidate(const struct neighbours_report *report, const char *path)
{
	for (size_t i = 0; i < report->n_cgroups; i++)
		if (strcmp(report->cgroups[i], path) == 0)
			return true;
	return false;
}

TestSuite(neighbours_report, .init = fixture_open, .fini = fixture_close);

Test(neighbours_report, the_culprit_is_named)
{
	static const char *const others[] = {"/b", "/c", "/d", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	const struct neighbour *first;

	fill("/victim", "/a", others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect_str_eq(report->event, "loads:cpu_core");
	cr_expect_float_eq(report->bin_seconds, 5, 1e-9);
	cr_expect_float_eq(report->covered_seconds, 500, 1e-9);
	cr_expect(report->nodes_known);
	cr_expect_eq(report->apart, 0);
	cr_expect_eq(report->beyond, 0);
	cr_expect_eq(report->n_cgroups, 4, "not who stores, nor the victim");
	cr_expect_eq(report->ranking.verdict, NEIGHBOURS_NAMED);
	cr_expect_eq(report->ranking.bins, BINS);
	first = &report->ranking.list[0];
	cr_expect_str_eq(report->cgroups[first->index], "/a");
	cr_expect(first->named);
	cr_expect(first->traffic_slow > 40000 && first->traffic_slow < 46500, "%g", first->traffic_slow);
	cr_expect(first->traffic_fast > 4000 && first->traffic_fast < 6500, "%g", first->traffic_fast);
}

/* A cgroup is left out if its own CPUs, or those of a parent, are all on other nodes than the victim's. */
Test(neighbours_report, cgroups_of_other_nodes_are_apart)
{
	static const char *const others[] = {"/b", "/far/c", "/wide", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL, *replayed = NULL;

	tree_write(fixture.tree, "cgroup/victim/cpuset.cpus.effective", "1\n");
	tree_write(fixture.tree, "cgroup/a/cpuset.cpus.effective", "4-5\n");
	tree_write(fixture.tree, "cgroup/b/cpuset.cpus.effective", "3\n");
	tree_write(fixture.tree, "cgroup/far/cpuset.cpus.effective", "6\n");
	tree_write(fixture.tree, "cgroup/wide/cpuset.cpus.effective", "2-6\n");
	fill("/victim", "/a", others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect(report->nodes_known);
	cr_expect_eq(report->apart, 2);
	cr_expect_eq(report->n_cgroups, 2);
	cr_expect(is_candidate(report, "/b") && is_candidate(report, "/wide"));
	cr_expect_eq(report->ranking.verdict, NEIGHBOURS_NOBODY);

	/* Paths from another machine have no CPUs here. */
	cr_assert_eq(make("/victim", false, &replayed), 0);
	cr_expect_not(replayed->nodes_known);
	cr_expect_eq(replayed->apart, 0);
	cr_expect_eq(replayed->n_cgroups, 4);
	cr_expect_eq(replayed->ranking.verdict, NEIGHBOURS_NAMED);
}

Test(neighbours_report, without_a_cpuset_controller_all_are_candidates)
{
	static const char *const others[] = {"/b", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	char file[4096];

	(void)snprintf(file, sizeof(file), "%s/cgroup/cpuset.cpus.effective", fixture.tree);
	cr_assert_eq(remove(file), 0);
	fill("/victim", "/a", others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect_not(report->nodes_known);
	cr_expect_eq(report->n_cgroups, 2);
}

/* A cgroup below the victim belongs to the victim. A cgroup above it is not a neighbour. */
Test(neighbours_report, ancestors_and_descendants_are_not_neighbours)
{
	static const char *const others[] = {"/", "/s", "/s/victim2", "/s/v", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL, *sibling = NULL;

	fill("/s/victim", "/s/victim/worker", others);
	cr_assert_eq(make("/s/victim", true, &report), 0);
	cr_expect_eq(report->n_cgroups, 2);
	cr_expect(is_candidate(report, "/s/victim2") && is_candidate(report, "/s/v"));
	cr_expect_eq(report->ranking.verdict, NEIGHBOURS_SELF);
	cr_expect_gt(report->ranking.self_strength, 0.9);

	cr_assert_eq(make("/s/v", true, &sibling), 0);
	cr_expect(is_candidate(sibling, "/s/victim") && is_candidate(sibling, "/s/victim/worker"));
	cr_expect_not(is_candidate(sibling, "/"));
	cr_expect_not(is_candidate(sibling, "/s"));
}

Test(neighbours_report, cgroups_with_most_traffic_are_judged)
{
	static const char *const none[] = {NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	char path[32];

	fill("/victim", "/a", none);
	window_begin(fixture.window, (BINS + 1ULL) * 5 * SECOND,
		     &(struct timespec){.tv_sec = 1000 + 5 * BINS});
	for (unsigned i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "/crowd-%03u", i);
		put(path, 1, SOURCE_L3, 10000 + i, 80);
	}
	cr_assert_eq(window_end(fixture.window), 0);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect_eq(report->n_cgroups, NEIGHBOURS_REPORT_MAX);
	cr_expect_eq(report->beyond, 301 - NEIGHBOURS_REPORT_MAX);
	cr_expect_str_eq(report->cgroups[0], "/crowd-299");
	cr_expect_not(is_candidate(report, "/a"));
}

/* Each cgroup costs system calls, during which pebsd does nothing else. */
Test(neighbours_report, the_cpus_of_a_bounded_number_of_cgroups_are_read)
{
	static char paths[NEIGHBOURS_LOOKED_AT_MAX + 100][32];
	static const char *others[ARRAY_SIZE(paths) + 1];
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "/far/%zu", i);
		others[i] = paths[i];
	}
	tree_write(fixture.tree, "cgroup/victim/cpuset.cpus.effective", "1\n");
	tree_write(fixture.tree, "cgroup/far/cpuset.cpus.effective", "6\n");
	fill("/victim", NULL, others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect_eq(report->n_cgroups, 0);
	cr_expect_eq(report->apart, NEIGHBOURS_LOOKED_AT_MAX);
	cr_expect_eq(report->beyond, 100);
}

Test(neighbours_report, missing_data_is_an_error_with_the_reason)
{
	static const char *const none[] = {NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *thin = NULL, *none_known = NULL;

	(void)number_of("/victim");
	cr_expect_eq(make("/victim", true, &thin), -ENODATA, "no collection");
	fill("/victim", "/a", none);
	/* This cgroup has samples, but none of them is a load. */
	cr_assert_eq(make("/storing", true, &thin), 0);
	cr_expect_eq(thin->ranking.verdict, NEIGHBOURS_THIN);
	cr_expect_eq(thin->ranking.bins, 0);
	fixture.head.events[1].event.settings.has_source = 0;
	fixture.head.events[2].event.settings.has_latency = 0;
	cr_expect_eq(make("/victim", true, &none_known), -ENODATA, "no event has both");
}

/* A cgroup whose prefetches use the memory has few loads from there. Its misses name it. */
Test(neighbours_report, sampled_misses_are_the_traffic)
{
	static const char *const others[] = {"/b", "/c", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	const struct neighbour *first;

	set_pmus("cpu_core", "cpu_atom");
	add_misses("cpu_core");
	add_misses("cpu_atom");
	fill("/victim", NULL, others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect(report->misses);
	cr_expect_eq(report->n_cgroups, 1, "the others have only loads");
	cr_expect_eq(report->ranking.verdict, NEIGHBOURS_NAMED);
	first = &report->ranking.list[0];
	cr_expect_str_eq(report->cgroups[first->index], "/prefetching");
	/* 220 to 230 samples of 1000 misses, 64 bytes, in 5 s, of two events. */
	cr_expect(first->traffic_slow > 5600000 && first->traffic_slow < 5900000, "%g", first->traffic_slow);
}

Test(neighbours_report, loads_are_the_traffic_if_one_kind_of_core_has_no_misses)
{
	static const char *const others[] = {"/b", NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;

	set_pmus("cpu_core", "cpu_atom");
	add_misses("cpu_core");
	fill("/victim", "/a", others);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect_not(report->misses);
	cr_expect_str_eq(report->cgroups[report->ranking.list[0].index], "/a");
}

/* AMD's loads are sampled by another PMU than its misses. */
Test(neighbours_report, misses_of_the_cores_belong_to_loads_of_ibs)
{
	static const char *const none[] = {NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;

	set_pmus("ibs_op", "ibs_op");
	add_misses("cpu");
	fill("/victim", "/a", none);
	cr_assert_eq(make("/victim", true, &report), 0);
	cr_expect(report->misses);
}

Test(neighbours_report, misses_that_never_ran_are_not_the_traffic)
{
	static const char *const none[] = {NULL};
	_cleanup_(neighbours_report_freep) struct neighbours_report *starved = NULL, *half = NULL;
	struct reading now[EVENTS_MAX] = {[3] = {.counted = true, .enabled_ns = 500 * SECOND}};

	set_pmus("cpu", "cpu");
	add_misses("cpu");
	cr_assert_eq(readings_new(600 * SECOND, 4, &fixture.readings), 0);
	fill("/victim", "/a", none);
	now[3].running_ns = 4 * SECOND;
	readings_push(fixture.readings, 5 * SECOND * BINS, now);
	cr_assert_eq(make("/victim", true, &starved), 0);
	cr_expect_not(starved->misses);
	now[3].running_ns = 6 * SECOND;
	fixture.readings = readings_free(fixture.readings);
	cr_assert_eq(readings_new(600 * SECOND, 4, &fixture.readings), 0);
	readings_push(fixture.readings, 5 * SECOND * BINS, now);
	cr_assert_eq(make("/victim", true, &half), 0);
	cr_expect(half->misses);
}
