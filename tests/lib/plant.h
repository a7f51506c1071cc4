// SPDX-License-Identifier: GPL-2.0
/*
 * A machine for the governor: CPUs whose samples come by chance at the rates they are given, each taking its
 * time, and a kernel that throttles. The same from the same seed.
 *
 * With `hz` the kernel throttles by the tick, and the governor's inputs come from each CPU's counts, as they
 * do in the daemon. Without, an interval is throttled as a whole; that is faster.
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
	bool away; /* not sampled: paused */
	u32 class;
	/* With `hz`: for `burst_seconds` of each `burst_every` seconds events come `burst` times as fast. */
	double burst, burst_seconds, burst_every;
	/* What came of it. */
	struct governor_output last;
	u64 changes;
	u64 samples;         /* with `hz`: on all CPUs */
	double throttled_ns; /* with `hz`: on all CPUs */
};

struct plant_cpu;

struct plant {
	struct random random;
	unsigned cpus;
	double seconds; /* of an interval */
	double budget;
	u64 max_rate; /* samples a second and CPU, above which the kernel throttles; 0: never */
	unsigned hz;  /* ticks a second; 0: see above */
	double now;   /* seconds, with `hz` */
	size_t n_events;
	struct plant_event events[EVENTS_MAX];
	struct governor *governor;
	struct plant_cpu *machine; /* with `hz`: each event's CPUs */
};

/* One event like the loads of a server: 10 million a second, 1 us a sample, half a percent. */
struct plant plant_usual(u64 seed);

/* Makes the governor; plant_close() frees it. Aborts where that fails. */
void plant_open(struct plant *plant);
void plant_close(struct plant *plant);

/* One interval; the governor's periods are in force from the next on. Returns the largest cost of a class, in
 * budgets. `part`: of the interval, for which events come as fast as `before` says (else all of it at their
 * rates); without `hz` only. */
double plant_step(struct plant *plant);
double plant_step_from(struct plant *plant, double before, double part);

/* So many; returns how often one was over budget. */
unsigned plant_run(struct plant *plant, unsigned intervals);

#endif
