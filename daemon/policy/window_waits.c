// SPDX-License-Identifier: GPL-2.0
#include "policy/window_waits.h"

#include <math.h>
#include <string.h>

/* Fills in the samples of a count. */
static void read_count(const struct window_samples *samples, unsigned event, struct wait_count *count)
{
	const struct tally *tally = event < EVENTS_MAX ? &samples->sums[event] : NULL;

	count->known = count->known && tally;
	if (!count->known)
		return;
	count->samples = tally->samples;
	count->weight = tally->weight;
	count->weight_squared = tally->weight_squared;
}

/* The effect of bursts on the rate of one event, as in a rule on the rate. */
static double rate_effect(const struct window_samples *samples, unsigned event, double confidence)
{
	struct burst_series series = {.n = samples->n_parts};

	if (event >= EVENTS_MAX)
		return 1;
	series.variance = samples->sums[event].weight_squared;
	for (size_t i = 0; i < series.n; i++)
		series.parts[i] = (struct burst_part){samples->parts[event][i].seconds,
						      (double)samples->parts[event][i].tally.weight};
	return bursts_effect(&series, confidence);
}

/*
 * The effect of bursts on the ratio of two counts: how much the numerator differs from the ratio times the
 * denominator, compared with independent samples of both. The denominator is in samples of equal weight.
 */
static double ratio_effect(const struct window_samples *samples, unsigned numerator, unsigned denominator,
			   double confidence)
{
	struct burst_series series = {.n = samples->n_parts, .of_samples = true};
	const struct tally *above, *below;
	double weight, ratio;

	if (numerator >= EVENTS_MAX || denominator >= EVENTS_MAX)
		return 1;
	above = &samples->sums[numerator];
	below = &samples->sums[denominator];
	if (below->samples == 0 || below->weight == 0)
		return 1;
	weight = (double)below->weight / (double)below->samples;
	ratio = (double)above->weight / (double)below->weight;
	series.variance = above->weight_squared + ratio * ratio * below->weight_squared;
	for (size_t i = 0; i < series.n; i++)
		series.parts[i] =
			(struct burst_part){(double)samples->parts[denominator][i].tally.weight / weight,
					    (double)samples->parts[numerator][i].tally.weight};
	return bursts_effect(&series, confidence);
}

static void set_effects(const struct window_samples *samples, const struct wait_events *events,
			enum wait_figure figure, double confidence, struct wait_part *part)
{
	part->cycles.effect = part->instructions.effect = part->stalls.effect = part->misses.effect = 1;
	switch (figure) {
	case WAIT_SHARE:
		part->stalls.effect = part->cycles.effect =
			ratio_effect(samples, events->stalls, events->cycles, confidence);
		break;
	case WAIT_CPI:
		part->cycles.effect = part->instructions.effect =
			ratio_effect(samples, events->cycles, events->instructions, confidence);
		break;
	case WAIT_MISSES:
		part->misses.effect = part->instructions.effect =
			ratio_effect(samples, events->misses, events->instructions, confidence);
		break;
	case WAIT_CORES_USED:
		part->cycles.effect = rate_effect(samples, events->cycles, confidence);
		break;
	case WAIT_CORES_LOST:
		part->stalls.effect = rate_effect(samples, events->stalls, confidence);
		break;
	case WAIT_TRAFFIC:
		part->misses.effect = rate_effect(samples, events->misses, confidence);
		break;
	case WAIT_FIGURES:
		break;
	}
}

void window_waits_of(const struct window_samples *samples, const struct wait_events *events,
		     const struct wait_part *parts, size_t n, double confidence,
		     struct wait_value ret[WAIT_FIGURES])
{
	struct wait_part own[EVENTS_MAX];

	n = n < EVENTS_MAX ? n : EVENTS_MAX;
	memcpy(own, parts, n * sizeof(*parts));
	for (size_t i = 0; i < n; i++) {
		read_count(samples, events[i].cycles, &own[i].cycles);
		read_count(samples, events[i].instructions, &own[i].instructions);
		read_count(samples, events[i].stalls, &own[i].stalls);
		read_count(samples, events[i].misses, &own[i].misses);
	}
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		for (size_t i = 0; i < n; i++)
			set_effects(samples, &events[i], figure, confidence, &own[i]);
		waits_figure(own, n, figure, confidence, &ret[figure]);
	}
}
