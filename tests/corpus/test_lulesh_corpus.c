// SPDX-License-Identifier: GPL-2.0
/*
 * A real latency distribution (LULESH on a Sandy Bridge-EP) passes through the program `inject`. The count
 * and the sum must be exact. Each quantile must be in the bucket of the exact quantile, which is computed
 * here from the file.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "window/quantile.h"

#define CGROUP_ID     42
#define LATENCY_FIELD 5 /* variable,source,line,time,iter,latency,dataSource,... */

struct latencies {
	u32 *cycles;
	size_t n;
};

static u32 latency_of(char *line)
{
	char *rest = line, *field = NULL, *end;
	unsigned long latency;

	for (unsigned i = 0; i <= LATENCY_FIELD; i++)
		field = strsep(&rest, ",");
	cr_assert_not_null(field);
	latency = strtoul(field, &end, 10);
	cr_assert(*field && !*end, "not a latency: %s", field);
	return (u32)latency;
}

static struct latencies read_latencies(void)
{
	const char *corpus = getenv("CORPUS");
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *line = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	struct latencies latencies = {0};
	size_t allocated = 0;

	if (!corpus)
		cr_skip_test("CORPUS does not name the folder of the corpus");
	cr_assert_geq(asprintf(&path, "%s/memaxes/lulesh-samples.csv", corpus), 0);
	file = fopen(path, "re");
	cr_assert_not_null(file, "%s", path);
	cr_assert_gt(getline(&line, &allocated, file), 0, "the line of headings");
	while (getline(&line, &allocated, file) > 0) {
		latencies.cycles = reallocarray(latencies.cycles, latencies.n + 1, sizeof(*latencies.cycles));
		cr_assert_not_null(latencies.cycles);
		latencies.cycles[latencies.n++] = latency_of(line);
	}
	return latencies;
}

static void inject(struct counting *counting, const struct latencies *latencies)
{
	struct sample *samples = calloc(latencies->n, sizeof(*samples));

	cr_assert_not_null(samples);
	for (size_t i = 0; i < latencies->n; i++)
		samples[i] = (struct sample){
			.cgroup_id = CGROUP_ID,
			.latency = latencies->cycles[i],
			.period = 1,
			.fields = SAMPLE_LATENCY,
		};
	cr_assert_eq(kernel_inject(counting->kernel, samples, latencies->n), 0);
	free(samples);
}

static int compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return left < right ? -1 : left > right;
}

Test(lulesh, count_and_sum_are_exact_and_quantiles_in_their_buckets)
{
	static const double wanted[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};
	struct kernel_settings settings = counting_settings(true);
	struct latencies latencies = read_latencies();
	struct counters counters;
	struct counting counting;
	u64 sum = 0;

	counting_open(&counting, &settings, COLLECT_GRACE_NS);
	cr_assert_eq(names_add_path(counting.names, CGROUP_ID, "lulesh"), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, CGROUP_ID, 0, "lulesh"), 0);
	inject(&counting, &latencies);
	counting_collect(&counting);
	counters = counting_counters(&counting, "lulesh", 0);

	for (size_t i = 0; i < latencies.n; i++)
		sum += latencies.cycles[i];
	cr_expect_eq(latencies.n, 15676);
	cr_expect_eq(sum, 1022618);
	cr_expect_eq(counters_samples(&counters), latencies.n);
	cr_expect_eq(counters_latency_samples(&counters), latencies.n);
	cr_expect_eq(counters_latency_sum(&counters), sum);

	qsort(latencies.cycles, latencies.n, sizeof(*latencies.cycles), compare);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t rank = (size_t)ceil(wanted[i] * (double)latencies.n);
		u32 exact = latencies.cycles[rank - 1];
		struct quantile quantile;

		cr_assert_eq(quantile_of(counters.latency, wanted[i], &quantile), 0);
		printf("p%-5g exact %4u, pebsd %7.2f in (%u, %u]\n", 100 * wanted[i], exact, quantile.value,
		       quantile.low, quantile.high);
		cr_expect_lt(quantile.low, exact);
		cr_expect_geq(quantile.high, exact);
		cr_expect(quantile.value >= quantile.low && quantile.value <= quantile.high);
	}
	free(latencies.cycles);
	counting_close(&counting);
}
