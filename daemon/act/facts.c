// SPDX-License-Identifier: GPL-2.0
#include "act/facts.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

/* Characters with a special meaning within double quotes, to a shell or to systemd. */
#define QUOTED "\"\\`$"

__attribute__((format(printf, 3, 4))) static int add(struct facts *facts, const char *name,
						     const char *format, ...)
{
	va_list arguments;
	char *value;
	int length;

	if (facts->n >= FACTS_MAX)
		return -ENOMEM;
	va_start(arguments, format);
	length = vasprintf(&value, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	facts->list[facts->n++] = (struct fact){.name = name, .value = value};
	return 0;
}

void facts_number(double value, char ret[FACTS_NUMBER_MAX])
{
	size_t length = (size_t)snprintf(ret, FACTS_NUMBER_MAX, "%.6f", value);

	while (length > 1 && ret[length - 1] == '0')
		ret[--length] = '\0';
	if (length > 1 && ret[length - 1] == '.')
		ret[--length] = '\0';
	if (strcmp(ret, "-0") == 0)
		(void)stpcpy(ret, "0");
}

static int add_number(struct facts *facts, const char *name, double value)
{
	char text[FACTS_NUMBER_MAX];

	if (!isfinite(value))
		return 0;
	facts_number(value, text);
	return add(facts, name, "%s", text);
}

static int add_time(struct facts *facts, const char *name, const struct timespec *time)
{
	char text[TEXT_TIME_MAX];

	if (time->tv_sec == 0)
		return 0;
	text_time(time, text);
	return add(facts, name, "%s", text);
}

static int add_seconds(struct facts *facts, const char *name, u64 ns)
{
	return add_number(facts, name, (double)ns / (double)NSEC_PER_SEC);
}

static int add_rule(struct facts *facts, const struct alert *alert)
{
	const struct rule *rule = alert->rule;
	char metric[METRIC_TEXT_MAX];
	int r;

	metric_format(&rule->metric, metric);
	r = add(facts, "PEBSD_RULE", "%s", rule->name);
	if (r == 0)
		r = add(facts, "PEBSD_CGROUP", "%s", alert->cgroup);
	if (r == 0)
		r = add(facts, "PEBSD_EVENT", "%s", alert->event_key);
	if (r == 0 && *rule->severity)
		r = add(facts, "PEBSD_SEVERITY", "%s", rule->severity);
	if (r == 0 && rule->dry_run)
		r = add(facts, "PEBSD_DRY_RUN", "1");
	/*
	 * If the rule was changed or removed while the daemon did not run, nothing but its name and whether it is a dry
	 * run is known.
	 */
	if (r < 0 || !*metric)
		return r;
	r = add(facts, "PEBSD_METRIC", "%s", metric);
	if (r == 0)
		r = add(facts, "PEBSD_UNIT", "%s", metric_unit_word(&rule->metric));
	if (r == 0)
		r = add(facts, "PEBSD_SIDE", "%s", rule->below ? "below" : "above");
	if (r == 0)
		r = add_number(facts, "PEBSD_THRESHOLD", alert->limits.threshold);
	if (r == 0)
		r = add_number(facts, "PEBSD_CLEAR", alert->limits.clear);
	if (r == 0)
		r = add_number(facts, "PEBSD_CONFIDENCE", rule->confidence);
	if (r == 0)
		r = add_seconds(facts, "PEBSD_FOR", rule->for_ns);
	return r;
}

static int add_estimate(struct facts *facts, const struct alert *alert)
{
	const struct estimate *estimate = &alert->estimate;
	int r;

	if (!estimate->known)
		return 0;
	r = add_number(facts, "PEBSD_VALUE", estimate->value);
	if (r == 0)
		r = add_number(facts, "PEBSD_LOW", estimate->bounds.low);
	if (r == 0)
		r = add_number(facts, "PEBSD_HIGH", estimate->bounds.high);
	if (r < 0 || !estimate_has_samples(estimate, &alert->rule->metric))
		return r;
	r = add(facts, "PEBSD_SAMPLES", "%llu", (unsigned long long)estimate->samples);
	if (r == 0 && estimate->worth)
		r = add(facts, "PEBSD_WORTH", "%llu", (unsigned long long)estimate->worth);
	if (r == 0 && alert->rule->metric.ratio)
		r = add(facts, "PEBSD_BASE_SAMPLES", "%llu", (unsigned long long)estimate->base_samples);
	if (r == 0 && alert->covered_ns)
		r = add_seconds(facts, "PEBSD_WINDOW", alert->covered_ns);
	return r;
}

static int add_state(struct facts *facts, const struct transition *transition)
{
	const struct alert *alert = &transition->alert;
	int r;

	r = add(facts, "PEBSD_STATE", "%s", alert_state_word(transition->to));
	if (r == 0)
		r = add_time(facts, "PEBSD_SINCE", &alert->breached);
	if (r == 0)
		r = add_time(facts, "PEBSD_FIRED", &alert->fired);
	if (r == 0 && transition->to == ALERT_RESOLVED) {
		r = add_time(facts, "PEBSD_RESOLVED", &alert->resolved);
		if (r == 0)
			r = add(facts, "PEBSD_END", "%s", alert_end_word(alert->end));
	}
	return r;
}

int facts_make(const struct transition *transition, struct facts *ret)
{
	const struct alert *alert = &transition->alert;
	struct facts facts = {0};
	int r = 0;

	/* An alert that has not fired has no number. */
	if (alert->number)
		r = add(&facts, "PEBSD_ALERT", "%llu", (unsigned long long)alert->number);
	if (r == 0)
		r = add_rule(&facts, alert);
	if (r == 0)
		r = add_estimate(&facts, alert);
	if (r == 0)
		r = add_state(&facts, transition);
	if (r < 0) {
		facts_clear(&facts);
		return r;
	}
	*ret = facts;
	return 0;
}

void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		free(facts->list[i].value);
	*facts = (struct facts){0};
}

const char *facts_get(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++)
		if (strcmp(facts->list[i].name, name) == 0)
			return facts->list[i].value;
	return NULL;
}

static int put_quoted(FILE *out, const char *name, const char *value)
{
	_cleanup_free_ char *shown = NULL;

	if (utf8_show(value, &shown) < 0)
		return -ENOMEM;
	(void)fprintf(out, "%s=\"", name);
	for (const char *c = shown; *c; c++) {
		if (strchr(QUOTED, *c))
			(void)fputc('\\', out);
		(void)fputc(*c, out);
	}
	(void)fputs("\"\n", out);
	return 0;
}

int facts_format(const struct facts *facts, char **ret)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool failed = !out;

	for (size_t i = 0; out && i < facts->n; i++)
		failed |= put_quoted(out, facts->list[i].name, facts->list[i].value) < 0;
	if (out) {
		failed |= ferror(out);
		failed |= fclose(out) != 0;
	}
	if (failed) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}
