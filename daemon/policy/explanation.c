// SPDX-License-Identifier: GPL-2.0
#include "policy/explanation.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void say(struct explanation *explanation, const char *format, ...)
{
	va_list arguments;
	int r;

	if (explanation->error < 0 || explanation->n >= EXPLANATION_SENTENCES_MAX)
		return;
	va_start(arguments, format);
	r = vasprintf(&explanation->list[explanation->n], format, arguments);
	va_end(arguments);
	if (r < 0) {
		explanation->list[explanation->n] = NULL;
		explanation->error = -ENOMEM;
		return;
	}
	explanation->n++;
}

const char *explanation_samples(const struct metric *metric)
{
	return metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN ? "latencies" : "samples";
}

bool explanation_proven_above(const struct rule *rule, bool breach)
{
	return rule->below != breach;
}

bool explanation_has_low(const struct alert *alert)
{
	return isfinite(alert->estimate.bounds.low) && alert->estimate.bounds.low > 0;
}

bool explanation_has_high(const struct alert *alert)
{
	const struct metric *metric = &alert->rule->metric;
	double high = alert->estimate.bounds.high;

	return isfinite(high) && !(metric->kind == METRIC_QUANTILE && !metric->ratio && high >= (double)~0U);
}
