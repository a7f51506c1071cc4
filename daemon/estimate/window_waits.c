// SPDX-License-Identifier: GPL-2.0
#include "estimate/window_waits.h"

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

static void set_effects(const struct window_samples *samples, const struct wait_events *events,
			enum wait_figure figure, double confidence, struct wait_part *part)
{
	struct wait_count *numerator = wait_numerator(part, figure),
			  *denominator = wait_denominator(part, figure);
	const unsigned event = wait_numerator_event(events, figure);
	const unsigned second = wait_denominator_event(events, figure);
	const bool lacks_event = denominator && second >= EVENTS_MAX;

	numerator->effect = lacks_event ? 1 : effect_of(samples, event, second, confidence);
	if (denominator)
		denominator->effect = numerator->effect;
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
