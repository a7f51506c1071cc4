// SPDX-License-Identifier: GPL-2.0
/*
 * Two real runs of one program, LULESH on a Sandy Bridge-EP, with threads laid out differently, are compared as
 * recordings. The quantiles of the files are known (README.md of the corpus).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "driver_sources.h"
#include "format/format.h"
#include "recorded.h"
#include "trial/compare_recordings.h"

/* variable,source,line,time,iter,latency,dataSource,... */
enum { FIELD_TIME = 3, FIELD_LATENCY = 5, FIELD_SOURCE = 6, FIELDS };

struct loads {
	struct writer_sample *list;
	size_t n;
};

/* The data sources of the hardware (low 4 bits) as the driver of Sandy Bridge reports them. */
static u64 source_of(unsigned long number)
{
	static const u64 sources[16] = {
		[0x0] = DRIVER_L3,           [0x1] = DRIVER_L1,          [0x2] = DRIVER_LFB,
		[0x3] = DRIVER_L2,           [0x4] = DRIVER_L3,          [0x5] = DRIVER_L3,
		[0x6] = DRIVER_L3_HITM,      [0x7] = DRIVER_L3_HITM,     [0x8] = DRIVER_REMOTE_CACHE,
		[0x9] = DRIVER_REMOTE_CACHE, [0xa] = DRIVER_LOCAL_DRAM,  [0xb] = DRIVER_REMOTE_DRAM,
		[0xc] = DRIVER_LOCAL_DRAM,   [0xd] = DRIVER_REMOTE_DRAM, [0xe] = DRIVER_L3,
		[0xf] = DRIVER_L3,
	};

	return sources[number & 0xf];
}

static int by_time(const void *a, const void *b)
{
	const struct writer_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static struct loads read_loads(const char *name)
{
	const char *corpus = getenv("CORPUS");
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *line = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	struct loads loads = {0};
	size_t allocated = 0;

	if (!corpus)
		cr_skip_test("CORPUS does not name the folder of the corpus");
	cr_assert_geq(asprintf(&path, "%s/memaxes/%s", corpus, name), 0);
	file = fopen(path, "re");
	cr_assert_not_null(file, "%s", path);
	cr_assert_gt(getline(&line, &allocated, file), 0, "the line of headings");
	while (getline(&line, &allocated, file) > 0) {
		char *rest = line, *fields[FIELDS];

		for (size_t i = 0; i < FIELDS; i++)
			fields[i] = strsep(&rest, ",");
		loads.list = reallocarray(loads.list, loads.n + 1, sizeof(*loads.list));
		cr_assert_not_null(loads.list);
		loads.list[loads.n] = recorded_sample(7, strtoull(fields[FIELD_TIME], NULL, 16));
		loads.list[loads.n].weight = strtoul(fields[FIELD_LATENCY], NULL, 10);
		loads.list[loads.n].data_source = source_of(strtoul(fields[FIELD_SOURCE], NULL, 10));
		loads.n++;
	}
	qsort(loads.list, loads.n, sizeof(*loads.list), by_time);
	return loads;
}

static struct recorded record(const char *name)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,45,7", &recorded_event);
	struct loads loads = read_loads(name);

	for (size_t i = 0; i < loads.n; i++)
		writer_sample(writer, 0, &loads.list[i]);
	free(loads.list);
	return recorded_finish(writer);
}

static json_object *compare(const struct recorded *a, const struct recorded *b)
{
	_cleanup_free_ char *message = NULL;
	json_object *reply = NULL;

	cr_assert_eq(compare_recordings((const char *const[]){a->path, b->path}, &reply, &message), 0, "%s",
		     message);
	return reply;
}

static json_object *figure(json_object *reply, const char *name)
{
	json_object *event = json_get_object(json_get_object(reply, "events"), "loads");

	return json_get_object(json_get_object(event, "latency"), name);
}

static double value(json_object *object, const char *key)
{
	double number = NAN;

	(void)json_get_double(object, key, &number);
	return number;
}

Test(compare_corpus, two_runs_of_lulesh_have_the_expected_quantiles)
{
	struct recorded before = record("lulesh-samples.csv"), after = record("lulesh-inorder-samples.csv");
	_cleanup_json_ json_object *reply = compare(&before, &after);
	json_object *event = json_get_object(json_get_object(reply, "events"), "loads");

	cr_expect_eq(value(event, "samples_a"), 15676);
	cr_expect_eq(value(event, "samples_b"), 16360);
	cr_expect_float_eq(value(figure(reply, "mean"), "a"), 1022618.0 / 15676, 1e-4);
	cr_expect_float_eq(value(figure(reply, "mean"), "b"), 1025433.0 / 16360, 1e-4);
	/* p50 30, p90 225, p99 389: within the width of a bucket. */
	cr_expect_float_eq(value(figure(reply, "p50"), "b"), 30, 2);
	cr_expect_float_eq(value(figure(reply, "p90"), "b"), 225, 16);
	cr_expect_float_eq(value(figure(reply, "p99"), "b"), 389, 32);
	if (getenv("SHOW"))
		format_compare(stdout, reply, &(struct format_style){.width = 80, .utf8 = true});
}

/* A run does not differ from itself. */
Test(compare_corpus, a_run_does_not_differ_from_itself)
{
	struct recorded run = record("lulesh-samples.csv");
	_cleanup_json_ json_object *reply = compare(&run, &run);

	cr_expect_null(strstr(json_object_to_json_string(reply), "\"proven\""), "%s",
		       json_object_to_json_string(reply));
	cr_expect_eq(value(figure(reply, "mean"), "difference"), 0);
}
