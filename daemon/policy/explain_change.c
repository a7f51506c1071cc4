// SPDX-License-Identifier: GPL-2.0
/* The sentences about what would have to change for another verdict. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/explanation.h"
#include "rule/quantity.h"

#define COUNTED_MAX (QUANTITY_MAX + 32)

/* The search for a number of samples doubles the number until it reaches this value. */
#define SAMPLES_FORESEEN_MAX (1ULL << 32)

/* Describes the samples that are counted: those past the limit. */
static void counted(const struct rule *rule, double limit, char ret[COUNTED_MAX])
{
	char edge[QUANTITY_MAX];
	char metric[METRIC_TEXT_MAX];

	if (rule->metric.kind == METRIC_QUANTILE) {
		quantity(&rule->metric, limit, NEAREST, edge);
		(void)snprintf(ret, COUNTED_MAX, "latencies are %s %s", rule->below ? "not above" : "above",
			       edge);
		return;
	}
	metric_format(&rule->metric, metric);
	(void)snprintf(ret, COUNTED_MAX, "samples are %s%s", rule->below ? "not " : "",
		       strchr(metric, ':') + 1);
}

/* The number of samples past the limit. */
static u64 count_now(const struct alert *alert, bool breach)
{
	if (alert->rule->metric.kind == METRIC_QUANTILE)
		return breach ? alert->estimate.past_threshold : alert->estimate.past_clear;
	return (u64)llround((alert->rule->below ? 1 - alert->estimate.value : alert->estimate.value) *
			    (double)alert->estimate.samples);
}

/* Assumes that future samples come in the same bursts as those in the window. */
static double effect_of(const struct alert *alert)
{
	return alert->estimate.effect;
}

/*
 * The least number of samples that would prove a breach if the share of them past the threshold stays the
 * same. 0: it is too large to wait for.
 */
static u64 foresee(struct evidence *evidence, const struct alert *alert)
{
	const u64 n = alert->estimate.samples, count = count_now(alert, true);
	u64 low, high = n;
	s64 breach, clear;

	do {
		if (high >= SAMPLES_FORESEEN_MAX)
			return 0;
		low = high;
		high *= 2;
		evidence_counts(evidence, alert->rule, &alert->limits, high, effect_of(alert), &breach,
				&clear);
	} while (breach > (s64)((double)high * (double)count / (double)n));
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;

		evidence_counts(evidence, alert->rule, &alert->limits, middle, effect_of(alert), &breach,
				&clear);
		if (breach > (s64)((double)middle * (double)count / (double)n))
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Returns whether the value itself is past the threshold, proven or not. */
static bool value_is_past(const struct alert *alert)
{
	const struct estimate *estimate = &alert->estimate;

	return alert->rule->below ? estimate->value < alert->limits.threshold
				  : estimate->value > alert->limits.threshold;
}

static bool breach_is_proven(const struct alert *alert)
{
	const struct bounds *bounds = &alert->estimate.bounds;

	return alert->rule->below ? bounds->high <= alert->limits.threshold
				  : bounds->low >= alert->limits.threshold;
}

static bool can_prove(struct evidence *evidence, const struct alert *alert, bool breach, u64 n)
{
	s64 breach_from, clear_to;

	evidence_counts(evidence, alert->rule, &alert->limits, n, effect_of(alert), &breach_from, &clear_to);
	return breach ? breach_from <= (s64)n : clear_to >= 0;
}

/* The least number of samples of which some count proves the change. 0: the number is too large to wait for. */
static u64 least_samples(struct evidence *evidence, const struct alert *alert, bool breach)
{
	u64 low = alert->estimate.samples, high = low + 1;

	while (!can_prove(evidence, alert, breach, high)) {
		if (high >= SAMPLES_FORESEEN_MAX)
			return 0;
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;

		if (can_prove(evidence, alert, breach, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* For a rule that is judged by counts: says how many samples must be past the limit to prove the change. */
static void say_counts(struct explanation *explanation, bool breach)
{
	const struct alert *alert = explanation->alert;
	const struct rule *rule = explanation->rule;
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	char of[TEXT_NUMBER_MAX], enough[TEXT_NUMBER_MAX], now[TEXT_NUMBER_MAX];
	char what[COUNTED_MAX];
	s64 counts[2];
	u64 foreseen;

	if (evidence_new(&evidence) < 0) {
		explanation->error = -ENOMEM;
		return;
	}
	evidence_counts(evidence, rule, &alert->limits, alert->estimate.samples, effect_of(alert), &counts[0],
			&counts[1]);
	text_count(alert->estimate.samples, of);
	counted(rule, breach ? alert->limits.threshold : alert->limits.clear, what);
	if (breach ? counts[0] > (s64)alert->estimate.samples : counts[1] < 0) {
		char needed[TEXT_NUMBER_MAX];

		foreseen = least_samples(evidence, alert, breach);
		text_count(foreseen, needed);
		say(explanation, "there are too few %s (%s) to prove %s%s, whatever their values are%s%s%s",
		    explanation_samples(&rule->metric), of, breach ? "a breach" : explanation->metric,
		    breach ? "" : " clear", foreseen ? ": at least " : "", foreseen ? needed : "",
		    foreseen ? " are needed" : "");
		return;
	}
	text_count((u64)(breach ? counts[0] : counts[1]), enough);
	text_count(count_now(alert, breach), now);
	say(explanation, "%s is proven%s when at %s %s of %s %s; %s %s",
	    breach ? "a breach" : explanation->metric, breach ? "" : " clear", breach ? "least" : "most",
	    enough, of, what, now, count_now(alert, breach) == 1 ? "is" : "are");
	if (!breach || !value_is_past(alert) || breach_is_proven(alert))
		return;
	foreseen = foresee(evidence, alert);
	if (foreseen) {
		text_count(foreseen, of);
		say(explanation,
		    "if the share of such %s stays the same, about %s %s in a window would prove the breach",
		    explanation_samples(&rule->metric), of, explanation_samples(&rule->metric));
	}
}

/* For a rule that is judged by bounds: says which bound would have to pass which limit. */
static void say_bound(struct explanation *explanation, bool breach)
{
	const struct alert *alert = explanation->alert;
	const struct metric *metric = &explanation->rule->metric;
	bool above = explanation_proven_above(explanation->rule, breach);
	char bound[QUANTITY_MAX], limit[QUANTITY_MAX];

	quantity(metric, breach ? alert->limits.threshold : alert->limits.clear, NEAREST, limit);
	if (above ? !explanation_has_low(alert) : !explanation_has_high(alert)) {
		say(explanation, "%s is proven%s when the %s bound (none so far) is %s %s",
		    breach ? "a breach" : explanation->metric, breach ? "" : " clear",
		    above ? "lower" : "upper", above ? "at least" : "at most", limit);
		return;
	}
	quantity(metric, above ? alert->estimate.bounds.low : alert->estimate.bounds.high, above ? DOWN : UP,
		 bound);
	say(explanation, "%s is proven%s when the %s bound, now %s, is %s %s",
	    breach ? "a breach" : explanation->metric, breach ? "" : " clear", above ? "lower" : "upper",
	    bound, above ? "at least" : "at most", limit);
}

void say_change(struct explanation *explanation)
{
	const struct metric *metric = &explanation->rule->metric;
	bool breach = explanation->alert->decision.state != ALERT_FIRING;

	if (!explanation->alert->estimate.known || isinf(effect_of(explanation->alert)))
		return;
	if (!metric->ratio && (metric->kind == METRIC_QUANTILE || metric->kind == METRIC_SHARE))
		say_counts(explanation, breach);
	else
		say_bound(explanation, breach);
}
