// SPDX-License-Identifier: GPL-2.0
#include "window/waits.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#define GHZ  1e9
#define TEN  10.0 /* seconds */
#define PAIR ((1 + 0.95) / 2)

static void expect_near(const char *what, double value, double expected)
{
	cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %.12g is not %.12g", what, value,
		  expected);
}

static void waits_of(const struct wait_part *parts, size_t n, double confidence,
		     struct wait_value ret[WAIT_FIGURES])
{
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++)
		waits_figure(parts, n, figure, confidence, &ret[figure]);
}

/* `samples` of one period in `seconds`. */
static struct wait_count counted(u64 samples, u64 period, double seconds)
{
	return (struct wait_count){
		.known = true,
		.samples = samples,
		.weight = samples * period,
		.weight_squared = (double)samples * (double)period * (double)period,
		.largest = (double)period,
		.seconds = seconds,
		.effect = 1,
	};
}

/* 2 of 3.2 cores wait, at 2.5 GHz for 10 seconds. */
static struct wait_part whole_part(void)
{
	return (struct wait_part){
		.cycles = counted(800, 100000000, TEN),
		.instructions = counted(400, 100000000, TEN),
		.stalls = counted(500, 100000000, TEN),
		.misses = counted(3000, 100000, TEN),
		.frequency_hz = 2.5 * GHZ,
	};
}

static struct wait_part part;
static struct wait_value values[WAIT_FIGURES];

static void setup(void)
{
	part = whole_part();
}

TestSuite(waits, .init = setup);

static void expect_only(u32 figures)
{
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++)
		cr_expect_eq(values[figure].known, (figures >> figure & 1) != 0, "%s is %sknown",
			     wait_figure_name(figure), values[figure].known ? "" : "not ");
}

#define ALL ((1U << WAIT_FIGURES) - 1)

Test(waits, figures_are_quotients_of_the_counts)
{
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL);
	expect_near("wait", values[WAIT_SHARE].value, 0.625);
	expect_near("cores used", values[WAIT_CORES_USED].value, 3.2);
	expect_near("cores lost", values[WAIT_CORES_LOST].value, 2);
	expect_near("cpi", values[WAIT_CPI].value, 2);
	expect_near("misses", values[WAIT_MISSES].value, 7.5);
	expect_near("traffic", values[WAIT_TRAFFIC].value, 64 * 3e7);
}

Test(waits, a_value_without_bounds_equals_that_with_bounds)
{
	double value;

	part.stalls = counted(8000, 100000000, TEN);
	waits_of(&part, 1, 0.95, values);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		cr_assert(waits_value(&part, 1, figure, &value));
		expect_near(wait_figure_name(figure), value, values[figure].value);
	}
	part.cycles.known = false;
	cr_expect_not(waits_value(&part, 1, WAIT_SHARE, &value));
}

Test(waits, amounts_are_per_second)
{
	static const bool rates[WAIT_FIGURES] = {
		[WAIT_CORES_USED] = true, [WAIT_CORES_LOST] = true, [WAIT_TRAFFIC] = true};

	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++)
		cr_expect_eq(wait_figure_is_rate(figure), rates[figure], "%s", wait_figure_name(figure));
}

Test(waits, bounds_of_rates_are_those_of_rules)
{
	struct bounds rate;

	part.stalls.effect = 3;
	waits_of(&part, 1, 0.95, values);
	rate = bounds_rate(800, 80000000000, 8e18, 1e8, TEN, 1, 0.95);
	expect_near("low of cores used", values[WAIT_CORES_USED].bounds.low, rate.low / (2.5 * GHZ));
	expect_near("high of cores used", values[WAIT_CORES_USED].bounds.high, rate.high / (2.5 * GHZ));
	rate = bounds_rate(500, 50000000000, 5e18, 1e8, TEN, 3, 0.95);
	expect_near("low of cores lost", values[WAIT_CORES_LOST].bounds.low, rate.low / (2.5 * GHZ));
	expect_near("high of cores lost", values[WAIT_CORES_LOST].bounds.high, rate.high / (2.5 * GHZ));
	rate = bounds_rate(3000, 300000000, 3e13, 1e5, TEN, 1, 0.95);
	expect_near("low of traffic", values[WAIT_TRAFFIC].bounds.low, rate.low * 64);
	expect_near("high of traffic", values[WAIT_TRAFFIC].bounds.high, rate.high * 64);
}

/* Given the sum of both samples, the samples of one count have a binomial distribution. */
Test(waits, bounds_of_ratios_are_those_of_a_binomial_share)
{
	struct bounds share = bounds_share(500, 1300, 0.95);

	waits_of(&part, 1, 0.95, values);
	expect_near("low", values[WAIT_SHARE].bounds.low, share.low / (1 - share.low));
	expect_near("high", values[WAIT_SHARE].bounds.high, share.high / (1 - share.high));
}

Test(waits, bounds_of_ratios_are_within_those_of_two_rates)
{
	struct bounds stalls = bounds_rate(500, 50000000000, 5e18, 1e8, TEN, 1, PAIR);
	struct bounds cycles = bounds_rate(800, 80000000000, 8e18, 1e8, TEN, 1, PAIR);
	struct bounds wider = bounds_ratio(&stalls, &cycles);

	waits_of(&part, 1, 0.95, values);
	cr_expect_gt(values[WAIT_SHARE].bounds.low, wider.low);
	cr_expect_lt(values[WAIT_SHARE].bounds.high, wider.high);
	cr_expect_lt(values[WAIT_SHARE].bounds.low, values[WAIT_SHARE].value);
	cr_expect_gt(values[WAIT_SHARE].bounds.high, values[WAIT_SHARE].value);
}

Test(waits, counts_are_scaled_for_the_time_that_their_event_ran)
{
	part.stalls = counted(250, 100000000, TEN / 2);
	part.misses = counted(750, 100000, TEN / 4);
	waits_of(&part, 1, 0.95, values);
	expect_near("wait", values[WAIT_SHARE].value, 0.625);
	expect_near("cores lost", values[WAIT_CORES_LOST].value, 2);
	expect_near("misses", values[WAIT_MISSES].value, 7.5);
	expect_near("traffic", values[WAIT_TRAFFIC].value, 64 * 3e7);
}

Test(waits, figure_is_unknown_without_its_counts)
{
	part.stalls.known = false;
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_SHARE | 1U << WAIT_CORES_LOST));

	part = whole_part();
	part.cycles.known = false;
	waits_of(&part, 1, 0.95, values);
	expect_only(1U << WAIT_CORES_LOST | 1U << WAIT_MISSES | 1U << WAIT_TRAFFIC);

	part = whole_part();
	part.instructions.known = false;
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_CPI | 1U << WAIT_MISSES));

	part = whole_part();
	part.misses.known = false;
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_MISSES | 1U << WAIT_TRAFFIC));

	part = whole_part();
	part.frequency_hz = 0;
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_CORES_USED | 1U << WAIT_CORES_LOST));

	waits_of(NULL, 0, 0.95, values);
	expect_only(0);
}

Test(waits, event_that_never_ran_or_has_no_period_yields_no_figure)
{
	part.stalls = counted(0, 100000000, 0);
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_SHARE | 1U << WAIT_CORES_LOST));

	part = whole_part();
	part.misses = counted(7, 0, TEN);
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_MISSES | 1U << WAIT_TRAFFIC));
}

Test(waits, count_without_samples_is_zero_with_an_upper_bound)
{
	part.stalls = counted(0, 100000000, TEN);
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL);
	expect_near("wait", values[WAIT_SHARE].value, 0);
	expect_near("low of wait", values[WAIT_SHARE].bounds.low, 0);
	cr_expect_gt(values[WAIT_SHARE].bounds.high, 0);
	cr_expect_lt(values[WAIT_SHARE].bounds.high, 0.01);
	expect_near("cores lost", values[WAIT_CORES_LOST].value, 0);
	/* Without a sample, -log(0.05) samples are the most. */
	expect_near("high of cores lost", values[WAIT_CORES_LOST].bounds.high,
		    -log(0.05 * (1 + 1e-9)) * 1e8 / TEN / (2.5 * GHZ));

	part.stalls.largest = 0;
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_SHARE | 1U << WAIT_CORES_LOST));
}

Test(waits, ratio_to_a_count_without_samples_is_unknown)
{
	part.cycles = counted(0, 100000000, TEN);
	waits_of(&part, 1, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_SHARE));
	expect_near("cores used", values[WAIT_CORES_USED].value, 0);
	expect_near("cpi", values[WAIT_CPI].value, 0);
}

Test(waits, wait_is_at_most_1)
{
	part.stalls = counted(805, 100000000, TEN);
	waits_of(&part, 1, 0.95, values);
	expect_near("wait", values[WAIT_SHARE].value, 1);
	expect_near("high", values[WAIT_SHARE].bounds.high, 1);
	cr_expect_lt(values[WAIT_SHARE].bounds.low, 1);
	part.stalls = counted(8000, 100000000, TEN);
	waits_of(&part, 1, 0.95, values);
	expect_near("low", values[WAIT_SHARE].bounds.low, 1);
}

Test(waits, bursts_widen_bounds_and_unknown_bursts_have_none)
{
	struct wait_value few[WAIT_FIGURES], many[WAIT_FIGURES];

	waits_of(&part, 1, 0.95, few);
	part.stalls.effect = 4;
	waits_of(&part, 1, 0.95, many);
	part.stalls.effect = INFINITY;
	waits_of(&part, 1, 0.95, values);
	cr_expect_lt(many[WAIT_SHARE].bounds.low, few[WAIT_SHARE].bounds.low);
	cr_expect_gt(many[WAIT_SHARE].bounds.high, few[WAIT_SHARE].bounds.high);
	cr_expect_lt(many[WAIT_CORES_LOST].bounds.low, few[WAIT_CORES_LOST].bounds.low);
	expect_only(ALL);
	expect_near("wait", values[WAIT_SHARE].value, 0.625);
	expect_near("low of wait", values[WAIT_SHARE].bounds.low, 0);
	expect_near("high of wait", values[WAIT_SHARE].bounds.high, 1);
	expect_near("low of cores lost", values[WAIT_CORES_LOST].bounds.low, 0);
	cr_expect(isinf(values[WAIT_CORES_LOST].bounds.high));
	expect_near("high of cores used", values[WAIT_CORES_USED].bounds.high,
		    few[WAIT_CORES_USED].bounds.high);
}

/* Performance cores at 5 GHz and efficient cores at 2.5 GHz, whose stalls ran for half of the time. */
static void hybrid_parts(struct wait_part parts[2])
{
	parts[0] = (struct wait_part){
		.cycles = counted(1000, 100000000, TEN),
		.instructions = counted(1500, 100000000, TEN),
		.stalls = counted(250, 100000000, TEN),
		.misses = counted(1000, 100000, TEN),
		.frequency_hz = 5 * GHZ,
	};
	parts[1] = (struct wait_part){
		.cycles = counted(1000, 50000000, TEN),
		.instructions = counted(500, 50000000, TEN),
		.stalls = counted(250, 50000000, TEN / 2),
		.misses = counted(2000, 50000, TEN),
		.frequency_hz = 2.5 * GHZ,
	};
}

Test(waits, rates_of_hybrid_pmus_are_added)
{
	struct wait_part parts[2];

	hybrid_parts(parts);
	waits_of(parts, 2, 0.95, values);
	expect_only(ALL);
	expect_near("wait", values[WAIT_SHARE].value, 5e9 / 15e9);
	expect_near("cores used", values[WAIT_CORES_USED].value, 2 + 2);
	expect_near("cores lost", values[WAIT_CORES_LOST].value, 0.5 + 1);
	expect_near("cpi", values[WAIT_CPI].value, 15e9 / 17.5e9);
	expect_near("misses", values[WAIT_MISSES].value, 1000 * 2e7 / 17.5e9);
	expect_near("traffic", values[WAIT_TRAFFIC].value, 64 * 2e7);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		cr_expect_lt(values[figure].bounds.low, values[figure].value);
		cr_expect_gt(values[figure].bounds.high, values[figure].value);
	}
}

/* Equal parts are the same samples as one part with all of them. */
Test(waits, two_equal_pmus_are_as_sure_as_one_with_all_samples)
{
	struct wait_part parts[2] = {whole_part(), whole_part()};
	struct wait_part all = whole_part();
	struct wait_value two[WAIT_FIGURES], one[WAIT_FIGURES];

	all.cycles = counted(1600, 100000000, TEN);
	all.stalls = counted(1000, 100000000, TEN);
	all.instructions = counted(800, 100000000, TEN);
	all.misses = counted(6000, 100000, TEN);
	waits_of(parts, 2, 0.95, two);
	waits_of(&all, 1, 0.95, one);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		expect_near("low", two[figure].bounds.low, one[figure].bounds.low);
		expect_near("high", two[figure].bounds.high, one[figure].bounds.high);
	}
}

Test(waits, hybrid_is_unknown_if_a_used_pmu_lacks_a_count)
{
	struct wait_part parts[2];

	hybrid_parts(parts);
	parts[1].stalls = (struct wait_count){0};
	waits_of(parts, 2, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_SHARE | 1U << WAIT_CORES_LOST));

	hybrid_parts(parts);
	parts[1].frequency_hz = 0;
	waits_of(parts, 2, 0.95, values);
	expect_only(ALL & ~(1U << WAIT_CORES_USED | 1U << WAIT_CORES_LOST));
}

Test(waits, hybrid_ignores_a_pmu_on_which_the_cgroup_did_not_run)
{
	struct wait_part parts[2];

	hybrid_parts(parts);
	parts[1] = (struct wait_part){.cycles = counted(0, 50000000, TEN), .misses = counted(0, 50000, TEN)};
	waits_of(parts, 2, 0.95, values);
	expect_only(ALL);
	expect_near("wait", values[WAIT_SHARE].value, 0.25);
	expect_near("cores used", values[WAIT_CORES_USED].value, 2);
	expect_near("traffic", values[WAIT_TRAFFIC].value, 64 * 1e7);
}

Test(waits, names_are_those_of_the_interface)
{
	static const char *const names[WAIT_FIGURES] = {"wait", "cores_used",          "cores_lost",
							"cpi",  "misses_per_thousand", "traffic"};

	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++)
		cr_expect_str_eq(wait_figure_name(figure), names[figure]);
	cr_expect_str_eq(wait_figure_name(WAIT_FIGURES), "unknown");
}

/* The truth of one PMU: events a second. */
struct truth {
	double cycles, instructions, stalls, misses;
	double frequency_hz;
};

/* Draws Poisson samples. The governor changes the period in the middle: `periods` are those of both halves. */
static struct wait_count draw(double rate, const u64 periods[2], double seconds)
{
	struct wait_count count = {.known = true, .seconds = seconds, .effect = 1};

	for (size_t i = 0; i < 2; i++) {
		double samples = rpois(rate * seconds / 2 / (double)periods[i]);

		count.samples += (u64)samples;
		count.weight += (u64)samples * periods[i];
		count.weight_squared += samples * (double)periods[i] * (double)periods[i];
		count.largest = fmax(count.largest, (double)periods[i]);
	}
	return count;
}

struct coverage {
	double low[WAIT_FIGURES], high[WAIT_FIGURES]; /* shares of the windows in which the bound holds */
};

static void simulate(const struct truth *truths, size_t n, const u64 periods[2], unsigned windows,
		     struct coverage *ret)
{
	struct truth sum = {0};
	double used = 0, lost = 0;
	double expected[WAIT_FIGURES];

	for (size_t i = 0; i < n; i++) {
		sum.cycles += truths[i].cycles;
		sum.instructions += truths[i].instructions;
		sum.stalls += truths[i].stalls;
		sum.misses += truths[i].misses;
		used += truths[i].cycles / truths[i].frequency_hz;
		lost += truths[i].stalls / truths[i].frequency_hz;
	}
	expected[WAIT_SHARE] = sum.stalls / sum.cycles;
	expected[WAIT_CORES_USED] = used;
	expected[WAIT_CORES_LOST] = lost;
	expected[WAIT_CPI] = sum.cycles / sum.instructions;
	expected[WAIT_MISSES] = 1000 * sum.misses / sum.instructions;
	expected[WAIT_TRAFFIC] = 64 * sum.misses;

	memset(ret, 0, sizeof(*ret));
	set_seed(11, 2463534242U);
	for (unsigned window = 0; window < windows; window++) {
		struct wait_part parts[2];

		for (size_t i = 0; i < n; i++)
			parts[i] = (struct wait_part){
				.cycles = draw(truths[i].cycles, periods, TEN),
				.instructions = draw(truths[i].instructions, periods, TEN),
				.stalls = draw(truths[i].stalls, periods, TEN / 2),
				.misses = draw(truths[i].misses, periods, TEN),
				.frequency_hz = truths[i].frequency_hz,
			};
		waits_of(parts, n, 0.95, values);
		for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
			const struct wait_value *value = &values[figure];

			/* A figure that is not known makes no false promise. */
			ret->low[figure] += !value->known || value->bounds.low <= expected[figure];
			ret->high[figure] += !value->known || value->bounds.high >= expected[figure];
		}
	}
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		ret->low[figure] /= windows;
		ret->high[figure] /= windows;
	}
}

#define WINDOWS 4000

/* One percentage point is three standard deviations of 4,000 windows at 95 %. */
static void expect_holds(const char *what, const struct coverage *coverage)
{
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		cr_expect_geq(coverage->low[figure], 0.94, "%s: low of %s holds in %g", what,
			      wait_figure_name(figure), coverage->low[figure]);
		cr_expect_geq(coverage->high[figure], 0.94, "%s: high of %s holds in %g", what,
			      wait_figure_name(figure), coverage->high[figure]);
	}
}

Test(waits, bounds_hold_as_often_as_promised)
{
	static const struct truth one[] = {{5e9, 3e9, 2e9, 4e9, 2.5e9}};
	static const struct truth rare[] = {{3e8, 4e8, 2e7, 1e7, 2.5e9}};
	static const struct truth waiting[] = {{5e9, 3e9, 5e9, 4e9, 2.5e9}};
	static const struct truth hybrid[] = {{5e9, 9e9, 1e9, 1e9, 5e9}, {2e9, 1e9, 1.5e9, 2e9, 2e9}};
	static const u64 same[] = {100000000, 100000000}, changed[] = {100000000, 30000000};
	struct coverage coverage;

	simulate(one, 1, same, WINDOWS, &coverage);
	expect_holds("one PMU", &coverage);
	/* The bounds are not idle: those of ratios hold hardly more often than promised. */
	cr_expect_lt(coverage.low[WAIT_SHARE], 0.97);
	cr_expect_lt(coverage.high[WAIT_SHARE], 0.97);
	cr_expect_lt(coverage.low[WAIT_CPI], 0.97);
	cr_expect_lt(coverage.high[WAIT_CPI], 0.97);
	simulate(one, 1, changed, WINDOWS, &coverage);
	expect_holds("two periods", &coverage);
	simulate(rare, 1, same, WINDOWS, &coverage);
	expect_holds("few samples", &coverage);
	simulate(rare, 1, changed, WINDOWS, &coverage);
	expect_holds("few samples of two periods", &coverage);
	simulate(waiting, 1, same, WINDOWS, &coverage);
	expect_holds("all cycles wait", &coverage);
	simulate(hybrid, 2, same, WINDOWS, &coverage);
	expect_holds("hybrid", &coverage);
	simulate(hybrid, 2, changed, WINDOWS, &coverage);
	expect_holds("hybrid with two periods", &coverage);
}
