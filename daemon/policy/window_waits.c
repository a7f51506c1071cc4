// SPDX-License-Identifier: GPL-2.0
#include "policy/window_waits.h"

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

/*
 * The effect of bursts on the rate of an event, or on its quotient by a second one, as in a rule. `second` is
 * EVENTS_MAX for a rate.
 */
static double effect_of(const struct window_samples *samples, unsigned event, unsigned second,
			double confidence)
{
	const bool quotient = second < EVENTS_MAX;
	const struct rule rule = {.metric = {.kind = quotient ? METRIC_CPI : METRIC_RATE},
				  .confidence = confidence};
	struct measured_part parts[BURSTS_PARTS_MAX];
	/* The effect does not depend on the units of time. */
	struct measured measured = {.seconds = 1, .parts = parts, .n_parts = samples->n_parts};

	if (event >= EVENTS_MAX)
		return 1;
	measured.tally = &samples->sums[event];
	memcpy(parts, samples->parts[event], samples->n_parts * sizeof(*parts));
	if (quotient)
		measured.second = (struct measured_second){.tally = &samples->sums[second], .seconds = 1};
	for (size_t i = 0; quotient && i < samples->n_parts; i++)
		parts[i].second_weight = (double)samples->parts[second][i].tally.weight;
	return estimate_effect(&rule, NULL, &measured);
}

static double rate_effect(const struct window_samples *samples, unsigned event, double confidence)
{
	return effect_of(samples, event, EVENTS_MAX, confidence);
}

static double ratio_effect(const struct window_samples *samples, unsigned numerator, unsigned denominator,
			   double confidence)
{
	return denominator < EVENTS_MAX ? effect_of(samples, numerator, denominator, confidence) : 1;
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
