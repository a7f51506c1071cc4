// SPDX-License-Identifier: GPL-2.0
/*
 * The governor chooses periods that keep the cost of sampling within its budget. Pure: it has no clock and
 * opens nothing.
 *
 * The cost of an event on a CPU is its rate of samples, whatever causes them (expected samples: event count /
 * period), times the cost of one sample at that rate (sample_cost.h). That is the cost of the interrupt, as
 * calibrated at the start, and of the program, as timed in some of its runs. The rate is that of the event
 * alone. If other events of the CPU keep the handler in the caches, the true cost is lower.
 *
 * An event has one period for each CPU class (the CPUs of one PMU). The budget applies to each CPU, so the
 * busiest CPU of the class decides. The events of a class share its budget. If an event is at its least
 * period and cannot use its share, the others may use the rest. Count events get at most a fifth of the budget
 * of their class, all together, unless the class has no other events.
 *
 * The governor backs off in the same interval, as far as the rate requires, if the cost is over budget or if
 * the kernel demands it: it throttled the event or lowered perf_event_max_sample_rate. If the cost is far
 * below the budget, the governor shortens the period slowly, so a steady load leaves the period alone.
 * Without samples it shortens the period further and further. But it stops before a load like one of the last
 * minutes would cost many times the budget when it comes back.
 *
 * Samples come at random, and the kernel counts them by the tick. Once it has lowered its limit to HZ, it
 * throttles an event at every sample, or on older kernels whenever two of its samples fall into one tick,
 * even if few come in a second. So a throttling alone is not a reason to back off: the rate must be near
 * the limit, or a CPU must stand still for more than a third of the time. A demand of the kernel does not
 * keep samples rare for long either. A large load keeps the period long for at most eleven minutes after it
 * ended. Then the period halves every ten seconds, until the samples are an eighth of those that the budget
 * and the limit allow. From the greatest period this takes four minutes.
 */
#ifndef PEBSD_GOVERNOR_H
#define PEBSD_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "govern/sample_cost.h"
#include "pebsd/sample.h"

/* One event of one class during the last interval. */
struct governor_input {
	u64 period; /* in force, at least 1 */
	u64 least_period;
	u64 greatest_period;
	u64 period_step;           /* periods are multiples of it; 0 or 1: any period */
	double events_per_second;  /* on the busiest CPU, per second in which the event could count */
	double active;             /* share of the time for which the event was not throttled; 0 to 1 */
	double samples;            /* expected on the busiest CPU; decides how certain the rate is */
	struct sample_cost sample; /* cost of a sample on the busiest CPU, by rate */
	double throttled;          /* largest share of the interval for which a CPU was stopped; 0 to 1 */
	u64 throttles;             /* in this interval, on the CPU with the largest share */
	unsigned cpus;             /* number of CPUs among which the busiest was found */
	bool fixed;                /* the user set the period: it is reported, never changed */
	bool known; /* open and counting for the whole interval; else the measured values are invalid */
};

struct governor_settings {
	double budget; /* share of each CPU's time, 0 to 1; 0: periods stay */
	size_t n_events;
	u32 class_of[EVENTS_MAX]; /* any numbers; events of one class share its budget */
	bool count[EVENTS_MAX];   /* event_is_count() */
};

/* The reason for a decision about an event. */
enum governor_reason {
	GOVERNOR_STEADY,
	GOVERNOR_OVER_BUDGET,
	GOVERNOR_UNDER_BUDGET,
	GOVERNOR_THROTTLED,
	GOVERNOR_RATE_LOWERED, /* kernel.perf_event_max_sample_rate */
	GOVERNOR_REASONS
};

/* The reason why samples are few and the period stays, although the budget has room for twice as many. */
enum governor_hold {
	GOVERNOR_NOT_HELD,
	GOVERNOR_HELD_BY_LIMIT,       /* kernel.perf_event_max_sample_rate has no room */
	GOVERNOR_HELD_AFTER_THROTTLE, /* the kernel throttled the event within the last minutes */
	GOVERNOR_HELD_AFTER_LOWERED,  /* the kernel lowered its limit within the last minutes */
	GOVERNOR_HELD_AFTER_BURST,    /* the load was much larger within the last minutes */
};

struct governor_output {
	u64 period;    /* new period; the one in force if nothing changes */
	double cost;   /* share of the busiest CPU's time during the interval */
	double budget; /* the event's share of the budget; 0: none */
	enum governor_reason reason;
	enum governor_hold hold;
	bool measured; /* else the cost is 0 and meaningless */
};

struct governor;

/*
 * Returns 0, -EINVAL if the budget or the number of events is out of range, or -ENOMEM. Free `*ret` with
 * governor_free().
 */
int governor_new(const struct governor_settings *settings, struct governor **ret);
struct governor *governor_free(struct governor *governor);
DEFINE_CLEANUP(struct governor *, governor_free)

/* Changes the budget at a reload. Returns 0, or -EINVAL with the old budget unchanged. */
int governor_set_budget(struct governor *governor, double budget);

/* Call this after other code changed the period of an event: it counts as an event that has just begun. */
void governor_forget(struct governor *governor, size_t event);

/*
 * Decides after one interval of `seconds`. An invalid interval (0, negative, or not a number) changes
 * nothing. `max_rate` is the present kernel.perf_event_max_sample_rate; 0: unknown.
 */
void governor_step(struct governor *governor, double seconds, u64 max_rate,
		   const struct governor_input inputs[EVENTS_MAX], struct governor_output ret[EVENTS_MAX]);

/* Returns "over budget" and so on, for people and as a label; never NULL. */
const char *governor_reason_name(enum governor_reason reason);

/*
 * Returns the state of the event after a decision: the reason for a change, or for leaving the period; never
 * NULL.
 */
const char *governor_state(const struct governor_input *input, const struct governor_output *output);

/*
 * Composes a sentence that says why the kernel keeps the samples of the event `key` few, and what to do. The
 * caller frees. Returns NULL if the kernel does not limit the samples, or if memory ran out. `max_rate` is as
 * for governor_step().
 */
char *governor_note(const char *key, const struct governor_input *input, const struct governor_output *output,
		    u64 max_rate);

#endif
