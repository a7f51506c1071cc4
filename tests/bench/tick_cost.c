// SPDX-License-Identifier: GPL-2.0
/*
 * tick_cost [ROUNDS]: measures the cost of a collection, stage by stage, as JSON. Prints microseconds of
 * processor time (median and minimum of the rounds) and the memory in use after the last round. Loads with
 * latency and stores without come from the program `inject`, 20 per active cgroup, event and collection. Four
 * rules judge all cgroups. Needs root.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/own_memory.h"
#include "cgroup/names.h"
#include "clock.h"
#include "collect/collect.h"
#include "driver_sources.h"
#include "kernel/kernel.h"
#include "policy/policy.h"
#include "random_numbers.h"
#include "series/series.h"
#include "state/state_kinds.h"
#include "window/window.h"

#define ROUNDS       41
#define ROUNDS_MAX   1001
#define WARM_UP      8 /* collections */
#define EVENTS       2
#define SAMPLES      20 /* per active cgroup, event and collection */
#define TOP          50
#define FIRST_ID     1000
#define PATH_BYTES   128
#define WINDOW_BYTES ((size_t)4 << 20)

enum stage { COLLECT, SUMS, WINDOW, SERIES, SAVE, POLICY_PUT, POLICY_TICK, STAGES };

static const char *const stage_names[STAGES] = {"collect", "sums",        "window",     "series",
						"save",    "policy puts", "policy tick"};

static const struct scenario {
	const char *name;
	u32 cgroups;
	u32 active; /* different cgroups each time; 0: none, but all were active once before */
	bool saved; /* saved for a restart: most is written while collecting */
} scenarios[] = {
	{"1,000 cgroups, all active", 1000, 1000, false},       {"1,000 cgroups, idle", 1000, 0, false},
	{"10,000 cgroups, 100 active", 10000, 100, false},      {"100 cgroups, all active", 100, 100, false},
	{"1,000 cgroups, all active, saved", 1000, 1000, true}, {"1,000 cgroups, idle, saved", 1000, 0, true},
};

struct bench {
	struct kernel *kernel;
	struct names *names;
	struct totals *totals;
	struct collect *collect;
	struct window *window;
	struct series_table *series;
	struct state *state; /* NULL: not saved */
	struct policy *policy;
	struct counters sums[EVENTS];
	u64 seen[EVENTS];
};

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "tick_cost: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(EXIT_FAILURE);
}

static void check(const char *what, int r)
{
	if (r < 0)
		die(what, r);
}

static u64 next_random(void)
{
	static u64 state = XORSHIFT_SEED;

	return xorshift(&state) >> 11;
}

static void path_of(u32 i, char ret[PATH_BYTES])
{
	(void)snprintf(ret, PATH_BYTES,
		       "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%08x.slice/"
		       "cri-containerd-%08x.scope",
		       i / 3 * 2654435761U, i * 2246822519U);
}

static void open_kernel(const struct scenario *scenario, struct bench *bench)
{
	struct stripes stripes;
	const struct kernel_settings settings = {
		.slots = 2 * scenario->cgroups + 64,
		.stripes = &stripes,
		.n_events = EVENTS,
		.events = {{.has_latency = 1, .has_source = 1, .weight_struct = 1}, {.has_source = 1}},
	};
	char *message = NULL;
	int r;

	check("stripes", stripes_of_machine(NULL, 0, &stripes));
	r = kernel_open(&settings, &bench->kernel, &message);
	stripes_done(&stripes);
	if (r < 0 && message)
		(void)fprintf(stderr, "%s\n", message);
	check("kernel_open", r);
}

static void open_policy(struct bench *bench)
{
	static char *everything[] = {"/**"};
	struct event events[EVENTS] = {
		{.role = EVENT_LOADS,
		 .pmu = "cpu",
		 .period = 10007,
		 .settings = {.has_latency = 1, .has_source = 1}},
		{.role = EVENT_STORES, .pmu = "cpu", .period = 10007, .settings = {.has_source = 1}},
	};
	struct rule rules[4];

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		rules[i] = (struct rule){.patterns = everything,
					 .n_patterns = 1,
					 .event = EVENT_LOADS,
					 .window_ns = (i % 2 ? 300 : 30) * NSEC_PER_SEC,
					 .for_ns = 60 * NSEC_PER_SEC,
					 .baseline_ns = 3600 * NSEC_PER_SEC,
					 .min_samples = 200,
					 .confidence = 0.95,
					 .severity = "warning",
					 .metric = {.kind = METRIC_QUANTILE, .quantile = 0.9},
					 .threshold = 2000,
					 .clear = 1900};
		(void)snprintf(rules[i].name, sizeof(rules[i].name), "rule-%zu", i);
	}
	rules[2].metric = (struct metric){
		.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM};
	rules[2].threshold = 0.9;
	rules[2].clear = 0.8;
	rules[3].metric = (struct metric){.kind = METRIC_MEAN};
	check("policy_new", policy_new(
				    &(struct policy_settings){
					    .rules = rules,
					    .n_rules = ARRAY_SIZE(rules),
					    .events = events,
					    .n_events = EVENTS,
					    .start_ns = NSEC_PER_SEC,
					    .next_number = 1,
					    .max_bytes = POLICY_BYTES,
				    },
				    &bench->policy));
}

static void open_bench(const struct scenario *scenario, struct bench *bench)
{
	const struct timespec start = {.tv_sec = 1000};

	*bench = (struct bench){0};
	open_kernel(scenario, bench);
	check("names_new", names_new(2 * (size_t)scenario->cgroups + 1024, &bench->names));
	check("totals_new", totals_new(&bench->totals));
	if (scenario->saved)
		check("state_new", state_new(STATE_RECORDS, &bench->state));
	check("totals_restore", totals_restore(bench->totals, bench->state));
	check("collect_new", collect_new(
				     &(struct collect_settings){
					     .kernel = bench->kernel,
					     .names = bench->names,
					     .totals = bench->totals,
					     .grace_ns = COLLECT_GRACE_NS,
					     .state = bench->state,
				     },
				     &bench->collect));
	check("window_new", window_new(WINDOW_BYTES, SERIES_KEEP_NS, NSEC_PER_SEC, &start, &bench->window));
	check("series_new", series_table_new(TOP, &bench->series));
	check("series_table_restore", series_table_restore(bench->series, bench->state, 0));
	open_policy(bench);
	for (u32 i = 0; i < scenario->cgroups; i++) {
		char path[PATH_BYTES];

		path_of(i, path);
		check("names_add_path", names_add_path(bench->names, FIRST_ID + i, path));
		check("kernel_adopt", kernel_adopt(bench->kernel, FIRST_ID + i, 0, path));
	}
}

static void close_bench(struct bench *bench)
{
	policy_free(bench->policy);
	series_table_free(bench->series);
	window_free(bench->window);
	collect_free(bench->collect);
	totals_free(bench->totals);
	names_free(bench->names);
	kernel_free(bench->kernel);
	state_free(bench->state);
}

/* Mostly caches and some near and remote memory, like a program's loads. */
static void sample_of(struct sample *ret, u64 cgroup_id, u16 event)
{
	static const u64 sources[] = {DRIVER_L1, DRIVER_L3, DRIVER_LOCAL_DRAM, DRIVER_REMOTE_DRAM};
	const u64 kind = next_random() % 100;
	const unsigned place = kind < 50 ? 0 : kind < 80 ? 1 : kind < 95 ? 2 : 3;
	static const u32 least[] = {5, 40, 200, 400}, spread[] = {5, 40, 200, 1200};

	*ret = (struct sample){
		.cgroup_id = cgroup_id,
		.data_source = sources[place],
		.period = 10007,
		.event = event,
		.fields = SAMPLE_DATA_SOURCE,
	};
	if (event)
		return;
	ret->latency = least[place] + next_random() % spread[place];
	ret->fields |= SAMPLE_LATENCY;
}

static void inject(const struct bench *bench, u32 first, u32 n)
{
	struct sample batch[EVENTS * SAMPLES];

	for (u32 i = first; i < first + n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(batch); k++)
			sample_of(&batch[k], FIRST_ID + i, k % EVENTS);
		check("kernel_inject", kernel_inject(bench->kernel, batch, ARRAY_SIZE(batch)));
	}
}

static void add_sums(struct bench *bench, const struct delta *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bench->seen[list[i].event] += packed_samples(list[i].packed, list[i].size);
		packed_add(list[i].packed, list[i].size, &bench->sums[list[i].event]);
	}
}

static void fill_window(struct bench *bench, u64 now_ns, const struct timespec *realtime,
			const struct delta *list, size_t n)
{
	window_begin(bench->window, now_ns, realtime);
	for (size_t i = 0; i < n; i++)
		window_put(bench->window, list[i].entry->number, list[i].event, list[i].packed, list[i].size);
	check("window_end", window_end(bench->window));
}

static size_t end_of_entry(const struct delta *list, size_t n, size_t i)
{
	size_t next = i + 1;

	while (next < n && list[next].entry == list[i].entry)
		next++;
	return next;
}

static void fill_series(struct bench *bench, u64 now_ns, const struct delta *list, size_t n)
{
	struct series_input *inputs = calloc(n + 1, sizeof(*inputs));
	size_t n_inputs = 0;

	if (!inputs)
		die("series", ENOMEM);
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_entry(list, n, i);
		inputs[n_inputs++] = (struct series_input){.path = list[i].entry->path,
							   .exported = true,
							   .deltas = &list[i],
							   .n_deltas = next - i};
	}
	check("series_table_update", series_table_update(bench->series, now_ns, inputs, n_inputs, NULL, 0));
	free(inputs);
}

static void put_policy(struct bench *bench, const struct delta *list, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_entry(list, n, i);
		policy_put(bench->policy, list[i].entry->number, list[i].entry->path, &list[i], next - i);
	}
}

/*
 * Makes a collection at `now_ns` and returns the time of each stage in `ret`. Returns the number of
 * deltas.
 */
static size_t tick(struct bench *bench, u64 now_ns, u64 ret[STAGES])
{
	const struct timespec realtime = {.tv_sec = 1000 + (time_t)(now_ns / NSEC_PER_SEC)};
	const struct sliding_time time[EVENTS_MAX] = {0};
	const struct transition *transitions;
	const struct delta *list;
	u64 at[STAGES + 1];
	size_t n, n_transitions;

	at[COLLECT] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	check("collect_run", collect_run(bench->collect, now_ns));
	list = deltas_list(collect_deltas(bench->collect), &n);
	at[SUMS] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	add_sums(bench, list, n);
	at[WINDOW] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	fill_window(bench, now_ns, &realtime, list, n);
	at[SERIES] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	fill_series(bench, now_ns, list, n);
	at[SAVE] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (bench->state) {
		collect_save(bench->collect);
		series_table_save(bench->series);
		check("state_commit", state_commit(bench->state));
	}
	at[POLICY_PUT] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	policy_begin(bench->policy, now_ns, &realtime, time);
	put_policy(bench, list, n);
	at[POLICY_TICK] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	check("policy_tick", policy_tick(bench->policy, &transitions, &n_transitions));
	at[STAGES] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t stage = 0; stage < STAGES; stage++)
		ret[stage] = at[stage + 1] - at[stage];
	return n;
}

static int compare(const void *a, const void *b)
{
	const u64 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void print_values(const char *name, u64 *values, size_t n, bool last)
{
	const size_t middle = n / 2;

	qsort(values, n, sizeof(*values), compare);
	printf("      \"%s\": {\"median_us\": %.1f, \"least_us\": %.1f}%s\n", name,
	       (double)values[middle] / 1e3, (double)values[0] / 1e3, last ? "" : ",");
}

static u64 anonymous_bytes(void)
{
	int fd = own_memory_open();
	u64 bytes = 0;

	check("own memory", fd);
	check("own memory", own_memory_read(fd, &bytes));
	(void)close(fd);
	return bytes;
}

static void run(const struct scenario *scenario, size_t rounds, bool last)
{
	static u64 took[STAGES + 1][ROUNDS_MAX];
	struct bench bench;
	size_t n = 0;
	u64 before;

	(void)malloc_trim(0);
	before = anonymous_bytes();
	open_bench(scenario, &bench);
	inject(&bench, 0, scenario->cgroups);
	for (size_t i = 0; i < WARM_UP + rounds; i++) {
		u64 now_ns = (i + 2) * NSEC_PER_SEC, stages[STAGES], sum = 0;
		u32 apart = scenario->cgroups - scenario->active;
		size_t round = i - WARM_UP;

		if (i > 0 && scenario->active)
			inject(&bench, apart ? (u32)(next_random() % apart) : 0, scenario->active);
		n = tick(&bench, now_ns, stages);
		if (i < WARM_UP)
			continue;
		for (size_t stage = 0; stage < STAGES; stage++)
			sum += took[stage][round] = stages[stage];
		took[STAGES][round] = sum;
	}
	printf("    {\"scenario\": \"%s\", \"deltas\": %zu, \"window_bytes\": %zu, \"policy_bytes\": "
	       "%zu, "
	       "\"state_bytes\": %zu, \"anonymous_bytes\": %lld, \"stages\": {\n",
	       scenario->name, n, window_bytes(bench.window), policy_bytes(bench.policy),
	       state_bytes(bench.state), (long long)(anonymous_bytes() - before));
	for (size_t stage = 0; stage < STAGES; stage++)
		print_values(stage_names[stage], took[stage], rounds, false);
	print_values("together", took[STAGES], rounds, true);
	printf("    }}%s\n", last ? "" : ",");
	close_bench(&bench);
}

int main(int argc, char **argv)
{
	u64 rounds = ROUNDS;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: tick_cost [ROUNDS], 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	printf("{\n  \"rounds\": %llu,\n  \"samples\": %d,\n  \"scenarios\": [\n", (unsigned long long)rounds,
	       EVENTS * SAMPLES);
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		run(&scenarios[i], rounds, i + 1 == ARRAY_SIZE(scenarios));
	printf("  ]\n}\n");
	return 0;
}
