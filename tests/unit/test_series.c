// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"
#include "in_packed.h"
#include "origin/event.h"
#include "series/series.h"
#include "state/state.h"
#include "state/state_kinds.h"

#define SECOND          NSEC_PER_SEC
#define EVENT           0
#define PLAIN           1
#define PATH_MAX_LENGTH 64

static struct series_table *table;

static void end(void)
{
	series_table_free(table);
}

/* Makes `samples` samples of 100 cycles each, with the weight `period`. */
static struct counters counters_of(u64 samples, u64 period)
{
	struct counters counters = {0};

	counters.samples[SOURCE_L3] = samples;
	counters.weight[SOURCE_L3] = samples * period;
	counters.latency_sum[SOURCE_L3] = samples * 100;
	counters.weighted_latency[SOURCE_L3] = samples * 100 * period;
	counters.latency[histogram_fine_index(100)] = samples;
	return counters;
}

/* The result stays valid for the next ROOMS - 1 calls. */
#define ROOMS 128
static const struct delta *brought(const struct counters *counters)
{
	static struct in_packed rooms[ROOMS];
	static size_t next;

	return in_packed(&rooms[next++ % ROOMS], EVENT, counters);
}

static struct series_input input_of(const char *path, const struct counters *counters)
{
	return (struct series_input){
		.path = path, .exported = true, .deltas = brought(counters), .n_deltas = 1};
}

static const struct series *find(const char *path)
{
	const struct series *found = NULL;
	size_t n;
	const struct series *const *list = series_table_list(table, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i]->path, path) == 0) {
			cr_assert_null(found, "%s is there twice", path);
			found = list[i];
		}
	return found;
}

static size_t length(void)
{
	size_t n;

	(void)series_table_list(table, &n);
	return n;
}

/* Returns the samples of the event in the path's series, or -1 if it has no series. */
static long samples(const char *path)
{
	const struct series *series = find(path);

	if (!series)
		return -1;
	return series->counters[EVENT] ? (long)counters_samples(series->counters[EVENT]) : 0;
}

static struct series_table *new_table(size_t top)
{
	struct series_table *made = NULL;

	cr_assert_eq(series_table_new(top, &made), 0);
	return made;
}

/* Runs one collection in which one path has `n` samples. */
static void update_one(u64 now_ns, const char *path, u64 n)
{
	struct counters counters = counters_of(n, 1000);
	struct series_input input = input_of(path, &counters);

	cr_assert_eq(series_table_update(table, now_ns, &input, 1, NULL, 0), 0);
}

TestSuite(series, .fini = end);

Test(series, the_costliest_paths_have_series_and_the_rest_is_other)
{
	struct counters counters[] = {counters_of(5, 1000), counters_of(9, 1000), counters_of(7, 1000)};
	struct series_input inputs[] = {input_of("/a", &counters[0]), input_of("/b", &counters[1]),
					input_of("/c", &counters[2])};
	struct counters lost = counters_of(3, 1000);

	table = new_table(2);
	cr_assert_eq(series_table_update(table, SECOND, inputs, 3, brought(&lost), 1), 0);
	cr_expect_eq(samples("/a"), -1);
	cr_expect_eq(samples("/b"), 9);
	cr_expect_eq(samples("/c"), 7);
	cr_expect_eq(samples(TOTALS_OTHER), 5);
	cr_expect_eq(samples(TOTALS_UNATTRIBUTED), 3);
	cr_expect_null(find("/b")->counters[PLAIN], "no sample of that event");
	cr_expect_eq(memcmp(find("/b")->counters[EVENT], &counters[1], sizeof(struct counters)), 0);
}

Test(series, equal_costs_are_ordered_by_path)
{
	struct counters counters = counters_of(5, 1000);
	struct series_input inputs[] = {input_of("/c", &counters), input_of("/a", &counters),
					input_of("/b", &counters)};

	table = new_table(1);
	cr_assert_eq(series_table_update(table, SECOND, inputs, 3, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 5);
	cr_expect_eq(samples(TOTALS_OTHER), 10);
}

/* The result does not depend on how many paths there are, nor on their order. */
Test(series, exactly_the_costliest_of_many_have_series)
{
	enum { N = 1000, TOP_OF_THEM = 37 };
	struct series_input inputs[N];
	static struct in_packed rooms[N];
	static char paths[N][16];

	table = new_table(TOP_OF_THEM);
	for (u64 i = 0; i < N; i++) {
		u64 rank = i * 389 % N; /* each rank occurs once */
		struct counters counters = counters_of(1 + rank, 1000);

		(void)snprintf(paths[i], sizeof(paths[i]), "/%llu", (unsigned long long)rank);
		inputs[i] = (struct series_input){.path = paths[i],
						  .exported = true,
						  .deltas = in_packed(&rooms[i], EVENT, &counters),
						  .n_deltas = 1};
	}
	cr_assert_eq(series_table_update(table, SECOND, inputs, N, NULL, 0), 0);
	cr_expect_eq(length(), 2 + TOP_OF_THEM);
	for (u64 rank = N - TOP_OF_THEM; rank < N; rank++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "/%llu", (unsigned long long)rank);
		cr_expect_eq(samples(path), (long)(1 + rank), "%s", path);
	}
}

Test(series, without_a_known_period_samples_decide)
{
	struct counters few = counters_of(5, 0);
	struct counters many = counters_of(6, 0);
	struct series_input inputs[] = {input_of("/a", &few), input_of("/b", &many)};

	table = new_table(1);
	cr_assert_eq(series_table_update(table, SECOND, inputs, 2, NULL, 0), 0);
	cr_expect_eq(samples("/b"), 6);
	cr_expect_eq(samples("/a"), -1);
}

Test(series, counts_in_other_stay_in_other)
{
	struct counters small = counters_of(1, 1000);
	struct counters large = counters_of(100, 1000);
	struct series_input first[] = {input_of("/a", &small), input_of("/b", &large)};
	struct series_input second[] = {input_of("/a", &large), input_of("/b", &small)};

	table = new_table(1);
	cr_assert_eq(series_table_update(table, SECOND, first, 2, NULL, 0), 0);
	cr_assert_eq(series_table_update(table, 301 * SECOND, second, 2, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 100, "from its promotion on");
	cr_expect_eq(samples("/b"), 101, "keeps its own after it left the N");
	cr_expect_eq(samples(TOTALS_OTHER), 1);
}

Test(series, cost_has_a_half_life)
{
	table = new_table(1);
	update_one(SECOND, "/a", 100);
	update_one(SECOND + SERIES_HALF_LIFE_NS, "/b", 49);
	cr_expect_eq(samples("/b"), -1, "49 is less than half of 100");
	cr_expect_float_eq(find("/a")->cost, 100 * 100 * 1000 / 2.0, 1);
	update_one(SECOND + SERIES_HALF_LIFE_NS, "/c", 51);
	cr_expect_eq(samples("/c"), 51);
}

Test(series, a_series_is_kept_then_frozen_then_ended_then_continued)
{
	const u64 left = SECOND; /* when /a was among the N for the last time */
	const u64 keep = left + SERIES_KEEP_NS;
	const u64 end = keep + SERIES_LINGER_NS;

	table = new_table(1);
	update_one(left, "/a", 10);
	update_one(left + 1, "/loud", 1000000);
	update_one(keep - 1, "/a", 1);
	cr_expect_eq(samples("/a"), 11, "kept");
	update_one(keep - 1, "/loud", 1000000);
	update_one(keep, "/a", 1);
	cr_expect_eq(samples("/a"), 11, "frozen, still shown");
	cr_expect_eq(samples(TOTALS_OTHER), 1);
	update_one(end - 1, "/a", 1);
	cr_expect_eq(samples("/a"), 11);
	update_one(end, "/a", 1);
	cr_expect_eq(samples("/a"), -1, "ended");
	cr_expect_eq(samples(TOTALS_OTHER), 3, "and not moved to other");
	update_one(end + 1, "/a", 100000000);
	cr_expect_eq(samples("/a"), 100000011, "goes on where it was");
}

Test(series, a_quiet_path_loses_its_series_eventually)
{
	table = new_table(50);
	update_one(SECOND, "/a", 10);
	for (u64 minute = 1; minute <= 10; minute++)
		cr_assert_eq(series_table_update(table, SECOND + minute * 60 * SECOND, NULL, 0, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 10, "at least ten minutes");
	for (u64 minute = 11; minute <= 30; minute++)
		cr_assert_eq(series_table_update(table, SECOND + minute * 60 * SECOND, NULL, 0, NULL, 0), 0);
	cr_expect_eq(samples("/a"), -1);
}

Test(series, a_restarted_service_continues_its_series)
{
	struct counters before = counters_of(4, 1000);
	struct counters after = counters_of(5, 1000);
	struct series_input both[] = {input_of("/s", &before), input_of("/s", &after)};

	table = new_table(1);
	update_one(SECOND, "/s", 10);
	update_one(200 * SECOND, "/s", 1); /* another cgroup with the same path */
	cr_expect_eq(samples("/s"), 11);
	cr_assert_eq(series_table_update(table, 201 * SECOND, both, 2, NULL, 0), 0);
	cr_expect_eq(samples("/s"), 20, "old and new within one collection");
	cr_expect_eq(length(), 3);
	cr_expect_eq(samples(TOTALS_OTHER), 0);
}

/*
 * A sample was in progress when its slot was read. Its weight comes first, and the rest with the next
 * collection.
 */
Test(series, weight_without_a_sample_is_added_but_earns_no_series)
{
	struct counters half = {.weight[SOURCE_L3] = 1000}, rest = counters_of(1, 0);
	struct series_input inputs[] = {input_of("/a", &half)};

	table = new_table(1);
	cr_assert_eq(series_table_update(table, SECOND, inputs, 1, NULL, 0), 0);
	cr_expect_null(find("/a"));
	cr_expect_eq(find(TOTALS_OTHER)->counters[EVENT]->weight[SOURCE_L3], 1000);
	inputs[0] = input_of("/a", &rest);
	cr_assert_eq(series_table_update(table, 2 * SECOND, inputs, 1, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 1);
}

/* The path has an old and a new slot in the same collection. */
Test(series, two_deltas_of_one_event_are_added)
{
	struct counters first = counters_of(4, 1000), second = counters_of(5, 1000);
	const struct delta both[] = {*brought(&first),
				     *brought(&second),
				     {.event = PLAIN, .size = 2, .packed = (const u8[]){SOURCE_L3, 7}}};
	const struct series_input input = {
		.path = "/s", .exported = true, .deltas = both, .n_deltas = ARRAY_SIZE(both)};
	const struct counters *plain;

	table = new_table(1);
	cr_assert_eq(series_table_update(table, SECOND, &input, 1, NULL, 0), 0);
	cr_expect_eq(samples("/s"), 9);
	plain = find("/s")->counters[PLAIN];
	cr_assert_not_null(plain);
	cr_expect_eq(counters_samples(plain), 7);
	cr_expect_eq(plain->samples[SOURCE_L3], 7);
}

static const struct event counted[] = {
	[EVENT] = {.role = EVENT_LOADS, .pmu = "cpu", .settings = {.has_latency = 1, .has_source = 1}},
	[PLAIN] = {.role = EVENT_STALLS, .pmu = "cpu", .count_kind = COUNT_STALLS_LOAD},
};

/* Runs one collection in which one path has samples of the event PLAIN with this weight. */
static void update_counted(u64 now_ns, const char *path, u64 weight, double factor)
{
	const struct counters counters = {.samples[SOURCE_UNKNOWN] = 1, .weight[SOURCE_UNKNOWN] = weight};
	struct in_packed room;
	const struct series_input input = {
		.path = path, .exported = true, .deltas = in_packed(&room, PLAIN, &counters), .n_deltas = 1};

	series_table_scale(table, PLAIN, factor);
	cr_assert_eq(series_table_update(table, now_ns, &input, 1, NULL, 0), 0);
}

Test(series, estimate_scales_each_delta_by_the_factor_of_its_time)
{
	struct counters unattributed = {.weight[SOURCE_UNKNOWN] = 10};
	struct in_packed room;

	table = new_table(1);
	series_table_expect(table, counted, ARRAY_SIZE(counted));
	update_one(SECOND, "/a", 3);
	cr_expect_null(find("/a")->estimates, "loads have no estimate");
	update_counted(2 * SECOND, "/a", 1000, 1);
	cr_expect_eq(find("/a")->estimates[PLAIN], 1000);
	/* The event ran for 2/5 of this second. */
	update_counted(3 * SECOND, "/a", 1001, 2.5);
	cr_expect_eq(find("/a")->estimates[PLAIN], 3503, "1000 + 2502.5, rounded");
	/* A factor that falls does not lower what was estimated before. */
	update_counted(4 * SECOND, "/a", 100, 1);
	cr_expect_eq(find("/a")->estimates[PLAIN], 3603);
	cr_expect_eq(find("/a")->estimates[EVENT], 0);
	cr_expect_eq(counters_weight(find("/a")->counters[PLAIN]), 2101, "the weight is not scaled");
	update_counted(5 * SECOND, "/b", 7, 2);
	cr_expect_eq(find(TOTALS_OTHER)->estimates[PLAIN], 14);
	cr_assert_eq(
		series_table_update(table, 6 * SECOND, NULL, 0, in_packed(&room, PLAIN, &unattributed), 1),
		0);
	cr_expect_eq(find(TOTALS_UNATTRIBUTED)->estimates[PLAIN], 20);
}

static void restore(struct state *state, u64 now_ns)
{
	series_table_free(table);
	table = new_table(1);
	series_table_expect(table, counted, ARRAY_SIZE(counted));
	cr_assert_eq(series_table_restore(table, state, now_ns), 0);
	state_settle(state);
}

Test(series, estimates_continue_after_a_restart)
{
	struct state *state, *next;
	const char *wrong;

	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
	restore(state, SECOND);
	update_counted(2 * SECOND, "/a", 1000, 1.5);
	update_counted(3 * SECOND, "/b", 10, 1);
	series_table_save(table);
	cr_assert_eq(state_commit(state), 0);
	cr_assert_eq(state_inherit(state_fd(state), STATE_RECORDS, &next, &wrong), 0);
	restore(next, 4 * SECOND);
	cr_expect_eq(find("/a")->estimates[PLAIN], 1500);
	cr_expect_eq(find("/b")->estimates[PLAIN], 10);
	update_counted(5 * SECOND, "/a", 100, 1);
	cr_expect_eq(find("/a")->estimates[PLAIN], 1600);
	state_free(next);
	state_free(state);
}

Test(series, with_top_0_there_are_no_series)
{
	table = new_table(0);
	update_one(SECOND, "/a", 10);
	cr_expect_eq(length(), 2);
	cr_expect_eq(samples(TOTALS_OTHER), 10);
}

Test(series, a_smaller_top_lets_series_run_out)
{
	table = new_table(2);
	update_one(SECOND, "/a", 10);
	update_one(SECOND, "/b", 20);
	series_table_set_top(table, 0);
	update_one(2 * SECOND, "/a", 1);
	cr_expect_eq(samples("/a"), 11);
	update_one(2 * SECOND + SERIES_KEEP_NS + SERIES_LINGER_NS, "/a", 1);
	cr_expect_eq(length(), 2);
	cr_expect_eq(samples(TOTALS_OTHER), 1);
	series_table_set_top(table, 2);
	update_one(3 * SECOND + SERIES_KEEP_NS + SERIES_LINGER_NS, "/b", 1);
	cr_expect_eq(samples("/b"), 21, "a top of 0 in between forgets nothing");
}

Test(series, excluded_cgroups_are_in_other)
{
	struct counters counters = counters_of(10, 1000);
	struct series_input input = input_of("/a", &counters);

	table = new_table(5);
	input.exported = false;
	cr_assert_eq(series_table_update(table, SECOND, &input, 1, NULL, 0), 0);
	cr_expect_eq(samples("/a"), -1);
	cr_expect_eq(samples(TOTALS_OTHER), 10);

	input.exported = true;
	cr_assert_eq(series_table_update(table, 2 * SECOND, &input, 1, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 10);

	/*
	 * A reload excludes the cgroup. Its series is still shown until its time is over, but does not grow.
	 */
	input.exported = false;
	cr_assert_eq(series_table_update(table, 3 * SECOND, &input, 1, NULL, 0), 0);
	cr_expect_eq(samples("/a"), 10);
	cr_expect_eq(samples(TOTALS_OTHER), 20);
	cr_assert_eq(series_table_update(table, 4 * SECOND + SERIES_KEEP_NS + SERIES_LINGER_NS, &input, 1,
					 NULL, 0),
		     0);
	cr_expect_eq(samples("/a"), -1);
}

Test(series, ten_thousand_promotions_are_bounded)
{
	long total = 0;

	table = new_table(5);
	for (u64 i = 0; i < 10000; i++) {
		char path[PATH_MAX_LENGTH];

		/* Each path is louder than all before it, so each of them would get a series. */
		(void)snprintf(path, sizeof(path), "/job-%llu", (unsigned long long)i);
		update_one(SECOND + i * 50 * NSEC_PER_MSEC, path, 10 + i);
		total += (long)(10 + i);
		cr_assert_leq(length(), 2 + 5 * SERIES_LIVE_FACTOR);
	}
	cr_expect_eq(length(), 2 + 5 * SERIES_LIVE_FACTOR);
	for (u64 i = 0; i < 10000; i++) {
		char path[PATH_MAX_LENGTH];
		long n;

		(void)snprintf(path, sizeof(path), "/job-%llu", (unsigned long long)i);
		n = samples(path);
		total -= n > 0 ? n : 0;
	}
	cr_expect_eq(total, samples(TOTALS_OTHER), "those that waited are in other");
}

/* Reproducible random numbers: xorshift64. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The table keeps counters for at least this many paths, so that none are dropped. */
#define TOP   8
#define PATHS ((size_t)TOP * SERIES_ENDED_FACTOR)

/* The last value that a scraper has of one series. */
struct seen {
	char path[PATH_MAX_LENGTH];
	struct counters counters;
};

static struct seen *seen_of(struct seen *seen, size_t *n, const char *path)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(seen[i].path, path) == 0)
			return &seen[i];
	cr_assert_lt(*n, PATHS + 2);
	(void)snprintf(seen[*n].path, sizeof(seen[*n].path), "%s", path);
	return &seen[(*n)++];
}

/* Compares all series with their last values, and adds the increases to `increases`. */
static void scrape(struct seen *seen, size_t *n_seen, struct counters *increases, u64 step)
{
	size_t n;
	const struct series *const *list = series_table_list(table, &n);

	for (size_t i = 0; i < n; i++) {
		struct seen *last = seen_of(seen, n_seen, list[i]->path);
		const u64 *now = (const u64 *)list[i]->counters[EVENT];
		u64 *before = (u64 *)&last->counters;

		cr_assert_eq(find(list[i]->path), list[i]);
		for (size_t k = 0; now && k < COUNTER_COUNT; k++) {
			cr_assert_geq(now[k], before[k], "step %llu: %s fell", (unsigned long long)step,
				      list[i]->path);
			((u64 *)increases)[k] += now[k] - before[k];
			before[k] = now[k];
		}
	}
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Runs one collection with `n` new paths of the greatest length, each with one sample. */
static void update_long(u64 now_ns, size_t n)
{
	static unsigned number;
	struct counters counters = counters_of(1, 1000);
	const struct delta *one = brought(&counters);
	struct series_input *inputs = calloc(n, sizeof(*inputs));
	char(*paths)[PATH_MAX] = calloc(n, sizeof(*paths));

	cr_assert(inputs && paths);
	for (size_t i = 0; i < n; i++) {
		memset(paths[i], 'p', PATH_MAX - 1);
		paths[i][0] = '/';
		(void)snprintf(paths[i] + PATH_MAX - 12, 12, "%011u", number++);
		inputs[i] = (struct series_input){
			.path = paths[i], .exported = true, .deltas = one, .n_deltas = 1};
	}
	cr_assert_eq(series_table_update(table, now_ns, inputs, n, NULL, 0), 0);
	free(paths);
	free(inputs);
}

/*
 * Measured is what malloc() handed out: when the paths come a few at a time, and when more have samples in one
 * collection than may wait.
 */
Test(series, memory_of_waiting_paths_is_bounded)
{
	size_t before = allocated(), most = 0;

	table = new_table(1);
	update_one(SECOND, "/a", 1000000);
	update_one(SECOND, "/b", 100000);
	for (u64 i = 0; i < 25; i++) {
		update_long((2 + i) * SECOND, i == 24 ? 12000 : 500);
		cr_assert_leq(allocated() - before, SERIES_WAITING_BYTES + (256UL << 10), "after %llu: %zu",
			      (unsigned long long)i, allocated() - before);
		most = allocated() - before > most ? allocated() - before : most;
	}
#ifndef __SANITIZE_ADDRESS__ /* mallinfo2() counts nothing with the sanitizer's allocator */
	cr_expect_geq(most, SERIES_WAITING_BYTES / 10 * 9);
#endif
	cr_expect_eq(samples("/a"), 1000000);
	cr_expect_eq(samples(TOTALS_OTHER), 100000 + 24 * 500 + 12000, "no sample is lost");
}

/* The cost of a path outlives thousands of cheaper ones that take too much memory. */
Test(series, the_cheapest_waiting_paths_are_forgotten_first)
{
	struct counters counters[] = {counters_of(1, 1000), counters_of(50, 1000)};
	struct series_input inputs[] = {
		{.path = "/a"}, input_of("/b", &counters[0]), input_of("/c", &counters[1])};

	table = new_table(1);
	update_one(SECOND, "/a", 1000000);
	update_one(SECOND, "/b", 1000);
	for (u64 i = 0; i < 24; i++)
		update_long((2 + i) * SECOND, 500);
	cr_assert_eq(series_table_update(table, 26 * SECOND, inputs, 3, NULL, 0), 0);
	cr_expect_eq(samples("/b"), 1);
	cr_expect_eq(samples("/c"), -1);
}

/*
 * A scraper comes at each of 1,000 steps. At each step, other paths become loud, and paths are born, die and
 * come back. Up to 20 minutes pass between two steps, and after some of them the next process continues. No series may
 * ever fall, and the scraper must see all samples.
 */
Test(series, random_promotions_births_deaths_and_restarts_lose_no_sample)
{
	struct state *state, *next_state;
	const char *wrong;
	struct seen *seen = calloc(PATHS + 2, sizeof(*seen));
	struct counters increases = {0};
	struct counters total = {0};
	size_t n_seen = 0;
	size_t ends = 0, returns = 0, promotions = 0;
	bool alive[PATHS] = {false}, shown[PATHS] = {false}, ended[PATHS] = {false};
	u64 random = 20261121;
	u64 now_ns = SECOND;

	table = new_table(TOP);
	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
	cr_assert_eq(series_table_restore(table, state, now_ns), 0);
	for (u64 step = 0; step < 1000; step++) {
		struct counters gained[PATHS];
		struct series_input inputs[PATHS];
		char paths[PATHS][PATH_MAX_LENGTH];
		struct counters stray = counters_of(next_random(&random) % 3, 1000);
		size_t n = 0;

		for (size_t i = 0; i < PATHS; i++) {
			u64 dice = next_random(&random) % 100;
			u64 loud = next_random(&random) % 8 ? 10 : 100000;

			if (dice < 10)
				alive[i] = !alive[i];
			if (!alive[i] || dice > 70)
				continue;
			(void)snprintf(paths[n], sizeof(paths[n]), "/unit-%zu", i);
			gained[n] = counters_of(1 + next_random(&random) % loud, 1 + dice);
			inputs[n] = input_of(paths[n], &gained[n]);
			inputs[n].exported = i % 13 != 12;
			counters_add(&total, &gained[n]);
			n++;
		}
		counters_add(&total, &stray);
		now_ns += next_random(&random) % 20 ? SECOND : next_random(&random) % (1200 * SECOND);
		cr_assert_eq(series_table_update(table, now_ns, inputs, n, brought(&stray), 1), 0);
		series_table_save(table);
		cr_assert_eq(state_commit(state), 0);
		if (next_random(&random) % 10 == 0) {
			series_table_free(table);
			table = new_table(TOP);
			cr_assert_eq(state_inherit(state_fd(state), STATE_RECORDS, &next_state, &wrong), 0);
			state_free(state);
			state = next_state;
			cr_assert_eq(series_table_restore(table, state, now_ns), 0);
			state_settle(state);
		}
		scrape(seen, &n_seen, &increases, step);
		cr_assert_eq(memcmp(&increases, &total, sizeof(total)), 0, "step %llu",
			     (unsigned long long)step);

		for (size_t i = 0; i < PATHS; i++) {
			char path[PATH_MAX_LENGTH];
			bool is;

			(void)snprintf(path, sizeof(path), "/unit-%zu", i);
			is = find(path) != NULL;
			promotions += is && !shown[i];
			returns += is && !shown[i] && ended[i];
			ends += !is && shown[i];
			ended[i] |= !is && shown[i];
			shown[i] = is;
		}
	}
	cr_expect_gt(promotions, 50, "the test promotes");
	cr_expect_gt(ends, 20, "the test ends series");
	cr_expect_gt(returns, 20, "the test brings paths back");
	free(seen);
	state_free(state);
}

/*
 * Replaces the last 16 bytes of a path by others that leave a certain hash unchanged: eight bytes at a time, each word
 * is xored into the hash, which is multiplied and then folded. A program that knows the hash of the first bytes can
 * choose the last word to reach any hash.
 */
static bool collide(char *path, size_t length, u64 number)
{
	const u64 factor = 0x9e3779b97f4a7c15ULL;
	u64 hash = 0xcbf29ce484222325ULL, word;

	(void)snprintf(path + length - 16, 9, "%08llu", (unsigned long long)number);
	for (size_t i = 0; i + 8 < length; i += 8) {
		memcpy(&word, path + i, sizeof(word));
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32;
	}
	memcpy(path + length - 8, &hash, sizeof(hash));
	return !memchr(path + length - 8, 0, 8) && !memchr(path + length - 8, '/', 8);
}

/* The keys that the tables made, and with which they hash. */
static struct siphash_key made, used;
static unsigned int n_made, n_used;

struct siphash_key __real_siphash_key_new(void);
struct siphash_key __wrap_siphash_key_new(void);
u64 __real_siphash_bytes(const struct siphash_key *key, const void *bytes, size_t size);
u64 __wrap_siphash_bytes(const struct siphash_key *key, const void *bytes, size_t size);

struct siphash_key __wrap_siphash_key_new(void)
{
	n_made++;
	return made = __real_siphash_key_new();
}

u64 __wrap_siphash_bytes(const struct siphash_key *key, const void *bytes, size_t size)
{
	n_used++;
	used = *key;
	return __real_siphash_bytes(key, bytes, size);
}

/* Users choose the names of cgroups. They cannot choose names that collide, because they do not know the key. */
Test(series, each_table_hashes_its_paths_with_a_key_of_its_own)
{
	struct counters counters = counters_of(1, 1000);
	const struct delta *delta = brought(&counters);
	struct siphash_key keys[2];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct series_input input = {
			.path = "/a", .exported = true, .deltas = delta, .n_deltas = 1};

		n_made = n_used = 0;
		series_table_free(table);
		table = new_table(10);
		cr_assert_eq(series_table_update(table, SECOND, &input, 1, NULL, 0), 0);
		cr_expect_eq(n_made, 1);
		cr_expect_gt(n_used, 0);
		cr_expect_eq(memcmp(&used, &made, sizeof(made)), 0);
		keys[i] = made;
	}
	cr_expect_neq(memcmp(&keys[0], &keys[1], sizeof(keys[0])), 0);
}

/* Names that collide in a hash without a key (here the one that the table had) are spread by the present one. */
Test(series, paths_that_were_chosen_to_collide_are_spread)
{
	enum { MANY = 20000, LENGTH = 32, BUCKETS = 32768, LOAD_MAX = 8 };
	const struct siphash_key key = {{1, 2}};
	static unsigned int loads[BUCKETS];
	unsigned int most = 0;
	u64 number = 0;

	for (size_t i = 0; i < MANY; i++) {
		char path[LENGTH + 1];
		size_t bucket;

		(void)snprintf(path, sizeof(path), "/user/cgroup.%019d", 0);
		while (!collide(path, LENGTH, number++))
			;
		bucket = siphash_bytes(&key, path, LENGTH) % BUCKETS;
		most = ++loads[bucket] > most ? loads[bucket] : most;
	}
	/* With a random function, one key in a thousand would put more paths into a bucket. */
	cr_expect_leq(most, LOAD_MAX, "%u paths in a bucket", most);
}
