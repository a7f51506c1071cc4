// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a collection in policy: 10,000 cgroups under 50 rules, over two windows. At each
 * collection all of them are active with about 10 samples, or only 100 of them. Prints medians and checks
 * nothing.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "in_packed.h"
#include "policy/policy.h"
#include "random_numbers.h"

#define CGROUPS    10000
#define ACTIVE_FEW 100
#define RULES      50
#define WARM_UP    330 /* collections: the longer window and a few more */
#define MEASURED   60

static char *everything[] = {"/**"};

static u64 random_state = 1;

static u64 random_below(u64 n)
{
	return (xorshift(&random_state) >> 11) % n;
}

/*
 * Cycles through p50 to p999, shares and rates. The last two are a mean and a ratio. Thresholds range from
 * nearly reached to never reached.
 */
static struct rule make_rule(unsigned i)
{
	static const double quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999};
	static const double some_above[] = {64, 420, 600, 1650, 1900}; /* above the quantiles of fill() */
	struct rule rule = {.patterns = everything,
			    .n_patterns = 1,
			    .event = EVENT_LOADS,
			    .window_ns = (i % 2 ? 300 : 30) * NSEC_PER_SEC,
			    .for_ns = 60 * NSEC_PER_SEC,
			    .baseline_ns = 3600 * NSEC_PER_SEC,
			    .min_samples = 200,
			    .confidence = 0.95,
			    .severity = "warning"};

	(void)snprintf(rule.name, sizeof(rule.name), "rule-%u", i);
	if (i == 48) {
		rule.metric = (struct metric){.kind = METRIC_MEAN};
		rule.threshold = 400;
		rule.clear = 350;
	} else if (i == 49) {
		rule.metric = (struct metric){.kind = METRIC_SHARE,
					      .ratio = true,
					      .share = METRIC_SHARE_SOURCE,
					      .source = SOURCE_REMOTE_DRAM};
		rule.threshold = 3;
		rule.clear = 2;
	} else if (i % 3 == 0) {
		rule.metric = (struct metric){.kind = METRIC_QUANTILE, .quantile = quantiles[i / 3 % 5]};
		rule.threshold = some_above[i / 3 % 5] + 10 * i;
		rule.clear = 0.8 * rule.threshold;
	} else if (i % 3 == 1) {
		rule.metric = (struct metric){.kind = METRIC_SHARE,
					      .share = METRIC_SHARE_SOURCE,
					      .source = i % 2 ? SOURCE_REMOTE_DRAM : SOURCE_LOCAL_DRAM};
		rule.threshold = 0.25 + 0.01 * i;
		rule.clear = 0.2 + 0.01 * i;
	} else {
		rule.metric = (struct metric){.kind = METRIC_RATE};
		rule.threshold = 13000 + 1000 * i;
		rule.clear = 12000 + 1000 * i;
		rule.min_samples = 0;
	}
	return rule;
}

/* About 10 samples: mostly from caches, some from near and remote memory. */
static void fill(struct counters *counters)
{
	u64 n = 8 + random_below(5);

	memset(counters, 0, sizeof(*counters));
	for (u64 i = 0; i < n; i++) {
		u64 kind = random_below(100);
		enum source source = kind < 50   ? SOURCE_L1
				     : kind < 80 ? SOURCE_L3
				     : kind < 95 ? SOURCE_LOCAL_DRAM
						 : SOURCE_REMOTE_DRAM;
		u32 cycles = (u32)(kind < 50   ? 5 + random_below(5)
				   : kind < 80 ? 40 + random_below(40)
				   : kind < 95 ? 200 + random_below(200)
					       : 400 + random_below(1200));

		counters->samples[source]++;
		counters->weight[source] += 1000;
		counters->latency_sum[source] += cycles;
		counters->latency[histogram_fine_index(cycles)]++;
	}
}

static int compare(const void *a, const void *b)
{
	const u64 *left = a;
	const u64 *right = b;

	return *left < *right ? -1 : *left > *right;
}

static u64 median(u64 *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static char paths[CGROUPS][96];
static struct in_packed deltas[CGROUPS];

static int run(const char *name, size_t active)
{
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct rule rules[RULES];
	struct event event = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .period = 1000,
			      .settings = {.has_latency = true, .has_source = true}};
	struct policy_settings settings = {.rules = rules,
					   .n_rules = RULES,
					   .events = &event,
					   .n_events = 1,
					   .start_ns = NSEC_PER_SEC,
					   .next_number = 1,
					   .max_bytes = POLICY_BYTES};
	struct sliding_time time[EVENTS_MAX] = {0};
	u64 puts[MEASURED];
	u64 ticks[MEASURED];
	u64 both[MEASURED];
	size_t changes = 0;

	for (unsigned i = 0; i < RULES; i++)
		rules[i] = make_rule(i);
	if (policy_new(&settings, &policy) < 0)
		return 1;
	for (unsigned tick = 0; tick < WARM_UP + MEASURED; tick++) {
		u64 now = (u64)(tick + 2) * NSEC_PER_SEC;
		struct timespec realtime = {.tv_sec = (time_t)tick};
		const struct transition *transitions;
		size_t few = random_below(CGROUPS - ACTIVE_FEW);
		size_t first = tick == 0 || active == CGROUPS ? 0 : few;
		size_t n = tick == 0 ? CGROUPS : active;
		u64 began;
		u64 put;
		u64 end;
		size_t n_transitions;

		for (size_t i = first; i < first + n; i++) {
			struct counters counters;

			fill(&counters);
			(void)in_packed(&deltas[i], 0, &counters);
		}
		began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		policy_begin(policy, now, &realtime, time);
		for (size_t i = first; i < first + n; i++)
			policy_put(policy, (u32)i, paths[i], &deltas[i].delta, 1);
		put = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (policy_tick(policy, &transitions, &n_transitions) < 0)
			return 1;
		end = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (tick < WARM_UP)
			continue;
		puts[tick - WARM_UP] = put - began;
		ticks[tick - WARM_UP] = end - put;
		both[tick - WARM_UP] = end - began;
		changes += n_transitions;
	}
	printf("%s: puts %.2f ms, tick %.2f ms, together %.2f ms: %.2f %% of a core at 1 s; %zu transitions in %d ticks; %.1f MiB\n",
	       name, (double)median(puts, MEASURED) / 1e6, (double)median(ticks, MEASURED) / 1e6,
	       (double)median(both, MEASURED) / 1e6, (double)median(both, MEASURED) / 1e7, changes, MEASURED,
	       (double)policy_bytes(policy) / (1 << 20));
	return 0;
}

int main(void)
{
	for (size_t i = 0; i < CGROUPS; i++)
		(void)snprintf(paths[i], sizeof(paths[i]), "/kubepods.slice/pod%zu.slice/container-%zu.scope",
			       i / 3, i);
	return run("10,000 cgroups, all active, 50 rules", CGROUPS) ||
	       run("10,000 cgroups, 100 active, 50 rules", ACTIVE_FEW);
}
