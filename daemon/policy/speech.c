// SPDX-License-Identifier: GPL-2.0
#include "policy/speech.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void say(struct speech *speech, const char *format, ...)
{
	va_list arguments;
	int r;

	if (speech->error < 0 || speech->n >= SPEECH_SENTENCES_MAX)
		return;
	va_start(arguments, format);
	r = vasprintf(&speech->list[speech->n], format, arguments);
	va_end(arguments);
	if (r < 0) {
		speech->list[speech->n] = NULL;
		speech->error = -ENOMEM;
		return;
	}
	speech->n++;
}

const char *speech_samples(const struct metric *metric)
{
	return metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN ? "latencies" : "samples";
}

bool speech_proven_above(const struct rule *rule, bool breach)
{
	return rule->below != breach;
}

bool speech_has_low(const struct alert *alert)
{
	return isfinite(alert->estimate.bounds.low) && alert->estimate.bounds.low > 0;
}

bool speech_has_high(const struct alert *alert)
{
	const struct metric *metric = &alert->rule->metric;
	double high = alert->estimate.bounds.high;

	return isfinite(high) && !(metric->kind == METRIC_QUANTILE && !metric->ratio && high >= (double)~0U);
}
