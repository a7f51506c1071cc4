// SPDX-License-Identifier: GPL-2.0
/*
 * offcore_read [ROUNDS]: measures what reading off-core counts costs a collection of 5,000 cgroups on 256 CPUs,
 * which need not exist. Prints lines of JSON (tests/bench/run.sh): medians in microseconds and medians of the
 * rounds' ratios. Exits with 1 if a ratio misses its limit. Needs root, and 250 MB of memory.
 *
 * A collection looks for dirty bytes, and reads only the dirty slots. It is compared with asking every slot
 * whether its counts moved, which needs no dirty bytes. Counts are written as the program writes them, through a
 * mapping of the benchmark's own: the daemon's is read-only. Other memory goes through the caches before each
 * measurement, as after an interval of other work.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/number.h"
#include "bench_line.h"
#include "clock.h"
#include "collect/collect.h"
#include "collect/read_offcore.h"
#include "kernel/kernel_internal.h"
#include "kernel/kernel_offcore.h"

#define ROUNDS      11
#define ROUNDS_MAX  101
#define CGROUPS     5000
#define CPUS        256
#define CPUS_COUNT  4 /* CPUs on which a cgroup was counted since the last collection */
#define CACHE_BYTES ((size_t)64 << 20)
#define FIRST_ID    1000

/*
 * Limits of the ratios. On busy machines they were 200 to 300, and 0.27 to 0.31. Without dirty bytes the first would
 * be about 1. If a counted slot were read on all CPUs, which takes 30 us, the second one would be about 7.
 */
#define NONE_AT_LEAST 50  /* time to read every slot / time of a collection with no cgroup counted */
#define ALL_AT_MOST   0.5 /* time of a collection with every cgroup counted / time to read every slot */

/* Cgroups that were counted since the last collection, spread evenly over the slots. */
static const u32 counted[] = {0, 10, 100, 1000, CGROUPS};

static struct kernel *kernel;
static struct names *names;
static struct totals *totals;
static struct collect *collect;
static struct mapping *written; /* the off-core records of each block, writable */
static u8 *other_memory;
static u64 entered; /* counts so far */

static void die(const char *what, int r)
{
	(void)fprintf(stderr, "offcore_read: %s: %s\n", what, strerror(-r));
	exit(r == -EPERM ? 77 : EXIT_FAILURE);
}

static void open_all(void)
{
	u8 of_cpu[1] = {0};
	const struct stripes stripes = {.n = 1, .cpus = 1, .of_cpu = of_cpu};
	const struct kernel_settings settings = {
		.slots = CGROUPS + 1,
		.stripes = &stripes,
		.n_events = 1,
		.events[0] = {.has_latency = 1, .has_source = 1},
		.offcore_cpus = CPUS,
	};
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(&settings, &kernel, &message);

	if (r < 0)
		die(message ? message : "open the kernel side", r);
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		kernel_offcore_know(kernel_offcore(kernel), cpu, 0);
	if ((r = names_new((size_t)2 * CGROUPS, &names)) < 0 || (r = totals_new(&totals)) < 0)
		die("open the totals", r);
	written = calloc(kernel->blocks.n, sizeof(*written));
	if (!written)
		die("memory", -ENOMEM);
	for (u32 i = 0; i < kernel->blocks.n; i++) {
		r = kernel_map_memory(kernel->blocks.list[i].fds[BLOCK_OFFCORE],
				      kernel->blocks.entries[BLOCK_OFFCORE] * sizeof(struct offcore_record),
				      PROT_READ | PROT_WRITE, &written[i]);
		if (r < 0)
			die("map the records", r);
	}
	for (u32 i = 0; i < CGROUPS; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/cgroup-%u", i);
		r = names_add_path(names, FIRST_ID + i, path);
		if (r == 0)
			r = kernel_adopt(kernel, FIRST_ID + i, 0, path);
		if (r < 0)
			die("adopt", r);
	}
	r = collect_new(
		&(struct collect_settings){
			.kernel = kernel,
			.names = names,
			.totals = totals,
			.grace_ns = COLLECT_GRACE_NS,
		},
		&collect);
	if (r < 0)
		die("collect", r);
}

static struct offcore_record *record_of(u32 cpu, u32 slot)
{
	struct offcore_record *records = written[slot >> kernel->blocks.log2].memory;

	return &records[(size_t)cpu * kernel->blocks.slots + kernel_slot_in_block(&kernel->blocks, slot)];
}

/* Counts one response on each of some CPUs, as settle() of the BPF program does: record, then dirty byte. */
static void enter(u32 n)
{
	for (u32 nth = 0; nth < n; nth++) {
		u32 slot = 1 + (u32)((u64)nth * CGROUPS / n);

		for (u32 i = 0; i < CPUS_COUNT; i++) {
			u32 cpu = (nth * 37 + i * (CPUS / CPUS_COUNT)) % CPUS;
			struct offcore_record *record = record_of(cpu, slot);

			record->counts[OFFCORE_L3].count++;
			record->counts[OFFCORE_L3].enabled_ns += 1000;
			record->counts[OFFCORE_L3].running_ns += 1000;
			__atomic_store_n(&record->settles, record->settles + 1, __ATOMIC_RELEASE);
			kernel_offcore_dirty(kernel, cpu)[slot] = 1;
			entered++;
		}
	}
}

static void disturb(void)
{
	for (size_t i = 0; i < CACHE_BYTES; i += 64)
		other_memory[i]++;
}

static double collect_us(void)
{
	u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = collect_run(collect, begin);

	if (r < 0)
		die("collect", r);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e3;
}

/* What a collection without dirty bytes would do before it reads anything. */
static double ask_every_slot_us(void)
{
	u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	u32 moved = 0;

	for (u32 slot = 0; slot <= CGROUPS; slot++) {
		u64 cpus[CPUS / 64];

		memset(cpus, 0xff, sizeof(cpus));
		moved += read_offcore_moved(kernel_offcore(kernel), slot, cpus, NULL);
	}
	if (moved > CGROUPS)
		die("more slots moved than there are", -EPROTO);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e3;
}

/* Ends the benchmark unless every count was collected. Otherwise the measurement would be worthless. */
static void check(void)
{
	struct totals_entry *const *entries;
	u64 found = 0;
	size_t n;

	entries = totals_entries(totals, &n);
	for (size_t i = 0; i < n; i++)
		if (entries[i]->offcore_total)
			found += entries[i]->offcore_total->of[0][OFFCORE_L3].count;
	if (found != entered)
		die("counts were lost", -EPROTO);
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

int main(int argc, char **argv)
{
	static double us[ARRAY_SIZE(counted)][ROUNDS_MAX], every_us[ROUNDS_MAX];
	static double over_none[ROUNDS_MAX], all_over[ROUNDS_MAX];
	u64 rounds = ROUNDS;
	bool failed;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: offcore_read [ROUNDS]\n");
		return EXIT_FAILURE;
	}
	other_memory = calloc(1, CACHE_BYTES);
	if (!other_memory)
		die("memory", -ENOMEM);
	open_all();
	/* Allocate all memory that is ever needed, and touch all pages of the records. */
	enter(CGROUPS);
	(void)collect_us();
	(void)ask_every_slot_us();
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
			enter(counted[i]);
			disturb();
			us[i][round] = collect_us();
		}
		disturb();
		every_us[round] = ask_every_slot_us();
		over_none[round] = every_us[round] / us[0][round];
		all_over[round] = us[ARRAY_SIZE(counted) - 1][round] / every_us[round];
	}
	check();
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%u of 5,000 cgroups counted, 256 CPUs", counted[i]);
		bench_line("offcore", name, "us", median(us[i], rounds));
	}
	bench_line("offcore", "each of 5,000 slots asked on 256 CPUs", "us", median(every_us, rounds));
	bench_line("offcore", "slots asked, over a collection with none counted", "ratio",
		   median(over_none, rounds));
	bench_line("offcore", "a collection with 5,000 counted, over slots asked", "ratio",
		   median(all_over, rounds));
	failed = median(over_none, rounds) < NONE_AT_LEAST || median(all_over, rounds) > ALL_AT_MOST;
	if (failed)
		(void)fprintf(
			stderr,
			"FAILED: slots asked over none counted is %.0f, 5,000 counted over slots asked is %.2f: expected at least %d and at most %g\n",
			median(over_none, rounds), median(all_over, rounds), NONE_AT_LEAST, ALL_AT_MOST);
	collect_free(collect);
	totals_free(totals);
	names_free(names);
	for (u32 i = 0; i < kernel->blocks.n; i++)
		(void)munmap(written[i].memory, written[i].bytes);
	free(written);
	kernel_free(kernel);
	free(other_memory);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
