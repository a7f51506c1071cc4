// SPDX-License-Identifier: GPL-2.0
#include "plant.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "govern/inputs.h"

/* One event on one CPU, with `hz`. */
struct plant_cpu {
	struct cpu_counts now;
	double throttled_until; /* seconds */
};

struct plant plant_usual(u64 seed)
{
	struct plant plant = {
		.cpus = 4,
		.seconds = 1,
		.budget = 0.005,
		.max_rate = 100000,
		.n_events = 1,
		.events = {{
			.events_per_second = 10e6,
			.period = 10007,
			.least_period = 313,
			.greatest_period = INT32_MAX,
			.sample = {.dense_ns = 1000},
		}},
	};

	random_seed(&plant.random, seed, 0);
	return plant;
}

void plant_open(struct plant *plant)
{
	struct governor_settings settings = {.budget = plant->budget, .n_events = plant->n_events};

	for (size_t i = 0; i < plant->n_events; i++) {
		settings.class_of[i] = plant->events[i].class;
		settings.count[i] = plant->events[i].count;
	}
	plant->machine = calloc((size_t)EVENTS_MAX * PLANT_CPUS_MAX, sizeof(*plant->machine));
	if (!plant->machine || governor_new(&settings, &plant->governor) < 0)
		abort();
}

void plant_close(struct plant *plant)
{
	plant->governor = governor_free(plant->governor);
	free(plant->machine);
	plant->machine = NULL;
}

/* Returns a number above 0 and at most 1. */
static double uniform(struct random *random)
{
	return ((double)(random_next(random) >> 11) + 1) / 9007199254740992.0;
}

/* Draws the number of events if `mean` are expected. */
static double poisson(struct random *random, double mean)
{
	double product = 1;
	double n = -1;

	if (mean > 60) {
		double normal =
			sqrt(-2 * log(uniform(random))) * cos(2 * 3.14159265358979323846 * uniform(random));

		return fmax(0, floor(mean + sqrt(mean) * normal + 0.5));
	}
	do {
		n++;
		product *= uniform(random);
	} while (product > exp(-mean));
	return n;
}

/* Returns the event rate per second at the time `at`, and sets the time until which it is valid. */
static double rate_at(const struct plant_event *event, double at, double *ret_until)
{
	double begun;

	*ret_until = INFINITY;
	if (event->burst_every <= 0)
		return event->events_per_second;
	begun = floor(at / event->burst_every) * event->burst_every;
	*ret_until = begun + event->burst_seconds;
	if (at < *ret_until)
		return event->events_per_second * event->burst;
	*ret_until = begun + event->burst_every;
	return event->events_per_second;
}

/*
 * Simulates one interval of one event on one CPU. The first sample beyond the limit of its tick stops the
 * event until the next tick, or with `stops_at_limit` the sample before that one
 * (__perf_event_account_interrupt(), kernel/events/core.c). As in an event's page, enabled and running time
 * are those at the last sample. As in its ring, throttled time reaches up to now.
 */
static void pass_ticks(const struct plant *plant, struct random *random, const struct plant_event *event,
		       struct plant_cpu *cpu)
{
	const double end = plant->now + plant->seconds;
	const double limit = plant->max_rate ? ceil((double)plant->max_rate / plant->hz) : INFINITY;
	const double allowed = limit - plant->stops_at_limit;
	double at = fmax(plant->now, cpu->throttled_until);
	double tick = -1, n = 0, until;

	/* The rest of a throttling that began before the interval. */
	cpu->now.throttled_ns += (u64)((fmin(at, end) - plant->now) * 1e9);
	while (at < end) {
		const double rate = rate_at(event, at, &until) / (double)event->period;

		/* With a rate of 0, the next event never comes. */
		at -= log(uniform(random)) / rate;
		if (!(at < until)) {
			at = until;
			continue;
		}
		if (at >= end)
			return;
		cpu->now.count += event->period;
		cpu->now.expected++;
		cpu->now.enabled_ns = cpu->now.running_ns = (u64)(at * 1e9);
		n = floor(at * plant->hz) > tick ? 1 : n + 1;
		tick = floor(at * plant->hz);
		if (n <= allowed)
			continue;
		cpu->now.throttles++;
		cpu->throttled_until = (tick + 1) / plant->hz;
		cpu->now.throttled_ns += (u64)((fmin(cpu->throttled_until, end) - at) * 1e9);
		at = cpu->throttled_until;
	}
}

/* Simulates one event over an interval on all CPUs. Returns the samples of the busiest CPU. */
static double pass_machine(struct plant *plant, size_t i, struct governor_input *ret)
{
	struct plant_event *event = &plant->events[i];
	struct plant_cpu *cpus = &plant->machine[i * PLANT_CPUS_MAX];
	struct cpu_counts before[PLANT_CPUS_MAX], now[PLANT_CPUS_MAX];
	u64 most = 0;

	*ret = (struct governor_input){
		.fixed = event->fixed,
		.period = event->period,
		.least_period = event->least_period,
		.greatest_period = event->greatest_period,
		.period_step = event->period_step,
		.sample = event->sample,
	};
	for (unsigned cpu = 0; cpu < plant->cpus; cpu++) {
		cpus[cpu].now.cpu = (int)cpu;
		cpus[cpu].now.open = !event->away;
		cpus[cpu].now.throttle_known = true;
		before[cpu] = cpus[cpu].now;
		if (!event->away)
			pass_ticks(plant, &plant->random, event, &cpus[cpu]);
		now[cpu] = cpus[cpu].now;
		most = now[cpu].expected - before[cpu].expected > most
			       ? now[cpu].expected - before[cpu].expected
			       : most;
		event->samples += now[cpu].expected - before[cpu].expected;
		event->throttled_ns += (double)(now[cpu].throttled_ns - before[cpu].throttled_ns);
	}
	govern_busiest(plant->seconds, before, plant->cpus, now, plant->cpus, ret);
	return (double)most;
}

/* Simulates one event over an interval on the busiest CPU. Returns its samples there. */
static double pass(struct plant *plant, const struct plant_event *event, double events_per_second,
		   struct governor_input *ret)
{
	const double mean = events_per_second * plant->seconds / (double)event->period;
	const double most = plant->max_rate ? (double)plant->max_rate * plant->seconds : mean * 100 + 1000;
	double due = 0, samples;

	for (unsigned cpu = 0; cpu < plant->cpus; cpu++)
		due = fmax(due, poisson(&plant->random, mean));
	samples = fmin(due, most);
	*ret = (struct governor_input){
		.fixed = event->fixed,
		.known = !event->away,
		.period = event->period,
		.least_period = event->least_period,
		.greatest_period = event->greatest_period,
		.period_step = event->period_step,
		.active = due > most ? most / due : 1,
		.samples = samples,
		.cpus = plant->cpus,
		.sample = event->sample,
		.throttled = due > most ? 1 - most / due : 0,
		.throttles = due > most ? 100 : 0,
	};
	ret->events_per_second = samples * (double)event->period / plant->seconds / ret->active;
	return event->away ? 0 : samples;
}

double plant_step_from(struct plant *plant, double before, double part)
{
	struct governor_input inputs[EVENTS_MAX] = {0};
	struct governor_output outputs[EVENTS_MAX] = {0};
	double costs[EVENTS_MAX] = {0};
	double largest = 0;

	for (size_t i = 0; i < plant->n_events; i++) {
		struct plant_event *event = &plant->events[i];
		double rate = before * part + event->events_per_second * (1 - part);
		double samples =
			plant->hz ? pass_machine(plant, i, &inputs[i]) : pass(plant, event, rate, &inputs[i]);

		event->cost = sample_cost_share(&event->sample, samples / plant->seconds);
		for (size_t j = 0; j < plant->n_events; j++)
			if (plant->events[j].class == event->class)
				costs[j] += event->cost;
	}
	plant->now += plant->seconds;
	governor_step(plant->governor, plant->seconds, plant->max_rate, inputs, outputs);
	for (size_t i = 0; i < plant->n_events; i++) {
		struct plant_event *event = &plant->events[i];

		largest = fmax(largest, costs[i] / plant->budget);
		event->last = outputs[i];
		event->changes += outputs[i].period != event->period;
		event->period = outputs[i].period;
	}
	return largest;
}

double plant_step(struct plant *plant)
{
	return plant_step_from(plant, 0, 0);
}

unsigned plant_run(struct plant *plant, unsigned intervals)
{
	unsigned over = 0;

	while (intervals--)
		over += plant_step(plant) > 1;
	return over;
}
