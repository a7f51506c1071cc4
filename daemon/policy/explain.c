// SPDX-License-Identifier: GPL-2.0
#include "policy/explain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/explanation.h"
#include "policy/nanoseconds.h"
#include "rule/quantity.h"
#include "window/waits.h"

static void span(u64 ns, char ret[TEXT_NUMBER_MAX])
{
	text_span((double)ns / (double)NSEC_PER_SEC, ret);
}

/* Returns whether the metric is judged by counting the latencies past the edge of a bucket. */
static bool at_edges(const struct metric *metric)
{
	return metric->kind == METRIC_QUANTILE && !metric->ratio;
}

static bool has_ended(const struct alert *alert)
{
	return alert->decision.state == ALERT_RESOLVED && alert->end != ALERT_END_CLEAR;
}

/* An idle cgroup often has a single sample in a window. */
static const char *samples_word(const struct metric *metric, u64 n)
{
	if (n != 1)
		return explanation_samples(metric);
	return metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN ? "latency" : "sample";
}

/* Writes a value with its unit, and with the time if it is a latency: "912.5 cycles (351 ns)". */
#define LATENCY_MAX (QUANTITY_MAX + NANOSECONDS_TEXT_MAX)
static void latency(const struct alert *alert, double value, enum quantity_rounding rounding,
		    char ret[LATENCY_MAX])
{
	char time[NANOSECONDS_TEXT_MAX];

	quantity(&alert->rule->metric, value, rounding, ret);
	nanoseconds_beside(&alert->rule->metric, value, nanoseconds_hz(alert), time);
	(void)snprintf(ret + strlen(ret), LATENCY_MAX - strlen(ret), "%s", time);
}

/*
 * Writes what the value is computed from: "2,000 latencies", or for a metric that implies its events "1,200 samples
 * of stalls and 3,000 of cycles".
 */
#define SAMPLES_MAX 128
static void samples_text(const struct explanation *explanation, char ret[SAMPLES_MAX])
{
	const struct estimate *estimate = &explanation->alert->estimate;
	const struct metric *metric = &explanation->rule->metric;
	const char *word = samples_word(metric, estimate->samples);
	char samples[TEXT_NUMBER_MAX], second[TEXT_NUMBER_MAX];
	enum event_role roles[METRIC_EVENTS_MAX];

	text_count(estimate->samples, samples);
	if (metric_events(metric, roles) == 0) {
		(void)snprintf(ret, SAMPLES_MAX, "%s %s", samples, word);
	} else if (metric_is_quotient(metric)) {
		text_count(estimate->second_samples, second);
		(void)snprintf(ret, SAMPLES_MAX, "%s %s of %s and %s of %s", samples, word,
			       event_role_name(roles[0]), second, event_role_name(roles[1]));
	} else {
		(void)snprintf(ret, SAMPLES_MAX, "%s %s of %s", samples, word, event_role_name(roles[0]));
	}
}

/* Returns true if say_cores_lost() explains the value: then its bounds and limits need fewer words. */
static bool is_cores_lost(const struct rule *rule)
{
	return rule->metric.kind == METRIC_CORES_LOST && !rule->metric.ratio;
}

/* Writes a number of cores without its unit, which follows the cores that the cgroup uses. */
static void cores(const struct explanation *explanation, double value, enum quantity_rounding rounding,
		  char ret[QUANTITY_MAX])
{
	quantity(&explanation->rule->metric, value, rounding, ret);
	ret[strcspn(ret, " ")] = '\0';
}

/* Writes the bounds: ": at least 3.04 and at most 3.37 (each with 95% confidence)". */
#define CORES_BOUNDS_MAX (2 * QUANTITY_MAX + TEXT_NUMBER_MAX + 64)
static void cores_bounds(const struct explanation *explanation, char ret[CORES_BOUNDS_MAX])
{
	const struct alert *alert = explanation->alert;
	char low[QUANTITY_MAX], high[QUANTITY_MAX], confidence[TEXT_NUMBER_MAX];

	quantity_number(100 * explanation->rule->confidence, 4, NEAREST, confidence);
	cores(explanation, alert->estimate.bounds.low, DOWN, low);
	cores(explanation, alert->estimate.bounds.high, UP, high);
	ret[0] = '\0';
	if (isinf(alert->estimate.effect))
		return;
	if (explanation_has_low(alert) && explanation_has_high(alert))
		(void)snprintf(ret, CORES_BOUNDS_MAX,
			       ": at least %s and at most %s (each with %s%% confidence)", low, high,
			       confidence);
	else if (explanation_has_low(alert) || explanation_has_high(alert))
		(void)snprintf(ret, CORES_BOUNDS_MAX, ": at %s %s (with %s%% confidence)",
			       explanation_has_low(alert) ? "least" : "most",
			       explanation_has_low(alert) ? low : high, confidence);
	else
		(void)snprintf(ret, CORES_BOUNDS_MAX, " (too few samples for a bound with %s%% confidence)",
			       confidence);
}

/* Says it in the words of somebody who plans capacity: "/shop loses 3.2 of its 9.1 cores to memory". */
static void say_cores_lost(struct explanation *explanation, const char *samples, const char *window)
{
	const struct estimate *estimate = &explanation->alert->estimate;
	const char *loses = has_ended(explanation->alert) ? "last lost" : "loses";
	char value[QUANTITY_MAX], used[QUANTITY_MAX + 8] = "", bounds[CORES_BOUNDS_MAX];
	char frequency[TEXT_NUMBER_MAX], cores_run[TEXT_NUMBER_MAX + 24] = "";
	bool one;

	cores(explanation, estimate->value, NEAREST, value);
	if (estimate->cores_used > 0) {
		(void)snprintf(used, sizeof(used), " of its ");
		cores(explanation, (double)estimate->cores_used, NEAREST, used + strlen(used));
	}
	cores_bounds(explanation, bounds);
	if (estimate->frequency_hz > 0) {
		text_frequency((double)estimate->frequency_hz, frequency);
		(void)snprintf(cores_run, sizeof(cores_run), "; its cores run at %s", frequency);
	}
	one = strcmp(*used ? used : value, *used ? " of its 1" : "1") == 0;
	say(explanation, "%s %s %s%s core%s to memory%s, from %s in %s%s", explanation->alert->cgroup, loses,
	    value, used, one ? "" : "s", bounds, samples, window, cores_run);
}

static void say_value(struct explanation *explanation)
{
	const struct estimate *estimate = &explanation->alert->estimate;
	const struct metric *metric = &explanation->rule->metric;
	char value[QUANTITY_MAX], samples[SAMPLES_MAX], base[TEXT_NUMBER_MAX], window[TEXT_NUMBER_MAX];
	const char *is = has_ended(explanation->alert) ? "was last" : "is";
	char time[NANOSECONDS_TEXT_MAX];

	if (!estimate->known) {
		say(explanation, "%s has no value: the window has nothing to compute it from",
		    explanation->metric);
		return;
	}
	quantity(metric, estimate->value, NEAREST, value);
	nanoseconds_first(metric, estimate->value, nanoseconds_hz(explanation->alert), time);
	samples_text(explanation, samples);
	text_count(estimate->base_samples, base);
	span(explanation->alert->covered_ns, window);
	if (!isfinite(estimate->value))
		say(explanation, "%s has no value: its baseline is 0; %s in %s", explanation->metric, samples,
		    window);
	else if (metric->ratio)
		say(explanation, "%s %s %s, from %s in %s and a baseline worth %s %s", explanation->metric,
		    is, value, samples, window, base, samples_word(metric, estimate->base_samples));
	else if (is_cores_lost(explanation->rule))
		say_cores_lost(explanation, samples, window);
	else
		say(explanation, "%s %s %s%s, from %s in %s", explanation->metric, is, value, time, samples,
		    window);
}

static bool has_bursts(const struct alert *alert)
{
	return alert->estimate.known && alert->estimate.effect > 1;
}

/* Says how many independent samples the samples are worth, if that is less than their number. */
static void say_worth(struct explanation *explanation)
{
	const struct estimate *estimate = &explanation->alert->estimate;
	char samples[TEXT_NUMBER_MAX], worth[TEXT_NUMBER_MAX];

	if (!has_bursts(explanation->alert) || !estimate_has_samples(estimate, &explanation->rule->metric))
		return;
	text_count(estimate->samples, samples);
	text_count(estimate->worth, worth);
	if (!isinf(estimate->effect))
		say(explanation, "the samples came in bursts: %s %s are worth %s independent one%s", samples,
		    explanation_samples(&explanation->rule->metric), worth, estimate->worth == 1 ? "" : "s");
	else
		say(explanation,
		    "the samples came in bursts, and the window has too few bursts to tell how many independent samples %s %s are worth",
		    samples, explanation_samples(&explanation->rule->metric));
}

static void say_bounds(struct explanation *explanation)
{
	const struct alert *alert = explanation->alert;
	const struct metric *metric = &explanation->rule->metric;
	const char *above = at_edges(metric) ? "above" : "at least";
	const char *is = has_ended(alert) ? "was" : "is";
	char low[LATENCY_MAX], high[LATENCY_MAX], confidence[TEXT_NUMBER_MAX], cap[TEXT_NUMBER_MAX];

	quantity_number(100 * explanation->rule->confidence, 4, NEAREST, confidence);
	latency(alert, alert->estimate.bounds.low, DOWN, low);
	latency(alert, alert->estimate.bounds.high, UP, high);
	if (explanation_has_low(alert) && explanation_has_high(alert))
		say(explanation, "%s %s %s %s, and at most %s, each with %s%% confidence",
		    explanation->metric, is, above, low, high, confidence);
	else if (explanation_has_low(alert))
		say(explanation, "%s %s %s %s with %s%% confidence; there is no upper bound so far",
		    explanation->metric, is, above, low, confidence);
	else if (explanation_has_high(alert))
		say(explanation, "%s %s at most %s with %s%% confidence; there is no lower bound so far",
		    explanation->metric, is, high, confidence);
	else
		say(explanation, "there are too few %s for a bound with %s%% confidence",
		    explanation_samples(metric), confidence);
	if (metric->kind == METRIC_MEAN && explanation_has_high(alert)) {
		text_count(rule_mean_cap(explanation->rule, &alert->limits), cap);
		say(explanation,
		    "%s a latency above %s cycles as %s cycles: without such a limit a mean has no upper bound",
		    metric->ratio ? "both bounds count" : "the upper bound counts", cap, cap);
	}
}

/* Says what the event counts on this CPU, because CPU generations differ. */
static void say_counts_of(struct explanation *explanation)
{
	switch ((enum count_kind)explanation->alert->counts) {
	case COUNT_STALLS_LOAD:
		say(explanation,
		    "memory costs the cgroup at most this much, whatever the cause: in a stalled cycle nothing executes and a load is outstanding");
		return;
	case COUNT_STALLS_L1_MISS:
		say(explanation,
		    "memory costs the cgroup at most this much, whatever the cause: in a stalled cycle nothing executes and a load that missed the L1 cache is outstanding");
		return;
	case COUNT_STALLS_RETIRE:
		say(explanation,
		    "memory costs the cgroup at most this much, whatever the cause: in a stalled cycle nothing retires because the oldest operation waits for the data of a load, but younger operations may execute");
		return;
	case COUNT_MISSES_L3:
	case COUNT_MISSES_L2:
		say(explanation,
		    "traffic counts %d bytes for each miss of the %s cache; prefetches that the CPU does not count as misses, and lines that are written back, are left out",
		    WAIT_LINE_BYTES, explanation->alert->counts == COUNT_MISSES_L3 ? "L3" : "L2");
		return;
	case COUNT_MISSES_FILLS:
		say(explanation,
		    "traffic counts %d bytes for each line that comes from memory into the L1 data cache; prefetches into other caches, and lines that are written back, are left out",
		    WAIT_LINE_BYTES);
		return;
	case COUNT_MISSES_DEMAND_FILLS:
		say(explanation,
		    "traffic counts %d bytes for each line that comes from memory into the L1 data cache; lines that hardware prefetches or writes back are left out",
		    WAIT_LINE_BYTES);
		return;
	case COUNT_NONE:
		return;
	}
}

/* Says what a figure means that is derived from counts, and where to look next. */
static void say_meaning(struct explanation *explanation)
{
	const struct metric *metric = &explanation->rule->metric;
	enum event_role roles[METRIC_EVENTS_MAX];

	if (metric_events(metric, roles) == 0)
		return;
	if (metric->kind != METRIC_CPI)
		say_counts_of(explanation);
	if (metric->kind == METRIC_CORES_LOST && metric->ratio)
		say(explanation,
		    "the ratio compares stalled cycles a second: a change of the frequency also changes it");
}

static void say_next(struct explanation *explanation)
{
	if (explanation->rule->metric.kind != METRIC_WAIT &&
	    explanation->rule->metric.kind != METRIC_CORES_LOST)
		return;
	if (!explanation->alert->samples_loads) {
		say(explanation,
		    "loads are not sampled, so it is not known which memory the cgroup waits for: add loads to `events` in [sampling]");
		return;
	}
	say(explanation, "pebsctl hot %s shows its code and data", explanation->alert->cgroup);
	say(explanation, "pebsctl neighbours %s shows possible causes", explanation->alert->cgroup);
}

/* Says which samples are missing in the value, and what that means for the verdict. */
static void say_without_slot(struct explanation *explanation)
{
	const struct alert *alert = explanation->alert;
	const u64 n = alert->subtree_without_slot;
	char number[TEXT_NUMBER_MAX];

	if (n == 0)
		return;
	text_count(n, number);
	say(explanation, "%s cgroup%s at and below %s %s no slot now: %s samples are not in the value",
	    number, n == 1 ? "" : "s", alert->cgroup, n == 1 ? "has" : "have", n == 1 ? "its" : "their");
	if (alert->decision.unknown != UNKNOWN_NOT)
		return;
	if (!metric_is_rate(&explanation->rule->metric))
		say(explanation,
		    "with these samples the value could be higher or lower: the rule judges only the cgroups that have slots");
	else if (explanation->rule->below)
		say(explanation,
		    "with these samples the rate could only be higher: a breach cannot be proven without them");
	else
		say(explanation,
		    "with these samples the rate could only be higher: it cannot be proven clear without them");
}

static const char *side(const struct rule *rule, bool breach)
{
	if (at_edges(&rule->metric))
		return explanation_proven_above(rule, breach) ? "above" : "not above";
	return explanation_proven_above(rule, breach) ? "at least" : "at most";
}

static void say_preference(struct explanation *explanation)
{
	const struct preference_effect *effect = &explanation->alert->preference;
	const char *cgroup = explanation->alert->cgroup;
	char own[QUANTITY_MAX], other[QUANTITY_MAX];

	if (effect->ignored)
		say(explanation,
		    "the rule ignores this cgroup: " PREFERENCE_IGNORE " on the directory of %s says so",
		    cgroup);
	if (effect->has_threshold) {
		quantity(&explanation->rule->metric, explanation->rule->threshold, NEAREST, own);
		quantity(&explanation->rule->metric, effect->threshold, NEAREST, other);
		say(explanation,
		    "the threshold %s comes from " PREFERENCE_THRESHOLD
		    " on the directory of %s; the rule's own threshold is %s",
		    other, cgroup, own);
	}
	if (effect->untrusted)
		say(explanation,
		    "user.pebsd.* on the directory of %s is ignored for this rule: root does not own the directory, and the rule does not have `trust-owner = yes`",
		    cgroup);
	if (effect->malformed)
		say(explanation,
		    PREFERENCE_THRESHOLD
		    " on the directory of %s is ignored for this rule: its text is not valid; write %s=VALUE once, with a VALUE as for `%s`",
		    cgroup, explanation->rule->name, explanation->rule->below ? "below" : "above");
}

/* Says what the bounds, which say_cores_lost() gives, must be to change the state. */
static void say_bounds_to_pass(struct explanation *explanation, const char *threshold, const char *clear,
			       const char *duration)
{
	const bool above = explanation_proven_above(explanation->rule, true);
	const u64 for_ns = explanation->rule->for_ns;

	say(explanation,
	    "the rule fires when the %s bound is %s %s%s%s, and clears when the %s bound is %s %s",
	    above ? "lower" : "upper", side(explanation->rule, true), threshold, for_ns ? " for " : "",
	    for_ns ? duration : "", above ? "upper" : "lower", side(explanation->rule, false), clear);
}

static void say_limits(struct explanation *explanation)
{
	const struct rule *rule = explanation->rule;
	const struct preference_effect *effect = &explanation->alert->preference;
	double asked = effect->has_threshold ? effect->threshold : rule->threshold;
	char threshold[LATENCY_MAX], clear[LATENCY_MAX], duration[TEXT_NUMBER_MAX];

	latency(explanation->alert, explanation->alert->limits.threshold, NEAREST, threshold);
	latency(explanation->alert, explanation->alert->limits.clear, NEAREST, clear);
	span(rule->for_ns, duration);
	if (is_cores_lost(rule)) {
		say_bounds_to_pass(explanation, threshold, clear, duration);
		return;
	}
	if (rule->for_ns)
		say(explanation,
		    "the rule fires when %s is proven to be %s %s for %s, and clears when it is proven to be %s %s",
		    explanation->metric, side(rule, true), threshold, duration, side(rule, false), clear);
	else
		say(explanation,
		    "the rule fires when %s is proven to be %s %s, and clears when it is proven to be %s %s",
		    explanation->metric, side(rule, true), threshold, side(rule, false), clear);
	if (rule->nanoseconds && !effect->has_threshold) {
		char given[NANOSECONDS_TEXT_MAX];

		nanoseconds_limit(rule->threshold, rule->nominal_hz, given);
		say(explanation, "the configured threshold is %s", given);
	}
	if (at_edges(&rule->metric) && asked != explanation->alert->limits.threshold) {
		char request[QUANTITY_MAX];

		quantity(&rule->metric, asked, NEAREST, request);
		say(explanation,
		    "the requested threshold is %s; a quantile is judged at the nearest edge of a bucket, %s",
		    request, threshold);
	}
}

/* The event whose samples `min-samples` counts, if the metric has two. */
static const char *counted_event(const struct metric *metric)
{
	if (metric->kind == METRIC_WAIT)
		return " of cycles";
	return metric->kind == METRIC_CPI ? " of each event" : "";
}

static void say_missing(struct explanation *explanation, const char *where, u64 samples)
{
	char have[TEXT_NUMBER_MAX], needed[TEXT_NUMBER_MAX], missing[TEXT_NUMBER_MAX];
	u64 min = explanation->rule->min_samples;

	text_count(samples, have);
	text_count(min, needed);
	text_count(min > samples ? min - samples : 0, missing);
	say(explanation, "%s has %s of the %s %s%s that `min-samples` requires: %s more %s needed", where,
	    have, needed, explanation_samples(&explanation->rule->metric),
	    counted_event(&explanation->rule->metric), missing, min == samples + 1 ? "is" : "are");
}

/* Says why the event, or a second one that the metric needs, does not measure it. */
static void say_not_measured(struct explanation *explanation)
{
	enum event_role roles[METRIC_EVENTS_MAX];

	if (metric_events(&explanation->rule->metric, roles) < 2)
		say(explanation,
		    "the event %s does not measure here what %s is computed from: waiting does not help, but another `metric` or `event` of the rule may",
		    explanation->alert->event_key, explanation->metric);
	else
		say(explanation,
		    "%s is computed from %s and %s of the same PMU, and %s are not sampled there, or the samples have no periods: waiting does not help, but adding %s to `events` in [sampling] may",
		    explanation->metric, event_role_name(roles[0]), event_role_name(roles[1]),
		    event_role_name(roles[1]), event_role_name(roles[1]));
}

/* Names the condition that will end the state "unknown". */
static void say_end_of_unknown(struct explanation *explanation)
{
	const struct alert *alert = explanation->alert;
	char window[TEXT_NUMBER_MAX], covered[TEXT_NUMBER_MAX], missing[TEXT_NUMBER_MAX];
	u64 window_ns = explanation->rule->window_ns;

	span(window_ns, window);
	span(alert->covered_ns, covered);
	span(window_ns > alert->covered_ns ? window_ns - alert->covered_ns : 0, missing);
	switch (alert->decision.unknown) {
	case UNKNOWN_NOT:
		return;
	case UNKNOWN_WINDOW:
		say(explanation, "the window covers %s of %s so far: it is first judged in %s", covered,
		    window, missing);
		return;
	case UNKNOWN_SAMPLES:
		say_missing(explanation, "the window",
			    estimate_counted_of(&explanation->rule->metric, &alert->estimate));
		return;
	case UNKNOWN_SOURCE:
		say(explanation,
		    "no samples were possible for a tenth of the window or more; it is judged again when that time is less than a tenth of the window of %s",
		    window);
		return;
	case UNKNOWN_MULTIPLEXED:
		say(explanation,
		    "the event had a counter for less than a quarter of the time; the window is judged again when the event has one for longer: set fewer `events` in [sampling], or stop other tools that use counters");
		return;
	case UNKNOWN_LOST:
		say(explanation,
		    "more than a tenth of the samples expected in the window were lost (`pebsctl status` says how); the window is judged again when a tenth or less is lost");
		return;
	case UNKNOWN_BASELINE:
		if (alert->estimate.base_samples < explanation->rule->min_samples) {
			say_missing(explanation, "the baseline", alert->estimate.base_samples);
		} else if (!alert->estimate.base_samples) {
			say(explanation,
			    "the baseline is empty: it begins with the samples that leave the window");
		} else {
			span((u64)(alert->estimate.base_covered * NSEC_PER_SEC), covered);
			say(explanation,
			    "the baseline covers %s so far: the rule is judged when the baseline covers as much time as the window of %s",
			    covered, window);
		}
		return;
	case UNKNOWN_BURSTS:
		say(explanation,
		    "the samples would prove something if they were independent, but they came in bursts that are long compared with the window of %s; the window is judged again when it has more bursts: set a longer `window` for the rule",
		    window);
		return;
	case UNKNOWN_FREQUENCY:
		say(explanation,
		    "cores are cycles divided by the running frequency of the CPUs, which pebsd measures with the event cycles: the rule is judged when that frequency is known; a recording does not contain it");
		return;
	case UNKNOWN_NO_SLOT:
		say(explanation,
		    "no slot was free for this cgroup, so its samples are counted as unattributed; it is judged when it has a slot: raise `max-memory` in [cgroups], or `max` if you set it to a number, and restart pebsd");
		return;
	case UNKNOWN_SUBTREE_NO_SLOT:
		if (metric_is_rate(&explanation->rule->metric))
			say(explanation,
			    "a low rate proves nothing while samples are missing; it is judged when the rate is higher, or when every cgroup of the subtree has had a slot for %s: raise `max-memory` in [cgroups], or `max` if you set it to a number, and restart pebsd",
			    window);
		else
			say(explanation,
			    "the window has no sample, so everything that the subtree does could be missing; it is judged when cgroups with slots have samples: raise `max-memory` in [cgroups], or `max` if you set it to a number, and restart pebsd");
		return;
	case UNKNOWN_NOT_MEASURED:
		say_not_measured(explanation);
		return;
	}
}

static void say_unknown(struct explanation *explanation)
{
	say(explanation, "the current state is not known: %s; until it is known, the alert stays %s",
	    unknown_reason_text(explanation->alert->decision.unknown),
	    alert_state_word(explanation->alert->decision.state));
	say_end_of_unknown(explanation);
}

/* An alert that is over now had a value past its limit. */
static void say_worst(struct explanation *explanation)
{
	char worst[LATENCY_MAX];

	if (!isfinite(explanation->alert->worst))
		return;
	latency(explanation->alert, (double)explanation->alert->worst, NEAREST, worst);
	say(explanation, "at its worst, %s was %s", explanation->metric, worst);
}

/* Says since when the state holds, and how long a breach must still be proven. */
static void say_time(struct explanation *explanation)
{
	const struct alert *alert = explanation->alert;
	const u64 for_ns = explanation->rule->for_ns, held_ns = alert->decision.held_ns;
	char since[TEXT_TIME_MAX], breached[TEXT_TIME_MAX];
	char held[TEXT_NUMBER_MAX], needed[TEXT_NUMBER_MAX], missing[TEXT_NUMBER_MAX];

	text_time(&alert->since, since);
	text_time(&alert->breached, breached);
	span(held_ns, held);
	span(for_ns, needed);
	span(for_ns > held_ns ? for_ns - held_ns : 0, missing);
	switch (alert->decision.state) {
	case ALERT_INACTIVE:
		return;
	case ALERT_PENDING:
		say(explanation,
		    "a breach has been proven for %s of the %s that it takes to fire: it must be proven for %s more, at each collection that can be judged",
		    held, needed, missing);
		return;
	case ALERT_FIRING:
		/* For cores lost, the state and the rule's `for` say it already. */
		if (alert->since.tv_sec && alert->breached.tv_sec && !is_cores_lost(explanation->rule))
			say(explanation,
			    "the alert has been firing since %s; the breach was first proven at %s", since,
			    breached);
		return;
	case ALERT_RESOLVED:
		break;
	}
	say_worst(explanation);
	if (!alert->since.tv_sec)
		return;
	switch (alert->end) {
	case ALERT_END_CLEAR:
		say(explanation, "the alert resolved at %s: %s was proven clear", since, explanation->metric);
		return;
	case ALERT_END_GONE:
		say(explanation,
		    "the alert resolved at %s: the cgroup was removed, and its window has passed", since);
		return;
	case ALERT_END_RULE:
		say(explanation,
		    "the alert resolved at %s: the rule was changed or removed from the configuration",
		    since);
		return;
	case ALERT_END_IGNORED:
		say(explanation, "the alert resolved at %s: the rule no longer applies to this cgroup",
		    since);
		return;
	}
}

static void say_baseline(struct explanation *explanation)
{
	char half_life[TEXT_NUMBER_MAX];

	span(explanation->rule->baseline_ns, half_life);
	say(explanation,
	    "the baseline comes from this cgroup's own samples before the window; samples that are %s older count half as much",
	    half_life);
	if ((explanation->alert->decision.state == ALERT_PENDING ||
	     explanation->alert->decision.state == ALERT_FIRING) &&
	    explanation->alert->decision.unknown != UNKNOWN_BASELINE)
		say(explanation,
		    "while the alert is pending or firing, the baseline does not change, so that it does not adapt to the breach");
}

static void say_all(struct explanation *explanation)
{
	const struct alert *alert = explanation->alert;
	bool judged = !alert->preference.ignored && !has_ended(alert);

	say_value(explanation);
	say_worth(explanation);
	if (alert->estimate.known && !isinf(alert->estimate.effect) && !is_cores_lost(explanation->rule))
		say_bounds(explanation);
	say_meaning(explanation);
	if (judged)
		say_without_slot(explanation);
	if (judged)
		say_limits(explanation);
	say_preference(explanation);
	if (judged && alert->decision.unknown != UNKNOWN_NOT)
		say_unknown(explanation);
	else if (judged && !is_cores_lost(explanation->rule))
		say_change(explanation);
	say_time(explanation);
	if (explanation->rule->metric.ratio && judged)
		say_baseline(explanation);
	if (judged)
		say_next(explanation);
	if (explanation->rule->dry_run)
		say(explanation,
		    "the rule is a dry run: its state is kept and shown, but no action is taken");
}

int explain(const struct alert *alert, char ***ret)
{
	struct explanation explanation = {.alert = alert, .rule = alert->rule};

	explanation.list = calloc(EXPLANATION_SENTENCES_MAX + 1, sizeof(*explanation.list));
	if (!explanation.list)
		return -ENOMEM;
	metric_format(&alert->rule->metric, explanation.metric);
	say_all(&explanation);
	if (explanation.error < 0) {
		explain_free(explanation.list);
		return explanation.error;
	}
	*ret = explanation.list;
	return 0;
}

bool explain_metric_asks_neighbours(const struct metric *metric, bool loads)
{
	switch (metric->kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
	case METRIC_WAIT:
	case METRIC_CORES_LOST:
		return loads;
	case METRIC_RATE:
	case METRIC_SHARE:
	case METRIC_CPI:
	case METRIC_TRAFFIC:
		break;
	}
	return false;
}

bool explain_asks_neighbours(const struct alert *alert)
{
	enum event_role implied[METRIC_EVENTS_MAX];

	return !alert->preference.ignored && !has_ended(alert) &&
	       explain_metric_asks_neighbours(&alert->rule->metric,
					      metric_events(&alert->rule->metric, implied)
						      ? alert->samples_loads
						      : alert->rule->event == EVENT_LOADS);
}

char **explain_free(char **sentences)
{
	for (char **sentence = sentences; sentence && *sentence; sentence++)
		free(*sentence);
	free(sentences);
	return NULL;
}
