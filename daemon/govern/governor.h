// SPDX-License-Identifier: GPL-2.0
/*
 * The governor: which period keeps what sampling costs within its budget. Pure: it has no clock and opens
 * nothing.
 *
 * What an event costs on a CPU is its rate of samples, whatever makes them (expected ones: event count /
 * period), times what one costs: the interrupt, as calibrated at the start, and the program, as timed in some
 * of its runs. The period is one for each event and CPU class (the CPUs of one PMU); the busiest CPU of the
 * class decides, as the budget is each CPU's. The events of a class share its budget; what one cannot use, as
 * its period is at its least, the others may.
 *
 * Over budget, or told by the kernel (throttled; perf_event_max_sample_rate lowered), it backs off in the
 * same interval, as far as the rate tells. Under budget it comes nearer slowly, and only where it is far
 * below: a steady load leaves the period alone.
 */
#ifndef PEBSD_GOVERNOR_H
#define PEBSD_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"

/* One event of one class, over the interval that ended. */
struct governor_input {
	bool fixed;       /* a person set its period: only told of, never changed */
	bool known;       /* it was open and counted all the interval; else the rest means nothing */
	u64 period;       /* in force */
	u64 least_period; /* not below it */
	u64 greatest_period;
	double events_per_second; /* of the CPU that had most, per second of the time it ran */
	double sample_ns;         /* what a sample costs there */
	u64 throttles;            /* in this interval */
};

struct governor_settings {
	double budget; /* share of each CPU's time, 0 to 1; 0: periods stay */
	size_t n_events;
	u32 class_of[EVENTS_MAX]; /* events of one class share its budget; any numbers */
};

/* What was decided of an event, and why. */
enum governor_reason {
	GOVERNOR_STEADY,
	GOVERNOR_OVER_BUDGET,
	GOVERNOR_UNDER_BUDGET,
	GOVERNOR_THROTTLED,
	GOVERNOR_RATE_LOWERED, /* kernel.perf_event_max_sample_rate */
};

struct governor_output {
	u64 period;    /* from now on; the one in force where nothing is to be done */
	double cost;   /* share of the busiest CPU's time over the interval */
	double budget; /* its own share of the budget */
	enum governor_reason reason;
};

struct governor;

/* 0 or -ENOMEM; free with governor_free(). */
int governor_new(const struct governor_settings *settings, struct governor **ret);
struct governor *governor_free(struct governor *governor);

/* For a reload. */
void governor_set_budget(struct governor *governor, double budget);

/* One interval of `seconds`. `max_rate`: kernel.perf_event_max_sample_rate as it is now; 0: not known. */
void governor_step(struct governor *governor, double seconds, u64 max_rate,
		   const struct governor_input inputs[EVENTS_MAX], struct governor_output ret[EVENTS_MAX]);

#endif
