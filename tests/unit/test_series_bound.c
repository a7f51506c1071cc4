// SPDX-License-Identifier: GPL-2.0
/* The number of series stays bounded, whichever cgroups are the costliest and for how long. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "export/prometheus/prometheus.h"
#include "in_packed.h"
#include "series/series_width.h"

#define SECOND NSEC_PER_SEC

/* Loads and stores, as Skylake servers and Sapphire Rapids sample them. */
static const struct event skylake[] = {
	{.role = EVENT_LOADS, .pmu = "cpu", .settings = {.has_latency = 1, .has_source = 1}},
	{.role = EVENT_STORES, .pmu = "cpu", .settings = {.has_source = 1}},
};
static const struct event sapphire_rapids[] = {
	{.role = EVENT_LOADS,
	 .pmu = "cpu",
	 .settings = {.has_latency = 1, .has_instruction_latency = 1, .has_source = 1}},
	{.role = EVENT_STORES,
	 .pmu = "cpu",
	 .settings = {.has_latency = 1, .has_instruction_latency = 1, .has_source = 1}},
};

/* The four events of counts. */
static const struct event counts[] = {
	{.role = EVENT_CYCLES, .pmu = "cpu"},
	{.role = EVENT_INSTRUCTIONS, .pmu = "cpu"},
	{.role = EVENT_STALLS, .pmu = "cpu", .count_kind = COUNT_STALLS_LOAD},
	{.role = EVENT_MISSES, .pmu = "cpu", .count_kind = COUNT_MISSES_L3},
};
static const struct event precise_instructions = {
	.role = EVENT_INSTRUCTIONS, .pmu = "cpu", .settings = {.has_code_address = 1}};

/* The flags that have a series of loads, and of stores. Whether stores have a flag is in its row of ACCESS_FLAGS. */
#define FLAG_OF_STORES(name, bits, known, ...) +((known) != FLAG_KNOWN_OF_LOADS)
#define LOAD_FLAGS                             ((size_t)FLAG_COUNT)
#define STORE_FLAGS                            ((size_t)(ACCESS_FLAGS(FLAG_OF_STORES)))

/*
 * Loads: a histogram of 13, two series for each of 9 sources, 4 counters (weight, weighted latency, HITM, page
 * walks), and their flags. Stores without latency: 2 sources, 2 counters (weight, page walks), and their flags.
 */
#define LOAD_SERIES  (13 + 2 * 9 + 4 + LOAD_FLAGS)
#define STORE_SERIES (2 + 2 + STORE_FLAGS)
/* Sapphire Rapids has the instruction latency, too, and both latencies of stores: 3 counters more. */
#define LATER_LOAD_SERIES  (LOAD_SERIES + 13)
#define LATER_STORE_SERIES (2 * 13 + 2 * 2 + 3 + STORE_FLAGS)

static size_t width_expected(const struct event *events, unsigned n)
{
	struct series_width width = {0};

	for (unsigned i = 0; i < n; i++)
		series_width_expect(&width, i, &events[i]);
	return series_width_of(&width);
}

Test(series_bound, the_expected_number_of_series_of_events_is_exact)
{
	/* 4 more series may come. */
	cr_expect_eq(width_expected(skylake, 1), LOAD_SERIES + 4);
	cr_expect_eq(width_expected(skylake, 2), LOAD_SERIES + STORE_SERIES + 4);
	cr_expect_eq(width_expected(sapphire_rapids, 2), LATER_LOAD_SERIES + LATER_STORE_SERIES + 4);
	cr_expect_eq(width_expected(NULL, 0), 40);
}

Test(series_bound, an_event_of_counts_makes_one_series)
{
	struct series_width width = {0};
	u64 estimates[EVENTS_MAX] = {[1] = 5, [2] = 5, [3] = 5, [4] = 5};
	struct counters counters = {.samples[SOURCE_UNKNOWN] = 2, .weight[SOURCE_UNKNOWN] = 2000};
	struct series series = {.estimates = estimates};

	series_width_expect(&width, 0, &skylake[0]);
	for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
		series_width_expect(&width, 1 + i, &counts[i]);
		series.counters[1 + i] = &counters;
	}
	cr_expect_eq(series_width_of(&width), LOAD_SERIES + 4 + 4);
	series_width_see(&width, &series);
	cr_expect_eq(series_width_of(&width), LOAD_SERIES + 4 + 4);
	/* Precise instructions: the weight, page walks, the flags of stores and the estimate. */
	width = (struct series_width){0};
	series_width_expect(&width, 0, &skylake[0]);
	series_width_expect(&width, 1, &precise_instructions);
	cr_expect_eq(series_width_of(&width), LOAD_SERIES + 2 + STORE_FLAGS + 1 + 4);
}

Test(series_bound, the_number_of_cgroups_follows_from_the_width)
{
	static const struct {
		size_t top, width;
		struct series_places places;
	} cases[] = {
		{SERIES_TOP_AUTO, 41, {50, 78}},
		{SERIES_TOP_AUTO, 46, {50, 69}},
		{SERIES_TOP_AUTO, 88, {35, 35}},
		{SERIES_TOP_AUTO, 150, {20, 20}},
		{SERIES_TOP_AUTO, 5000, {0, 0}},
		/* A number that the user sets is used, whatever it costs. */
		{50, 46, {50, 69}},
		{50, 88, {50, 50}},
		{500, 46, {500, 715}},
		/* If the user's number is small, more paths may keep their series. */
		{5, 46, {5, 20}},
		{20, 46, {20, 69}},
		{0, 46, {0, 0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series_places places = series_places(cases[i].top, cases[i].width);

		cr_expect_eq(places.top, cases[i].places.top, "case %zu: %zu", i, places.top);
		cr_expect_eq(places.paths, cases[i].places.paths, "case %zu: %zu", i, places.paths);
	}
}

static const enum source load_sources[] = {
	SOURCE_L1,           SOURCE_LFB,        SOURCE_L2,          SOURCE_L3,      SOURCE_LOCAL_CACHE,
	SOURCE_REMOTE_CACHE, SOURCE_LOCAL_DRAM, SOURCE_REMOTE_DRAM, SOURCE_UNKNOWN,
};

/* The samples of an event in one collection, with each source, result and counter among them. */
static struct counters brought(const struct event *event, u64 n)
{
	bool loads = event->role == EVENT_LOADS;
	size_t n_sources = loads ? ARRAY_SIZE(load_sources) : 2;
	struct counters counters = {0};

	for (size_t i = 0; i < n_sources; i++) {
		enum source source = loads ? load_sources[i] : i ? SOURCE_UNKNOWN : SOURCE_L1;
		u32 cycles = 20U << i;

		counters.samples[source] = n;
		counters.weight[source] = n * 10007;
		counters.snoop[i ? SNOOP_NONE : SNOOP_HIT] += n;
		counters.tlb[TLB_HIT] += n;
		if (event->settings.has_instruction_latency) {
			counters.instruction_latency[histogram_coarse_index(2 * cycles)] += n;
			counters.instruction_latency_sum += 2ULL * cycles * n;
		}
		if (!event->settings.has_latency)
			continue;
		counters.latency_sum[source] = n * cycles;
		counters.weighted_latency[source] = n * cycles * 10007;
		counters.latency[histogram_fine_index(cycles)] += n;
	}
	counters.tlb[TLB_HIT]--;
	counters.tlb[TLB_WALK] = 1;
	if (loads)
		counters.snoop[SNOOP_HITM] = 1;
#define COUNT_FLAG(name, bits, known, ...) counters.name = loads || (known) != FLAG_KNOWN_OF_LOADS;
	ACCESS_FLAGS(COUNT_FLAG)
	return counters;
}

Test(series_bound, the_width_equals_the_exposed_series)
{
	static const struct {
		const struct event *events;
		size_t lines;
	} machines[] = {{skylake, LOAD_SERIES + STORE_SERIES},
			{sapphire_rapids, LATER_LOAD_SERIES + LATER_STORE_SERIES}};

	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		static char path[] = "/a";
		struct series_width width = {0};
		struct counters counters[2];
		struct series series = {.path = path};
		const struct series *list = &series;
		struct prometheus_options options = {0};
		struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
		char *text, *line;
		size_t length, lines = 0;

		cr_assert_not_null(snapshot);
		snapshot->origin = "perf";
		snapshot->n_events = 2;
		for (size_t i = 0; i < 2; i++) {
			snapshot->events[i].event = machines[m].events[i];
			counters[i] = brought(&machines[m].events[i], 5);
			series.counters[i] = &counters[i];
		}
		cr_assert_eq(prometheus_render(snapshot, &list, 1, &options, NULL, &text, &length), 0);
		for (line = text; (line = strstr(line, "cgroup=\"/a\"")); line++)
			lines++;
		cr_expect_eq(lines, machines[m].lines);
		series_width_see(&width, &series);
		cr_expect_eq(series_width_of(&width), MAX(lines + SERIES_WIDTH_SPARE, SERIES_WIDTH_MIN));
		free(text);
		free(snapshot);
	}
}

#define CGROUPS 1000
#define KINDS   5 /* how loud a cgroup is, beginning with quiet */

struct host {
	const struct event *events;
	struct series_table *table;
	char paths[CGROUPS][201];
	struct counters brings[KINDS][2];
	struct in_packed packed[KINDS][2];
	struct delta deltas[KINDS][2];
	size_t kinds[CGROUPS]; /* loudness in this collection */
	u64 total;             /* samples of both events */
	u64 seen[CGROUPS + 1]; /* samples of each cgroup, and of `other`, that a scraper has seen */
	u64 increases;         /* sum of all increases that it has seen */
	u64 begun_ns[CGROUPS]; /* time at which the cgroup got a series; 0: no series */
	size_t most, begins, ends;
};

static void host_init(struct host *host, const struct event *events, size_t top)
{
	static const u64 loudness[KINDS] = {2, 100, 2000, 40000, 10000000};

	*host = (struct host){.events = events};
	cr_assert_eq(series_table_new(top, &host->table), 0);
	series_table_expect(host->table, events, 2);
	for (size_t i = 0; i < CGROUPS; i++) {
		memset(host->paths[i], 'x', 200);
		memcpy(host->paths[i], "/kubepods.slice/", 16);
		host->paths[i][200 - 4] = '/';
		(void)snprintf(host->paths[i] + 200 - 3, 4, "%03zu", i);
	}
	for (size_t kind = 0; kind < KINDS; kind++)
		for (unsigned event = 0; event < 2; event++) {
			host->brings[kind][event] = brought(&events[event], loudness[kind]);
			host->deltas[kind][event] =
				*in_packed(&host->packed[kind][event], event, &host->brings[kind][event]);
		}
}

static u64 samples_of(const struct series *series)
{
	u64 sum = 0;

	for (size_t event = 0; event < 2; event++)
		sum += series->counters[event] ? counters_samples(series->counters[event]) : 0;
	return sum;
}

static u64 samples_brought(const struct host *host, size_t cgroup)
{
	const struct counters *brings = host->brings[host->kinds[cgroup]];

	return counters_samples(&brings[0]) + counters_samples(&brings[1]);
}

/* Checks the series that a scraper sees after a collection. */
static void scrape(struct host *host, u64 now_ns)
{
	bool shown[CGROUPS] = {false};
	size_t n;
	const struct series *const *list = series_table_list(host->table, &n);

	host->most = MAX(host->most, n);
	for (size_t i = 0; i < n; i++) {
		bool other = strcmp(list[i]->path, TOTALS_OTHER) == 0;
		size_t cgroup =
			other ? CGROUPS : strtoul(list[i]->path + strlen(list[i]->path) - 3, NULL, 10);
		u64 now = samples_of(list[i]), was;

		if (strcmp(list[i]->path, TOTALS_UNATTRIBUTED) == 0)
			continue;
		was = host->seen[cgroup];
		if (!other && !host->begun_ns[cgroup] && now == samples_brought(host, cgroup))
			was = 0; /* the series begins: earlier counters were dropped */
		cr_assert_geq(now, was, "cgroup %zu fell", cgroup);
		host->increases += now - was;
		host->seen[cgroup] = now;
		if (other)
			continue;
		shown[cgroup] = true;
		host->begins += !host->begun_ns[cgroup];
		if (!host->begun_ns[cgroup])
			host->begun_ns[cgroup] = now_ns;
	}
	for (size_t i = 0; i < CGROUPS; i++) {
		if (shown[i] || !host->begun_ns[i])
			continue;
		cr_assert_geq(now_ns - host->begun_ns[i], SERIES_KEEP_NS, "cgroup %zu", i);
		host->begun_ns[i] = 0;
		host->ends++;
	}
}

/*
 * All 1,000 cgroups have samples in each collection. The loud ones, and their loudness, change all the time.
 */
static void run(struct host *host, u64 seconds, u64 step)
{
	static struct series_input inputs[CGROUPS];
	u64 state = 20261122;

	for (u64 now = step; now <= seconds; now += step) {
		for (size_t i = 0; i < CGROUPS; i++) {
			size_t kind;

			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			/* Fifty adjacent cgroups are loud for a while, and others at random. */
			kind = (i + CGROUPS - now / 30 % CGROUPS) % CGROUPS < 50 ? 3
			       : (state >> 33) % 1000 < 10                       ? 2
										 : (state >> 43) % 10 < 3;
			inputs[i] = (struct series_input){.path = host->paths[i],
							  .exported = true,
							  .deltas = host->deltas[kind],
							  .n_deltas = 2};
			host->kinds[i] = kind;
			host->total += samples_brought(host, i);
		}
		cr_assert_eq(series_table_update(host->table, now * SECOND, inputs, CGROUPS, NULL, 0), 0);
		scrape(host, now * SECOND);
		cr_assert_eq(host->increases, host->total, "after %llu s", (unsigned long long)now);
	}
}

/* Renders all series in the larger of the two formats. Returns its bytes and the number of series. */
static void render(const struct host *host, size_t *ret_bytes, size_t *ret_series)
{
	const struct process_usage process = {.cpu_seconds = {true, 1.5}};
	const struct prometheus_options options = {.openmetrics = true};
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	const struct series *const *list;
	char *text;
	size_t n;

	cr_assert_not_null(snapshot);
	snapshot->origin = "perf";
	snapshot->n_events = 2;
	for (size_t i = 0; i < 2; i++)
		snapshot->events[i].event = host->events[i];
	list = series_table_list(host->table, &n);
	cr_assert_eq(prometheus_render(snapshot, list, n, &options, &process, &text, ret_bytes), 0);
	*ret_series = 0;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		*ret_series += *line != '#';
	free(text);
	free(snapshot);
}

Test(series_bound, a_changing_top_stays_within_the_bound_for_hours)
{
	static const struct {
		const struct event *events;
		size_t top, share, bytes, series; /* one of `share` places beyond the N is used at least */
	} cases[] = {
		{skylake, SERIES_TOP_AUTO, 2, 1000000, 4000},
		{sapphire_rapids, SERIES_TOP_AUTO, 1, 1000000, 4000},
		{skylake, 100, 4, 2000000, 8000},
		{sapphire_rapids, 50, 1, 1500000, 5000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series_places places = series_places(cases[i].top, width_expected(cases[i].events, 2));
		size_t least = places.top + (places.paths - places.top) / cases[i].share;
		struct host *host = malloc(sizeof(*host));
		size_t bytes, series;

		cr_assert_not_null(host);
		host_init(host, cases[i].events, cases[i].top);
		run(host, 4ULL * 3600, 30);
		cr_expect_leq(host->most, places.paths + 2, "case %zu: %zu", i, host->most);
		cr_expect_geq(host->most, least + 2, "case %zu: %zu", i, host->most);
		cr_expect_gt(host->begins, 3 * places.paths, "case %zu: %zu got series", i, host->begins);
		cr_expect_gt(host->ends, 2 * places.paths, "case %zu: %zu lost them", i, host->ends);
		render(host, &bytes, &series);
		cr_expect_leq(bytes, cases[i].bytes, "case %zu: %zu bytes", i, bytes);
		cr_expect_leq(series, cases[i].series, "case %zu: %zu series", i, series);
		series_table_free(host->table);
		free(host);
	}
}

/* Half of the places beyond the N are reserved for the costliest newcomers. */
Test(series_bound, a_new_costliest_cgroup_gets_a_series)
{
	static struct series_input inputs[200];
	const struct series_places places = series_places(SERIES_TOP_AUTO, width_expected(skylake, 2));
	/* For the last of the N, almost half of the places beyond the N: all of the others are costlier. */
	const size_t reserved = (places.paths - places.top) * (places.top - 1) / places.top / 2;
	struct host *host = malloc(sizeof(*host));
	const struct series *const *list;
	size_t n, found = 0;

	cr_assert_not_null(host);
	host_init(host, skylake, SERIES_TOP_AUTO);
	/* 49 cgroups are loud all the time, and a hundred others take turns as the last of the N. */
	for (size_t now = 1; now <= 100; now++) {
		for (size_t i = 0; i < 149; i++)
			inputs[i] = (struct series_input){.path = host->paths[i],
							  .exported = true,
							  .deltas = host->deltas[i < 49          ? 3
										 : i == 48 + now ? 2
												 : 0],
							  .n_deltas = 2};
		cr_assert_eq(series_table_update(host->table, now * SECOND, inputs, 149, NULL, 0), 0);
	}
	(void)series_table_list(host->table, &n);
	cr_expect_eq(n, places.paths - reserved + 2, "%zu: %zu places are not for the last of the N", n,
		     reserved);
	inputs[149] = (struct series_input){
		.path = host->paths[149], .exported = true, .deltas = host->deltas[4], .n_deltas = 2};
	cr_assert_eq(series_table_update(host->table, 101 * SECOND, inputs, 150, NULL, 0), 0);
	list = series_table_list(host->table, &n);
	for (size_t i = 0; i < n; i++)
		found += strcmp(list[i]->path, host->paths[149]) == 0;
	cr_expect_eq(found, 1);
	series_table_free(host->table);
	free(host);
}
