// SPDX-License-Identifier: GPL-2.0
#include "govern/governor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "govern/peak.h"
#include "govern/period.h"

/* A change of the period aims at this part of the budget. The rest is for the variation of a steady load. */
#define AIM 0.75

/*
 * Below this part of the budget, the period may shrink. LOW is well below AIM, because a period that was set
 * for the largest of several rates costs less at the other rates. At those rates, too, the cost should not be
 * below LOW.
 */
#define LOW 0.5

/*
 * A single interval is over budget if its count exceeds the budget by more standard deviations than chance
 * produces once in READINGS_A_CPU intervals. An interval has one reading of each CPU.
 */
#define READINGS_A_CPU 1000.0

/* If the excess of a single interval may be chance, the mean over this many seconds decides. */
#define SMOOTH_SECONDS 5.0

/*
 * For some time after the governor backed off, a cost above AFTER_MOST of the budget is too high. The rate on
 * which it backed off may have been too low: it is from a part of an interval, in which interrupts took CPU
 * time from the load. AFTER_SAMPLES samples or AFTER_SECONDS seconds then show the cost of the new period.
 */
#define AFTER_MOST    0.825
#define AFTER_SAMPLES 2000.0
#define AFTER_SECONDS 60.0

/*
 * The period shrinks only if the largest load within this time costs less than LOW of the budget. The time is
 * HOLD_SECONDS or HOLD_INTERVALS intervals, whichever is longer.
 */
#define HOLD_SECONDS   30.0
#define HOLD_INTERVALS 10

/*
 * The time between two steps that shorten the period. A step multiplies the period by at least NEARER_MOST
 * and at most NEARER_LEAST.
 */
#define NEARER_SECONDS 10.0
#define NEARER_MOST    0.5
#define NEARER_LEAST   0.955

/*
 * If a load as large as any in the last BURST_SECONDS comes back, it costs at most this many budgets until
 * the end of the interval.
 */
#define BURST_SECONDS 600.0
#define BURST_BUDGETS 10.0

/*
 * The kernel throttles an event whose samples within a tick reach the limit. Aim at LIMIT_AIM of the limit,
 * and back off above LIMIT_MOST.
 */
#define LIMIT_AIM  0.5
#define LIMIT_MOST 0.75

/*
 * The share of the time for which throttling may stop a CPU. Assume that the limit is one sample a tick and
 * that samples come at random, on average as often as the limit. Since Linux 6.16, 6.12.34 and 6.1.142, every
 * sample then stops the event until the next tick (__perf_event_account_interrupt(), kernel/events/core.c),
 * for 1/e of the time in total. At half of the limit it is a fifth. Before, the second sample in a tick
 * stopped the event, for 3/e - 1 of the time, a tenth.
 */
#define THROTTLED_MOST 0.37

/*
 * After throttling, the period grows by at least this factor. If the limit fell, the period grows by the
 * ratio of the old limit to the new one, but at most by this factor.
 */
#define BACK_OFF 2.0

/*
 * A period that the kernel demanded is kept for this long. Then it shrinks by this factor a minute, slower
 * than anybody would notice.
 */
#define DEMANDED_SECONDS    600.0
#define DEMANDED_PER_MINUTE 0.96

/*
 * A demanded period is kept only as long as it leaves this part of the samples that the budget and the limit
 * allow.
 */
#define DEMANDED_LEAVES 0.125

/* The least part of the budget that fixed periods leave to the other events. */
#define LEFT_LEAST 0.1

/* The greatest part of the budget for count events, all together, if their CPUs also have other events. */
#define COUNTS_PART 0.2

/* The counts since a period was set by backing off. */
struct aftermath {
	bool lasts;
	double seconds;
	double events;
	double samples;
};

/* The state of an event between intervals. */
struct memory {
	struct peak recent;
	struct peak burst;
	double smoothed; /* events a second */
	double stopped;  /* the throttled share, smoothed like `smoothed`, since the last back-off */
	double seen_seconds;
	double since_change; /* seconds */
	double hold;         /* seconds from the last change to the next shortening */
	double demanded;     /* period that the kernel demanded; 0: none */
	double demanded_age; /* seconds */
	enum governor_hold demanded_hold;
	struct aftermath after;
};

struct governor {
	struct governor_settings settings;
	u64 max_rate; /* last known kernel.perf_event_max_sample_rate; 0: none known yet */
	struct memory memories[EVENTS_MAX];
};

static const struct memory begun = {
	.recent = {.part_seconds = HOLD_SECONDS / PEAK_PARTS},
	.burst = {.part_seconds = BURST_SECONDS / PEAK_PARTS},
	.hold = HOLD_SECONDS,
};

static bool is_share(double budget)
{
	return budget >= 0 && budget <= 1;
}

int governor_new(const struct governor_settings *settings, struct governor **ret)
{
	struct governor *governor;

	if (!is_share(settings->budget) || settings->n_events > EVENTS_MAX)
		return -EINVAL;
	governor = calloc(1, sizeof(*governor));
	if (!governor)
		return -ENOMEM;
	governor->settings = *settings;
	for (size_t i = 0; i < EVENTS_MAX; i++)
		governor->memories[i] = begun;
	*ret = governor;
	return 0;
}

struct governor *governor_free(struct governor *governor)
{
	free(governor);
	return NULL;
}

int governor_set_budget(struct governor *governor, double budget)
{
	if (!is_share(budget))
		return -EINVAL;
	governor->settings.budget = budget;
	return 0;
}

void governor_forget(struct governor *governor, size_t event)
{
	if (event < EVENTS_MAX)
		governor->memories[event] = begun;
}

static bool usable(const struct governor_input *input)
{
	return input->known && input->period > 0 && isfinite(input->events_per_second) &&
	       input->events_per_second >= 0 && sample_cost_usable(&input->sample);
}

static double active_share(const struct governor_input *input)
{
	return input->active > 0 && input->active <= 1 ? input->active : 1;
}

/* Returns the share of a CPU's time that this many events a second take. */
static double cost_of(double events_per_second, double period, const struct sample_cost *sample)
{
	return sample_cost_share(sample, events_per_second / period);
}

/* Returns the period at which this many events a second take `share` of a CPU's time. */
static double period_for(double events_per_second, const struct sample_cost *sample, double share)
{
	return events_per_second / sample_cost_rate(sample, share);
}

static void remember(struct memory *memory, double seconds, const struct governor_input *input)
{
	const double rate = input->events_per_second;
	const double part = memory->seen_seconds > 0 ? 1 - exp(-seconds / SMOOTH_SECONDS) : 1;

	memory->smoothed += (rate - memory->smoothed) * part;
	if (input->throttled >= 0 && input->throttled <= 1)
		memory->stopped += (input->throttled - memory->stopped) * part;
	memory->recent.part_seconds = fmax(HOLD_SECONDS, HOLD_INTERVALS * seconds) / PEAK_PARTS;
	peak_add(&memory->recent, seconds, rate);
	peak_add(&memory->burst, seconds, rate);
	if (memory->after.samples >= AFTER_SAMPLES || memory->after.seconds >= AFTER_SECONDS)
		memory->after.lasts = false;
	memory->after.seconds += seconds;
	memory->after.events += rate * seconds;
	memory->after.samples += input->samples;
	memory->seen_seconds += seconds;
	memory->since_change += seconds;
	memory->demanded_age += seconds;
	if (memory->demanded_age > DEMANDED_SECONDS)
		memory->demanded *= pow(DEMANDED_PER_MINUTE, seconds / 60);
}

/*
 * Returns the share that an event needs; 0 if the event does not run. An event with a fixed period needs the
 * cost of that period. Other events need so much that AIM of it pays for the least period.
 */
static double need_of(const struct memory *memory, const struct governor_input *input)
{
	const double least = input->least_period ? (double)input->least_period : 1;

	if (!usable(input))
		return 0;
	return cost_of(peak_get(&memory->recent), input->fixed ? (double)input->period : least,
		       &input->sample) *
	       (input->fixed ? 1 : 1 / AIM);
}

/*
 * Divides `left` among the events of `open`, which it clears. Each gets the same, but an event that needs less
 * leaves the rest to the others. Returns the part that none of them needs. An event that gets more than it
 * needs does not reduce that part: if it needs more later, the governor sees that before the event takes more
 * than its share.
 */
static double share_among(const struct governor *governor, double left, bool open[static EVENTS_MAX],
			  const struct governor_input inputs[static EVENTS_MAX],
			  double shares[static EVENTS_MAX])
{
	const size_t n_events = governor->settings.n_events;
	size_t n = 0;
	bool again = true;

	for (size_t i = 0; i < n_events; i++)
		n += open[i];
	while (again) {
		again = false;
		for (size_t i = 0; i < n_events; i++) {
			double need = open[i] ? need_of(&governor->memories[i], &inputs[i]) : 0;

			if (!open[i] || need >= left / (double)n)
				continue;
			shares[i] = left / (double)n;
			left -= need;
			open[i] = false;
			n--;
			again = n > 0;
		}
	}
	for (size_t i = 0; i < n_events; i++)
		if (open[i])
			shares[i] = left / (double)n;
	return n > 0 ? 0 : left;
}

/*
 * Divides the budget of a class among its events, with at most COUNTS_PART of it for the count events if there
 * are others. `shares` of other classes stay unchanged.
 */
static void share_class(const struct governor *governor, u32 class,
			const struct governor_input inputs[static EVENTS_MAX],
			double shares[static EVENTS_MAX])
{
	const struct governor_settings *settings = &governor->settings;
	bool counts[EVENTS_MAX] = {0}, others[EVENTS_MAX] = {0};
	double fixed = 0, fixed_counts = 0;
	bool has_others = false, others_open = false;
	double left, part;

	for (size_t i = 0; i < settings->n_events; i++) {
		if (settings->class_of[i] != class)
			continue;
		shares[i] = 0;
		has_others |= !settings->count[i];
		if (inputs[i].fixed) {
			const double need = need_of(&governor->memories[i], &inputs[i]);

			fixed += need;
			fixed_counts += settings->count[i] ? need : 0;
			continue;
		}
		counts[i] = settings->count[i];
		others[i] = !settings->count[i];
		others_open |= others[i];
	}
	left = fmax(settings->budget - fixed, settings->budget * LEFT_LEAST);
	part = left;
	if (has_others)
		part = fmin(others_open ? left * COUNTS_PART : left,
			    fmax(settings->budget * COUNTS_PART - fixed_counts,
				 settings->budget * COUNTS_PART * LEFT_LEAST));
	left -= part;
	left += share_among(governor, part, counts, inputs, shares);
	(void)share_among(governor, left, others, inputs, shares);
}

static void share(const struct governor *governor, const struct governor_input inputs[static EVENTS_MAX],
		  double shares[EVENTS_MAX])
{
	const struct governor_settings *settings = &governor->settings;

	for (size_t i = 0; i < settings->n_events; i++) {
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen |= settings->class_of[j] == settings->class_of[i];
		if (!seen)
			share_class(governor, settings->class_of[i], inputs, shares);
	}
}

/*
 * Returns the relative error by which the largest count of all CPUs may be too high by chance, for `samples`
 * samples.
 */
static double chance_of(const struct governor_input *input, double samples)
{
	return sqrt(2 * log(READINGS_A_CPU * fmax(input->cpus, 1)) / fmax(samples, 1));
}

/*
 * Returns the events a second for which the period is too short, judged by this interval, by the smoothed
 * rate, or by the mean rate since the governor backed off; 0: the period is long enough.
 */
static double too_many(const struct memory *memory, const struct governor_input *input, double budget)
{
	const double period = (double)input->period;
	const double rate = input->events_per_second;
	const struct aftermath *after = &memory->after;
	double since;

	if (cost_of(rate, period, &input->sample) > budget * (1 + chance_of(input, input->samples)) ||
	    (memory->seen_seconds >= SMOOTH_SECONDS &&
	     cost_of(memory->smoothed, period, &input->sample) > budget))
		return fmax(rate, memory->smoothed);
	if (!after->lasts)
		return 0;
	since = after->events / after->seconds;
	return cost_of(since, period, &input->sample) >
			       budget * (AFTER_MOST + chance_of(input, after->samples) / 2)
		       ? since
		       : 0;
}

/*
 * Returns the period at which the recent load makes `share` of the samples that the budget and the limit
 * allow.
 */
static double period_leaving(const struct memory *memory, const struct governor_input *input, double budget,
			     double limit, double share)
{
	const double recent = peak_get(&memory->recent);
	const double period = period_for(recent, &input->sample, budget * AIM);

	return fmax(period, limit > 0 ? recent / (limit * LIMIT_AIM) : 0) / share;
}

/*
 * Returns the events a second for which the limit is too low, with the significance of too_many(); 0: the
 * limit is high enough.
 */
static double too_many_for_limit(const struct memory *memory, const struct governor_input *input,
				 double limit)
{
	const double most = limit * LIMIT_MOST * (double)input->period;
	const double rate = input->events_per_second;

	if (limit <= 0)
		return 0;
	return rate > most * (1 + chance_of(input, input->samples)) ||
			       (memory->seen_seconds >= SMOOTH_SECONDS && memory->smoothed > most)
		       ? fmax(rate, memory->smoothed)
		       : 0;
}

/*
 * Returns whether the kernel stopped a CPU for a fair share of the time, with the significance of too_many():
 * a few throttlings are chance.
 */
static bool is_stopped(const struct memory *memory, const struct governor_input *input)
{
	return input->throttles > 0 &&
	       (input->throttled > THROTTLED_MOST * (1 + chance_of(input, (double)input->throttles)) ||
		(memory->seen_seconds >= SMOOTH_SECONDS && memory->stopped > THROTTLED_MOST));
}

/* Returns the period that the kernel demands; 0: the one in force is long enough. */
static double demanded_period(const struct memory *memory, const struct governor_input *input, double budget,
			      double limit, double fell, enum governor_reason *ret_reason)
{
	const double period = (double)input->period;
	const double many = too_many_for_limit(memory, input, limit);
	double demanded = 0;

	if (many > 0)
		demanded = many / (limit * LIMIT_AIM);
	if (is_stopped(memory, input) || (many > 0 && input->throttles > 0)) {
		*ret_reason = GOVERNOR_THROTTLED;
		return fmax(demanded, period * BACK_OFF);
	}
	/*
	 * The kernel lowers its limit when its interrupts take long, however few they are. If samples are few
	 * already, nothing needs to change.
	 */
	if (fell > 1)
		demanded = fmax(demanded, fmin(period * fmin(fell, BACK_OFF),
					       period_leaving(memory, input, budget, limit, LOW)));
	if (demanded <= period)
		return 0;
	*ret_reason = GOVERNOR_RATE_LOWERED;
	return demanded;
}

/*
 * Returns the period that the budget and the kernel demand immediately; 0: the one in force is long enough.
 */
static double back_off(struct memory *memory, const struct governor_input *input, double budget, double limit,
		       double fell, enum governor_reason *ret_reason)
{
	const double demanded = demanded_period(memory, input, budget, limit, fell, ret_reason);
	const double many = too_many(memory, input, budget);
	double wanted = 0;

	if (demanded > 0) {
		memory->demanded = fmin(demanded, (double)input->greatest_period);
		memory->demanded_age = 0;
		memory->demanded_hold = fell > 1 ? GOVERNOR_HELD_AFTER_LOWERED : GOVERNOR_HELD_AFTER_THROTTLE;
	}
	if (many > 0) {
		wanted = period_for(many, &input->sample, budget * AIM);
		if (wanted > demanded)
			*ret_reason = GOVERNOR_OVER_BUDGET;
	}
	return fmax(wanted, demanded);
}

/*
 * Returns the period below which the governor does not go, although the budget has room for the recent load,
 * and the reason.
 */
static double held_period(const struct memory *memory, const struct governor_input *input, double budget,
			  double limit, enum governor_hold *ret_hold)
{
	const double by_limit = limit > 0 ? peak_get(&memory->recent) / (limit * LIMIT_AIM) : 0;
	const double by_burst = period_for(peak_get(&memory->burst), &input->sample, budget * BURST_BUDGETS);
	const double by_demand =
		fmin(memory->demanded, period_leaving(memory, input, budget, limit, DEMANDED_LEAVES));
	const double held = fmax(by_limit, fmax(by_burst, by_demand));

	if (held == by_limit)
		*ret_hold = GOVERNOR_HELD_BY_LIMIT;
	else
		*ret_hold = held == by_burst ? GOVERNOR_HELD_AFTER_BURST : memory->demanded_hold;
	return held;
}

/*
 * Returns the period that a load far below the budget allows. 0: the one in force stays; `*ret_hold` may give
 * the reason.
 */
static double come_nearer(const struct memory *memory, const struct governor_input *input, double budget,
			  double limit, enum governor_hold *ret_hold)
{
	const double most = (double)input->period * NEARER_LEAST;
	const double recent = peak_get(&memory->recent);
	enum governor_hold hold;
	double wanted, held;

	wanted = fmax(period_for(recent, &input->sample, budget * AIM), (double)input->least_period);
	if (cost_of(recent, (double)input->period, &input->sample) >= budget * LOW || wanted > most)
		return 0;
	held = held_period(memory, input, budget, limit, &hold);
	if (held > most) {
		*ret_hold = hold;
		return 0;
	}
	if (memory->since_change < memory->hold || memory->seen_seconds < memory->hold)
		return 0;
	return fmax(fmax(wanted, held), (double)input->period * NEARER_MOST);
}

static void decide(struct memory *memory, const struct governor_input *input, double limit, double fell,
		   struct governor_output *output)
{
	enum governor_reason reason = GOVERNOR_STEADY;
	double wanted = back_off(memory, input, output->budget, limit, fell, &reason);
	bool nearer = wanted <= 0;
	u64 period;

	if (nearer) {
		wanted = come_nearer(memory, input, output->budget, limit, &output->hold);
		reason = GOVERNOR_UNDER_BUDGET;
	}
	if (wanted <= 0)
		return;
	period = govern_period(wanted, input->least_period, input->greatest_period, input->period_step);
	/*
	 * At a bound there may be nothing to change, or, if the bounds changed, a step in the wrong
	 * direction.
	 */
	if (nearer ? period >= input->period : period <= input->period)
		return;
	output->period = period;
	output->reason = reason;
	memory->since_change = 0;
	memory->hold = nearer ? NEARER_SECONDS : HOLD_SECONDS;
	memory->after = (struct aftermath){.lasts = !nearer};
	/* The new period removes the excess, so the means start again. */
	if (!nearer) {
		memory->smoothed = input->events_per_second;
		memory->stopped = 0;
	}
}

void governor_step(struct governor *governor, double seconds, u64 max_rate,
		   const struct governor_input inputs[EVENTS_MAX], struct governor_output ret[EVENTS_MAX])
{
	const struct governor_settings *settings = &governor->settings;
	const bool passed = isfinite(seconds) && seconds > 0;
	const double fell =
		governor->max_rate > 0 && max_rate > 0 ? (double)governor->max_rate / (double)max_rate : 1;
	double shares[EVENTS_MAX] = {0};

	for (size_t i = 0; i < settings->n_events; i++) {
		const struct governor_input *input = &inputs[i];

		ret[i] = (struct governor_output){.period = input->period, .reason = GOVERNOR_STEADY};
		if (!passed || !usable(input))
			continue;
		remember(&governor->memories[i], seconds, input);
		/* The limit was raised: reduce the demanded period by the same factor. */
		if (fell < 1)
			governor->memories[i].demanded *= fell;
		ret[i].measured = true;
		ret[i].cost = cost_of(input->events_per_second * active_share(input), (double)input->period,
				      &input->sample);
	}
	if (!passed)
		return;
	if (max_rate > 0)
		governor->max_rate = max_rate;
	if (settings->budget <= 0)
		return;
	share(governor, inputs, shares);
	for (size_t i = 0; i < settings->n_events; i++) {
		ret[i].budget = shares[i];
		if (ret[i].measured && !inputs[i].fixed)
			decide(&governor->memories[i], &inputs[i], (double)max_rate, fell, &ret[i]);
	}
}

const char *governor_reason_name(enum governor_reason reason)
{
	static const char *const names[GOVERNOR_REASONS] = {
		[GOVERNOR_STEADY] = "steady",
		[GOVERNOR_OVER_BUDGET] = "over budget",
		[GOVERNOR_UNDER_BUDGET] = "under budget",
		[GOVERNOR_THROTTLED] = "throttled",
		[GOVERNOR_RATE_LOWERED] = "sample rate lowered",
	};

	return reason < GOVERNOR_REASONS ? names[reason] : names[GOVERNOR_STEADY];
}

static const char *hold_name(enum governor_hold hold)
{
	switch (hold) {
	case GOVERNOR_HELD_BY_LIMIT:
		return "at the kernel's sample rate limit";
	case GOVERNOR_HELD_AFTER_THROTTLE:
		return "recovering from throttling";
	case GOVERNOR_HELD_AFTER_LOWERED:
		return "recovering from a lowered sample rate";
	case GOVERNOR_HELD_AFTER_BURST:
		return "recovering from a burst";
	default:
		return NULL;
	}
}

const char *governor_state(const struct governor_input *input, const struct governor_output *output)
{
	if (input->fixed)
		return "fixed";
	if (output->reason != GOVERNOR_STEADY)
		return governor_reason_name(output->reason);
	if (!output->measured)
		return "not sampled";
	if (output->cost > output->budget && output->period >= input->greatest_period)
		return "at its greatest period";
	if (output->cost < output->budget * LOW && output->period <= input->least_period)
		return "at its least period";
	if (hold_name(output->hold))
		return hold_name(output->hold);
	return governor_reason_name(GOVERNOR_STEADY);
}

char *governor_note(const char *key, const struct governor_input *input, const struct governor_output *output,
		    u64 max_rate)
{
	const char *before, *after;
	char limit[32] = "";
	char *text;

	switch (output->hold) {
	case GOVERNOR_HELD_BY_LIMIT:
		before = "pebsd stays at half of";
		after = ", and the budget has room for more; raise that sysctl";
		break;
	case GOVERNOR_HELD_AFTER_THROTTLE:
		before = "it came close to";
		after = "; the period shrinks back by itself, which takes about an hour; to have more samples "
			"sooner, raise that sysctl";
		break;
	case GOVERNOR_HELD_AFTER_LOWERED:
		before = "the kernel lowered";
		after = " because interrupts took long; the period shrinks back by itself, which takes about "
			"an hour; to have more samples sooner, set that sysctl back";
		break;
	default:
		return NULL;
	}
	if (max_rate > 0)
		(void)snprintf(limit, sizeof(limit), " (%llu)", (unsigned long long)max_rate);
	if (asprintf(&text,
		     "%s has few samples, %.0f per second on the CPU with the most: %s "
		     "kernel.perf_event_max_sample_rate%s%s",
		     key, input->events_per_second / (double)input->period, before, limit, after) < 0)
		return NULL;
	return text;
}
