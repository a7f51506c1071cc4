// SPDX-License-Identifier: GPL-2.0
#include "bench_claims.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RATIO_GROUP "ratio"

const struct bench_claim bench_claims[] = {
	/* The program with pebsd may take 50 ns if the empty one takes 30 ns. */
	{.name = "pebsd's program over an empty one, of that",
	 .told = "pebsd's program over an empty one, of the empty one",
	 .over = {"body/pebsd"},
	 .under = {"body/empty program, whole"},
	 .at_most = 50.0 / 30},
	/* In ns. No latency and no data source are made up for a count, so this is the whole program. */
	{.over = {"body/pebsd, a count"},
	 .told = "pebsd's program at a sample of a count, over an empty one",
	 .at_most = 25},
	/* The events cost nothing at a switch: the limit is what the machine's noise leaves. */
	{.over = {"switch/four events of pebsd on each CPU, over none"},
	 .told = "a context switch with four events of pebsd on each CPU, of one without",
	 .at_most = 1.05},
	{.name = "a sample with pebsd, of a ring buffer's without wakeups",
	 .over = {"body/pebsd"},
	 .under = {"body/ring buffer, no wakeups", "consumer/ring buffer, no wakeups"},
	 .at_most = 1},
	{.name = "a sample with pebsd, of a ring buffer's with wakeups",
	 .over = {"body/pebsd"},
	 .under = {"body/ring buffer", "consumer/ring buffer"},
	 .at_most = 0.15},
	{.name = "pebsd's program, of bpftrace's histogram",
	 .over = {"body/pebsd"},
	 .under = {"body/bpftrace"},
	 .at_most = 1},
	{.name = "what pebsd costs its victim, of bpftrace's histogram",
	 .over = {"victim/pebsd"},
	 .under = {"victim/bpftrace"},
	 .at_most = 1},
	{.over = {"contention/pebsd"},
	 .told = "a sample while two CPUs sample one cgroup, of one with one CPU",
	 .at_most = 1.3},
	{.over = {"contention/pebsd in a loop: samples a second"},
	 .told = "samples a second of two CPUs in one cgroup, of those of one CPU",
	 .at_least = 1.6},
	{.over = {"contention/pebsd in a loop: a sample"},
	 .told = "accounting of a sample on two CPUs in one cgroup, of that on one",
	 .at_most = 1.3},
	{.name = "what pebsd costs its victim, of perf record",
	 .over = {"victim/pebsd"},
	 .under = {"victim/perf record"},
	 .at_most = 1},
	{.name = "a scraped series of pebsd's, of node_exporter's",
	 .over = {"scrape/pebsd, 1,000 cgroups, a series"},
	 .under = {"scrape/node_exporter, a series"},
	 .at_most = 0.1},
	{.name = "a scraped series of pebsd's, of the Python client's",
	 .over = {"scrape/pebsd, 1,000 cgroups, a series"},
	 .under = {"scrape/Python client, a series"},
	 .at_most = 1},
	{.over = {"scrape/a scrape, the first after a collection, plain"},
	 .told = "CPU time of a scrape of 1,000 cgroups",
	 .at_most = 10},
	/* The limits with counts are the same as without. */
	{.over = {"scrape/pebsd, 1,000 cgroups, 5 events, the first scrape"},
	 .told = "CPU time of a scrape of 1,000 cgroups with loads and four counts",
	 .at_most = 10},
	{.name = "a collection of 40,000 cgroups with 10,000 listed, of one with 10",
	 .over = {"scrape/a collection of 40,000 cgroups, 10,000 listed"},
	 .under = {"scrape/a collection of 40,000 cgroups, 10 listed"},
	 .at_most = 4},
	{.over = {"scrape/pebsd, 1,000 cgroups, 5 events, series"},
	 .told = "series of that scrape",
	 .at_most = 4000},
	{.over = {"scrape/Sapphire Rapids, bytes"},
	 .told = "size of a scrape of 1,000 cgroups with paths of 200 bytes",
	 .at_most = 1e6},
	{.over = {"scrape/Sapphire Rapids, series"}, .told = "series of that scrape", .at_most = 4000},
	{.over = {"drain/over memcpy: 1,000 of 1,000"},
	 .told = "reading 1,000 active cgroups, of a memcpy of their records",
	 .at_most = 3},
	{.over = {"drain/over memcpy: 1,000 of 1,000, loads and four counts"},
	 .told = "the same with loads, cycles, instructions, stalls and misses",
	 .at_most = 3},
	{.over = {"drain/100 of 10,000 over 100 of 100"},
	 .told = "reading 100 active cgroups among 10,000, of 100 among 100",
	 .at_most = 3},
	/* In us: 0.1 % of a core with an interval of a second. */
	{.over = {"tick/1,000 cgroups, idle"}, .told = "a collection of 1,000 idle cgroups", .at_most = 1000},
	{.over = {"start/1,000 cgroups, to the first sample accounted"},
	 .told = "start to the first sample accounted, with 1,000 cgroups",
	 .at_most = 150},
	/* In MiB: 10 MB, and 2.5 KB for each of the 1,000 cgroups. */
	{.over = {"memory/pebsd, 1,000 cgroups, its own"},
	 .told = "the daemon's own memory with 1,000 active cgroups",
	 .at_most = 11.92},
	{.over = {"memory/pebsd, 1,000 cgroups, 5 events, its own"},
	 .told = "the same with loads and four counts",
	 .at_most = 11.92},
};

const size_t n_bench_claims = ARRAY_SIZE(bench_claims);

/* Returns NAN if one of the results has no value in this round. */
static double sum_of(const struct bench_results *results, const char *const keys[2], size_t round)
{
	double sum = 0;

	for (size_t i = 0; i < 2 && keys[i]; i++) {
		const struct bench_result *result = bench_results_find(results, keys[i]);

		sum += result ? result->values[round] : NAN;
	}
	return sum;
}

int bench_claims_add(const struct bench_claim *claims, size_t n, struct bench_results *results)
{
	for (size_t i = 0; i < n; i++) {
		struct bench_result *made;

		if (!claims[i].name)
			continue;
		made = bench_results_make(results, RATIO_GROUP, claims[i].name);
		if (!made)
			return -ENOMEM;
		made->unit = strdup("ratio");
		made->better = claims[i].at_least > 0 ? BENCH_HIGHER : BENCH_LOWER;
		if (!made->unit)
			return -ENOMEM;
		for (size_t round = 0; round < results->n_rounds; round++)
			made->values[round] = sum_of(results, claims[i].over, round) /
					      sum_of(results, claims[i].under, round);
	}
	return 0;
}

const struct bench_result *bench_claim_result(const struct bench_claim *claim,
					      const struct bench_results *results)
{
	char key[256];

	if (!claim->name)
		return bench_results_find(results, claim->over[0]);
	(void)snprintf(key, sizeof(key), RATIO_GROUP "/%s", claim->name);
	return bench_results_find(results, key);
}

const char *bench_claim_told(const struct bench_claim *claim)
{
	if (claim->told)
		return claim->told;
	return claim->name ? claim->name : claim->over[0];
}

bool bench_claim_holds(const struct bench_claim *claim, double median)
{
	if (claim->at_most > 0)
		return median <= claim->at_most;
	return median >= claim->at_least;
}
