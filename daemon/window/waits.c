// SPDX-License-Identifier: GPL-2.0
#include "window/waits.h"

#include <math.h>

/* Scales the sum of several PMUs to about this weight, which is precise enough as an integer. */
#define SCALED_WEIGHT 0x1p50

/* A figure is its numerator / denominator x factor, or a rate if it has no denominator. */
enum wait_kind { NOTHING, CYCLES, INSTRUCTIONS, STALLS, MISSES };

static const struct formula {
	const char *name;
	enum wait_kind numerator, denominator;
	double factor;
	bool in_cores; /* divided by the frequency */
} formulas[WAIT_FIGURES] = {
	[WAIT_SHARE] = {"wait", STALLS, CYCLES, 1, false},
	[WAIT_CORES_USED] = {"cores_used", CYCLES, NOTHING, 1, true},
	[WAIT_CORES_LOST] = {"cores_lost", STALLS, NOTHING, 1, true},
	[WAIT_CPI] = {"cpi", CYCLES, INSTRUCTIONS, 1, false},
	[WAIT_MISSES] = {"misses_per_thousand", MISSES, INSTRUCTIONS, 1000, false},
	[WAIT_TRAFFIC] = {"traffic", MISSES, NOTHING, WAIT_LINE_BYTES, false},
};

const char *wait_figure_name(enum wait_figure figure)
{
	return figure < WAIT_FIGURES ? formulas[figure].name : "unknown";
}

bool wait_figure_is_rate(enum wait_figure figure)
{
	return formulas[figure].denominator == NOTHING;
}

static struct wait_count *count_of(struct wait_part *part, enum wait_kind kind)
{
	switch (kind) {
	case CYCLES:
		return &part->cycles;
	case INSTRUCTIONS:
		return &part->instructions;
	case STALLS:
		return &part->stalls;
	case MISSES:
		return &part->misses;
	case NOTHING:
		break;
	}
	return NULL;
}

static const struct wait_count *const_count_of(const struct wait_part *part, enum wait_kind kind)
{
	return count_of((struct wait_part *)part, kind);
}

struct wait_count *wait_numerator(struct wait_part *part, enum wait_figure figure)
{
	return count_of(part, formulas[figure].numerator);
}

struct wait_count *wait_denominator(struct wait_part *part, enum wait_figure figure)
{
	return count_of(part, formulas[figure].denominator);
}

static unsigned event_of(const struct wait_events *events, enum wait_kind kind)
{
	switch (kind) {
	case CYCLES:
		return events->cycles;
	case INSTRUCTIONS:
		return events->instructions;
	case STALLS:
		return events->stalls;
	case MISSES:
		return events->misses;
	case NOTHING:
		break;
	}
	return EVENTS_MAX;
}

unsigned wait_numerator_event(const struct wait_events *events, enum wait_figure figure)
{
	return event_of(events, formulas[figure].numerator);
}

unsigned wait_denominator_event(const struct wait_events *events, enum wait_figure figure)
{
	return event_of(events, formulas[figure].denominator);
}

/* A sample without a period says nothing about the number of events. */
static bool is_known(const struct wait_count *count)
{
	return count->known && count->seconds > 0 && (count->samples == 0 || count->weight > 0);
}

static bool has_samples(const struct wait_part *part)
{
	for (enum wait_kind kind = CYCLES; kind <= MISSES; kind++) {
		const struct wait_count *count = const_count_of(part, kind);

		if (count->known && count->samples > 0)
			return true;
	}
	return false;
}

/* The PMU has all that the figure needs. */
static bool has_needs(const struct wait_part *part, const struct formula *formula)
{
	return is_known(const_count_of(part, formula->numerator)) &&
	       (formula->denominator == NOTHING || is_known(const_count_of(part, formula->denominator))) &&
	       (!formula->in_cores || part->frequency_hz > 0);
}

/* The sum of the rates of one kind of count. The members are those of struct wait_count, by second. */
struct rates {
	u64 samples;
	double weight;
	double weight_squared;
	double largest;
	double in_groups; /* `weight_squared`, each part times its effect */
	double effect;    /* the largest of the parts */
};

static void add_rate(struct rates *rates, const struct wait_count *count, double unit)
{
	double weight = (double)count->weight * unit;
	double effect = fmax(count->effect, 1);
	double squared;

	rates->largest = fmax(rates->largest, count->largest * unit);
	rates->effect = fmax(rates->effect, effect);
	if (count->samples == 0)
		return;
	squared = fmax(count->weight_squared * unit * unit, weight * weight / (double)count->samples);
	rates->samples += count->samples;
	rates->weight += weight;
	rates->weight_squared += squared;
	rates->in_groups += squared * effect;
}

/* Adds the rates of all parts that have what the formula needs. Returns false if the sum is not known. */
static bool sum_rates(const struct wait_part *parts, size_t n, const struct formula *formula,
		      enum wait_kind kind, struct rates *ret)
{
	*ret = (struct rates){0};
	for (size_t i = 0; i < n; i++) {
		const struct wait_count *count = const_count_of(&parts[i], kind);

		if (has_needs(&parts[i], formula))
			add_rate(ret, count,
				 1 / count->seconds / (formula->in_cores ? parts[i].frequency_hz : 1));
		else if (has_samples(&parts[i]))
			return false;
	}
	return ret->samples > 0 || ret->largest > 0;
}

/* The same rates as integers, with the unit of time that this takes. */
static struct bounds_counted counted_of(const struct rates *rates)
{
	double unit = SCALED_WEIGHT / (rates->samples ? rates->weight : rates->largest);

	return (struct bounds_counted){
		.samples = rates->samples,
		.weight = (u64)llround(rates->weight * unit),
		.weight_squared = rates->weight_squared * unit * unit,
		.largest = rates->largest * unit,
		.seconds = unit,
		.effect = rates->samples ? rates->in_groups / rates->weight_squared : rates->effect,
	};
}

/* Reads the rates that the figure is made of, and its value. Returns false if the figure is not known. */
static bool value_of(const struct wait_part *parts, size_t n, const struct formula *formula,
		     struct rates *numerator, struct rates *denominator, double *ret)
{
	if (!sum_rates(parts, n, formula, formula->numerator, numerator))
		return false;
	*ret = formula->factor * numerator->weight;
	if (formula->denominator == NOTHING)
		return true;
	if (!sum_rates(parts, n, formula, formula->denominator, denominator) || denominator->samples == 0)
		return false;
	*ret /= denominator->weight;
	return true;
}

static struct bounds rate_bounds(const struct rates *rates, double confidence)
{
	struct bounds_counted counted = counted_of(rates);

	if (isinf(counted.effect))
		return (struct bounds){.low = 0, .high = INFINITY};
	return bounds_rate(counted.samples, counted.weight, counted.weight_squared, counted.largest,
			   counted.seconds, counted.effect, confidence);
}

static struct bounds ratio_bounds(const struct rates *numerator, const struct rates *denominator,
				  double confidence)
{
	struct bounds_counted now = counted_of(numerator);
	struct bounds_counted base = counted_of(denominator);

	return bounds_rate_ratio(&now, &base, confidence);
}

double wait_share_limited(double share)
{
	return fmin(share, 1);
}

struct bounds wait_bounds_limited(struct bounds bounds)
{
	return (struct bounds){wait_share_limited(bounds.low), wait_share_limited(bounds.high)};
}

static double limited(enum wait_figure figure, double value)
{
	return figure == WAIT_SHARE ? wait_share_limited(value) : value;
}

bool waits_value(const struct wait_part *parts, size_t n, enum wait_figure figure, double *ret)
{
	struct rates numerator, denominator;

	if (!value_of(parts, n, &formulas[figure], &numerator, &denominator, ret))
		return false;
	*ret = limited(figure, *ret);
	return true;
}

void waits_figure(const struct wait_part *parts, size_t n, enum wait_figure figure, double confidence,
		  struct wait_value *ret)
{
	const struct formula *formula = &formulas[figure];
	struct rates numerator, denominator;

	*ret = (struct wait_value){0};
	if (!value_of(parts, n, formula, &numerator, &denominator, &ret->value)) {
		ret->value = 0;
		return;
	}
	ret->known = true;
	ret->bounds = formula->denominator == NOTHING ? rate_bounds(&numerator, confidence)
						      : ratio_bounds(&numerator, &denominator, confidence);
	ret->value = limited(figure, ret->value);
	ret->bounds.low = limited(figure, ret->bounds.low * formula->factor);
	ret->bounds.high = limited(figure, ret->bounds.high * formula->factor);
}
