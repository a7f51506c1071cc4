// SPDX-License-Identifier: GPL-2.0
/*
 * Tests how policy handles samples that come in bursts: how often a bound is wrong, how often a rule fires
 * without a cause, with one service and with 200, and how soon it finds a real change. Everything goes through
 * policy's own interface and is seeded.
 *   bursts coverage [WINDOWS]   bounds over windows of 30 s; exit 1 if a lower bound is wrong in more than 6 %
 *   bursts alarms [DAYS]        false alarms at 0.7 of the threshold; exit 1 if more than one a month
 *   bursts services [HOURS]     false alarms of 200 services together
 *   bursts steps [RUNS]         delay and power
 *
 * All bursts of a service have the same length and take a tenth of the time. The gaps between them are
 * exponential. Services have one of two shapes:
 *   mixed   samples come steadily; in a burst 60 % of them are slow, between bursts 5 %
 *   idle    samples come only in bursts; in a fifth of the bursts 60 % of them are slow, in the others 5 %
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "in_pairs.h"
#include "model/random.h"
#include "policy/policy.h"

#define POOL         4096 /* latencies to draw from */
#define PERIOD       10007
#define DUTY         0.1 /* share of the time that is in bursts */
#define SLOW_IN      0.6 /* a sample's chance to be slow in a burst */
#define SLOW_OUT     0.05
#define SLOW_BURSTS  0.2 /* share of an idle service's bursts in which samples are slow */
#define WINDOW       30  /* collections of 1 s; like FOR and MIN_SAMPLES, the default of rules */
#define FOR          60
#define MIN_SAMPLES  500
#define AT_LOW_RATE  0.7
#define HOUR         3600
#define DAY          86400
#define MONTH        (30 * DAY)
#define WRONG_MOST   0.06
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const double lengths[] = {0, 0.02, 0.1, 0.3, 1, 2,
				 3, 5,    10,  20,  30}; /* of a burst, in s; 0: no bursts */

enum shape { MIXED, IDLE, SHAPES };
static const char *const shape_words[] = {"mixed", "idle"};

enum kind { SHARE, QUANTILE, MEAN, RATE, KINDS };
static const char *const kind_words[] = {"share", "p90", "mean", "rate"};

static char everything[] = "/**";
static u32 fast_pool[POOL], slow_pool[POOL];

struct service {
	char path[32];
	enum shape shape;
	double length;
	double rate;  /* mean number of samples per second */
	double scale; /* factor of the chance to be slow */
	bool in_burst;
	bool slow_burst;
	double left; /* seconds left of the burst or the gap */
	struct random random;
	unsigned fired_at;
	u64 fires;
};

/* The true values of a service, to which its samples converge. */
struct truth {
	double share;
	double mean;
	double rate; /* weighted */
};

static double draw_even(struct random *random)
{
	return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static unsigned draw_count(struct random *random, double mean)
{
	double left = mean;
	unsigned n = 0;

	if (mean > 200) {
		double even = draw_even(random);

		return (unsigned)fmax(0, floor(mean + sqrt(mean) * qnorm(even, 0, 1, true, false) + 0.5));
	}
	for (;; n++) {
		left += log(draw_even(random));
		if (left < 0)
			return n;
	}
}

static void fill_pools(void)
{
	for (unsigned i = 0; i < POOL; i++) {
		double z = qnorm((i + 0.5) / POOL, 0, 1, true, false);

		fast_pool[i] = (u32)lround(30 * exp(0.5 * z));
		slow_pool[i] = (u32)lround(300 * exp(0.6 * z));
	}
}

static double chance_in(const struct service *service)
{
	return fmin(1, SLOW_IN * service->scale);
}

static double chance_out(const struct service *service)
{
	return SLOW_OUT * service->scale;
}

static double share_of(const struct service *service)
{
	double in = service->shape == IDLE ? SLOW_BURSTS : DUTY;

	return in * chance_in(service) + (1 - in) * chance_out(service);
}

static struct truth truth_of(const struct service *service)
{
	struct truth truth = {.share = share_of(service), .rate = service->rate * PERIOD};
	double fast = 0, slow = 0;

	for (unsigned i = 0; i < POOL; i++) {
		fast += fast_pool[i];
		slow += slow_pool[i];
	}
	truth.mean = (truth.share * slow + (1 - truth.share) * fast) / POOL;
	return truth;
}

static double chance_at_most(const struct truth *truth, u32 cycles)
{
	double fast = 0, slow = 0;

	for (unsigned i = 0; i < POOL; i++) {
		fast += fast_pool[i] <= cycles;
		slow += slow_pool[i] <= cycles;
	}
	return (truth->share * slow + (1 - truth->share) * fast) / POOL;
}

/* Returns the first edge of a bucket that is at or above the p90. */
static u32 edge_at_p90(const struct truth *truth)
{
	u32 bucket = 0;

	while (chance_at_most(truth, histogram_fine_upper(bucket)) < 0.9)
		bucket++;
	return histogram_fine_upper(bucket);
}

static void service_open(struct service *service, enum shape shape, double length, double rate,
			 unsigned number)
{
	*service = (struct service){.shape = shape, .length = length, .rate = rate, .scale = 1};
	(void)snprintf(service->path, sizeof(service->path), "/%s-%u", shape_words[shape], number);
	random_seed(&service->random, 1 + number, (u64)(length * 1000) + 1000000ULL * shape);
	/* Starts somewhere within a gap. */
	if (length > 0)
		service->left = -log(draw_even(&service->random)) * length * (1 - DUTY) / DUTY;
}

static void turn(struct service *service)
{
	service->in_burst = !service->in_burst;
	service->left = service->in_burst
				? service->length
				: -log(draw_even(&service->random)) * service->length * (1 - DUTY) / DUTY;
	if (service->in_burst)
		service->slow_burst = draw_even(&service->random) < SLOW_BURSTS;
}

static void draw_samples(struct service *service, double mean, double slow, struct figures *ret)
{
	unsigned n = draw_count(&service->random, mean);
	u32 bound = (u32)(slow * 65536);

	for (unsigned i = 0; i < n; i++) {
		u64 dice = random_next(&service->random);
		bool is_slow = (dice & 0xffff) < bound;
		u32 cycles = (is_slow ? slow_pool : fast_pool)[(dice >> 16) % POOL];
		unsigned source = is_slow ? SOURCE_LOCAL_DRAM : SOURCE_L3;

		ret->latency[histogram_fine_index(cycles)]++;
		ret->samples[source]++;
		ret->latency_sum[source] += cycles;
		ret->weight[source] += PERIOD;
	}
}

/* Draws the samples of one second. */
static void draw_second(struct service *service, struct figures *ret)
{
	double left = 1;

	memset(ret, 0, sizeof(*ret));
	if (service->length <= 0) {
		draw_samples(service, service->rate, share_of(service), ret);
		return;
	}
	while (left > 0) {
		double now = fmin(left, service->left);
		bool slow = service->in_burst && (service->shape == MIXED || service->slow_burst);
		double rate = service->rate;

		if (service->shape == IDLE)
			rate = service->in_burst ? rate / DUTY : 0;
		draw_samples(service, rate * now, slow ? chance_in(service) : chance_out(service), ret);
		left -= now;
		service->left -= now;
		if (service->left <= 0)
			turn(service);
	}
}

struct rules {
	struct rule list[64];
	char *pattern[64];
	size_t n;
};

static struct rule *rule_add(struct rules *rules, enum kind kind, char *pattern, double threshold)
{
	static const char *const metrics[] = {"share:local_dram", "p90", "mean", "rate"};
	struct rule *rule = &rules->list[rules->n];

	rules->pattern[rules->n] = pattern;
	*rule = (struct rule){.patterns = &rules->pattern[rules->n],
			      .n_patterns = 1,
			      .event = EVENT_LOADS,
			      .threshold = threshold,
			      .clear = 0.9 * threshold,
			      .window_ns = WINDOW * NSEC_PER_SEC,
			      .for_ns = FOR * NSEC_PER_SEC,
			      .min_samples = kind == RATE ? 0 : MIN_SAMPLES,
			      .confidence = 0.95};
	(void)snprintf(rule->name, sizeof(rule->name), "%s-%zu", kind_words[kind], rules->n);
	if (metric_parse(metrics[kind], &rule->metric) < 0)
		abort();
	rules->n++;
	return rule;
}

static int policy_open(const struct rules *rules, struct policy **ret)
{
	const struct event event = {
		.role = EVENT_LOADS, .period = PERIOD, .settings = {.has_latency = 1, .has_source = 1}};

	return policy_new(&(struct policy_settings){.rules = rules->list,
						    .n_rules = rules->n,
						    .events = &event,
						    .n_events = 1,
						    .next_number = 1,
						    .max_bytes = POLICY_BYTES},
			  ret);
}

static int step(struct policy *policy, struct service *services, size_t n, unsigned tick,
		const struct transition **ret, size_t *ret_n)
{
	struct sliding_time time[EVENTS_MAX] = {{.elapsed_ns = NSEC_PER_SEC}};
	const struct timespec now = {.tv_sec = tick + 1};

	policy_begin(policy, (tick + 1) * NSEC_PER_SEC, &now, time);
	for (size_t i = 0; i < n; i++) {
		struct figures figures;
		struct in_pairs room;

		draw_second(&services[i], &figures);
		if (figures_samples(&figures))
			policy_put(policy, (u32)i + 2, services[i].path, in_pairs(&room, 0, &figures), 1);
	}
	return policy_tick(policy, ret, ret_n);
}

struct cell {
	u64 windows, known, low_wrong, high_wrong;
};

static void look(const struct policy *policy, const char *rule, const char *path, double low_limit,
		 double high_limit, struct cell *cell)
{
	_cleanup_free_ struct alert *alerts = NULL;
	size_t n;

	cell->windows++;
	if (policy_explain(policy, rule, path, &alerts, &n) < 0 || n != 1)
		return;
	if (alerts[0].decision.unknown != UNKNOWN_NOT || !alerts[0].estimate.known ||
	    !alerts[0].estimate.worth)
		return;
	cell->known++;
	cell->low_wrong += alerts[0].estimate.bounds.low > low_limit;
	cell->high_wrong += alerts[0].estimate.bounds.high < high_limit;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static int coverage_of(enum shape shape, double rate, unsigned windows, bool *ret_failed)
{
	static struct service services[COUNT(lengths)];
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct cell cells[COUNT(lengths)][KINDS] = {0};
	struct rules rules = {0};
	struct truth truth;
	u32 edge;

	for (unsigned i = 0; i < COUNT(lengths); i++)
		service_open(&services[i], shape, lengths[i], rate, i);
	truth = truth_of(&services[0]);
	edge = edge_at_p90(&truth);
	(void)rule_add(&rules, SHARE, everything, truth.share);
	/* The true quantile is the edge of a bucket, so widening bounds to edges cannot hide an error. */
	rule_add(&rules, QUANTILE, everything, edge)->metric.quantile = chance_at_most(&truth, edge);
	(void)rule_add(&rules, MEAN, everything, truth.mean);
	(void)rule_add(&rules, RATE, everything, truth.rate);
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < windows * WINDOW; tick++) {
		const struct transition *transitions;
		size_t n;

		if (step(policy, services, COUNT(lengths), tick, &transitions, &n) < 0)
			return -1;
		for (unsigned i = 0; tick % WINDOW == WINDOW - 1 && i < COUNT(lengths); i++) {
			const char *path = services[i].path;

			look(policy, rules.list[SHARE].name, path, truth.share, truth.share,
			     &cells[i][SHARE]);
			/* The quantile lies above `low`, so a `low` that equals the edge is already wrong. */
			look(policy, rules.list[QUANTILE].name, path, edge - 0.5, edge, &cells[i][QUANTILE]);
			look(policy, rules.list[MEAN].name, path, truth.mean, truth.mean, &cells[i][MEAN]);
			look(policy, rules.list[RATE].name, path, truth.rate, truth.rate, &cells[i][RATE]);
		}
	}
	for (unsigned i = 0; i < COUNT(lengths); i++) {
		(void)printf("%-6s %6g/s %6gs", shape_words[shape], rate, lengths[i]);
		for (unsigned kind = 0; kind < KINDS; kind++) {
			const struct cell *cell = &cells[i][kind];

			(void)printf(" | %5.1f %5.1f %5.1f", percent(cell->low_wrong, cell->windows),
				     percent(cell->high_wrong, cell->windows),
				     percent(cell->windows - cell->known, cell->windows));
			*ret_failed =
				*ret_failed || (double)cell->low_wrong > WRONG_MOST * (double)cell->windows;
		}
		(void)printf("\n");
	}
	return fflush(stdout);
}

static int coverage(unsigned windows)
{
	bool failed = false;

	(void)printf(
		"Bounds over %u windows of 30 s, 95 %% each: in how many percent of all windows the lower one "
		"was wrong, the upper one was,\n"
		"and the answer was unknown. A burst's length; a tenth of the time is in bursts.\n\n"
		"%-6s %8s %7s | %-17s | %-17s | %-17s | %-17s\n",
		windows, "shape", "samples", "burst", "share", "p90", "mean", "rate");
	for (unsigned shape = 0; shape < SHAPES; shape++)
		if (coverage_of(shape, 50, windows, &failed) < 0 ||
		    coverage_of(shape, 200, windows, &failed) < 0)
			return -1;
	if (failed)
		(void)printf("FAILED: a lower bound was wrong in more than 6 %% of the windows\n");
	return failed;
}

static struct service *find(struct service *services, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(services[i].path, path) == 0)
			return &services[i];
	abort();
}

static int alarms_of(enum shape shape, unsigned days, bool *ret_failed)
{
	static struct service services[COUNT(lengths)];
	_cleanup_(policy_freep) struct policy *policy = NULL;
	u64 fires[COUNT(lengths)][KINDS] = {0};
	struct rules rules = {0};
	struct truth truth;

	for (unsigned i = 0; i < COUNT(lengths); i++)
		service_open(&services[i], shape, lengths[i], 100, i);
	truth = truth_of(&services[0]);
	(void)rule_add(&rules, SHARE, everything, truth.share / AT_LOW_RATE);
	(void)rule_add(&rules, QUANTILE, everything, edge_at_p90(&truth) / AT_LOW_RATE);
	(void)rule_add(&rules, MEAN, everything, truth.mean / AT_LOW_RATE);
	(void)rule_add(&rules, RATE, everything, truth.rate / AT_LOW_RATE);
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < days * DAY; tick++) {
		const struct transition *transitions;
		size_t n;

		if (step(policy, services, COUNT(lengths), tick, &transitions, &n) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (transitions[i].to == ALERT_FIRING)
				for (unsigned kind = 0; kind < KINDS; kind++)
					if (!strcmp(transitions[i].alert.rule->name, rules.list[kind].name))
						fires[find(services, COUNT(lengths),
							   transitions[i].alert.cgroup) -
						      services][kind]++;
	}
	for (unsigned i = 0; i < COUNT(lengths); i++) {
		(void)printf("%-6s %6gs", shape_words[shape], lengths[i]);
		for (unsigned kind = 0; kind < KINDS; kind++) {
			double a_month = (double)fires[i][kind] * MONTH / DAY / days;

			(void)printf(" %10.1f", a_month);
			*ret_failed = *ret_failed || a_month > 1;
		}
		(void)printf("\n");
	}
	return fflush(stdout);
}

static int alarms(unsigned days)
{
	bool failed = false;

	(void)printf(
		"False alarms a service and month, the true figure at %g of the threshold, all else as by "
		"default; 100 samples a second; of %u days.\n\n"
		"%-6s %7s %10s %10s %10s %10s\n",
		AT_LOW_RATE, days, "shape", "burst", "share", "p90", "mean", "rate");
	for (unsigned shape = 0; shape < SHAPES; shape++)
		if (alarms_of(shape, days, &failed) < 0)
			return -1;
	if (failed)
		(void)printf("FAILED: more than one false alarm a service and month\n");
	return failed;
}

/* 200 services of the same kind, under rules with three thresholds and three confidences. */
static int services(unsigned hours)
{
	static const double confidences[] = {0.95, 0.99, 0.999};
	static const double at[] = {AT_LOW_RATE, 0.9, 1};
	static const double of_services[] = {0, 1, 5};
	static struct service many[200];

	(void)printf(
		"False alarms a day of 200 services together (share; 100 samples a second; of %u hours), by "
		"where the true figure\nis and by the rule's confidence.\n\n%6s",
		hours, "burst");
	for (unsigned a = 0; a < COUNT(at); a++)
		for (unsigned c = 0; c < COUNT(confidences); c++)
			(void)printf("  %.1fT %4.1f%%", at[a], 100 * confidences[c]);
	(void)printf("\n");
	for (unsigned l = 0; l < COUNT(of_services); l++) {
		_cleanup_(policy_freep) struct policy *policy = NULL;
		u64 fires[COUNT(at) * COUNT(confidences)] = {0};
		struct rules rules = {0};

		for (unsigned i = 0; i < COUNT(many); i++)
			service_open(&many[i], MIXED, of_services[l], 100, i);
		for (unsigned a = 0; a < COUNT(at); a++)
			for (unsigned c = 0; c < COUNT(confidences); c++)
				rule_add(&rules, SHARE, everything, truth_of(&many[0]).share / at[a])
					->confidence = confidences[c];
		if (policy_open(&rules, &policy) < 0)
			return -1;
		for (unsigned tick = 0; tick < hours * HOUR; tick++) {
			const struct transition *transitions;
			size_t n;

			if (step(policy, many, COUNT(many), tick, &transitions, &n) < 0)
				return -1;
			for (size_t i = 0; i < n; i++)
				if (transitions[i].to == ALERT_FIRING)
					for (size_t r = 0; r < rules.n; r++)
						fires[r] += !strcmp(transitions[i].alert.rule->name,
								    rules.list[r].name);
		}
		(void)printf("%5gs", of_services[l]);
		for (size_t r = 0; r < rules.n; r++)
			(void)printf(" %11.1f", (double)fires[r] * DAY / HOUR / hours);
		(void)printf("\n");
		(void)fflush(stdout);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const unsigned *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

#define STEP_AT   400 /* the longest window is full by then */
#define STEP_S    900
#define STEP_FROM 0.4 /* factor of the chance to be slow; leaves room for a rise */

static int steps_of(enum kind kind, double length, double to, unsigned window, unsigned runs)
{
	_cleanup_free_ struct service *list = calloc(runs, sizeof(*list));
	_cleanup_free_ unsigned *delays = calloc(runs, sizeof(*delays));
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct rules rules = {0};
	struct truth truth;
	unsigned soon = 0;
	struct rule *rule;

	if (!list || !delays)
		return -1;
	for (unsigned i = 0; i < runs; i++)
		service_open(&list[i], MIXED, length, 100, i);
	for (unsigned i = 0; i < runs; i++)
		list[i].scale = STEP_FROM;
	truth = truth_of(&list[0]);
	rule = rule_add(&rules, kind, everything, kind == SHARE ? truth.share / 0.8 : truth.mean / 0.8);
	rule->window_ns = window * NSEC_PER_SEC;
	if (policy_open(&rules, &policy) < 0)
		return -1;
	for (unsigned tick = 0; tick < STEP_AT + STEP_S; tick++) {
		const struct transition *transitions;
		size_t n;

		for (unsigned i = 0; tick == STEP_AT && i < runs; i++)
			list[i].scale = STEP_FROM * to / 0.8;
		if (step(policy, list, runs, tick, &transitions, &n) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (transitions[i].to == ALERT_FIRING && tick >= STEP_AT) {
				struct service *service = find(list, runs, transitions[i].alert.cgroup);

				if (service->fires++ == 0)
					service->fired_at = tick - STEP_AT;
			}
	}
	for (unsigned i = 0; i < runs; i++) {
		delays[i] = list[i].fires ? list[i].fired_at : STEP_S;
		soon += delays[i] <= FOR + WINDOW;
	}
	qsort(delays, runs, sizeof(*delays), compare);
	(void)printf("  %5.1f%% %4us %4us", percent(soon, runs), delays[runs / 2], delays[runs * 95 / 100]);
	return fflush(stdout);
}

static int steps(unsigned runs)
{
	static const double of_lengths[] = {0, 0.1, 1, 5};
	static const double to[] = {1.2, 1.5, 3};
	static const unsigned windows[] = {30, 300};

	(void)printf(
		"A step of a share from 0.8 to N times the threshold, 100 samples a second, %u runs: how "
		"many fire within 90 s\nof the step; the median of the delay, and what 95 %% stay below (%us: not "
		"in that time).\n\n%6s %6s",
		runs, STEP_S, "window", "burst");
	for (unsigned i = 0; i < COUNT(to); i++)
		(void)printf("  %17.1fT", to[i]);
	(void)printf("\n");
	for (unsigned w = 0; w < COUNT(windows); w++)
		for (unsigned l = 0; l < COUNT(of_lengths); l++) {
			(void)printf("%5us %5gs", windows[w], of_lengths[l]);
			for (unsigned i = 0; i < COUNT(to); i++)
				if (steps_of(SHARE, of_lengths[l], to[i], windows[w], runs) < 0)
					return -1;
			(void)printf("\n");
		}
	return 0;
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *word;
		int (*run)(unsigned amount);
		unsigned amount;
	} parts[] = {{"coverage", coverage, 5000},
		     {"alarms", alarms, 30},
		     {"services", services, 24},
		     {"steps", steps, 200}};
	unsigned long amount = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	fill_pools();
	for (unsigned i = 0; argc >= 2 && argc <= 3 && i < COUNT(parts); i++)
		if (strcmp(argv[1], parts[i].word) == 0) {
			int r = parts[i].run(amount ? (unsigned)amount : parts[i].amount);

			if (r < 0)
				(void)fprintf(stderr, "policy failed\n");
			return r != 0;
		}
	(void)fprintf(stderr, "usage: bursts coverage|alarms|services|steps [AMOUNT]\n");
	return 2;
}
