// SPDX-License-Identifier: GPL-2.0
/*
 * The governor: which period keeps what sampling costs within its budget. Pure: it has no clock and opens
 * nothing.
 *
 * What an event costs on a CPU is its rate of samples, whatever makes them (expected ones: event count /
 * period), times what one costs at that rate (sample_cost.h): the interrupt, as calibrated at the start, and
 * the program, as timed in some of its runs. The rate is the event's own: where other events of the CPU keep
 * the handler in the caches, its samples cost less than is counted. The period is one for each event and CPU class (the CPUs of one PMU); the busiest CPU of the
 * class decides, as the budget is each CPU's. The events of a class share its budget; what one cannot use, as
 * its period is at its least, the others may.
 *
 * Over budget, or told by the kernel (throttled; perf_event_max_sample_rate lowered), it backs off in the
 * same interval, as far as the rate tells. Under budget it comes nearer slowly, and only where it is far
 * below: a steady load leaves the period alone. Where nothing happens it looks closer and closer, but never
 * so close that a load like one of the last minutes would cost many times the budget when it comes back.
 *
 * Samples come by chance, and the kernel counts them by the tick. Once it has lowered its limit to HZ, the
 * kernel throttles an event whenever two of its samples fall into one tick, even if few come in a second. So
 * a throttling alone is not a reason to back off: the rate must be near the limit, or a CPU must stand still
 * for a fair share of the time. The kernel's demand does not keep samples rare either. At most eleven minutes
 * after the last load of that size, the period halves every ten seconds until the samples are an eighth of
 * those that the budget and the limit allow. From the greatest period that takes four minutes.
 */
#ifndef PEBSD_GOVERNOR_H
#define PEBSD_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "govern/sample_cost.h"
#include "pebsd/sample.h"

/* One event of one class, over the interval that ended. */
struct governor_input {
	u64 period;       /* in force, at least 1 */
	u64 least_period; /* not below it */
	u64 greatest_period;
	u64 period_step;           /* periods are multiples of it; 0 or 1: of any length */
	double events_per_second;  /* of the CPU that had most, per second in which it could count */
	double active;             /* share of the time in which it could: the rest was throttled; 0 to 1 */
	double samples;            /* that were due there, as to how sure the rate is */
	struct sample_cost sample; /* what one costs there, by how often they come */
	double throttled; /* share of the interval for which a CPU was stopped, the longest; 0 to 1 */
	u64 throttles;    /* in this interval, on that CPU */
	unsigned cpus;    /* that it has most of */
	bool fixed;       /* a person set its period: only told of, never changed */
	bool known;       /* it was open and counted all the interval; else the rest means nothing */
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
	GOVERNOR_REASONS
};

/* Why samples are few and the period stays, though the budget has room for twice as many. */
enum governor_hold {
	GOVERNOR_NOT_HELD,
	GOVERNOR_HELD_BY_LIMIT,       /* kernel.perf_event_max_sample_rate has no room */
	GOVERNOR_HELD_AFTER_THROTTLE, /* the kernel throttled it within the last minutes */
	GOVERNOR_HELD_AFTER_LOWERED,  /* the kernel lowered its limit within the last minutes */
	GOVERNOR_HELD_AFTER_BURST,    /* the load was much larger within the last minutes */
};

struct governor_output {
	u64 period;    /* from now on; the one in force where nothing is to be done */
	double cost;   /* share of the busiest CPU's time over the interval */
	double budget; /* its own share of the budget; 0: none */
	enum governor_reason reason;
	enum governor_hold hold;
	bool measured; /* else the cost is 0 and means nothing */
};

struct governor;

/* 0, -EINVAL for a budget or a number of events out of range, or -ENOMEM; free with governor_free(). */
int governor_new(const struct governor_settings *settings, struct governor **ret);
struct governor *governor_free(struct governor *governor);
DEFINE_CLEANUP(struct governor *, governor_free)

/* For a reload. 0 or -EINVAL, and the old one stays. */
int governor_set_budget(struct governor *governor, double budget);

/* Somebody else changed the period of an event, which is as if it had just begun. */
void governor_forget(struct governor *governor, size_t event);

/*
 * One interval of `seconds`; one that is no time (0, negative, no number) changes nothing. `max_rate`:
 * kernel.perf_event_max_sample_rate as it is now; 0: not known.
 */
void governor_step(struct governor *governor, double seconds, u64 max_rate,
		   const struct governor_input inputs[EVENTS_MAX], struct governor_output ret[EVENTS_MAX]);

/* "over budget" and so on, for people and as a label; never NULL. */
const char *governor_reason_name(enum governor_reason reason);

/* What state that leaves the event in: the reason of a change, or why there is none; never NULL. */
const char *governor_state(const struct governor_input *input, const struct governor_output *output);

/*
 * A sentence for people that says why the kernel keeps the samples of the event `key` few, and what to do;
 * the caller frees. NULL where it does not, or without memory. `max_rate` as for governor_step().
 */
char *governor_note(const char *key, const struct governor_input *input, const struct governor_output *output,
		    u64 max_rate);

#endif
