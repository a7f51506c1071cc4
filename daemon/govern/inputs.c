// SPDX-License-Identifier: GPL-2.0
#include "govern/inputs.h"

#include <math.h>
#include <stdint.h>

/*
 * On an idle machine the period shrinks to the usual one divided by this number, but not further. With a
 * shorter period, a sample adds little information.
 */
#define CLOSER 32

/*
 * The counter of AMD's IBS has 27 bits. For longer periods the kernel adds interrupts without a sample
 * (perf_ibs_op, arch/x86/events/amd/ibs.c, Linux 6.12).
 */
#define IBS_STEP     16
#define IBS_GREATEST (0x7fffffULL << 4)

static const struct cpu_counts *find(const struct cpu_counts *list, size_t n, int cpu, size_t *at)
{
	while (*at < n && list[*at].cpu < cpu)
		++*at;
	return *at < n && list[*at].cpu == cpu ? &list[*at] : NULL;
}

/* Adds one CPU. Returns whether its event counted at both readings. */
static bool take(double seconds, const struct cpu_counts *before, const struct cpu_counts *now,
		 struct governor_input *ret)
{
	double enabled_ns, throttled_ns, active_ns, throttled, rate;

	if (!before || !before->open || !now->open || now->in_error || now->count < before->count ||
	    now->enabled_ns < before->enabled_ns || now->throttled_ns < before->throttled_ns ||
	    now->expected < before->expected || now->throttles < before->throttles)
		return false;
	ret->cpus++;
	throttled_ns = (double)(now->throttled_ns - before->throttled_ns);
	throttled = fmin(throttled_ns / (seconds * (double)NSEC_PER_SEC), 1);
	if (throttled > ret->throttled) {
		ret->throttled = throttled;
		ret->throttles = now->throttles - before->throttles;
	}
	enabled_ns = (double)(now->enabled_ns - before->enabled_ns);
	if (enabled_ns <= 0 || now->count == before->count)
		return true;
	enabled_ns = fmax(enabled_ns, seconds * (double)NSEC_PER_SEC);
	active_ns = enabled_ns - throttled_ns;
	/*
	 * The times come from different clocks and may disagree. Assume that a throttled event runs for at
	 * least a hundredth of the time.
	 */
	if (active_ns < enabled_ns / 100)
		active_ns = enabled_ns / 100;
	rate = (double)(now->count - before->count) / active_ns * (double)NSEC_PER_SEC;
	if (rate <= ret->events_per_second)
		return true;
	ret->events_per_second = rate;
	ret->active = active_ns / enabled_ns;
	ret->samples = (double)(now->expected - before->expected);
	return true;
}

void govern_busiest(double seconds, const struct cpu_counts *before, size_t n_before,
		    const struct cpu_counts *now, size_t n_now, struct governor_input *ret)
{
	size_t at = 0;

	ret->known = false;
	ret->events_per_second = ret->samples = 0;
	ret->active = 1;
	ret->cpus = 0;
	ret->throttled = 0;
	ret->throttles = 0;
	for (size_t i = 0; i < n_now; i++)
		ret->known |= take(seconds, find(before, n_before, now[i].cpu, &at), &now[i], ret);
}

void govern_bounds(const struct event_spec *spec, u64 usual_period, struct governor_input *ret)
{
	const u64 step = spec->period_step ? spec->period_step : 1;
	/*
	 * With a shorter period, records would collide more often, and each collision loses more samples than
	 * the shorter period gains.
	 */
	const u64 closest = spec->collides ? usual_period : usual_period / CLOSER;

	ret->period_step = step;
	ret->least_period = closest > spec->period_min ? closest : spec->period_min;
	if (ret->least_period == 0)
		ret->least_period = 1;
	ret->greatest_period = step == IBS_STEP ? IBS_GREATEST : INT32_MAX;
}

static bool share_a_cpu(const struct event_spec *a, const struct event_spec *b)
{
	if (!a->has_members || !b->has_members)
		return true;
	for (int cpu = cpu_list_next(&a->members, -1); cpu >= 0; cpu = cpu_list_next(&a->members, cpu))
		if (cpu_list_has(&b->members, cpu))
			return true;
	return false;
}

void govern_classes(const struct event_spec *const *specs, size_t n, u32 ret[static EVENTS_MAX])
{
	for (size_t i = 0; i < n; i++)
		ret[i] = (u32)i;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			const u32 from = ret[i], to = ret[j];

			if (from == to || !share_a_cpu(specs[i], specs[j]))
				continue;
			for (size_t k = 0; k < n; k++)
				if (ret[k] == from)
					ret[k] = to;
		}
}
