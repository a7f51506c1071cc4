// SPDX-License-Identifier: GPL-2.0
/* The metrics that are derived from counts: wait, cores lost, cycles per instruction and traffic. */
#include <criterion/criterion.h>
#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "estimate/bursts.h"
#include "estimate/estimate.h"

#define PERIOD 1000003
#define PARTS  30

static void expect_near(double value, double expected, double relative)
{
	cr_expect(fabs(value - expected) <= relative * fabs(expected), "%.12g is not %.12g", value, expected);
}

static struct tally tally_of_samples(u64 samples, u64 period)
{
	return (struct tally){.samples = samples,
			      .weight = samples * period,
			      .weight_squared = (double)samples * (double)period * (double)period};
}

static struct rule rule_of(const char *metric, double threshold)
{
	struct rule rule = {.threshold = threshold, .clear = threshold, .confidence = 0.95};

	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	return rule;
}

static struct estimate estimate(const char *metric, const struct measured *measured)
{
	struct rule rule = rule_of(metric, 0.5);
	struct limits limits = rule_limits(&rule, rule.threshold);
	struct estimate ret;

	estimate_of(&rule, &limits, measured, &ret);
	return ret;
}

/* 400 stalls and 1,000 cycles in 10 s. Stalls had a counter for half of the time. */
Test(estimate_derived, wait_divides_rates)
{
	const struct tally stalls = tally_of_samples(400, 50), cycles = tally_of_samples(1000, 100);
	const struct measured measured = {
		.tally = &stalls, .seconds = 5, .second = {.tally = &cycles, .seconds = 10}};
	const struct estimate ret = estimate("wait", &measured);
	const struct bounds_counted of_stalls = {400, 20000, 1e6, 0, 5, 1};
	const struct bounds_counted of_cycles = {1000, 100000, 1e7, 0, 10, 1};
	const struct bounds bounds = bounds_rate_ratio(&of_stalls, &of_cycles, 0.95);

	cr_expect(ret.known);
	expect_near(ret.value, 0.4, 1e-12);
	cr_expect_eq(ret.samples, 400);
	cr_expect_eq(ret.second_samples, 1000);
	cr_expect_eq(ret.bounds.low, bounds.low);
	cr_expect_eq(ret.bounds.high, bounds.high);
	expect_near(ret.bounds.low, 0.362, 2e-3);
	expect_near(ret.bounds.high, 0.442, 2e-3);
}

/* By chance more stalls than cycles may be sampled. */
Test(estimate_derived, wait_is_at_most_one)
{
	const struct tally stalls = tally_of_samples(1010, 100), cycles = tally_of_samples(1000, 100);
	const struct measured measured = {
		.tally = &stalls, .seconds = 10, .second = {.tally = &cycles, .seconds = 10}};
	const struct estimate ret = estimate("wait", &measured);

	cr_expect_eq(ret.value, 1);
	cr_expect_eq(ret.bounds.high, 1);
	cr_expect_lt(ret.bounds.low, 1);
}

Test(estimate_derived, cycles_per_instruction_have_no_such_limit)
{
	const struct tally cycles = tally_of_samples(2310, 100), instructions = tally_of_samples(1000, 100);
	const struct measured measured = {
		.tally = &cycles, .seconds = 10, .second = {.tally = &instructions, .seconds = 10}};
	const struct estimate ret = estimate("cpi", &measured);

	expect_near(ret.value, 2.31, 1e-12);
	cr_expect_gt(ret.bounds.low, 2);
	cr_expect_lt(ret.bounds.high, 2.7);
}

/* 10 s with 83.2 x 10^9 stalled cycles and 236.6 x 10^9 cycles, at 2.6 GHz. */
Test(estimate_derived, cores_are_cycles_a_second_at_the_frequency)
{
	const struct tally stalls = tally_of_samples(83200, 1000000),
			   cycles = tally_of_samples(236600, 1000000);
	struct measured measured = {.tally = &stalls,
				    .seconds = 10,
				    .second = {.tally = &cycles, .seconds = 10},
				    .frequency_hz = 2.6e9};
	struct estimate ret = estimate("cores-lost", &measured);

	cr_expect(ret.known);
	expect_near(ret.value, 3.2, 1e-12);
	expect_near(ret.bounds.low, 3.1818, 1e-4);
	expect_near(ret.bounds.high, 3.2183, 1e-4);
	expect_near((double)ret.cores_used, 9.1, 1e-6);
	expect_near((double)ret.frequency_hz, 2.6e9, 1e-6);

	/* Cores lost do not need the cores used. */
	measured.second.tally = &(struct tally){0};
	ret = estimate("cores-lost", &measured);
	cr_expect(ret.known);
	cr_expect_eq(ret.cores_used, 0);

	measured.frequency_hz = 0;
	ret = estimate("cores-lost", &measured);
	cr_expect_not(ret.known, "without a frequency there is no number of cores");
	cr_expect_eq(ret.samples, 83200);
}

Test(estimate_derived, traffic_is_lines_a_second)
{
	const struct tally misses = tally_of_samples(8125, 100000);
	const struct measured measured = {.tally = &misses, .seconds = 10};
	const struct estimate ret = estimate("traffic", &measured);
	const struct bounds rate = bounds_rate(8125, 812500000, 8.125e13, 0, 10, 1, 0.95);

	cr_expect_eq(ret.value, 5.2e9);
	expect_near(ret.bounds.low, 64 * rate.low, 1e-12);
	expect_near(ret.bounds.high, 64 * rate.high, 1e-12);
}

Test(estimate_derived, a_quotient_needs_something_to_divide_by)
{
	const struct tally stalls = tally_of_samples(400, 100), nothing = {0};
	const struct tally without_periods = {.samples = 1000};
	struct measured measured = {.tally = &stalls, .seconds = 10};

	cr_expect_not(estimate("wait", &measured).known, "cycles are not sampled");
	measured.second = (struct measured_second){.tally = &nothing, .seconds = 10, .sample_weight = 100};
	cr_expect_not(estimate("wait", &measured).known, "cycles have no sample");
	measured.second.tally = &without_periods;
	cr_expect_not(estimate("wait", &measured).known, "cycles have no periods");
	measured.second = (struct measured_second){.tally = &stalls};
	cr_expect_not(estimate("wait", &measured).known, "cycles never ran");
}

/* No stall among 1,000 cycles is evidence, if the period of stalls is known. */
Test(estimate_derived, without_stalls_wait_is_zero)
{
	const struct tally nothing = {0}, cycles = tally_of_samples(1000, 100);
	struct measured measured = {.tally = &nothing,
				    .seconds = 10,
				    .sample_weight = 100,
				    .second = {.tally = &cycles, .seconds = 10}};
	const struct metric wait = {.kind = METRIC_WAIT};
	struct estimate ret = estimate("wait", &measured);

	cr_expect(ret.known);
	cr_expect_eq(ret.value, 0);
	cr_expect_eq(ret.bounds.low, 0);
	/* With 1,000 cycles the share of stalls among 1,000 samples is at most 1 - 0.05^(1/1000). */
	expect_near(ret.bounds.high, pow(0.05, -1.0 / 1000) - 1, 1e-9);
	cr_expect(estimate_has_samples(&ret, &wait));
	measured.sample_weight = 0;
	cr_expect_not(estimate("wait", &measured).known);
}

Test(estimate_derived, samples_are_those_of_the_event_that_the_metric_counts)
{
	const struct tally few = tally_of_samples(10, 100), many = tally_of_samples(1000, 100);
	static const struct {
		const char *metric;
		u64 of_few_and_many, of_many_and_few;
	} cases[] = {{"wait", 1000, 10}, {"cpi", 10, 10}, {"cores-lost", 10, 1000}, {"traffic", 10, 1000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rule rule = rule_of(cases[i].metric, 0.5);
		const struct estimate estimate = {.samples = 10, .second_samples = 1000};

		cr_expect_eq(estimate_counted(&rule, &few, &many), cases[i].of_few_and_many);
		cr_expect_eq(estimate_counted(&rule, &many, &few), cases[i].of_many_and_few);
		cr_expect_eq(estimate_counted_of(&rule.metric, &estimate), cases[i].of_few_and_many);
	}
}

Test(estimate_derived, ratios_compare_with_the_baseline)
{
	const struct tally stalls = tally_of_samples(600, 100), cycles = tally_of_samples(1000, 100);
	const struct tally base_stalls = tally_of_samples(4000, 100),
			   base_cycles = tally_of_samples(10000, 100);
	const struct measured measured = {
		.tally = &stalls,
		.seconds = 10,
		.base = &base_stalls,
		.base_seconds = 100,
		.second = {.tally = &cycles, .seconds = 10, .base = &base_cycles, .base_seconds = 100},
	};
	struct estimate ret = estimate("ratio:wait", &measured);
	/* The window and the baseline have half of the chance to be wrong each. */
	const struct bounds_counted of_stalls = {600, 60000, 6e6, 0, 10, 1};
	const struct bounds_counted of_cycles = {1000, 100000, 1e7, 0, 10, 1};
	const struct bounds_counted of_base_stalls = {4000, 400000, 4e7, 0, 100, 1};
	const struct bounds_counted of_base_cycles = {10000, 1000000, 1e8, 0, 100, 1};
	const struct bounds now = bounds_rate_ratio(&of_stalls, &of_cycles, 0.975);
	const struct bounds base = bounds_rate_ratio(&of_base_stalls, &of_base_cycles, 0.975);

	cr_expect(ret.known);
	expect_near(ret.value, 1.5, 1e-12);
	cr_expect_eq(ret.base_samples, 10000);
	expect_near(ret.bounds.low, now.low / base.high, 1e-12);
	expect_near(ret.bounds.high, now.high / base.low, 1e-12);
	/* The frequency cancels out, so it need not be known. */
	ret = estimate("ratio:cores-lost", &measured);
	cr_expect(ret.known);
	expect_near(ret.value, 1.5, 1e-12);
	cr_expect_eq(ret.base_samples, 4000);
}

/* How often bounds are wrong. */

/* A service whose bursts take a tenth of the time, with exponential gaps. */
struct service {
	double length;                /* of a burst, seconds; 0: no bursts */
	double active_in, active_out; /* sampled cycles a second, in bursts and between them */
	double wait_in, wait_out;
	bool in_burst;
	double left;
};

#define DUTY 0.1

static double draw_gap(const struct service *service)
{
	return exp_rand() * service->length * (1 - DUTY) / DUTY;
}

static double true_wait(const struct service *service)
{
	double in = DUTY * service->active_in, out = (1 - DUTY) * service->active_out;

	return (in * service->wait_in + out * service->wait_out) / (in + out);
}

/* Draws one second. */
static void draw_part(struct service *service, struct tally *stalls, struct tally *cycles)
{
	double left = 1, active = 0, stalled = 0;

	while (left > 0) {
		double now = service->length > 0 ? fmin(left, service->left) : left;
		double rate = service->in_burst ? service->active_in : service->active_out;

		if (!(service->length > 0))
			rate = DUTY * service->active_in + (1 - DUTY) * service->active_out;
		active += now * rate;
		stalled += now * rate *
			   (service->length > 0 ? (service->in_burst ? service->wait_in : service->wait_out)
						: true_wait(service));
		left -= now;
		service->left -= now;
		if (service->length > 0 && service->left <= 0) {
			service->in_burst = !service->in_burst;
			service->left = service->in_burst ? service->length : draw_gap(service);
		}
	}
	*stalls = tally_of_samples((u64)rpois(stalled), PERIOD);
	*cycles = tally_of_samples((u64)rpois(active), PERIOD);
}

struct wrong {
	unsigned windows, low, high, unknown;
	unsigned naive_low; /* if samples were independent */
	double worth;       /* sum of samples / effect */
};

static void draw_windows(struct service *service, const char *metric, unsigned windows, struct wrong *ret)
{
	const struct rule rule = rule_of(metric, 0.5);
	const struct limits limits = rule_limits(&rule, rule.threshold);
	const double truth = true_wait(service);

	*ret = (struct wrong){.windows = windows};
	service->left = service->length > 0 ? draw_gap(service) : 0;
	for (unsigned i = 0; i < windows; i++) {
		struct measured_part parts[PARTS] = {0};
		struct tally stalls = {0}, cycles = {0};
		struct measured measured = {.tally = &stalls,
					    .seconds = PARTS,
					    .sample_weight = PERIOD,
					    .second = {&cycles, PARTS, PERIOD, NULL, 0},
					    .parts = parts,
					    .n_parts = PARTS};
		struct estimate estimate;

		for (unsigned j = 0; j < PARTS; j++) {
			struct tally second;

			draw_part(service, &parts[j].tally, &second);
			parts[j].seconds = 1;
			parts[j].second_weight = (double)second.weight;
			tally_add(&stalls, &parts[j].tally);
			tally_add(&cycles, &second);
		}
		estimate_of(&rule, &limits, &measured, &estimate);
		ret->naive_low += estimate.known && estimate.bounds.low > truth;
		measured.effect = estimate_effect(&rule, &limits, &measured);
		estimate_of(&rule, &limits, &measured, &estimate);
		if (!estimate.known || isinf(measured.effect)) {
			ret->unknown++;
			continue;
		}
		ret->low += estimate.bounds.low > truth;
		ret->high += estimate.bounds.high < truth;
		ret->worth += 1 / measured.effect;
	}
}

/* At most 5 %, and three standard deviations of 2,000 windows. */
#define WINDOWS    2000
#define WRONG_MOST (WINDOWS * 0.065)

static const double lengths[] = {0, 0.02, 0.1, 0.3, 1, 2, 5, 20, 30};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/*
 * Bursts of activity move stalls and cycles alike. Wait is the same at all times, and it stays known: the bursts
 * do not cost any precision.
 */
Test(estimate_derived, bursts_of_activity_do_not_matter_for_a_quotient)
{
	double worth_without = 0; /* of all windows of a service without bursts */

	set_seed(11, 2463534242U);
	for (size_t i = 0; i < LENGTHS; i++) {
		struct service service = {.length = lengths[i],
					  .active_in = 250,
					  .active_out = 250.0 / 9,
					  .wait_in = 0.4,
					  .wait_out = 0.4};
		struct wrong wrong;

		draw_windows(&service, "wait", WINDOWS, &wrong);
		cr_expect_leq(wrong.low, WRONG_MOST, "%g s: %u", lengths[i], wrong.low);
		cr_expect_leq(wrong.high, WRONG_MOST, "%g s: %u", lengths[i], wrong.high);
		cr_expect_leq(wrong.unknown, WINDOWS / 50, "%g s: %u", lengths[i], wrong.unknown);
		if (i == 0)
			worth_without = wrong.worth;
		cr_expect_gt(wrong.worth, 0.95 * worth_without, "%g s: %g instead of %g", lengths[i],
			     wrong.worth, worth_without);
		cr_expect_gt(wrong.worth, 0.8 * WINDOWS, "%g s: %g", lengths[i], wrong.worth);
	}
}

/* In bursts wait is 0.9 instead of 0.2. The service may also do seven times as much in a burst. */
Test(estimate_derived, lower_bounds_of_wait_hold_in_bursts)
{
	static const struct service services[] = {
		{.active_in = 50, .active_out = 50, .wait_in = 0.9, .wait_out = 0.2},
		{.active_in = 200, .active_out = 30, .wait_in = 0.9, .wait_out = 0.2},
		{.active_in = 500, .active_out = 0, .wait_in = 0.4, .wait_out = 0.4},
	};
	unsigned naive = 0;

	set_seed(12, 2463534242U);
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		for (size_t j = 0; j < LENGTHS; j++) {
			struct service service = services[i];
			struct wrong wrong;

			service.length = lengths[j];
			draw_windows(&service, "wait", WINDOWS, &wrong);
			cr_expect_leq(wrong.low, WRONG_MOST, "service %zu, %g s: %u of %u", i, lengths[j],
				      wrong.low, wrong.windows);
			naive = wrong.naive_low > naive ? wrong.naive_low : naive;
		}
	cr_expect_gt(naive, WINDOWS / 3, "without the effect of bursts they would be wrong: %u", naive);
}

/* In a dip wait is 0.05 instead of 0.6, and the service does half as much. */
Test(estimate_derived, upper_bounds_of_wait_hold_in_dips)
{
	set_seed(13, 2463534242U);
	for (size_t i = 0; i < LENGTHS; i++) {
		struct service service = {.length = lengths[i],
					  .active_in = 25,
					  .active_out = 53,
					  .wait_in = 0.05,
					  .wait_out = 0.6};
		struct wrong wrong;

		draw_windows(&service, "wait", WINDOWS, &wrong);
		cr_expect_leq(wrong.high, WRONG_MOST, "%g s: %u of %u", lengths[i], wrong.high,
			      wrong.windows);
	}
}
