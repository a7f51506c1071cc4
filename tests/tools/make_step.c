// SPDX-License-Identifier: GPL-2.0
/*
 * make_step [--untimed] [--clock] [--start SECONDS] FILE: writes a recording to test rules with. It has ten
 * minutes of loads by two commands, "db" and "web", each 100 per second. Nearly all take 100 cycles, and 1.2%
 * take 400. In the fifth and the sixth minute, 3% of the loads of "db" take 2,000 cycles. The values are
 * invented, and always the same.
 *
 *   --untimed   samples have no time
 *   --clock     includes the time of day: the clock was 0 at 2026-11-21 06:00:00 UTC
 *   --start     clock value of the first sample; default 1000
 */
#include <getopt.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "driver_sources.h"
#include "perf_data_writer.h"

#define SECONDS      600
#define RATE         100
#define STEP_BEGIN   240
#define STEP_END     360
#define REAL_TIME_AT (1795240800ULL * NSEC_PER_SEC)

/* Returns whether sample `i` is slow. `of_thousand` of each thousand samples are, spread evenly. */
static bool is_slow(u64 i, u64 of_thousand)
{
	return i * of_thousand / 1000 != (i + 1) * of_thousand / 1000;
}

static void write_sample(struct writer *writer, size_t event, u32 tid, u64 time, u64 latency)
{
	const struct writer_sample sample = {
		.pid = tid,
		.tid = tid,
		.time = time,
		.address = 0x7f0000001000ULL,
		.weight = latency,
		.data_source = DRIVER_LOCAL_DRAM,
	};

	writer_sample(writer, event, &sample);
}

static void write_records(struct writer *writer, size_t event, u64 start_ns)
{
	writer_comm(writer, event, start_ns, 10, 10, "db");
	writer_comm(writer, event, start_ns, 20, 20, "web");
	for (u64 i = 0; i < (u64)SECONDS * RATE; i++) {
		const u64 second = i / RATE;
		const bool stepped = second >= STEP_BEGIN && second < STEP_END;
		const u64 time = start_ns + i * (NSEC_PER_SEC / RATE);
		const u64 usual = is_slow(i, 12) ? 400 : 100;

		write_sample(writer, event, 10, time, stepped && is_slow(i, 30) ? 2000 : usual);
		write_sample(writer, event, 20, time, usual);
		if (i % RATE == RATE - 1)
			writer_round(writer);
	}
}

static bool write_file(const char *path, const u8 *bytes, size_t size)
{
	_cleanup_fclose_ FILE *file = fopen(path, "we");

	return file && fwrite(bytes, 1, size, file) == size && fflush(file) == 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"untimed", no_argument, NULL, 'u'},
		{"clock", no_argument, NULL, 'c'},
		{"start", required_argument, NULL, 's'},
		{0},
	};
	static const u64 ids[] = {101};
	struct writer_event loads = {
		.type = PERF_TYPE_RAW,
		.config = 0x1cd,
		.config1 = 30,
		.period = 10007,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC,
		.name = "cpu/mem-loads,ldlat=30/P",
		.ids = ids,
		.n_ids = ARRAY_SIZE(ids),
	};
	_cleanup_free_ u8 *bytes = NULL;
	u64 start_ns = 1000 * NSEC_PER_SEC;
	struct writer *writer;
	bool clock = false;
	size_t size;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'u')
			loads.sample_type &= ~(u64)PERF_SAMPLE_TIME;
		else if (c == 'c')
			clock = true;
		else if (c == 's')
			start_ns = strtoull(optarg, NULL, 10) * NSEC_PER_SEC;
		else
			return 2;
	}
	if (optind != argc - 1) {
		(void)fprintf(stderr, "usage: make_step [--untimed] [--clock] [--start SECONDS] FILE\n");
		return 2;
	}
	writer = writer_new(WRITER_FILE, 0);
	writer_cpuid(writer, "GenuineIntel,6,85,4");
	writer_pmu(writer, PERF_TYPE_RAW, "cpu");
	if (clock)
		writer_clock(writer, REAL_TIME_AT, 0);
	write_records(writer, writer_event(writer, &loads), start_ns);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	if (!write_file(argv[optind], bytes, size)) {
		(void)fprintf(stderr, "make_step: cannot write %s: %m; choose another place\n", argv[optind]);
		return 1;
	}
	return 0;
}
