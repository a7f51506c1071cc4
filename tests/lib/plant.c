// SPDX-License-Identifier: GPL-2.0
#include "plant.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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
			.sample_ns = 1000,
		}},
	};

	random_seed(&plant.random, seed, 0);
	return plant;
}

void plant_open(struct plant *plant)
{
	struct governor_settings settings = {.budget = plant->budget, .n_events = plant->n_events};

	for (size_t i = 0; i < plant->n_events; i++)
		settings.class_of[i] = plant->events[i].class;
	if (governor_new(&settings, &plant->governor) < 0)
		abort();
}

void plant_close(struct plant *plant)
{
	plant->governor = governor_free(plant->governor);
}

/* Above 0, at most 1. */
static double uniform(struct random *random)
{
	return ((double)(random_next(random) >> 11) + 1) / 9007199254740992.0;
}

/* How many come by chance where `mean` are expected. */
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

/* One event over an interval, on the CPU that had most. Returns its samples there. */
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
		.sample_ns = event->sample_ns,
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
		double samples = pass(plant, event, rate, &inputs[i]);

		for (size_t j = 0; j < plant->n_events; j++)
			if (plant->events[j].class == event->class)
				costs[j] += samples * event->sample_ns / 1e9 / plant->seconds;
	}
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
