// SPDX-License-Identifier: GPL-2.0
#include "policy/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void quantity_number(double value, int decimals, enum quantity_rounding rounding, char ret[TEXT_NUMBER_MAX])
{
	double scale = pow(10, decimals);
	double scaled = value * scale, nearest = nearbyint(scaled), whole;
	char fraction[16];
	size_t length;

	if (fabs(scaled - nearest) > 1e-9 * fabs(scaled) && rounding != NEAREST)
		nearest = rounding == DOWN ? floor(scaled) : ceil(scaled);
	whole = floor(nearest / scale);
	if (!(whole >= 0 && whole < 0x1p53)) {
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.6g", value);
		return;
	}
	text_count((u64)whole, ret);
	(void)snprintf(fraction, sizeof(fraction), ".%0*llu", decimals,
		       (unsigned long long)nearbyint(nearest - whole * scale));
	for (length = strlen(fraction); length > 1 && fraction[length - 1] == '0'; length--)
		;
	if (length > 1)
		(void)snprintf(ret + strlen(ret), TEXT_NUMBER_MAX - strlen(ret), "%.*s", (int)length,
			       fraction);
}

/* The bounds of large rates have no decimals. Values and limits, which are formatted with NEAREST, have one. */
static int rate_decimals(double rate, enum quantity_rounding rounding)
{
	if (rate < 10)
		return 3;
	return rate < 1000 || rounding == NEAREST ? 1 : 0;
}

void quantity(const struct metric *metric, double value, enum quantity_rounding rounding,
	      char ret[QUANTITY_MAX])
{
	bool cycles = metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN;
	char text[TEXT_NUMBER_MAX];

	if (metric->ratio)
		quantity_number(value, 4, rounding, text);
	else if (metric->kind == METRIC_SHARE)
		quantity_number(100 * value, 4, rounding, text);
	else
		quantity_number(value, cycles ? 1 : rate_decimals(value, rounding), rounding, text);
	(void)snprintf(ret, QUANTITY_MAX, "%s%s %s", text,
		       metric->kind == METRIC_SHARE && !metric->ratio ? "%" : "", metric_unit(metric));
}
