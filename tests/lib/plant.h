// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated machine for the governor ("plant" as in control theory): CPUs with random samples at given
 * rates, a cost for each sample, and a kernel that throttles. The same seed gives the same results.
 *
 * With `hz`, the kernel throttles per timer tick, and the governor's inputs come from each CPU's counts, as in
 * the daemon. Without `hz`, a whole interval is throttled at once, which is faster.
 */
#ifndef PLANT_H
#define PLANT_H

#include "govern/governor.h"
#include "model/random.h"

#define PLANT_CPUS_MAX 256

struct plant_event {
	double events_per_second; /* on each CPU */
	u64 period;
	u64 least_period;
	u64 greatest_period;
	u64 period_step;
	struct sample_cost sample;
	bool fixed;
	bool count; /* event_is_count() */
	bool away;  /* not sampled: paused */
	u32 class;
	/* With `hz`: for `burst_seconds` in every `burst_every` seconds, events are `burst` times as frequent. */
	double burst, burst_seconds, burst_every;
	/* Results. */
	struct governor_output last;
	u64 changes;
	double cost;         /* in the last interval, on the busiest CPU, as a share of its time */
	u64 samples;         /* with `hz`: on all CPUs */
	double throttled_ns; /* with `hz`: on all CPUs */
};

struct plant_cpu;

struct plant {
	struct random random;
	unsigned cpus;
	double seconds; /* length of an interval */
	double budget;
	u64 max_rate; /* samples per second and CPU above which the kernel throttles; 0: never */
	unsigned hz;  /* ticks per second; 0: see above */
	/* With `hz`: the last sample that the limit allows in a tick stops the event already. */
	bool stops_at_limit;
	double now; /* seconds since the start; used only with `hz` */
	size_t n_events;
	struct plant_event events[EVENTS_MAX];
	struct governor *governor;
	struct plant_cpu *machine; /* with `hz`: the CPUs of each event */
};

/*
 * Returns a machine with one event like the loads of a server: 10 million per second, 1 us per sample, a
 * budget of 0.5 %.
 */
struct plant plant_usual(u64 seed);

/* Makes the governor, which plant_close() frees. Aborts on error. */
void plant_open(struct plant *plant);
void plant_close(struct plant *plant);

/*
 * Simulate one interval. The governor's new periods apply from the next interval on. Both functions return
 * the largest cost of a class, as a multiple of the budget. With plant_step_from(), events have the rate
 * `before` instead of their own during `part` of the interval. This works only without `hz`.
 */
double plant_step(struct plant *plant);
double plant_step_from(struct plant *plant, double before, double part);

/* Simulates several intervals. Returns how many of them were over budget. */
unsigned plant_run(struct plant *plant, unsigned intervals);

#endif
