// SPDX-License-Identifier: GPL-2.0
/*
 * window_reach [COLLECTIONS]: measures how far back the window of the last minutes reaches in the memory that
 * the engine gives it, and the cost of the window per collection of one second, as JSON. In each collection
 * every cgroup has 20 loads with latency and 20 stores without. Prints seconds and microseconds of processor
 * time, over the second half of the collections.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/number.h"
#include "clock.h"
#include "collect/packed.h"
#include "engine/engine.h"
#include "pebsd/histogram.h"
#include "random_numbers.h"
#include "window/window.h"

#define COLLECTIONS     1200
#define COLLECTIONS_MAX 100000
#define EVENTS          2
#define SAMPLES         20
#define CGROUPS_MAX     4000
#define BYTES_MAX       512 /* of packed counters; 20 samples need less */

static u64 random_state = XORSHIFT_SEED;

static u64 random_below(u64 n)
{
	return xorshift(&random_state) % n;
}

/* Mostly caches and some near and remote memory, like a program's loads. */
static void add_sample(struct counters *counters, bool load)
{
	static const enum source sources[] = {SOURCE_L1, SOURCE_L3, SOURCE_LOCAL_DRAM, SOURCE_REMOTE_DRAM};
	static const u32 least[] = {5, 40, 200, 400}, spread[] = {5, 40, 200, 1200};
	const u64 kind = random_below(100);
	const unsigned place = kind < 50 ? 0 : kind < 80 ? 1 : kind < 95 ? 2 : 3;
	const enum source source = sources[place];
	u32 latency;

	counters->samples[source]++;
	counters->weight[source] += 10007;
	counters->snoop[SNOOP_NONE]++;
	counters->tlb[TLB_HIT]++;
	if (!load)
		return;
	latency = least[place] + (u32)random_below(spread[place]);
	counters->latency_sum[source] += latency;
	counters->weighted_latency[source] += 10007ULL * latency;
	counters->latency[histogram_fine_index(latency)]++;
	counters->source_latency[source][histogram_octave_index(latency)]++;
}

/* The packed counters that cgroups add to one collection. */
struct brought {
	size_t sizes[CGROUPS_MAX * EVENTS];
	u8 packed[CGROUPS_MAX * EVENTS * BYTES_MAX];
};

static void sample(struct brought *brought, u32 cgroups)
{
	u8 *to = brought->packed;

	for (u32 i = 0; i < cgroups * EVENTS; i++) {
		struct counters counters = {0};

		for (int sample = 0; sample < SAMPLES; sample++)
			add_sample(&counters, i % EVENTS == 0);
		brought->sizes[i] = packed_of(&counters, to);
		to += brought->sizes[i];
	}
}

/* Makes one collection. Returns its processor time in ns. */
static u64 collect(struct window *window, const struct brought *brought, u32 cgroups, u64 now_ns)
{
	const struct timespec now = {.tv_sec = (time_t)(now_ns / NSEC_PER_SEC)};
	const u8 *packed = brought->packed;
	u64 before = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	window_begin(window, now_ns, &now);
	for (u32 i = 0; i < cgroups * EVENTS; i++) {
		window_put(window, i / EVENTS, i % EVENTS, packed, brought->sizes[i]);
		packed += brought->sizes[i];
	}
	if (window_end(window) < 0)
		exit(EXIT_FAILURE);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

static int skip(u32 entry, unsigned event, const struct counters *counters, void *userdata)
{
	(void)entry;
	(void)event;
	(void)counters;
	(void)userdata;
	return 1;
}

static int skip_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	(void)end_ns;
	*(u64 *)userdata = begin_ns;
	return 1;
}

static u64 begin_of(const struct window *window)
{
	u64 begin_ns = 0;

	(void)window_walk(window, ~0ULL,
			  &(struct window_visitor){
				  .collection = skip_collection, .counters = skip, .userdata = &begin_ns});
	return begin_ns;
}

static int compare(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

static double in_us(u64 ns)
{
	return (double)ns / 1e3;
}

static void run(u32 cgroups, size_t n, bool last)
{
	const struct timespec start = {0};
	struct brought *brought = malloc(sizeof(*brought));
	u64 *reach = calloc(n, sizeof(*reach)), *took = calloc(n, sizeof(*took)), sum = 0;
	const size_t half = n / 2;
	struct window *window;

	if (!brought || !reach || !took ||
	    window_new(engine_window_bytes(cgroups * EVENTS), 600 * NSEC_PER_SEC, 0, &start, &window) < 0)
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < n; i++) {
		u64 now_ns = (i + 1) * NSEC_PER_SEC;

		sample(brought, cgroups);
		took[i] = collect(window, brought, cgroups, now_ns);
		reach[i] = (now_ns - begin_of(window)) / NSEC_PER_SEC;
	}
	reach += n - half;
	took += n - half;
	qsort(reach, half, sizeof(*reach), compare);
	qsort(took, half, sizeof(*took), compare);
	for (size_t i = 0; i < half; i++)
		sum += took[i];
	(void)printf(
		"  {\"cgroups\": %u, \"bytes\": %zu, \"collections\": %zu, \"reach_s\": {\"least\": %llu, "
		"\"median\": %llu, \"most\": %llu}, \"us\": {\"mean\": %.0f, \"median\": %.0f, \"p90\": "
		"%.0f, \"most\": %.0f}}%s\n",
		cgroups, window_bytes(window), window_collections(window), (unsigned long long)reach[0],
		(unsigned long long)reach[half / 2], (unsigned long long)reach[half - 1],
		in_us(sum) / (double)half, in_us(took[half / 2]), in_us(took[half - 1 - half / 10]),
		in_us(took[half - 1]), last ? "" : ",");
	window_free(window);
	free(brought);
	free(reach - (n - half));
	free(took - (n - half));
}

int main(int argc, char **argv)
{
	static const u32 cgroups[] = {100, 1000, 4000};
	u64 n = COLLECTIONS;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 2, COLLECTIONS_MAX, &n) < 0)) {
		(void)fprintf(stderr, "usage: window_reach [COLLECTIONS]\n");
		return 2;
	}
	(void)printf("[\n");
	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++)
		run(cgroups[i], n, i + 1 == ARRAY_SIZE(cgroups));
	(void)printf("]\n");
	return 0;
}
