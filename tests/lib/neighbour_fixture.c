// SPDX-License-Identifier: GPL-2.0
#include "neighbour_fixture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "workload_fixture.h"

#define LOADS       4096 /* of each workload */
#define THRESHOLD   30   /* cycles */
#define BIN         5.0  /* seconds */
#define PERIOD      1000.0
#define UTILIZED    0.9 /* utilization above which a queue no longer grows */
#define SAMPLES_LOW 8   /* a bin with fewer samples has no latency */

#define STORY_TEXT_(name, text) text,
const char *const neighbour_story_texts[STORY_COUNT] = {NEIGHBOUR_STORIES(STORY_TEXT_)};
#undef STORY_TEXT_

struct neighbour_loads {
	struct {
		u32 latency;
		bool shared;
	} loads[WORKLOAD_COUNT][LOADS];
	double shared[WORKLOAD_COUNT]; /* share of the loads */
};

static bool is_shared(u8 place)
{
	return place == PLACE_L3 || place == PLACE_REMOTE_CACHE || place == PLACE_LOCAL_DRAM ||
	       place == PLACE_REMOTE_DRAM;
}

int neighbour_loads_new(struct neighbour_loads **ret)
{
	struct neighbour_loads *loads = calloc(1, sizeof(*loads));

	if (!loads)
		return -ENOMEM;
	for (unsigned kind = 0; kind < WORKLOAD_COUNT; kind++) {
		struct workload_fixture fixture;
		size_t shared = 0;

		if (workload_fixture_open(machine_find("skylake-server"), kind, 1, &fixture) < 0) {
			workload_fixture_close(&fixture);
			free(loads);
			return -ENOMEM;
		}
		for (size_t n = 0; n < LOADS;) {
			struct retired load;

			workload_next_load(&fixture.workload, &load);
			if (load.latency <= THRESHOLD)
				continue;
			loads->loads[kind][n].latency = load.latency;
			loads->loads[kind][n].shared = is_shared(load.place);
			shared += loads->loads[kind][n++].shared;
		}
		loads->shared[kind] = (double)shared / LOADS;
		workload_fixture_close(&fixture);
	}
	*ret = loads;
	return 0;
}

void neighbour_loads_free(struct neighbour_loads **loads)
{
	free(*loads);
	*loads = NULL;
}

/* Returns a number above 0 and below 1. */
static double uniform(struct random *random)
{
	return ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

static double between(struct random *random, double low, double high)
{
	return low + (high - low) * uniform(random);
}

static double normal(struct random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

static u64 poisson(struct random *random, double mean)
{
	double product = uniform(random), left = exp(-mean);
	u64 n = 0;

	if (mean > 50)
		return (u64)fmax(0, round(mean + sqrt(mean) * normal(random)));
	for (; product > left; n++)
		product *= uniform(random);
	return n;
}

/*
 * Sets `ret` to 1 during bursts, and to 0 otherwise. Bursts last `low` to `high` bins, start at random, and
 * cover the share `part` of the time.
 */
static void burst(struct random *random, double low, double high, double part, double *ret)
{
	double mean = (low + high) / 2;
	size_t end = 0;
	bool on = uniform(random) < part;

	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++) {
		if (i == end) {
			double gap = -mean * (1 - part) / part * log(uniform(random));

			on = i > 0 ? !on : on;
			end = i + 1 + (size_t)(on ? between(random, low, high) : fmin(gap, 1e6));
		}
		ret[i] = on;
	}
}

/* Sets `ret` to values that vary around 1. Each bin depends partly on the bin before. */
static void wander(struct random *random, double spread, double memory, double *ret)
{
	double state = normal(random);

	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++) {
		ret[i] = exp(spread * state - spread * spread / 2);
		state = memory * state + sqrt(1 - memory * memory) * normal(random);
	}
}

/* The part that is common to all cgroups: a piece of a daily wave, with sudden busy periods. */
static void trend(struct random *random, double *ret)
{
	double phase = between(random, 0, 2 * M_PI), bins = between(random, 80, 400);
	double busy[NEIGHBOUR_FIXTURE_BINS];

	burst(random, 4, 20, 0.3, busy);
	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++)
		ret[i] = 1 + 0.4 * sin(phase + 2 * M_PI * (double)i / bins) + 0.6 * busy[i];
}

struct plan {
	enum neighbour_story story;
	unsigned kind[NEIGHBOUR_FIXTURE_CGROUPS];
	double demand[NEIGHBOUR_FIXTURE_CGROUPS][NEIGHBOUR_FIXTURE_BINS]; /* unhindered samples per second */
	double moves[NEIGHBOUR_FIXTURE_BINS]; /* factor by which the victim's latency changes by itself */
	double utilized;                      /* mean utilization of the shared levels */
	size_t lag;
};

bool neighbour_story_has_culprit(enum neighbour_story story)
{
	return story <= STORY_CULPRIT_STREAMS;
}

static void plan_demand(struct random *random, struct plan *plan, size_t culprit)
{
	bool together = plan->story == STORY_COMMON || plan->story == STORY_CULPRIT_AND_TREND;
	double common[NEIGHBOUR_FIXTURE_BINS];

	trend(random, common);
	for (size_t c = 0; c < NEIGHBOUR_FIXTURE_CGROUPS; c++) {
		bool bursts = (c > 0 && (c == culprit || plan->story == STORY_IDLE)) ||
			      (c == 0 && (plan->story == STORY_OWN || plan->story == STORY_FOLLOWED));
		double level = plan->story == STORY_CROWD ? 40 : between(random, 15, 60);
		double height = between(random, 6, 12);
		double own[NEIGHBOUR_FIXTURE_BINS], busy[NEIGHBOUR_FIXTURE_BINS];

		wander(random, plan->story == STORY_STEADY ? 0.05 : 0.25, 0.7, own);
		burst(random, 2, 10, between(random, 0.15, 0.4), busy);
		/* The loads of a streaming workload do not wait for each other, so it makes more of them. */
		if (plan->story == STORY_CULPRIT_STREAMS && c > 0 && c == culprit)
			level *= 10;
		for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++)
			plan->demand[c][i] = level * own[i] * (together ? common[i] : 1) *
					     (bursts ? 1 + height * busy[i] : 1);
	}
	for (size_t i = 0; plan->story == STORY_FOLLOWED && i < NEIGHBOUR_FIXTURE_BINS; i++)
		plan->demand[1][i] = plan->demand[0][i] / 3;
}

static void make_plan(struct random *random, enum neighbour_story story, size_t culprit, struct plan *plan)
{
	double busy[NEIGHBOUR_FIXTURE_BINS];

	*plan = (struct plan){.story = story};
	/*
	 * The culprit and the cgroups of a crowd get the workloads that use memory most: streaming and
	 * pointer-chase.
	 */
	for (size_t c = 0; c < NEIGHBOUR_FIXTURE_CGROUPS; c++)
		plan->kind[c] =
			story == STORY_CROWD ? WORKLOAD_POINTER_CHASE : random_below(random, WORKLOAD_COUNT);
	plan->kind[0] = random_chance(random, 1, 2) ? WORKLOAD_POINTER_CHASE : WORKLOAD_MIX;
	if (culprit)
		plan->kind[culprit] =
			story == STORY_CULPRIT_STREAMS ? WORKLOAD_STREAMING : WORKLOAD_POINTER_CHASE;
	if (story == STORY_FOLLOWED)
		plan->kind[1] = plan->kind[0];
	plan_demand(random, plan, culprit);
	plan->utilized = story == STORY_IDLE || story == STORY_STEADY ? 0.02 : between(random, 0.4, 0.6);
	plan->lag = story == STORY_CULPRIT_LATER;
	burst(random, 2, 12, between(random, 0.15, 0.4), busy);
	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++)
		plan->moves[i] = story == STORY_IDLE ? 1 + 0.8 * busy[i] : 1;
}

/*
 * Returns the lines requested per load. A streaming workload needs a new line every eight loads, even if
 * prefetchers fetched it before.
 */
static double lines(const struct neighbour_loads *loads, unsigned kind)
{
	return kind == WORKLOAD_STREAMING ? 1 / 8.0 : loads->shared[kind];
}

/*
 * Sets `ret` to the factor by which shared levels are slower in each bin: 1 / (1 - utilization), with a
 * utilization of at most UTILIZED.
 */
static void queue(const struct neighbour_loads *loads, const struct plan *plan, double *ret)
{
	double asked[NEIGHBOUR_FIXTURE_BINS] = {0};
	double mean = 0;

	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++) {
		for (size_t c = 0; c < NEIGHBOUR_FIXTURE_CGROUPS; c++)
			asked[i] += plan->demand[c][i] * lines(loads, plan->kind[c]);
		mean += asked[i] / NEIGHBOUR_FIXTURE_BINS;
	}
	for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++) {
		double now = asked[i < plan->lag ? 0 : i - plan->lag];

		ret[i] = 1 / (1 - fmin(UTILIZED, plan->utilized * now / mean));
	}
}

/* Draws each sample of the victim in one bin. */
static void sample_victim(const struct neighbour_loads *loads, struct random *random, const struct plan *plan,
			  size_t bin, u64 samples, double slower, struct neighbour_fixture *fixture)
{
	double n = (double)samples, sum = 0, squares = 0, shared = 0;

	for (u64 i = 0; i < samples; i++) {
		u32 which = random_below(random, LOADS);
		double latency = loads->loads[plan->kind[0]][which].latency * plan->moves[bin];

		if (loads->loads[plan->kind[0]][which].shared) {
			latency *= slower;
			shared++;
		}
		sum += latency;
		squares += latency * latency;
	}
	fixture->traffic[0][bin] = shared * PERIOD / BIN;
	fixture->latency[bin] = samples >= SAMPLES_LOW ? sum / n : NAN;
	fixture->error[bin] =
		samples >= SAMPLES_LOW ? sqrt((squares / n - sum / n * sum / n) / (n - 1)) : NAN;
}

void neighbour_fixture_make(const struct neighbour_loads *loads, enum neighbour_story story, u64 seed,
			    struct neighbour_fixture *ret)
{
	double slower[NEIGHBOUR_FIXTURE_BINS];
	struct random random;
	struct plan plan;

	random_seed(&random, seed, story);
	ret->culprit = neighbour_story_has_culprit(story)
			       ? 1 + random_below(&random, NEIGHBOUR_FIXTURE_CGROUPS - 1)
			       : 0;
	make_plan(&random, story, ret->culprit, &plan);
	queue(loads, &plan, slower);
	for (size_t c = 0; c < NEIGHBOUR_FIXTURE_CGROUPS; c++) {
		(void)snprintf(ret->names[c], sizeof(ret->names[c]), "/cgroup-%zu", c);
		ret->series[c] = (struct neighbour_series){
			.cgroup = ret->names[c],
			.traffic = ret->traffic[c],
			.latency = c == 0 ? ret->latency : NULL,
			.error = c == 0 ? ret->error : NULL,
		};
		for (size_t i = 0; i < NEIGHBOUR_FIXTURE_BINS; i++) {
			/* A cgroup that waits longer for each load makes fewer loads. */
			double hindered = story == STORY_CULPRIT_CLOSED && c != ret->culprit ? slower[i] : 1;
			double mean = plan.demand[c][i] / hindered * BIN;

			if (c == 0)
				sample_victim(loads, &random, &plan, i, poisson(&random, mean), slower[i],
					      ret);
			else
				ret->traffic[c][i] =
					(double)poisson(&random, mean * loads->shared[plan.kind[c]]) *
					PERIOD / BIN;
		}
	}
}
