// SPDX-License-Identifier: GPL-2.0
#include "act/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "policy/nanoseconds.h"
#include "rule/quantity.h"

#define UNIT_MAX 40

int journal_priority(const char *severity)
{
	static const struct {
		const char *word;
		int priority;
	} words[] = {
		{"emergency", LOG_EMERG}, {"emerg", LOG_EMERG},     {"alert", LOG_ALERT},
		{"critical", LOG_CRIT},   {"crit", LOG_CRIT},       {"error", LOG_ERR},
		{"err", LOG_ERR},         {"warning", LOG_WARNING}, {"notice", LOG_NOTICE},
		{"info", LOG_INFO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(severity, words[i].word) == 0)
			return words[i].priority;
	return LOG_WARNING;
}

/* Numbers of these metrics are small, so their second decimal matters. */
static bool has_two_decimals(const struct metric *metric)
{
	return metric->ratio || metric->kind == METRIC_CORES_LOST || metric->kind == METRIC_CPI;
}

static bool is_traffic(const struct metric *metric)
{
	return metric->kind == METRIC_TRAFFIC && !metric->ratio;
}

/* Writes a number in the form that rules use: "912.5", "31.2%", "5.2 GB/s". */
#define NUMBER_MAX 330
static void number(const struct metric *metric, double value, char ret[NUMBER_MAX])
{
	const char *unit = metric_is_part(metric) ? "%" : "";
	char text[NUMBER_MAX - 8];

	if (is_traffic(metric))
		unit = quantity_byte_rate(value, &value);
	if (metric_is_part(metric))
		value *= 100;
	(void)snprintf(text, sizeof(text), "%.*f", has_two_decimals(metric) ? 2 : 1, value);
	if (strcmp(text + strlen(text) - 2, ".0") == 0)
		text[strlen(text) - 2] = '\0';
	(void)snprintf(ret, NUMBER_MAX, "%s%s%s", text, is_traffic(metric) ? " " : "", unit);
}

/* The unit after a number, with the blank before it. */
static void unit_after(const struct metric *metric, char ret[UNIT_MAX])
{
	if (is_traffic(metric))
		*ret = '\0';
	else
		(void)snprintf(ret, UNIT_MAX, " %s", metric_unit(metric));
}

/*
 * Writes "loads p99 is 912.5 cycles, at least 900 with confidence 95%". `at_least` selects the lower bound. A ratio
 * whose baseline is 0 has only a bound.
 */
static int value_text(const struct alert *alert, bool at_least, char **ret)
{
	const struct metric *metric = &alert->rule->metric;
	double bound = at_least ? alert->estimate.bounds.low : alert->estimate.bounds.high;
	char word[METRIC_TEXT_MAX], value[NUMBER_MAX], edge[NUMBER_MAX], confidence[FACTS_NUMBER_MAX];
	char time[NANOSECONDS_TEXT_MAX];
	char unit[UNIT_MAX];
	int length;

	metric_format(metric, word);
	nanoseconds_first(metric, alert->estimate.value, nanoseconds_hz(alert), time);
	number(metric, alert->estimate.value, value);
	number(metric, bound, edge);
	unit_after(metric, unit);
	facts_number(100 * alert->rule->confidence, confidence);
	if (!alert->estimate.known || (!isfinite(alert->estimate.value) && !isfinite(bound)))
		length = asprintf(ret, "%s %s", alert->event_key, word);
	else if (!isfinite(alert->estimate.value))
		length = asprintf(ret, "%s %s is at %s %s%s with confidence %s%%", alert->event_key, word,
				  at_least ? "least" : "most", edge, unit, confidence);
	else if (!isfinite(bound))
		length = asprintf(ret, "%s %s is %s%s%s", alert->event_key, word, value, unit, time);
	else
		length = asprintf(ret, "%s %s is %s%s%s, at %s %s with confidence %s%%", alert->event_key,
				  word, value, unit, time, at_least ? "least" : "most", edge, confidence);
	return length < 0 ? -ENOMEM : 0;
}

static int firing_text(const struct alert *alert, char **ret)
{
	_cleanup_free_ char *value = NULL;
	char threshold[NUMBER_MAX], span[TEXT_NUMBER_MAX];
	const struct rule *rule = alert->rule;

	if (value_text(alert, !rule->below, &value) < 0)
		return -ENOMEM;
	number(&rule->metric, alert->limits.threshold, threshold);
	text_span((double)rule->for_ns / (double)NSEC_PER_SEC, span);
	if (asprintf(ret, "%s, %s %s%s%s", value, rule->below ? "below" : "above", threshold,
		     rule->for_ns ? " for " : "", rule->for_ns ? span : "") < 0)
		return -ENOMEM;
	return 0;
}

static int clear_text(const struct alert *alert, char **ret)
{
	_cleanup_free_ char *value = NULL;
	const struct rule *rule = alert->rule;
	char clear[NUMBER_MAX];

	if (value_text(alert, rule->below, &value) < 0)
		return -ENOMEM;
	number(&rule->metric, alert->limits.clear, clear);
	if (asprintf(ret, "%s, no longer %s %s", value, rule->below ? "below" : "above", clear) < 0)
		return -ENOMEM;
	return 0;
}

static int reason_text(const struct transition *transition, char **ret)
{
	const struct alert *alert = &transition->alert;
	const char *text = "";

	if (transition->to == ALERT_FIRING)
		return firing_text(alert, ret);
	switch (alert->end) {
	case ALERT_END_CLEAR:
		return clear_text(alert, ret);
	case ALERT_END_GONE:
		text = "the cgroup was removed";
		break;
	case ALERT_END_RULE:
		text = "the rule was changed or removed from the configuration";
		break;
	case ALERT_END_IGNORED:
		text = "the configuration excludes the cgroup, or the attribute user.pebsd.ignore of its directory names the rule";
		break;
	}
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/* Writes " after 5min 3s", or nothing if the time of firing is not known or the clock was set back. */
static void after_text(const struct alert *alert, char ret[TEXT_NUMBER_MAX + 8])
{
	double seconds = (double)(alert->resolved.tv_sec - alert->fired.tv_sec);
	char span[TEXT_NUMBER_MAX];

	*ret = '\0';
	if (alert->fired.tv_sec == 0 || seconds < 0)
		return;
	text_span(seconds, span);
	(void)snprintf(ret, TEXT_NUMBER_MAX + 8, " after %s", span);
}

int journal_message(const struct transition *transition, char **ret)
{
	const struct alert *alert = &transition->alert;
	_cleanup_free_ char *cgroup = text_visible(alert->cgroup);
	_cleanup_free_ char *severity = text_visible(alert->rule->severity);
	_cleanup_free_ char *reason = NULL;
	bool fires = transition->to == ALERT_FIRING;
	char after[TEXT_NUMBER_MAX + 8];
	int length;

	if (!cgroup || !severity || reason_text(transition, &reason) < 0)
		return -ENOMEM;
	after_text(alert, after);
	if (alert->rule->dry_run)
		length = asprintf(ret, "dry run: %s would %s on %s: %s", alert->rule->name,
				  fires ? "fire" : "resolve", cgroup, reason);
	else if (fires)
		length = asprintf(ret, "alert %llu (%s): %s fires on %s: %s",
				  (unsigned long long)alert->number, severity, alert->rule->name, cgroup,
				  reason);
	else
		length =
			asprintf(ret, "alert %llu: %s resolved on %s%s: %s",
				 (unsigned long long)alert->number, alert->rule->name, cgroup, after, reason);
	return length < 0 ? -ENOMEM : 0;
}

void journal_fields(const struct transition *transition, const struct facts *facts,
		    struct log_field ret[FACTS_MAX + 2])
{
	size_t n = 0;

	for (size_t i = 0; i < facts->n; i++)
		ret[n++] = (struct log_field){facts->list[i].name, facts->list[i].value};
	/* A dry run has no MESSAGE_ID, so that counting alerts by it does not count dry runs. */
	if (!transition->alert.rule->dry_run)
		ret[n++] = (struct log_field){"MESSAGE_ID", transition->to == ALERT_FIRING
								    ? JOURNAL_FIRING_ID
								    : JOURNAL_RESOLVED_ID};
	ret[n] = (struct log_field){NULL, NULL};
}

int journal_write(const struct transition *transition, const struct facts *facts)
{
	struct log_field fields[FACTS_MAX + 2];
	_cleanup_free_ char *message = NULL;
	int priority = LOG_NOTICE;

	if (journal_message(transition, &message) < 0)
		return -ENOMEM;
	journal_fields(transition, facts, fields);
	if (transition->to == ALERT_FIRING && !transition->alert.rule->dry_run)
		priority = journal_priority(transition->alert.rule->severity);
	log_full(priority, 0, fields, "%s", message);
	return 0;
}
