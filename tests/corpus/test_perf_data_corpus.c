// SPDX-License-Identifier: GPL-2.0
/* Compares our reading of a real recording with perf's. $CORPUS names the folder that has both. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "pebsd/data_source.h"
#include "replayed.h"

/* One line of `perf script`. */
struct line {
	char name[32]; /* "comm:NAME" */
	u64 address;
	u64 data_source;
	u64 weight;
	u64 instruction_latency;
	u64 code_address;
};

static char *corpus_path(const char *name)
{
	const char *corpus = getenv("CORPUS");
	char *path;

	if (!corpus)
		cr_skip_test("CORPUS is not set: it names the folder with the recordings");
	cr_assert(asprintf(&path, "%s/perf-data/%s", corpus, name) >= 0);
	return path;
}

/* " comm pid/tid [cpu] time: addr data_src |decoded words| weight ins_lat ip" */
static bool read_line(const char *text, struct line *ret)
{
	char comm[16];
	const char *bar = strrchr(text, '|');

	if (sscanf(text, " %15s %*u/%*u [%*u] %*[0-9.]: %llx %llx", comm, (unsigned long long *)&ret->address,
		   (unsigned long long *)&ret->data_source) != 3)
		return false;
	cr_assert(bar && sscanf(bar, "|BLK N/A %llu %llu %llx", (unsigned long long *)&ret->weight,
				(unsigned long long *)&ret->instruction_latency,
				(unsigned long long *)&ret->code_address) == 3,
		  "%s", text);
	(void)snprintf(ret->name, sizeof(ret->name), "comm:%s", comm);
	return true;
}

Test(perf_data_corpus, each_sample_is_as_perf_reads_it)
{
	_cleanup_free_ char *recording = corpus_path("skx-8173m.perf.data");
	_cleanup_free_ char *script = corpus_path("skx-8173m.perf-script.txt");
	_cleanup_fclose_ FILE *file = fopen(script, "re");
	const char *paths[] = {recording};
	char *message;
	char text[512];
	size_t n = 0;

	cr_assert_not_null(file);
	cr_assert_eq(replay_open(paths, 1, &replayed.replay, &message), 0, "%s", message);
	cr_assert_eq(replayed_all(100), 0);
	while (fgets(text, sizeof(text), file)) {
		const struct sample *sample = &replayed.samples[n];
		struct line line;

		if (text[0] == '#' || !read_line(text, &line))
			continue;
		cr_assert_lt(n, replayed.n);
		cr_expect_str_eq(replayed_name(sample->cgroup_id), line.name, "sample %zu", n);
		cr_expect(replay_synthetic_id(sample->cgroup_id));
		cr_expect_eq(sample->address, line.address);
		cr_expect_eq(sample->data_source, line.data_source);
		cr_expect_eq(sample->latency, line.weight);
		cr_expect_eq(sample->period, 10009);
		cr_expect_eq(sample->code_address, line.code_address);
		cr_expect_eq(sample->fields,
			     SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS);
		n++;
	}
	cr_expect_eq(n, 14);
	cr_expect_eq(replayed.n, n);
	replayed_clear();
}

Test(perf_data_corpus, figures_and_event)
{
	static const struct {
		enum source source;
		u64 samples;
		u64 latency;
	} expected[] = {{SOURCE_L1, 4, 412}, {SOURCE_L2, 1, 77}, {SOURCE_L3, 4, 507}, {SOURCE_LFB, 5, 729}};
	_cleanup_free_ char *recording = corpus_path("skx-8173m.perf.data");
	const char *paths[] = {recording};
	const struct event *events;
	u64 samples[SOURCE_COUNT] = {};
	u64 latency[SOURCE_COUNT] = {};
	u64 sum = 0;
	char *message;
	size_t n;

	cr_assert_eq(replay_open(paths, 1, &replayed.replay, &message), 0, "%s", message);
	events = replay_events(replayed.replay, &n);
	/* The recording also has a software event, which declares the same fields but is left out. */
	cr_assert_eq(n, 1);
	cr_expect_eq(events[0].role, EVENT_LOADS);
	cr_expect_str_eq(events[0].pmu, "cpu");
	cr_expect_eq(events[0].ldlat, 64);
	cr_expect_eq(events[0].period, 10009);
	cr_expect_eq(events[0].latency_kind, LATENCY_USE);

	cr_assert_eq(replayed_all(1000), 0);
	for (size_t i = 0; i < replayed.n; i++) {
		enum source source = data_source_source(replayed.samples[i].data_source);

		samples[source]++;
		latency[source] += replayed.samples[i].latency;
		sum += replayed.samples[i].latency;
	}
	cr_expect_eq(sum, 1725);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cr_expect_eq(samples[expected[i].source], expected[i].samples);
		cr_expect_eq(latency[expected[i].source], expected[i].latency);
	}

	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.report.samples, 14);
	/* All records count, as in `perf report -D`: COMM, FORK, EXIT, MMAP, MMAP2, ... and 30 FINISHED_ROUND. */
	cr_expect_gt(replayed.report.records, 12900);
	cr_expect_eq(replayed.report.left_out.other_events + replayed.report.left_out.unknown_event +
			     replayed.report.left_out.not_mixed,
		     0);
	cr_expect_null(replayed.report.cut);
	cr_expect_null(replayed.report.notes[0]);
	replayed_clear();
}
