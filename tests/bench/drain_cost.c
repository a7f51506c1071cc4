// SPDX-License-Identifier: GPL-2.0
/*
 * drain_cost [ROUNDS]: measures the cost of reading the new counts in a collection, compared with a memcpy of
 * the same records. Prints lines of JSON (tests/bench/run.sh): medians in microseconds, medians of the rounds'
 * ratios, and bytes of the daemon's memory. Needs root.
 *
 * The samples of loads are of six kinds: each has a data source and a range of latencies. The function that the
 * programs use writes them through the mapping, and dirty bytes are set as the programs set them. Each round runs
 * every case. Between writing and reading, other memory goes through the caches ("cold", as after an interval
 * in which the machine worked), or not ("warm").
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "account.h"
#include "base/number.h"
#include "clock.h"
#include "collect/collect.h"
#include "driver_sources.h"
#include "heap.h"
#include "kernel/kernel.h"
#include "random_numbers.h"

#define ROUNDS      21
#define ROUNDS_MAX  501
#define CACHE_BYTES ((size_t)64 << 20)
#define FIRST_ID    1000
#define PATH_BYTES  100
#define COUNTS_MOST 4 /* cycles, instructions, stalls and misses */

enum what { COLD, COLD_MEMCPY, WARM, WARM_MEMCPY, WHATS };

/* In each round `active` of the cgroups have samples. They are spread evenly over the slots. */
static struct drain_case {
	const char *name;
	u32 cgroups;
	u32 active;
	u32 stripes;
	u32 samples; /* per active cgroup, stripe, event and round */
	u32 counts;  /* events that only count, besides the loads */

	struct kernel *kernel;
	struct names *names;
	struct totals *totals;
	struct collect *collect;
	u64 entered;  /* samples so far */
	double bytes; /* of memory, per cgroup and event */
	double us[WHATS][ROUNDS_MAX];
} cases[] = {
	{.name = "10 of 10", .cgroups = 10, .active = 10, .stripes = 2, .samples = 20},
	{.name = "100 of 100", .cgroups = 100, .active = 100, .stripes = 2, .samples = 20},
	{.name = "100 of 10,000", .cgroups = 10000, .active = 100, .stripes = 2, .samples = 20},
	{.name = "1,000 of 1,000", .cgroups = 1000, .active = 1000, .stripes = 2, .samples = 20},
	{.name = "1,000 of 1,000, one stripe", .cgroups = 1000, .active = 1000, .stripes = 1, .samples = 20},
	{.name = "1,000 of 1,000, one stripe, few samples",
	 .cgroups = 1000,
	 .active = 1000,
	 .stripes = 1,
	 .samples = 2},
	{.name = "1,000 of 1,000, one stripe, many samples",
	 .cgroups = 1000,
	 .active = 1000,
	 .stripes = 1,
	 .samples = 200},
	{.name = "1,000 of 1,000, eight stripes",
	 .cgroups = 1000,
	 .active = 1000,
	 .stripes = 8,
	 .samples = 20},
	{.name = "1,000 of 1,000, loads and four counts",
	 .cgroups = 1000,
	 .active = 1000,
	 .stripes = 2,
	 .samples = 20,
	 .counts = COUNTS_MOST},
	{.name = "4,000 of 4,000", .cgroups = 4000, .active = 4000, .stripes = 2, .samples = 20},
};

static u8 *other_memory;
static struct latency_record *copies;
static struct plain_record *count_copies;

static void die(const char *what, int r)
{
	(void)fprintf(stderr, "drain_cost: %s: %s\n", what, strerror(-r));
	exit(r == -EPERM ? 77 : EXIT_FAILURE);
}

static u64 next_random(void)
{
	static u64 state = XORSHIFT_SEED;

	return xorshift(&state);
}

/* Each kind of sample has its own range of latencies. Seven in ten samples are of the first kind. */
static struct sample some_sample(void)
{
	static const struct {
		u64 data_source;
		u32 chance; /* percent */
		u32 from;
		u32 to;
	} kinds[] = {
		{DRIVER_L1, 70, 4, 8},  {DRIVER_LFB, 8, 20, 110},         {DRIVER_L2, 10, 13, 18},
		{DRIVER_L3, 7, 45, 85}, {DRIVER_LOCAL_DRAM, 4, 190, 330}, {DRIVER_REMOTE_DRAM, 1, 350, 700},
	};
	u32 draw = (u32)(next_random() % 100);
	size_t kind = 0;

	while (draw >= kinds[kind].chance)
		draw -= kinds[kind++].chance;
	return (struct sample){
		.latency = kinds[kind].from + next_random() % (kinds[kind].to - kinds[kind].from),
		.data_source = kinds[kind].data_source,
		.period = 10007,
		.fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE,
	};
}

static u32 slot_of(const struct drain_case *at, u32 nth)
{
	return 1 + (u32)((u64)nth * at->cgroups / at->active);
}

static struct latency_record *record_of(const struct drain_case *at, u32 nth, u32 stripe)
{
	return (struct latency_record *)kernel_latency_record(at->kernel, 0, stripe, slot_of(at, nth));
}

/* The record of the event number `event`, 1 to `counts`. */
static struct plain_record *count_of(const struct drain_case *at, u32 nth, u32 stripe, u32 event)
{
	return (struct plain_record *)kernel_plain_record(at->kernel, event, stripe, slot_of(at, nth));
}

static void enter_counts(struct drain_case *at, u32 nth, u32 stripe)
{
	const struct sample sample = {.period = 10007};

	for (u32 event = 1; event <= at->counts; event++) {
		for (u32 i = 0; i < at->samples; i++)
			account_count(count_of(at, nth, stripe, event), &sample, false);
		kernel_dirty(at->kernel, event, stripe)[slot_of(at, nth)] = 1;
	}
}

static void enter(struct drain_case *at)
{
	for (u32 nth = 0; nth < at->active; nth++)
		for (u32 stripe = 0; stripe < at->stripes; stripe++) {
			enter_counts(at, nth, stripe);
			for (u32 i = 0; i < at->samples; i++) {
				struct sample sample = some_sample();

				account_latency(record_of(at, nth, stripe), &sample, false);
			}
			kernel_dirty(at->kernel, 0, stripe)[slot_of(at, nth)] = 1;
			at->entered += at->samples * (1ULL + at->counts);
		}
}

/* Gives each cgroup its own path, of PATH_BYTES bytes, and a slot. */
static void name_all(struct drain_case *at)
{
	for (u32 i = 0; i < at->cgroups; i++) {
		char path[PATH_BYTES + 1];
		int n = snprintf(path, sizeof(path), "/cgroup-%u-", i);
		int r;

		memset(path + n, 'x', (size_t)(PATH_BYTES - n));
		path[PATH_BYTES] = '\0';
		r = names_add_path(at->names, FIRST_ID + i, path);
		if (r == 0)
			r = kernel_adopt(at->kernel, FIRST_ID + i, 0, path);
		if (r < 0)
			die("adopt", r);
		if ((u32)r != i + 1)
			die("slots come in another order", -EPROTO);
	}
}

static void open_case(struct drain_case *at)
{
	u8 of_cpu[1] = {0};
	const struct stripes stripes = {.n = at->stripes, .cpus = 1, .of_cpu = of_cpu};
	const struct kernel_settings settings = {
		.slots = at->cgroups + 1,
		.stripes = &stripes,
		.n_events = 1 + at->counts,
		.events[0] = {.has_latency = 1, .has_source = 1},
	};
	_cleanup_free_ char *message = NULL;
	size_t before;
	int r = kernel_open(&settings, &at->kernel, &message);

	if (r < 0)
		die(message ? message : "open the kernel side", r);
	if ((r = names_new(2 * (size_t)at->cgroups, &at->names)) < 0)
		die("names", r);
	name_all(at);
	before = heap_bytes();
	if ((r = totals_new(&at->totals)) < 0 || (r = collect_new(
							  &(struct collect_settings){
								  .kernel = at->kernel,
								  .names = at->names,
								  .totals = at->totals,
								  .grace_ns = COLLECT_GRACE_NS,
							  },
							  &at->collect)) < 0)
		die("open the totals", r);
	/* Collect as many samples as some minutes bring, so that all memory that is ever needed is allocated. */
	for (int i = 0; i < 20; i++) {
		enter(at);
		if ((r = collect_run(at->collect, clock_ns(CLOCK_THREAD_CPUTIME_ID))) < 0)
			die("collect", r);
	}
	at->bytes = (double)(heap_bytes() - before - deltas_bytes(collect_deltas(at->collect)) * 2) /
		    (double)at->active / (1 + at->counts);
}

static void disturb(void)
{
	for (size_t i = 0; i < CACHE_BYTES; i += 64)
		other_memory[i]++;
}

static double copy_all(const struct drain_case *at)
{
	u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (u32 stripe = 0; stripe < at->stripes; stripe++)
		for (u32 nth = 0; nth < at->active; nth++)
			memcpy(&copies[(size_t)stripe * at->active + nth], record_of(at, nth, stripe),
			       sizeof(*copies));
	for (u32 event = 1; event <= at->counts; event++)
		for (u32 stripe = 0; stripe < at->stripes; stripe++)
			for (u32 nth = 0; nth < at->active; nth++)
				memcpy(&count_copies[((size_t)(event - 1) * at->stripes + stripe) *
							     at->active +
						     nth],
				       count_of(at, nth, stripe, event), sizeof(*count_copies));
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e3;
}

static double drain(struct drain_case *at)
{
	u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = collect_run(at->collect, begin);
	double us = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e3;

	if (r < 0)
		die("collect", r);
	return us;
}

/*
 * In the cold case, the order of the collection and the memcpy changes from round to round, so that neither has
 * the advantage of being first.
 */
static void run_case(struct drain_case *at, size_t round)
{
	enter(at);
	for (int i = 0; i < 2; i++) {
		disturb();
		if ((round + (size_t)i) % 2)
			at->us[COLD][round] = drain(at);
		else
			at->us[COLD_MEMCPY][round] = copy_all(at);
	}
	enter(at);
	(void)copy_all(at);
	at->us[WARM_MEMCPY][round] = copy_all(at);
	at->us[WARM][round] = drain(at);
}

/* Ends the benchmark unless every entered sample was collected. Otherwise the measurement would be worthless. */
static void check_case(const struct drain_case *at)
{
	u64 seen = 0, total = 0;
	struct totals_entry *const *entries;
	size_t n;

	for (u32 event = 0; event <= at->counts; event++)
		for (u32 stripe = 0; stripe < STRIPES_MAX; stripe++)
			seen += collect_seen_by_stripe(at->collect, event)[stripe];
	entries = totals_entries(at->totals, &n);
	for (size_t i = 0; i < n; i++)
		for (u32 event = 0; event <= at->counts; event++) {
			struct counters counters;

			totals_counters(entries[i], event, &counters);
			total += counters_samples(&counters);
		}
	if (seen != at->entered || total != at->entered)
		die("samples were lost", -EPROTO);
}

static void close_case(struct drain_case *at)
{
	collect_free(at->collect);
	totals_free(at->totals);
	names_free(at->names);
	kernel_free(at->kernel);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(const double *values, size_t n)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	return sorted[n / 2];
}

/* Returns the median of the rounds' ratios. */
static double ratio(const double *over, const double *under, size_t n)
{
	double ratios[ROUNDS_MAX];

	for (size_t i = 0; i < n; i++)
		ratios[i] = over[i] / under[i];
	return median(ratios, n);
}

static void line(const char *what, const char *name, const char *unit, double value)
{
	printf("{\"group\": \"drain\", \"name\": \"%s%s\", \"unit\": \"%s\", \"value\": %.4g}\n", what, name,
	       unit, value);
}

static void report(const struct drain_case *at, size_t rounds)
{
	line("", at->name, "us", median(at->us[COLD], rounds));
	line("memcpy of ", at->name, "us", median(at->us[COLD_MEMCPY], rounds));
	line("over memcpy: ", at->name, "ratio", ratio(at->us[COLD], at->us[COLD_MEMCPY], rounds));
	line("warm, over memcpy: ", at->name, "ratio", ratio(at->us[WARM], at->us[WARM_MEMCPY], rounds));
	if (at->cgroups == at->active)
		line("memory of a cgroup and event: ", at->name, "bytes", at->bytes);
}

int main(int argc, char **argv)
{
	u64 rounds = ROUNDS;
	size_t records = 0;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: drain_cost [ROUNDS]\n");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if ((size_t)cases[i].active * cases[i].stripes > records)
			records = (size_t)cases[i].active * cases[i].stripes;
	other_memory = calloc(1, CACHE_BYTES);
	copies = aligned_alloc(_Alignof(struct latency_record), records * sizeof(*copies));
	count_copies =
		aligned_alloc(_Alignof(struct plain_record), records * COUNTS_MOST * sizeof(*count_copies));
	if (!other_memory || !copies || !count_copies)
		die("memory", -ENOMEM);
	memset(copies, 0, records * sizeof(*copies));
	memset(count_copies, 0, records * COUNTS_MOST * sizeof(*count_copies));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		open_case(&cases[i]);
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			run_case(&cases[i], round);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		check_case(&cases[i]);
		report(&cases[i], rounds);
	}
	line("", "100 of 10,000 over 100 of 100", "ratio",
	     ratio(cases[2].us[COLD], cases[1].us[COLD], rounds));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		close_case(&cases[i]);
	free(count_copies);
	free(copies);
	free(other_memory);
	return EXIT_SUCCESS;
}
