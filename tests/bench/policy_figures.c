// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the reliability of policy's decisions: false alarms over simulated weeks, and how often a step is
 * found in time, by the number of samples. Each is compared with a naive rule on the same data, which
 * compares the point estimate with the threshold for the same `for`. Usage: policy_figures [WEEKS [RUNS]]
 *
 * Latencies are those of the model's workload `mix`, and for the last table those of each workload. They are
 * scaled so that the metric has the value that a scenario needs. Each sample is drawn independently, so that
 * the series is stationary. Everything is seeded. Fails if a rule fires 5 % below its threshold, or misses
 * more than one in 20 of the steps that it promises to find.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_packed.h"
#include "model/random.h"
#include "model/workload.h"
#include "origin/model/computer.h"
#include "policy/policy.h"

#define POOL         65536 /* latencies to draw from */
#define WINDOW       30    /* collections of 1 s */
#define FOR          60
#define WEEK         604800
#define SEEDS        20
#define PERIOD       10007
#define LDLAT        30 /* the default */
#define RUNS_DEFAULT 1000
#define SETTLE       (WINDOW + 10) /* collections before a step, below the threshold */
#define Z_95         1.6448536269514722

enum kind { P50, P90, P99, MEAN, SHARE, RATE, KINDS };

static const struct {
	const char *word;
	double q;
} kinds[KINDS] = {
	[P50] = {"p50", 0.5}, [P90] = {"p90", 0.9},           [P99] = {"p99", 0.99},
	[MEAN] = {"mean"},    [SHARE] = {"share:local_dram"}, [RATE] = {"rate"},
};

struct pool {
	u32 latency[POOL]; /* ascending */
	size_t n;
};

/* The pool's latencies, scaled so that a metric has a given value. */
struct scaled {
	u8 bucket[POOL];
	u32 cycles[POOL];
};

/* A cgroup whose metric is held at `at` times its rule's threshold. */
struct target {
	char path[32];
	enum kind kind;
	double at;
	double share;    /* of local DRAM */
	double per_tick; /* mean number of samples */
	const struct scaled *scaled;
	struct random random;
	/*
	 * The naive rule's window, and the number of ticks in a row (`held`) for which it exceeds the
	 * threshold.
	 */
	struct {
		double hits, n;
	} ring[WINDOW], sum;
	unsigned at_ring, held;
	bool naive_fired, fired;
	unsigned naive_at, fired_at;
	u64 naive_fires, fires;
};

static struct pool pool;
static double threshold[KINDS];

static void take(void *userdata, const struct sample *sample)
{
	(void)userdata;
	if (pool.n < POOL)
		pool.latency[pool.n++] = (u32)sample->latency;
}

static int compare(const void *a, const void *b)
{
	const u32 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static int fill_pool(enum workload_kind workload)
{
	const struct computer_settings settings = {.machine = machine_find("skylake"),
						   .seed = 7,
						   .workloads = 1U << workload,
						   .ldlat = LDLAT,
						   .period = 1009};
	_cleanup_(computer_freep) struct computer *computer = NULL;
	int r = computer_new(&settings, &computer);

	pool.n = 0;
	while (r == 0 && pool.n < POOL)
		r = computer_run(computer, NSEC_PER_SEC / 10, take, NULL);
	qsort(pool.latency, pool.n, sizeof(pool.latency[0]), compare);
	return r;
}

static double pool_metric(enum kind kind)
{
	double sum = 0;

	if (kind != MEAN)
		return pool.latency[(size_t)(kinds[kind].q * POOL)];
	for (size_t i = 0; i < POOL; i++)
		sum += pool.latency[i];
	return sum / POOL;
}

/*
 * Draws from a Poisson distribution by counting exponential times. This is fast enough, because the means
 * here are at most some hundreds.
 */
static unsigned draw_count(struct random *random, double mean)
{
	double left = mean;
	unsigned n = 0;

	for (;;) {
		double u = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;

		left += log(u);
		if (left < 0)
			return n;
		n++;
	}
}

/* Scales the pool so that the metric is `at` times the threshold. */
static void scale_pool(enum kind kind, double at, struct scaled *ret)
{
	double scale = kind <= MEAN ? at * threshold[kind] / pool_metric(kind) : 1;

	for (size_t i = 0; i < POOL; i++) {
		/* Spread within the cycle, so that equal round numbers of the model do not move the quantile. */
		double cycles = ((double)pool.latency[i] + (double)(i % 97) / 97 - 0.5) * scale;

		ret->cycles[i] = cycles < 1 ? 1 : (u32)lround(cycles);
		ret->bucket[i] = (u8)histogram_fine_index(ret->cycles[i]);
	}
}

static void place(struct target *target, double at, const struct scaled *scaled)
{
	target->at = at;
	target->scaled = scaled;
	target->share = target->kind == SHARE ? at * threshold[SHARE] : 0.3;
}

static void open_target(struct target *target, enum kind kind, unsigned number, double n, u64 seed)
{
	*target = (struct target){.kind = kind, .per_tick = n / WINDOW};
	(void)snprintf(target->path, sizeof(target->path), "/%d-%u", (int)kind, number);
	random_seed(&target->random, seed, number * KINDS + kind);
}

static double hit(const struct target *target, const struct counters *counters, double n)
{
	double hits = 0;

	switch (target->kind) {
	case SHARE:
		return (double)counters->samples[SOURCE_LOCAL_DRAM];
	case RATE:
		return n;
	case MEAN:
		return (double)counters_latency_sum(counters);
	default:
		for (u32 i = histogram_fine_index((u32)threshold[target->kind]) + 1; i < FINE_BUCKETS; i++)
			hits += (double)counters->latency[i];
		return hits;
	}
}

static bool naive_past(const struct target *target)
{
	double n = target->sum.n;

	if (target->kind == RATE)
		return n * PERIOD / WINDOW > threshold[RATE];
	if (n < 500)
		return false;
	if (target->kind == SHARE || target->kind == MEAN)
		return target->sum.hits / n > threshold[target->kind];
	return target->sum.hits > (1 - kinds[target->kind].q) * n;
}

static void naive(struct target *target, const struct counters *counters, double n, unsigned tick)
{
	unsigned slot = target->at_ring++ % WINDOW;
	double hits = hit(target, counters, n);

	target->sum.hits += hits - target->ring[slot].hits;
	target->sum.n += n - target->ring[slot].n;
	target->ring[slot].hits = hits;
	target->ring[slot].n = n;
	target->held = tick >= WINDOW && naive_past(target) ? target->held + 1 : 0;
	if (target->held == 0)
		target->naive_fired = false;
	if (target->held > FOR && !target->naive_fired) {
		target->naive_fired = true;
		if (target->naive_fires++ == 0)
			target->naive_at = tick;
	}
}

static void draw(struct target *target, unsigned tick, struct counters *ret)
{
	double mean = target->kind == RATE ? threshold[RATE] * target->at / PERIOD : target->per_tick;
	unsigned n = draw_count(&target->random, mean);
	u64 dice = 0;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < n; i++) {
		u32 index, source;

		if (i % 2 == 0)
			dice = random_next(&target->random);
		index = dice & 0xffff;
		source = (double)((dice >> 16) & 0xffff) < target->share * 65536 ? SOURCE_LOCAL_DRAM
										 : SOURCE_L3;
		dice >>= 32;
		ret->latency[target->scaled->bucket[index]]++;
		ret->samples[source]++;
		ret->latency_sum[source] += target->scaled->cycles[index];
		ret->weight[source] += PERIOD;
	}
	naive(target, ret, n, tick);
}

static void note(struct target *targets, size_t n, const struct transition *transition, unsigned tick)
{
	if (transition->to != ALERT_FIRING)
		return;
	for (size_t i = 0; i < n; i++)
		if (strcmp(targets[i].path, transition->alert.cgroup) == 0 && targets[i].fires++ == 0)
			targets[i].fired_at = tick;
}

/* One rule for each kind, on the cgroups of that kind. */
static int open_policy(struct policy **ret)
{
	static char patterns[KINDS][16];
	static char *lists[KINDS];
	const struct event event = {
		.role = EVENT_LOADS, .period = PERIOD, .settings = {.has_latency = 1, .has_source = 1}};
	struct rule rules[KINDS];

	for (size_t i = 0; i < KINDS; i++) {
		(void)snprintf(patterns[i], sizeof(patterns[i]), "/%zu-*", i);
		lists[i] = patterns[i];
		rules[i] = (struct rule){.patterns = &lists[i],
					 .n_patterns = 1,
					 .event = EVENT_LOADS,
					 .threshold = threshold[i],
					 .clear = threshold[i],
					 .window_ns = WINDOW * NSEC_PER_SEC,
					 .for_ns = FOR * NSEC_PER_SEC,
					 .min_samples = i == RATE ? 0 : 500,
					 .confidence = 0.95};
		(void)snprintf(rules[i].name, sizeof(rules[i].name), "rule-%zu", i);
		if (metric_parse(kinds[i].word, &rules[i].metric) < 0)
			return -1;
	}
	return policy_new(&(struct policy_settings){.rules = rules,
						    .n_rules = KINDS,
						    .events = &event,
						    .n_events = 1,
						    .next_number = 1,
						    .max_bytes = POLICY_BYTES},
			  ret);
}

static int step(struct policy *policy, struct target *targets, size_t n, unsigned tick)
{
	struct sliding_time time[EVENTS_MAX] = {{.elapsed_ns = NSEC_PER_SEC}};
	const struct timespec now = {.tv_sec = tick + 1};
	const struct transition *transitions;
	size_t n_transitions;
	int r;

	policy_begin(policy, (tick + 1) * NSEC_PER_SEC, &now, time);
	for (size_t i = 0; i < n; i++) {
		struct counters counters;
		struct in_packed room;

		draw(&targets[i], tick, &counters);
		if (counters_samples(&counters))
			policy_put(policy, (u32)i + 2, targets[i].path, in_packed(&room, 0, &counters), 1);
	}
	r = policy_tick(policy, &transitions, &n_transitions);
	for (size_t i = 0; i < n_transitions; i++)
		note(targets, n, &transitions[i], tick);
	return r;
}

/*
 * Returns the number of times per week that chance alone keeps a normal moving average over WINDOW above its
 * 95 % point for FOR. A rule exactly at its threshold should fire as often. The number is simulated without
 * policy's code.
 */
static double derived_fires(u64 weeks)
{
	struct random random;
	double ring[WINDOW] = {0}, sum = 0;
	unsigned held = 0;
	u64 fires = 0;

	random_seed(&random, 11, 1);
	for (u64 tick = 0; tick < weeks * WEEK; tick++) {
		double u = ((double)(random_next(&random) >> 11) + 0.5) * 0x1p-53;
		double v = ((double)(random_next(&random) >> 11) + 0.5) * 0x1p-53;
		double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * v);

		sum += normal - ring[tick % WINDOW];
		ring[tick % WINDOW] = normal;
		held = sum / sqrt(WINDOW) >= Z_95 ? held + 1 : 0;
		fires += held == FOR + 1;
	}
	return (double)fires / (double)weeks;
}

/* Counts how often each kind fires over all weeks. */
static int stationary(double at, double n, unsigned weeks, u64 fires[KINDS], u64 naive_fires[KINDS])
{
	static struct target targets[KINDS];
	static struct scaled scaled[KINDS];

	for (unsigned i = 0; i < KINDS; i++)
		scale_pool(i, at, &scaled[i]);
	memset(fires, 0, KINDS * sizeof(*fires));
	memset(naive_fires, 0, KINDS * sizeof(*naive_fires));
	for (unsigned week = 0; week < weeks; week++) {
		_cleanup_(policy_freep) struct policy *policy = NULL;
		int r = open_policy(&policy);

		for (unsigned i = 0; i < KINDS; i++) {
			open_target(&targets[i], i, 0, n, week + 1);
			place(&targets[i], at, &scaled[i]);
		}
		for (unsigned tick = 0; r == 0 && tick < WEEK; tick++)
			r = step(policy, targets, KINDS, tick);
		if (r < 0)
			return r;
		for (unsigned i = 0; i < KINDS; i++) {
			fires[i] += targets[i].fires;
			naive_fires[i] += targets[i].naive_fires;
		}
	}
	return 0;
}

/*
 * Makes `runs` steps from 0.8 to `to` times the threshold, and counts how many fire within `for` plus one
 * window.
 */
static int steps(enum kind kind, double n, double to, unsigned runs, double *ret_found, double *ret_naive)
{
	_cleanup_free_ struct target *targets = calloc(runs, sizeof(*targets));
	_cleanup_(policy_freep) struct policy *policy = NULL;
	static struct scaled before, after;
	unsigned found = 0, naive_found = 0;
	int r = targets ? open_policy(&policy) : -1;

	scale_pool(kind, 0.8, &before);
	scale_pool(kind, to, &after);
	for (unsigned i = 0; r == 0 && i < runs; i++) {
		open_target(&targets[i], kind, i, n, 1000 + (u64)n);
		place(&targets[i], 0.8, &before);
	}
	for (unsigned tick = 0; r == 0 && tick <= SETTLE + FOR + WINDOW; tick++) {
		for (unsigned i = 0; tick == SETTLE && i < runs; i++)
			place(&targets[i], to, &after);
		r = step(policy, targets, runs, tick);
	}
	for (unsigned i = 0; r == 0 && i < runs; i++) {
		found += targets[i].fires > 0;
		naive_found += targets[i].naive_fires > 0;
	}
	*ret_found = 100.0 * found / runs;
	*ret_naive = 100.0 * naive_found / runs;
	return r;
}

static int print_stationary(unsigned weeks, bool *ret_alarm)
{
	static const double at[] = {0.95, 1.0}, samples[] = {500, 2000};
	double derived = derived_fires(20ULL * weeks);
	u64 fires[KINDS], naive_fires[KINDS];

	(void)printf(
		"False alarms of stationary series, %u weeks each (seeded); window 30 s, for 60 s, 95 %%.\n"
		"Derived for a rule exactly at its threshold, by a normal moving average: %.1f fires a week.\n\n",
		weeks, derived);
	(void)printf("%-18s %10s %8s %14s %14s\n", "metric", "true value", "samples", "pebsd, a week",
		     "naive, a week");
	for (size_t a = 0; a < 2; a++)
		for (size_t n = 0; n < 2; n++) {
			if (stationary(at[a], samples[n], weeks, fires, naive_fires) < 0)
				return -1;
			for (size_t i = 0; i < KINDS; i++) {
				(void)printf("%-18s %8.2f T %8.0f %14.2f %14.2f\n", kinds[i].word, at[a],
					     samples[n], (double)fires[i] / weeks,
					     (double)naive_fires[i] / weeks);
				*ret_alarm = *ret_alarm || (at[a] < 1 && fires[i] > 0);
			}
			(void)fflush(stdout);
		}
	return 0;
}

static int print_steps(unsigned runs, bool *ret_missed)
{
	static const double samples[] = {750, 1000, 2000, 5000, 20000};
	static const struct {
		enum kind kind;
		double to;
		bool promised; /* must be found from 2,000 samples on */
	} cases[] = {{P50, 1.1, false},   {P50, 1.3, true},  {P90, 1.1, false},  {P90, 1.3, true},
		     {P99, 1.3, false},   {P99, 1.6, true},  {MEAN, 1.3, false}, {MEAN, 2, false},
		     {SHARE, 1.3, false}, {RATE, 1.3, false}};

	(void)printf("\nSteps from 0.8 to N times the threshold found within `for` plus one window, %% "
		     "of %u runs;\n"
		     "in brackets the naive rule's.\n\n%-18s %6s",
		     runs, "metric", "step");
	for (size_t n = 0; n < 5; n++)
		(void)printf(" %15.0f", samples[n]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		(void)printf("\n%-18s %5.1fT", kinds[cases[i].kind].word, cases[i].to);
		for (size_t n = 0; n < 5; n++) {
			double found, naive_found;

			if (steps(cases[i].kind, samples[n], cases[i].to, runs, &found, &naive_found) < 0)
				return -1;
			(void)printf("   %5.1f (%5.1f)", found, naive_found);
			(void)fflush(stdout);
			*ret_missed = *ret_missed || (cases[i].promised && samples[n] >= 2000 && found < 95);
		}
	}
	(void)printf("\n");
	return 0;
}

/*
 * The promised steps with the latencies of each workload. If few latencies lie just above a quantile, a step
 * is harder to see.
 */
static int print_workloads(unsigned runs)
{
	static const struct {
		enum kind kind;
		double to;
	} cases[] = {{P50, 1.3}, {P90, 1.3}, {P99, 1.6}};

	(void)printf("\nThe same at 2,000 samples, by the workload whose latencies they are.\n\n%-18s %16s "
		     "%16s %16s\n",
		     "workload", "p50 1.3T", "p90 1.3T", "p99 1.6T");
	for (int workload = 0; workload < WORKLOAD_COUNT; workload++) {
		if (fill_pool((enum workload_kind)workload) < 0)
			return -1;
		(void)printf("%-18s", workload_names[workload]);
		for (size_t i = 0; i < 3; i++) {
			double found, naive_found;

			if (steps(cases[i].kind, 2000, cases[i].to, runs, &found, &naive_found) < 0)
				return -1;
			(void)printf("    %5.1f (%5.1f)", found, naive_found);
		}
		(void)printf("\n");
		(void)fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned weeks = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : SEEDS;
	unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : RUNS_DEFAULT;
	bool alarm = false, missed = false;

	if (fill_pool(WORKLOAD_MIX) < 0 || pool.n < POOL) {
		(void)fprintf(stderr, "the model gave too few samples\n");
		return 1;
	}
	/*
	 * The thresholds of quantiles are edges of buckets, so that a quantile is judged exactly at its
	 * threshold.
	 */
	threshold[P50] = threshold[P90] = threshold[P99] = 512;
	threshold[MEAN] = 512;
	threshold[SHARE] = 0.3;
	threshold[RATE] = 2000.0 * PERIOD / WINDOW;
	if ((weeks && print_stationary(weeks, &alarm) < 0) ||
	    (runs && (print_steps(runs, &missed) < 0 || print_workloads(runs) < 0))) {
		(void)fprintf(stderr, "policy failed\n");
		return 1;
	}
	if (alarm)
		(void)printf("FAILED: a rule fired 5 %% below its threshold\n");
	if (missed)
		(void)printf("FAILED: more than one step in 20 was missed\n");
	return alarm || missed;
}
