// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_text.h"

#include <math.h>
#include <string.h>

#include "base/moment.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cgroup/short_names.h"
#include "format/line.h"
#include "policy/explanation.h"
#include "policy/nanoseconds.h"
#include "rule/quantity.h"

/* Writes "+00:12:31", with milliseconds unless it is a whole second. */
#define OFFSET_MAX 40
static const char *offset_text(u64 ns, char ret[OFFSET_MAX])
{
	const u64 seconds = ns / NSEC_PER_SEC;
	const u64 ms = ns % NSEC_PER_SEC / NSEC_PER_MSEC;
	int n = snprintf(ret, OFFSET_MAX, "+%02llu:%02llu:%02llu", (unsigned long long)(seconds / 3600),
			 (unsigned long long)(seconds / 60 % 60), (unsigned long long)(seconds % 60));

	if (ms && n > 0 && n < OFFSET_MAX)
		(void)snprintf(ret + n, (size_t)(OFFSET_MAX - n), ".%03llu", (unsigned long long)ms);
	return ret;
}

static void put_count(FILE *out, u64 count, const char *one, const char *many)
{
	char text[TEXT_NUMBER_MAX];

	text_count(count, text);
	(void)fprintf(out, "%s %s", text, count == 1 ? one : many);
}

/* The report, its output and its style. */
struct trial_page {
	FILE *out;
	const struct trial_report *report;
	const struct format_style *style;
	struct short_names *names; /* NULL: paths are written */
};

static void put_path(FILE *out, const char *path)
{
	_cleanup_free_ char *visible = NULL;

	(void)fputs(line_visible(path, &visible), out);
}

static void put_name(const struct trial_page *page, const char *path)
{
	_cleanup_free_ char *shown = NULL, *visible = NULL;
	const char *name = NULL;

	if (page->names && utf8_show(path, &shown) == 0)
		name = short_names_find(page->names, shown);
	(void)fputs(line_visible(name ? name : path, &visible), page->out);
}

/* Writes the name of the cgroup, and the event if its role has several events. */
static void put_cgroup(const struct trial_page *page, const char *cgroup, const char *event_key)
{
	FILE *out = page->out;
	_cleanup_free_ char *key = NULL;

	put_name(page, cgroup);
	if (strchr(event_key, ':'))
		(void)fprintf(out, " (%s)", line_visible(event_key, &key));
}

/* Writes "912.5 cycles [850, 960]", with "-" for a missing bound. A ratio has no value if its baseline is 0. */
static void put_estimate(FILE *out, const struct rule *rule, const struct limits *limits,
			 const struct estimate *estimate)
{
	const struct alert alert = {.rule = rule, .limits = *limits, .estimate = *estimate};
	char value[QUANTITY_MAX] = "no value", low[QUANTITY_MAX] = "-", high[QUANTITY_MAX] = "-";

	if (!estimate->known) {
		(void)fputs("no value", out);
		return;
	}
	if (isfinite(estimate->value))
		quantity(&rule->metric, estimate->value, NEAREST, value);
	if (explanation_has_low(&alert))
		quantity(&rule->metric, estimate->bounds.low, DOWN, low);
	if (explanation_has_high(&alert))
		quantity(&rule->metric, estimate->bounds.high, UP, high);
	/* The value has the unit, so the bounds need none. The unit of traffic depends on the number. */
	if (rule->metric.kind != METRIC_TRAFFIC || rule->metric.ratio)
		low[strcspn(low, " ")] = high[strcspn(high, " ")] = '\0';
	(void)fprintf(out, "%s [%s, %s]", value, low, high);
}

static void put_threshold(FILE *out, const struct rule *rule, double threshold)
{
	char text[QUANTITY_MAX];

	quantity(&rule->metric, threshold, NEAREST, text);
	(void)fprintf(out, "%s %s", rule->below ? "below" : "above", text);
}

static moment_zone zone_of(const struct format_style *style)
{
	return style->zone ? style->zone : moment_utc;
}

static void put_transition(const struct trial_page *page, const struct trial_transition *entered)
{
	const struct trial_stretch *stretch = &page->report->stretches[entered->stretch];
	FILE *out = page->out;
	const struct alert *alert = &entered->transition.alert;
	const bool clears = entered->transition.to == ALERT_RESOLVED;
	char text[OFFSET_MAX];

	(void)fputs(offset_text(entered->at_ns, text), out);
	if (stretch->real_time) {
		const u64 ns = (u64)stretch->start.tv_nsec + entered->at_ns;
		const struct timespec time = {.tv_sec = stretch->start.tv_sec + (time_t)(ns / NSEC_PER_SEC)};
		char when[MOMENT_TEXT_MAX];

		moment_show(time.tv_sec, zone_of(page->style), when);
		(void)fprintf(out, "  %s", when);
	}
	(void)fprintf(out, "  %s  ", alert->rule->name);
	put_cgroup(page, alert->cgroup, alert->event_key);
	(void)fprintf(out, "  %s -> %s  ", alert_state_word(entered->transition.from),
		      alert_state_word(entered->transition.to));
	put_estimate(out, alert->rule, &alert->limits, &alert->estimate);
	(void)fputs(clears ? ", clear " : ", fires ", out);
	if (clears) {
		char clear[QUANTITY_MAX];

		quantity(&alert->rule->metric, alert->limits.clear, NEAREST, clear);
		(void)fprintf(out, "%s %s", alert->rule->below ? "from" : "up to", clear);
	} else {
		put_threshold(out, alert->rule, alert->limits.threshold);
	}
	(void)fputc('\n', out);
}

static void put_stretch(FILE *out, const struct format_style *style, const struct trial_report *report,
			size_t index)
{
	const struct trial_stretch *stretch = &report->stretches[index];
	_cleanup_free_ char *name = NULL;
	char span[NUMBER_TEXT_MAX];

	(void)fprintf(out, "%s: %s", stretch->name ? line_visible(stretch->name, &name) : "the model",
		      duration_format(stretch->elapsed_ns, span));
	if (stretch->real_time) {
		char when[MOMENT_TEXT_MAX];

		moment_show(stretch->start.tv_sec, zone_of(style), when);
		(void)fprintf(out, " from %s", when);
	}
	(void)fputc('\n', out);
}

static void put_transitions(const struct trial_page *page)
{
	const struct trial_report *report = page->report;
	FILE *out = page->out;
	size_t at = 0;

	for (size_t stretch = 0; stretch < report->n_stretches; stretch++) {
		put_stretch(out, page->style, report, stretch);
		for (; at < report->n_transitions && report->transitions[at].stretch == stretch; at++)
			put_transition(page, &report->transitions[at]);
	}
	if (!report->n_transitions)
		(void)fputs("no rule changed state\n", out);
}

/* Writes "db-p99: p99 of loads above 896 cycles for 1m, window 30s". Some metrics imply their event. */
static void put_head(FILE *out, const struct rule *rule)
{
	const struct limits limits = rule_limits(rule, rule->threshold);
	char metric[METRIC_TEXT_MAX], time[NUMBER_TEXT_MAX];
	enum event_role roles[METRIC_EVENTS_MAX];

	metric_format(&rule->metric, metric);
	if (metric_events(&rule->metric, roles) > 0)
		(void)fprintf(out, "%s: %s ", rule->name, metric);
	else
		(void)fprintf(out, "%s: %s of %s ", rule->name, metric, event_role_name(rule->event));
	put_threshold(out, rule, limits.threshold);
	if (rule->nanoseconds) {
		char given[NANOSECONDS_TEXT_MAX];

		nanoseconds_limit(rule->threshold, rule->nominal_hz, given);
		(void)fprintf(out, ", configured as %s,", given);
	}
	if (rule->for_ns)
		(void)fprintf(out, " for %s", duration_format(rule->for_ns, time));
	(void)fprintf(out, ", window %s%s\n", duration_format(rule->window_ns, time),
		      rule->dry_run ? ", dry run" : "");
}

static void put_fired(FILE *out, const struct trial_rule *of_rule)
{
	char time[NUMBER_TEXT_MAX];

	if (!of_rule->fired) {
		(void)fputs("  did not fire\n", out);
		return;
	}
	(void)fputs("  fired ", out);
	put_count(out, of_rule->fired, "time", "times");
	(void)fputs(" on ", out);
	put_count(out, of_rule->cgroups_fired, "cgroup", "cgroups");
	/* Limit the sum to a value that fits into 64 bits of nanoseconds: some centuries. */
	(void)fprintf(out, ", firing for %s in total",
		      duration_format((u64)fmin(of_rule->firing_s * (double)NSEC_PER_SEC, 1e19), time));
	if (of_rule->still_firing) {
		(void)fputs(", ", out);
		put_count(out, of_rule->still_firing, "still firing at the end", "still firing at the end");
	}
	(void)fputc('\n', out);
}

static void put_unknown(FILE *out, const struct rule *rule, const struct trial_rule *of_rule)
{
	double unknown_s;
	const enum unknown_reason reason = trial_rule_main_reason(of_rule, &unknown_s);
	char share[TEXT_NUMBER_MAX];

	if (!(unknown_s > 0))
		return;
	line_percent(unknown_s, unknown_s + of_rule->known_s, share);
	(void)fprintf(out, "; unknown for %s of their time, mostly because: %s", share,
		      unknown_reason_text(reason));
	if (reason == UNKNOWN_SAMPLES && of_rule->most_samples) {
		char most[TEXT_NUMBER_MAX], needed[TEXT_NUMBER_MAX];

		text_count(of_rule->most_samples, most);
		text_count(rule->min_samples, needed);
		(void)fprintf(out, " (at most %s of the %s samples that the rule needs)", most, needed);
	}
}

/* Says why there was nothing to judge, and what to do about it. */
static void put_no_match(const struct trial_page *page)
{
	const struct trial_report *report = page->report;
	FILE *out = page->out;

	(void)fputs("  matches none of ", out);
	put_count(out, report->cgroups, "cgroup", "cgroups");
	for (size_t i = 0; i < TRIAL_SOME_CGROUPS && report->some_cgroups[i]; i++) {
		(void)fputs(i ? ", " : ": ", out);
		/* A pattern matches paths. */
		put_path(out, report->some_cgroups[i]);
	}
	if (report->cgroups > TRIAL_SOME_CGROUPS)
		(void)fputs(", ...", out);
	(void)fputc('\n', out);
	if (report->cgroups > 0 && report->only_comms)
		(void)fputs("  the recording has commands but no cgroups: match them as comm:NAME, or "
			    "record with --all-cgroups\n",
			    out);
	if (report->cgroups_excluded)
		(void)fputs("  (not counted: cgroups that `include` and `exclude` in [cgroups] leave out)\n",
			    out);
}

/*
 * Writes the ratio of value to threshold: "0.75 times the threshold". A ratio near 1 is not rounded to 1, but
 * written as "just below" or "just above".
 */
static void put_times(FILE *out, double times)
{
	if (times != 1 && times > 0.995 && times < 1.005)
		(void)fprintf(out, "just %s the threshold", times < 1 ? "below" : "above");
	else
		(void)fprintf(out, times < 100 ? "%.3g times the threshold" : "%.0f times the threshold",
			      times);
}

static void put_closest(const struct trial_page *page, const struct rule *rule,
			const struct trial_closest *closest)
{
	FILE *out = page->out;
	const struct limits limits = rule_limits(rule, closest->threshold);
	char time[OFFSET_MAX];

	if (!closest->known)
		return;
	(void)fputs("  closest: ", out);
	put_cgroup(page, closest->cgroup, closest->event_key);
	(void)fputs(", ", out);
	put_estimate(out, rule, &limits, &closest->estimate);
	(void)fprintf(out, " at %s", offset_text(closest->at_ns, time));
	if (page->report->n_stretches > 1)
		(void)fprintf(out, " of part %zu", closest->stretch + 1);
	(void)fputs(": ", out);
	put_times(out, closest->estimate.value / closest->threshold);
	(void)fputc('\n', out);
}

/* Lists the actions that the rule would have taken each time it fired, besides the journal entry. */
static void put_done(FILE *out, const struct rule *rule)
{
	const char *between = "";
	char time[NUMBER_TEXT_MAX];

	if (rule->dry_run || !(rule->actions & (RULE_UNIT | RULE_ZOOM | RULE_HOT)))
		return;
	(void)fputs("  each time it would have ", out);
	if (rule->actions & RULE_UNIT) {
		(void)fputs("started its unit", out);
		between = ", ";
	}
	if (rule->actions & RULE_ZOOM) {
		(void)fprintf(out, "%szoomed in for %s", between, duration_format(rule->zoom_ns, time));
		between = ", ";
	}
	if (rule->actions & RULE_HOT)
		(void)fprintf(out, "%stracked hot code and data for %s", between,
			      duration_format(rule->hot_ns, time));
	(void)fputc('\n', out);
}

/*
 * Says which event is missing in the samples, or that the frequency is not known. Returns false if the rule has
 * everything that it is computed from.
 */
static bool put_missing(FILE *out, const struct trial_report *report, const struct rule *rule)
{
	enum event_role roles[METRIC_EVENTS_MAX];
	const size_t n = metric_events(&rule->metric, roles);
	char metric[METRIC_TEXT_MAX];

	metric_format(&rule->metric, metric);
	if (!(report->roles >> rule->event & 1)) {
		(void)fprintf(out, "  nothing to judge: no samples of %s\n", event_role_name(rule->event));
		return true;
	}
	for (size_t i = 1; i < n; i++) {
		if (report->roles >> roles[i] & 1)
			continue;
		(void)fprintf(out, "  nothing to judge: no samples of %s, which %s is also computed from\n",
			      event_role_name(roles[i]), metric);
		return true;
	}
	if (!metric_needs_frequency(&rule->metric) || report->frequency_hz > 0)
		return false;
	(void)fprintf(
		out,
		"  nothing to judge: --test-rules does not know the running frequency of the CPUs, which %s needs; ratio:%s does not need it\n",
		metric, metric);
	return true;
}

static void put_rule(const struct trial_page *page, size_t index)
{
	const struct trial_report *report = page->report;
	FILE *out = page->out;
	const struct rule *rule = &report->rules[index];
	const struct trial_rule *of_rule = &report->of_rules[index];

	put_head(out, rule);
	if (put_missing(out, report, rule))
		return;
	if (!of_rule->cgroups) {
		put_no_match(page);
		return;
	}
	put_fired(out, of_rule);
	if (of_rule->fired)
		put_done(out, rule);
	(void)fputs("  judged ", out);
	put_count(out, of_rule->cgroups_judged, "cgroup", "cgroups");
	(void)fputs(" of ", out);
	put_count(out, of_rule->cgroups, "that matches", "that match");
	put_unknown(out, rule, of_rule);
	(void)fputc('\n', out);
	put_closest(page, rule, &of_rule->closest);
}

/* Names are unique among the cgroups of the text. Without memory NULL: then paths are written. */
static struct short_names *names_of(const struct trial_report *report)
{
	struct short_names *names;
	int r = short_names_new(NULL, ~0U, &names);

	if (r < 0)
		return NULL;
	for (size_t i = 0; r == 0 && i < report->n_transitions; i++)
		r = short_names_add(names, report->transitions[i].transition.alert.cgroup, true);
	for (size_t i = 0; r == 0 && i < report->n_rules; i++)
		if (report->of_rules[i].closest.known)
			r = short_names_add(names, report->of_rules[i].closest.cgroup, true);
	return r == 0 ? names : short_names_free(names);
}

void trial_text(FILE *out, const struct trial_report *report, const struct format_style *style)
{
	_cleanup_(short_names_freep) struct short_names *names = style->full ? NULL : names_of(report);
	const struct trial_page page = {out, report, style, names};

	put_transitions(&page);
	for (size_t i = 0; i < report->n_rules; i++) {
		(void)fputc('\n', out);
		put_rule(&page, i);
	}
}
