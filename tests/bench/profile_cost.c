// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a profile: adding a sample, naming its parts, and writing the profile. Each of three
 * profiles has 60,000 samples (a minute at 1,000 per second), with stacks of 8, 32 or 120 frames from 2,000
 * functions. Each sample is at one of 40,000 instructions, and accesses a heap of 256 MiB or one of 1,000
 * variables. Prints results and checks nothing.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profile/pprof.h"
#include "profile/profile_report.h"

#define SAMPLES   60000
#define FUNCTIONS 2000
#define CODE      0x400000ULL
#define VARIABLES 0x10000000ULL
#define HEAP      0x20000000ULL
#define HEAP_SIZE (256ULL << 20)

static u64 state = 1;

static u64 draw(u64 n)
{
	u64 z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % n;
}

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct names {
	struct profile_names names;
	struct symbol symbol;
	struct symbol_frame frame;
	char name[64];
};

static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	static char module[] = "/usr/bin/bench", file[] = "bench.c";
	struct names *names = userdata;

	names->symbol = (struct symbol){.region = SYMBOL_FILE, .module = module};
	names->frame = (struct symbol_frame){.name = names->name};
	names->symbol.address = query->address;
	if (query->address >= HEAP) {
		names->symbol = (struct symbol){.region = SYMBOL_HEAP,
						.address = query->address - HEAP,
						.start = HEAP,
						.end = HEAP + HEAP_SIZE};
		return &names->symbol;
	}
	names->symbol.n_frames = 1;
	names->symbol.frames = &names->frame;
	names->frame.offset = query->address % 256;
	(void)snprintf(names->name, sizeof(names->name), "%s_%llu",
		       query->kind == SYMBOL_CODE ? "a_function" : "a_variable",
		       (unsigned long long)query->address / 256);
	if (query->kind == SYMBOL_CODE) {
		names->frame.file = file;
		names->frame.line = (u32)(query->address / 16 % 1000);
	}
	return &names->symbol;
}

/* The sampled function determines its callers: four functions share one of 500 call chains. */
static struct zoom_sample draw_sample(u64 *stack, size_t depth)
{
	u64 leaf = draw(FUNCTIONS);

	for (size_t i = 0; i < depth; i++)
		stack[i] = CODE + (leaf / 4 * (i + 7) % FUNCTIONS) * 256 + 17;
	return (struct zoom_sample){
		.pid = 100,
		.tid = 100 + (u32)draw(16),
		.cpu = (u32)draw(64),
		.of = {.latency = 30 + draw(1000),
		       .data_source = OP_LOAD | (1 + draw(3)) << 33,
		       .address = draw(2) ? HEAP + draw(HEAP_SIZE / 8) * 8 : VARIABLES + draw(1000) * 256,
		       .code_address = CODE + leaf * 256 + draw(20) * 12,
		       .fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS},
		.physical = 0x100000000ULL + draw(1U << 28),
		.user = stack,
		.n_user = depth};
}

static int measure(size_t depth)
{
	static const struct profile_about about = {
		.cgroup = "/bench", .origin = "model", .event = "loads", .kernel_names = true};
	static const struct report_settings settings = {
		.functions = 30, .objects = 30, .lines = 30, .accesses = 8};
	static u64 stacks[SAMPLES][128];
	static struct zoom_sample samples[SAMPLES];
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_free_ u8 *pprof = NULL;
	_cleanup_free_ char *folded = NULL;
	struct names names = {.names = {find, &names}};
	struct profile_report report;
	struct profile_totals totals;
	size_t pprof_size, folded_size;
	double times[6];

	for (size_t i = 0; i < SAMPLES; i++)
		samples[i] = draw_sample(stacks[i], depth);
	times[0] = now();
	if (profile_new(true, &profile) < 0 || profile_name(profile, 100, 100, "bench") < 0)
		return -1;
	for (size_t i = 0; i < SAMPLES; i++)
		if (profile_add(profile, &samples[i]) < 0)
			return -1;
	times[1] = now();
	(void)profile_resolve(profile, &names.names);
	times[2] = now();
	if (profile_report(profile, &names.names, &settings, &report) < 0)
		return -1;
	times[3] = now();
	if (pprof_write(profile, &names.names, &about, &pprof, &pprof_size) < 0)
		return -1;
	times[4] = now();
	if (folded_write(profile, &names.names, &about, true, &folded, &folded_size) < 0)
		return -1;
	times[5] = now();
	profile_totals(profile, &totals);
	printf("%3zu frames: add %.0f ns a sample; resolve %.1f ms, report %.1f ms, pprof %.1f ms (%zu KiB), "
	       "folded %.1f ms (%zu KiB); %.1f MiB held, %llu dropped\n",
	       depth, (times[1] - times[0]) / SAMPLES * 1e9, (times[2] - times[1]) * 1e3,
	       (times[3] - times[2]) * 1e3, (times[4] - times[3]) * 1e3, pprof_size >> 10,
	       (times[5] - times[4]) * 1e3, folded_size >> 10, (double)profile_bytes(profile) / (1 << 20),
	       (unsigned long long)totals.dropped);
	profile_report_done(&report);
	return 0;
}

int main(void)
{
	return measure(8) < 0 || measure(32) < 0 || measure(120) < 0;
}
