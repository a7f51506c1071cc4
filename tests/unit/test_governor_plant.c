// SPDX-License-Identifier: GPL-2.0
/*
 * The governor together with a simulated machine: load steps, steady loads, and the way to the budget from
 * both sides.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plant.h"

/* The period of a steady load may change by this share in a minute. */
#define STEADY_SHARE 0.05

static double share_of(u64 period, u64 before)
{
	return fabs((double)period - (double)before) / (double)before;
}

/*
 * Runs for `minutes` of 60 s. In none of them may the period of the first event move by more than
 * STEADY_SHARE.
 */
static void expect_steady(struct plant *plant, unsigned minutes, const char *what)
{
	for (unsigned minute = 0; minute < minutes; minute++) {
		u64 before = plant->events[0].period;
		double most = 0;

		for (unsigned i = 0; i < (unsigned)(60 / plant->seconds); i++) {
			(void)plant_step(plant);
			most = fmax(most, share_of(plant->events[0].period, before));
		}
		cr_expect_leq(most, STEADY_SHARE, "%s: by %.1f%% in minute %u, from %llu to %llu", what,
			      most * 100, minute, (unsigned long long)before,
			      (unsigned long long)plant->events[0].period);
	}
}

/* The result does not depend on when in the interval the load rises. */
Test(governor_plant, a_load_ten_times_as_large_is_over_budget_for_two_intervals_at_most)
{
	for (unsigned tenth = 0; tenth < 10; tenth++) {
		struct plant plant = plant_usual(tenth);
		unsigned over;

		plant_open(&plant);
		(void)plant_run(&plant, 300);
		for (int again = 0; again < 3; again++) {
			double before = plant.events[0].events_per_second;

			plant.events[0].events_per_second = before * 10;
			over = plant_step_from(&plant, before, tenth / 10.0) > 1;
			over += plant_run(&plant, 120);
			cr_expect_leq(over, 2, "%u intervals over, step at %u/10", over, tenth);
			plant.events[0].events_per_second = before;
			over = plant_run(&plant, 120);
			cr_expect_eq(over, 0, "%u intervals over when the load fell", over);
		}
		plant_close(&plant);
	}
}

Test(governor_plant, the_cost_converges_to_the_budget_from_either_side)
{
	static const u64 periods[] = {313, 1009, 10007, 100003, 1000003, 100000007};

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct plant plant = plant_usual(i);
		double mean = 0;

		plant.events[0].period = periods[i];
		plant_open(&plant);
		(void)plant_run(&plant, 300);
		for (int second = 0; second < 100; second++)
			mean += plant_step(&plant) / 100;
		cr_expect(mean >= 0.45 && mean <= 1, "from %llu: %.2f of the budget",
			  (unsigned long long)periods[i], mean);
		plant_close(&plant);
	}
}

/*
 * An interval has from about five samples on a CPU to more than a hundred thousand. There are 1 to 256 CPUs.
 */
Test(governor_plant, a_steady_load_does_not_change_the_period)
{
	static const struct {
		const char *name;
		double sample_ns, seconds;
		unsigned cpus;
	} cases[] = {
		{"one CPU", 1000, 1, 1},
		{"256 CPUs", 1000, 1, 256},
		{"few samples", 50000, 1, 1},
		{"few samples of 256 CPUs", 50000, 1, 256},
		{"ten samples", 50000, 0.1, 1},
		{"ten samples of 64 CPUs", 50000, 0.1, 64},
		{"short intervals", 1000, 0.1, 16},
		{"long intervals", 200, 10, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plant plant = plant_usual(i);

		plant.events[0].sample.dense_ns = cases[i].sample_ns;
		plant.seconds = cases[i].seconds;
		plant.cpus = cases[i].cpus;
		plant_open(&plant);
		(void)plant_run(&plant, (unsigned)(600 / plant.seconds));
		expect_steady(&plant, 20, cases[i].name);
		plant_close(&plant);
	}
}

/*
 * Interrupts take most of the time of this machine. When they become fewer, the programs have more of the CPU
 * and cause more samples: after the first step, the cost stays at nine tenths of the budget. The governor
 * soon brings the cost down to the part of the budget that it aims at.
 */
Test(governor_plant, a_load_that_grows_after_a_step_is_corrected_soon)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		struct plant plant = plant_usual(seed);
		double mean = 0;
		u64 settled;

		plant.seconds = 4;
		plant.budget = 0.2;
		plant.cpus = 2;
		plant.events[0].sample.dense_ns = 4e6; /* the budget allows fifty samples a second */
		plant_open(&plant);
		plant.events[0].period = 10007;
		plant.events[0].events_per_second = 2e6; /* costs four times the budget */
		(void)plant_step(&plant);
		plant.events[0].events_per_second *= 0.93 / 0.75;
		(void)plant_run(&plant, 10);
		settled = plant.events[0].changes;
		for (int i = 0; i < 10; i++)
			mean += plant_step(&plant) / 10;
		cr_expect(mean > 0.6 && mean < 0.9, "seed %llu: %.2f of the budget", (unsigned long long)seed,
			  mean);
		cr_expect_eq(plant.events[0].changes, settled, "seed %llu", (unsigned long long)seed);
		plant_close(&plant);
	}
}

/* The load swings by 30 %, as the load of a service does. */
Test(governor_plant, an_oscillating_load_does_not_change_the_period)
{
	_cleanup_(plant_close) struct plant plant = plant_usual(3);

	plant_open(&plant);
	for (int second = 0; second < 1200; second++) {
		u64 before = plant.events[0].period;

		plant.events[0].events_per_second = 10e6 * (1 + 0.3 * sin(second / 4.0));
		(void)plant_step(&plant);
		if (second > 300)
			cr_assert_eq(plant.events[0].period, before, "second %d", second);
	}
}

Test(governor_plant, after_a_long_idle_time_a_burst_is_handled_in_two_intervals)
{
	_cleanup_(plant_close) struct plant plant = plant_usual(5);
	unsigned over;

	plant.events[0].events_per_second = 0;
	plant_open(&plant);
	(void)plant_run(&plant, 3600);
	cr_expect_eq(plant.events[0].period, 313);
	plant.events[0].events_per_second = 50e6;
	over = plant_step_from(&plant, 0, 0.5) > 1;
	over += plant_run(&plant, 600);
	cr_expect_leq(over, 2, "%u intervals", over);
}

Test(governor_plant, throttling_is_followed_within_the_interval)
{
	_cleanup_(plant_close) struct plant plant = plant_usual(6);
	unsigned throttled = 0;

	plant.events[0].sample.dense_ns = 10; /* cheap, so that the budget does not limit */
	plant_open(&plant);
	(void)plant_run(&plant, 300);
	plant.max_rate = 1000;
	for (int second = 0; second < 600; second++) {
		double samples = plant.events[0].events_per_second / (double)plant.events[0].period;

		throttled += samples > 1000;
		(void)plant_step(&plant);
	}
	cr_expect_leq(throttled, 1, "%u intervals", throttled);
	expect_steady(&plant, 10, "after it");
}

/* Loads and stores of the big cores, and loads of the small ones. Each class keeps to its own budget. */
Test(governor_plant, several_events_and_classes_keep_their_budgets)
{
	_cleanup_(plant_close) struct plant plant = plant_usual(7);
	unsigned over;

	plant.n_events = 3;
	plant.events[1] = plant.events[2] = plant.events[0];
	plant.events[1].events_per_second = 3e6;
	plant.events[2].events_per_second = 1e6;
	plant.events[2].class = 1;
	plant_open(&plant);
	(void)plant_run(&plant, 300);
	over = plant_run(&plant, 300);
	cr_expect_eq(over, 0, "%u intervals", over);
	for (size_t i = 0; i < 3; i++) {
		double load = plant.events[i].last.cost / plant.events[i].last.budget;

		cr_expect(load > 0.4 && load < 1, "event %zu: %.2f of its budget", i, load);
	}
	plant.events[1].events_per_second *= 10;
	plant.events[2].events_per_second *= 10;
	over = plant_run(&plant, 300);
	cr_expect_leq(over, 2, "%u intervals after the step", over);
}

/*
 * A rare sample takes up to nine times as long as a frequent one. The governor finds the same budget from
 * both sides.
 */
Test(governor_plant, longer_rare_samples_count_against_the_budget)
{
	static const u64 periods[] = {313, 10007, 1000003, 100000007};
	static const double factors[] = {1.5, 4, 9};

	for (size_t i = 0; i < 12; i++) {
		struct plant plant = plant_usual(i);
		double mean = 0;
		unsigned over;

		plant.events[0].period = periods[i / 3];
		plant.events[0].sample.dense_per_second = 25000;
		plant.events[0].sample.sparse_ns = 1000 * factors[i % 3];
		plant.events[0].sample.sparse_per_second = 100;
		plant_open(&plant);
		(void)plant_run(&plant, 300);
		over = plant_run(&plant, 100);
		cr_expect_eq(over, 0, "from %llu, factor %g: %u intervals over",
			     (unsigned long long)periods[i / 3], factors[i % 3], over);
		expect_steady(&plant, 5, "after it");
		for (int second = 0; second < 100; second++)
			mean += plant_step(&plant) / 100;
		cr_expect(mean >= 0.45 && mean <= 1, "from %llu, factor %g: %.2f of the budget",
			  (unsigned long long)periods[i / 3], factors[i % 3], mean);
		plant.events[0].events_per_second *= 10;
		over = plant_run(&plant, 120);
		cr_expect_leq(over, 2, "factor %g: %u intervals after a step", factors[i % 3], over);
		plant_close(&plant);
	}
}

/*
 * While one event is paused, the other has the whole budget. When the paused event comes back, both share it
 * again.
 */
Test(governor_plant, a_resumed_event_has_its_share_in_two_intervals)
{
	_cleanup_(plant_close) struct plant plant = plant_usual(8);
	unsigned over;

	plant.n_events = 2;
	plant.events[1] = plant.events[0];
	plant_open(&plant);
	(void)plant_run(&plant, 300);
	plant.events[1].away = true;
	(void)plant_run(&plant, 300);
	cr_expect_gt(plant.events[0].last.cost, 0.5 * 0.005, "it has all of it: %g",
		     plant.events[0].last.cost);
	plant.events[1].away = false;
	over = plant_run(&plant, 300);
	cr_expect_leq(over, 2, "%u intervals", over);
}

/*
 * A random load within the range that can be governed. The cost is over budget for at most two intervals after
 * each change of the load. In the last 40 intervals before the next change, the period changes at most once.
 */
Test(governor_plant, random_loads_are_over_budget_for_two_intervals_at_most)
{
	for (u64 seed = 1; seed <= 40; seed++) {
		struct plant plant = plant_usual(seed);
		double rate = 1e6;
		double most; /* multiple of the budget; a greater one is not due to chance */

		plant.cpus = 1 + random_below(&plant.random, 64);
		plant.seconds = (1 + random_below(&plant.random, 20)) / 10.0;
		plant.events[0].sample.dense_ns = 300 + random_below(&plant.random, 20000);
		plant.events[0].sample.dense_per_second = 25000;
		plant.events[0].sample.sparse_ns =
			plant.events[0].sample.dense_ns * (1 + random_below(&plant.random, 8));
		plant.events[0].sample.sparse_per_second = 100;
		plant.budget = 0.001 * (1 + random_below(&plant.random, 20));
		most = 1.05 + 4 / sqrt(plant.budget * plant.seconds * 1e9 / plant.events[0].sample.sparse_ns);
		plant_open(&plant);
		for (int change = 0; change < 12; change++) {
			double before = rate;
			unsigned over;
			u64 settled;

			rate = 1e4 * pow(10, random_below(&plant.random, 4000) / 1000.0);
			plant.events[0].events_per_second = rate;
			over = plant_step_from(&plant, before, random_below(&plant.random, 100) / 100.0) >
			       1.2;
			for (int i = 0; i < 40; i++)
				over += plant_step(&plant) > most;
			cr_expect_leq(over, 2, "seed %llu, change %d: %u intervals over",
				      (unsigned long long)seed, change, over);
			(void)plant_run(&plant, (unsigned)(1000 / plant.seconds));
			settled = plant.events[0].changes;
			(void)plant_run(&plant, 40);
			cr_expect_leq(plant.events[0].changes - settled, 1, "seed %llu, change %d",
				      (unsigned long long)seed, change);
			cr_assert(isfinite(plant.events[0].last.cost));
			cr_assert(plant.events[0].period >= 313 && plant.events[0].period <= INT32_MAX);
		}
		plant_close(&plant);
	}
}

/*
 * The kernel has lowered its limit to the minimum, HZ: every sample stops the event until the next tick, or
 * on older kernels the second sample in a tick. A sample takes 30 us, so the budget allows 166 a second on
 * each CPU.
 *
 * The tests require at least 50 of these a second (FAIR). The governor aims at three quarters of the budget
 * and at half of the limit. Both are 125 a second. It leaves the period alone if the samples take more than
 * half of the budget, 83 a second. It compares these numbers with the largest reading of any CPU in half a
 * minute. With 64 CPUs that have 53 samples each on average, this reading is 30 above the mean.
 */
#define LOWEST_LIMIT 250
#define ALLOWED      166.7
#define FAIR         50.0

struct machine {
	const char *name;
	unsigned cpus;
	bool stops_at_limit;
};

static const struct machine machines[] = {
	{"2 CPUs, old kernel", 2, false},
	{"64 CPUs, old kernel", 64, false},
	{"2 CPUs", 2, true},
	{"64 CPUs", 64, true},
};
#define N_MACHINES (sizeof(machines) / sizeof(machines[0]))

static struct plant plant_limited(u64 seed, const struct machine *machine)
{
	struct plant plant = plant_usual(seed);

	plant.hz = 250;
	plant.max_rate = LOWEST_LIMIT;
	plant.cpus = machine->cpus;
	plant.stops_at_limit = machine->stops_at_limit;
	plant.events[0].sample.dense_ns = 30000;
	return plant;
}

/* Runs for `seconds`. Returns how many samples of the event each CPU had a second. */
static double rate_over(struct plant *plant, size_t event, double seconds)
{
	const u64 before = plant->events[event].samples;

	(void)plant_run(plant, (unsigned)(seconds / plant->seconds));
	return (double)(plant->events[event].samples - before) / seconds / plant->cpus;
}

Test(governor_plant, throttlings_at_a_low_limit_leave_a_fair_share_of_the_budget)
{
	for (size_t i = 0; i < N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i]);
		double least = INFINITY, most = 0, sum = 0;

		plant_open(&plant);
		for (int part = 0; part < 12; part++) {
			const double rate = rate_over(&plant, 0, 600);

			least = fmin(least, rate);
			most = fmax(most, rate);
			sum += rate;
		}
		cr_expect_geq(least, FAIR, "%s: %.2f samples a second and CPU in some ten minutes",
			      machines[i].name, least);
		cr_expect_leq(most, ALLOWED, "%s: %.2f", machines[i].name, most);
		plant_close(&plant);
	}
}

/*
 * From any period, samples reach an eighth of the number that the governor aims at within five minutes, and a
 * fair share within about an hour.
 */
Test(governor_plant, from_any_period_samples_are_soon_frequent)
{
	static const u64 periods[] = {313, 10007, 1000003, 100000007, INT32_MAX};

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]) * N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i % N_MACHINES]);
		double rate;

		plant.events[0].period = periods[i / N_MACHINES];
		plant_open(&plant);
		(void)plant_run(&plant, 300);
		rate = rate_over(&plant, 0, 60);
		cr_expect_geq(rate, 125 / 8.0, "%s, from %llu: %.2f samples a second and CPU after 5 min",
			      machines[i % N_MACHINES].name, (unsigned long long)periods[i / N_MACHINES],
			      rate);
		(void)plant_run(&plant, 3600);
		rate = rate_over(&plant, 0, 600);
		cr_expect_geq(rate, FAIR, "%s, from %llu: %.2f samples a second and CPU after an hour",
			      machines[i % N_MACHINES].name, (unsigned long long)periods[i / N_MACHINES],
			      rate);
		plant_close(&plant);
	}
}

/*
 * The event takes thousands of samples a second, but the limit allows 250. The kernel throttles it nearly all
 * the time. With half of 250, it stands still for a thirtieth of the time, or for a fifth if every sample
 * stops it.
 */
Test(governor_plant, an_overload_of_the_limit_ends_in_two_intervals)
{
	for (size_t i = 0; i < N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i]);
		double share;

		plant.events[0].sample.dense_ns = 100; /* cheap, so that the budget does not limit */
		plant.events[0].period = 1009;
		plant_open(&plant);
		(void)plant_step(&plant);
		share = plant.events[0].throttled_ns / 1e9 / plant.cpus;
		cr_expect_geq(share, 0.9, "%s: it stood still for %.2f of the time", machines[i].name, share);
		(void)plant_step(&plant);
		plant.events[0].throttled_ns = 0;
		(void)plant_run(&plant, 60);
		share = plant.events[0].throttled_ns / 60e9 / plant.cpus;
		cr_expect_leq(share, machines[i].stops_at_limit ? 0.25 : 0.1,
			      "%s: it stands still for %.2f of the time", machines[i].name, share);
		plant_close(&plant);
	}
}

/*
 * The load is ten thousand times as large for two seconds. The period that the limit then demanded does not
 * last long. Within 16 minutes, the largest reading of any CPU in half a minute is an eighth of the number that
 * the governor aims at. With so few samples, that reading is two to three times the mean.
 */
Test(governor_plant, after_an_overload_samples_are_soon_frequent)
{
	for (size_t i = 0; i < N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i]);
		double rate;

		plant_open(&plant);
		(void)plant_run(&plant, 300);
		plant.events[0].events_per_second *= 1e4;
		(void)plant_run(&plant, 2);
		plant.events[0].events_per_second /= 1e4;
		(void)plant_run(&plant, 16 * 60);
		rate = rate_over(&plant, 0, 60);
		cr_expect_geq(rate, 125 / 24.0, "%s: %.2f samples a second and CPU after 16 minutes",
			      machines[i].name, rate);
		plant_close(&plant);
	}
}

/*
 * Every ten seconds the load is twenty times as large for a tenth of a second. The second with the burst has
 * three times the samples of the others, and the governor keeps the second with the burst within the budget. A
 * third of a fair share is left.
 */
Test(governor_plant, bursts_leave_a_share_of_the_budget)
{
	for (size_t i = 0; i < N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i]);
		double least = INFINITY;

		plant.events[0].burst = 20;
		plant.events[0].burst_seconds = 0.1;
		plant.events[0].burst_every = 10;
		plant_open(&plant);
		for (int part = 0; part < 12; part++)
			least = fmin(least, rate_over(&plant, 0, 600));
		cr_expect_geq(least, FAIR / 3, "%s: %.2f samples a second and CPU in some ten minutes",
			      machines[i].name, least);
		plant_close(&plant);
	}
}

/* Loads, stores and instructions have a third of the budget each. */
Test(governor_plant, events_that_share_a_cpu_each_have_a_fair_share_of_a_low_limit)
{
	static const double rates[] = {10e6, 3e6, 1e9};
	static const struct machine machine = {"16 CPUs", 16, true};
	_cleanup_(plant_close) struct plant plant = plant_limited(1, &machine);

	plant.n_events = 3;
	for (size_t i = 0; i < 3; i++) {
		plant.events[i] = plant.events[0];
		plant.events[i].events_per_second = rates[i];
	}
	plant.events[2].period = 1000003;
	plant_open(&plant);
	(void)plant_run(&plant, 600);
	for (size_t i = 0; i < 3; i++)
		plant.events[i].samples = 0;
	cr_expect_leq(plant_run(&plant, 6600), 66, "over budget in more than a hundredth of the intervals");
	for (size_t i = 0; i < 3; i++) {
		const double rate = (double)plant.events[i].samples / 6600 / plant.cpus;

		cr_expect(rate >= FAIR / 3 && rate <= ALLOWED / 3, "event %zu: %.2f samples a second and CPU",
			  i, rate);
	}
}

/*
 * The kernel lowers its limit by a fifth again and again, down to HZ, as it does when interrupts take long.
 * Then a user raises it again. The budget allows 1667 samples a second on each CPU.
 */
Test(governor_plant, a_lowered_and_raised_limit_is_followed)
{
	for (size_t i = 0; i < N_MACHINES; i++) {
		struct plant plant = plant_limited(i, &machines[i]);
		double rate;

		plant.events[0].sample.dense_ns = 3000;
		plant.max_rate = 100000;
		plant_open(&plant);
		(void)plant_run(&plant, 300);
		while (plant.max_rate > LOWEST_LIMIT) {
			plant.max_rate = plant.max_rate * 4 / 5;
			if (plant.max_rate < LOWEST_LIMIT)
				plant.max_rate = LOWEST_LIMIT;
			(void)plant_step(&plant);
		}
		rate = rate_over(&plant, 0, 1200);
		cr_expect_geq(rate, 125 / 4.0, "%s: %.2f samples a second and CPU when it was lowered",
			      machines[i].name, rate);
		(void)plant_run(&plant, 2400);
		cr_expect_str_eq(governor_state(&(struct governor_input){0}, &plant.events[0].last),
				 "at the kernel's sample rate limit");
		plant.max_rate = 100000;
		(void)plant_run(&plant, 300);
		rate = rate_over(&plant, 0, 60);
		cr_expect_geq(rate, 500, "%s: %.2f samples a second and CPU when it was set back",
			      machines[i].name, rate);
		plant_close(&plant);
	}
}

#define HOUR 3600

/* The cost of a sample: the same at any rate, and as the calibration of a server finds it. */
static const struct sample_cost even_cost = {.dense_ns = 1000};
static const struct sample_cost sparse_costs_more = {.program_ns = 200,
						     .dense_ns = 900,
						     .dense_per_second = 20000,
						     .sparse_ns = 2000,
						     .sparse_per_second = 100};

/* A busy CPU of 3 GHz with loads, stores, and four count events: cycles, instructions, stalls and misses. */
static struct plant plant_counting(u64 seed, const struct sample_cost *sample, bool with_counts)
{
	static const double rates[] = {800e6, 300e6, 3e9, 4e9, 1.2e9, 8e6};
	struct plant plant = plant_usual(seed);

	plant.cpus = 16;
	plant.n_events = with_counts ? 6 : 2;
	for (size_t i = 0; i < 6; i++) {
		plant.events[i] = plant.events[0];
		plant.events[i].events_per_second = rates[i];
		plant.events[i].count = i >= 2;
		plant.events[i].sample = *sample;
	}
	for (size_t i = 2; i < 6; i++) {
		plant.events[i].period = i == 5 ? 10007 : 2000003;
		plant.events[i].least_period = plant.events[i].period / 32;
	}
	return plant;
}

/* Returns the mean samples a second of loads over an hour that begins after half an hour. */
static double loads_over_an_hour(struct plant *plant, double *ret_counts)
{
	double samples = 0;

	plant_open(plant);
	(void)plant_run(plant, HOUR / 2);
	*ret_counts = 0;
	for (size_t i = 0; i < plant->n_events; i++)
		plant->events[i].changes = 0;
	for (unsigned second = 0; second < HOUR; second++) {
		const double period = (double)plant->events[0].period;

		(void)plant_step(plant);
		samples += plant->events[0].events_per_second / period / HOUR;
		for (size_t i = 2; i < plant->n_events; i++)
			*ret_counts += plant->events[i].cost / HOUR;
	}
	return samples;
}

/* Where rare samples cost more, a fifth of the budget is more than a fifth of the samples. */
static void expect_a_fifth(u64 seed, const struct sample_cost *sample, double part)
{
	_cleanup_(plant_close) struct plant alone = plant_counting(seed, sample, false);
	_cleanup_(plant_close) struct plant counting = plant_counting(seed, sample, true);
	double counts, none, without, with;

	without = loads_over_an_hour(&alone, &none);
	with = loads_over_an_hour(&counting, &counts);
	cr_expect(counts >= 0.12 * counting.budget && counts <= 0.2 * counting.budget,
		  "seed %llu: count events cost %.3f of the budget", (unsigned long long)seed,
		  counts / counting.budget);
	cr_expect_geq(with, part * without, "seed %llu: %.0f samples of loads a second, from %.0f",
		      (unsigned long long)seed, with, without);
	for (size_t i = 0; i < counting.n_events; i++)
		cr_expect_leq(counting.events[i].changes, 1,
			      "seed %llu: %llu changes of event %zu in an hour of steady load",
			      (unsigned long long)seed, (unsigned long long)counting.events[i].changes, i);
}

Test(governor_plant, four_count_events_take_at_most_a_fifth_of_the_budget_and_of_the_loads_samples)
{
	for (u64 seed = 1; seed <= 5; seed++) {
		expect_a_fifth(seed, &even_cost, 0.79);
		expect_a_fifth(seed, &sparse_costs_more, 0.76);
	}
}

/* Every minute the load of all events doubles or halves. */
Test(governor_plant, next_to_count_events_a_changing_load_stays_within_the_budget)
{
	_cleanup_(plant_close) struct plant plant = plant_counting(1, &sparse_costs_more, true);
	double counts = 0, loads = 0;
	unsigned over = 0;

	plant_open(&plant);
	(void)plant_run(&plant, 600);
	for (unsigned second = 0; second < HOUR; second++) {
		if (second % 60 == 0)
			for (size_t i = 0; i < plant.n_events; i++)
				plant.events[i].events_per_second *= second % 120 ? 2 : 0.5;
		over += plant_step(&plant) > 1;
		loads += plant.events[0].cost / HOUR;
		for (size_t i = 2; i < plant.n_events; i++)
			counts += plant.events[i].cost / HOUR;
	}
	cr_expect_leq(over, HOUR / 100, "%u of %d intervals over budget", over, HOUR);
	cr_expect(counts <= 0.2 * plant.budget, "count events cost %.3f of the budget",
		  counts / plant.budget);
	cr_expect(loads >= 0.15 * plant.budget, "loads cost %.3f of the budget", loads / plant.budget);
}
