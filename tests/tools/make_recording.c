// SPDX-License-Identifier: GPL-2.0
/*
 * make_recording [--counts] FILE [PATH]: writes a recording to show pebsd with, on machines that cannot make one. It
 * has a minute of load latency samples of a two-socket Sapphire Rapids with six busy cgroups. The values are invented,
 * and always the same. PATH replaces the path of the last cgroup. With --counts there are also cycles, sampled at a
 * frequency, instructions, stalls and misses: half of the cycles are stalled, each cycle retires one instruction, and
 * one of a thousand instructions misses L3.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "driver_sources.h"
#include "perf_data_writer.h"

#define SAMPLES     20000
#define LDLAT       30
#define PERIOD      10007
#define DURATION_NS (60 * NSEC_PER_SEC)
#define START_NS    (3600 * NSEC_PER_SEC)
#define SAMPLE_FIELDS                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_CGROUP)
#define ROUND 500 /* samples between two reads of the CPUs' buffers */

enum place { L1, LFB, L2, L3, L3_HITM, LOCAL_DRAM, REMOTE_CACHE, REMOTE_DRAM, PLACES };

/* The latency of a place: `least` cycles, plus a tail of at most `spread` with most samples near its start. */
static const struct {
	u64 data_source;
	unsigned int least;
	unsigned int spread;
} places[PLACES] = {
	[L1] = {DRIVER_L1, 5, 12},
	[LFB] = {DRIVER_LFB, 22, 260},
	[L2] = {DRIVER_L2, 15, 18},
	[L3] = {DRIVER_L3, 68, 130},
	[L3_HITM] = {DRIVER_L3_HITM, 118, 160},
	[LOCAL_DRAM] = {DRIVER_LOCAL_DRAM, 205, 620},
	[REMOTE_CACHE] = {DRIVER_REMOTE_CACHE, 245, 380},
	[REMOTE_DRAM] = {DRIVER_REMOTE_DRAM, 340, 1300},
};

/* One busy cgroup: its share of the samples, and how many of a thousand samples come from each place. */
static const struct load {
	u64 id;
	const char *path;
	const char *comm;
	u32 pid;
	unsigned int share;
	unsigned int mix[PLACES];
	unsigned int walks;    /* out of a thousand */
	unsigned int pressure; /* per cent added to latencies beyond L2, for queueing */
} loads[] = {
	{4211,
	 "/system.slice/postgresql.service",
	 "postgres",
	 1203,
	 30,
	 {330, 150, 120, 190, 60, 110, 10, 30},
	 90,
	 20},
	{4307, "/system.slice/nginx.service", "nginx", 1340, 16, {560, 110, 170, 120, 10, 28, 1, 1}, 15, 0},
	{5120,
	 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3f1c.slice",
	 "java",
	 2817,
	 22,
	 {420, 140, 130, 160, 35, 85, 10, 20},
	 60,
	 10},
	{5188,
	 "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod9a40.slice",
	 "spark-executor",
	 2990,
	 18,
	 {180, 260, 60, 110, 5, 270, 5, 110},
	 140,
	 45},
	{3077,
	 "/user.slice/user-1000.slice/session-3.scope",
	 "cc1plus",
	 3401,
	 9,
	 {640, 80, 160, 85, 2, 32, 0, 1},
	 20,
	 0},
	{2044,
	 "/system.slice/systemd-journald.service",
	 "systemd-journal",
	 412,
	 5,
	 {600, 60, 180, 130, 5, 24, 0, 1},
	 10,
	 0},
};

/* xorshift64*: the same numbers on every machine. */
static unsigned int below(u64 *state, unsigned int n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (unsigned int)((*state * 0x2545f4914f6cdd1dULL >> 33) % n);
}

static const struct load *pick_load(u64 *state)
{
	unsigned int left = below(state, 100);
	size_t i = 0;

	while (left >= loads[i].share)
		left -= loads[i++].share;
	return &loads[i];
}

static enum place pick_place(u64 *state, const struct load *load)
{
	unsigned int left = below(state, 1000);
	enum place place = L1;

	while (left >= load->mix[place])
		left -= load->mix[place++];
	return place;
}

/* The third power of a uniform distribution: many values near the lowest, and few far above. */
static unsigned int pick_latency(u64 *state, enum place place, unsigned int pressure)
{
	double at = below(state, 10000) / 10000.0;
	double tail = at * at * at * places[place].spread;
	double more = place > L2 ? 1 + pressure / 100.0 : 1;

	return (unsigned int)((places[place].least + tail) * more);
}

static struct writer_sample make_sample(u64 *state, u64 time)
{
	const struct load *load = pick_load(state);
	enum place place = pick_place(state, load);
	unsigned int latency = pick_latency(state, place, load->pressure);
	/* The threshold applies to this latency, from dispatch to retirement. */
	unsigned int instruction_latency = (latency > LDLAT ? latency : LDLAT) + 1 + below(state, 24);
	u64 source = places[place].data_source;

	/* The kernel reports a load that missed all TLBs as an L2 TLB miss. */
	if (below(state, 1000) < load->walks)
		source = (source & ~(0x7fULL << 26)) | 0x14ULL << 26;
	return (struct writer_sample){
		.pid = load->pid,
		.tid = load->pid + below(state, 4),
		.time = time,
		.address = 0x7f0000000000ULL + (load->id << 24) + 64ULL * below(state, 1 << 20),
		.weight = latency | (u64)instruction_latency << 32,
		.data_source = source,
		.cgroup_id = load->id,
	};
}

enum { CYCLES, INSTRUCTIONS, STALLS, MISSES, COUNTS };
#define COUNT_PERIOD  3000000
#define MISSES_PERIOD 30000
#define MISSES_RATIO  10 /* the cycles' samples to one of misses */

/* Adds the events of counts after that of loads. Returns the first one. */
static size_t add_counts(struct writer *writer)
{
	static const u64 ids[COUNTS][1] = {{201}, {202}, {203}, {204}};
	static const struct writer_event counts[COUNTS] = {
		[CYCLES] = {.config = 0x3c, .period = 4000, .freq = true, .name = "cycles"},
		[INSTRUCTIONS] = {.config = 0xc0, .period = COUNT_PERIOD, .name = "instructions"},
		[STALLS] = {.config = 0x50021a6,
			    .period = COUNT_PERIOD,
			    .name = "exe_activity.bound_on_loads"},
		[MISSES] = {.config = 0x412e, .period = MISSES_PERIOD, .name = "longest_lat_cache.miss"},
	};
	size_t first = 0;

	for (size_t i = 0; i < COUNTS; i++) {
		struct writer_event event = counts[i];
		size_t at;

		event.type = PERF_TYPE_RAW;
		event.sample_type = SAMPLE_FIELDS | (event.freq ? PERF_SAMPLE_PERIOD : 0);
		event.ids = ids[i];
		event.n_ids = 1;
		at = writer_event(writer, &event);
		first = i ? first : at;
	}
	return first;
}

/* Writes the counts of the time in which a load was sampled. `i` is the number of the load. */
static void write_counts(struct writer *writer, size_t first, const struct writer_sample *load, u64 i)
{
	struct writer_sample sample = *load;

	sample.period = COUNT_PERIOD + (i % 2 ? 1 : -1) * (COUNT_PERIOD / 4);
	writer_sample(writer, first + CYCLES, &sample);
	writer_sample(writer, first + INSTRUCTIONS, &sample);
	if (i % 2)
		writer_sample(writer, first + STALLS, &sample);
	if (i % MISSES_RATIO == 0)
		writer_sample(writer, first + MISSES, &sample);
}

/* `counts`: the first event of counts, or 0. `last`: replaces the path of the last cgroup unless it is NULL. */
static void write_records(struct writer *writer, size_t event, size_t counts, const char *last)
{
	u64 state = 0x5eed;

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		writer_cgroup(writer, event, 0, loads[i].id,
			      last && i == ARRAY_SIZE(loads) - 1 ? last : loads[i].path);
		for (u32 thread = 0; thread < 4; thread++)
			writer_comm(writer, event, 0, loads[i].pid, loads[i].pid + thread, loads[i].comm);
	}
	for (u64 i = 0; i < SAMPLES; i++) {
		struct writer_sample sample = make_sample(&state, START_NS + i * (DURATION_NS / SAMPLES));

		writer_sample(writer, event, &sample);
		if (counts)
			write_counts(writer, counts, &sample, i);
		if (i % ROUND == ROUND - 1)
			writer_round(writer);
	}
}

int main(int argc, char **argv)
{
	static const u64 ids[] = {101, 102, 103, 104};
	const struct writer_event loads_event = {
		.type = PERF_TYPE_RAW,
		.config = 0x1cd,
		.config1 = LDLAT,
		.period = PERIOD,
		.sample_type =
			SAMPLE_FIELDS | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC,
		.name = "cpu/mem-loads,ldlat=30/P",
		.ids = ids,
		.n_ids = ARRAY_SIZE(ids),
	};
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	const bool has_counts = argc > 1 && strcmp(argv[1], "--counts") == 0;
	struct writer *writer;
	size_t event, size;

	argv += has_counts;
	argc -= has_counts;
	if (argc != 2 && argc != 3) {
		(void)fprintf(stderr, "usage: make_recording [--counts] FILE [PATH]\n");
		return 2;
	}
	writer = writer_new(WRITER_FILE, 0);
	writer_cpuid(writer, "GenuineIntel,6,143,8");
	writer_pmu(writer, PERF_TYPE_RAW, "cpu");
	event = writer_event(writer, &loads_event);
	write_records(writer, event, has_counts ? add_counts(writer) : 0, argc == 3 ? argv[2] : NULL);
	bytes = writer_finish(writer, &size);
	writer_free(writer);

	file = fopen(argv[1], "we");
	if (!file || fwrite(bytes, 1, size, file) != size || fflush(file) != 0) {
		(void)fprintf(stderr, "make_recording: cannot write %s: %m; choose another place\n", argv[1]);
		return 1;
	}
	return 0;
}
