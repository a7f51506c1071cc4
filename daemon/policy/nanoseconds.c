// SPDX-License-Identifier: GPL-2.0
#include "policy/nanoseconds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define NS_PER_SECOND 1e9

/* Parses a time. Returns -EINVAL if it is none. */
static int parse_time(const char *text, double *ret_ns)
{
	char number[32];
	size_t length = strspn(text, "0123456789.");
	const char *unit = text + length;

	if (length == 0 || length >= sizeof(number) || (strcmp(unit, "ns") != 0 && strcmp(unit, "us") != 0))
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	if (decimal_parse(number, ret_ns) < 0)
		return -EINVAL;
	if (*unit == 'u')
		*ret_ns *= 1e3;
	return 0;
}

bool nanoseconds_is_time(const char *text)
{
	double ns;

	return parse_time(text, &ns) == 0;
}

bool nanoseconds_of_metric(const struct metric *metric)
{
	return (metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN) && !metric->ratio;
}

int nanoseconds_parse_threshold(const struct metric *metric, const char *text, double hz, double *ret,
				bool *ret_time)
{
	char cycles[32];
	double ns;

	*ret_time = false;
	if (!nanoseconds_of_metric(metric) || parse_time(text, &ns) < 0)
		return metric_parse_threshold(metric, text, ret);
	*ret_time = true;
	if (hz <= 0)
		return -ENODATA;
	(void)snprintf(cycles, sizeof(cycles), "%.3f", fmin(ns * (hz / NS_PER_SECOND), 1e9));
	return metric_parse_threshold(metric, cycles, ret);
}

static bool is_shown(const struct metric *metric, double cycles, double hz)
{
	return hz > 0 && isfinite(cycles) && nanoseconds_of_metric(metric);
}

void nanoseconds_beside(const struct metric *metric, double cycles, double hz, char ret[NANOSECONDS_TEXT_MAX])
{
	char time[TEXT_NUMBER_MAX];

	*ret = '\0';
	if (!is_shown(metric, cycles, hz))
		return;
	text_nanoseconds(cycles / hz, time);
	(void)snprintf(ret, NANOSECONDS_TEXT_MAX, " (%s)", time);
}

void nanoseconds_first(const struct metric *metric, double cycles, double hz, char ret[NANOSECONDS_TEXT_MAX])
{
	char time[TEXT_NUMBER_MAX], frequency[TEXT_NUMBER_MAX];

	*ret = '\0';
	if (!is_shown(metric, cycles, hz))
		return;
	text_nanoseconds(cycles / hz, time);
	text_frequency(hz, frequency);
	(void)snprintf(ret, NANOSECONDS_TEXT_MAX, " (about %s at %s, the nominal frequency)", time,
		       frequency);
}

double nanoseconds_hz(const struct alert *alert)
{
	if (alert->nominal_hz > 0)
		return alert->nominal_hz;
	return alert->rule->nanoseconds ? alert->rule->nominal_hz : 0;
}

void nanoseconds_limit(double cycles, double hz, char ret[NANOSECONDS_TEXT_MAX])
{
	char time[TEXT_NUMBER_MAX], frequency[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX];

	text_nanoseconds(cycles / hz, time);
	text_frequency(hz, frequency);
	quantity_number(cycles, 1, NEAREST, count);
	(void)snprintf(ret, NANOSECONDS_TEXT_MAX, "%s (%s cycles at %s, the nominal frequency)", time, count,
		       frequency);
}
