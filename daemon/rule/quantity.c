// SPDX-License-Identifier: GPL-2.0
#include "rule/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

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

/* Decimals for three or four significant digits. */
static int short_decimals(double value)
{
	if (value < 1)
		return 4;
	return value < 10 ? 2 : 1;
}

const char *quantity_byte_rate(double value, double *ret)
{
	static const struct {
		double bytes;
		const char *name;
	} units[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && !(value >= units[i].bytes))
		i++;
	*ret = value / units[i].bytes;
	return units[i].name;
}

void quantity(const struct metric *metric, double value, enum quantity_rounding rounding,
	      char ret[QUANTITY_MAX])
{
	const char *unit = metric_unit(metric);
	char text[TEXT_NUMBER_MAX];
	int decimals = 4;

	if (!metric->ratio) {
		switch (metric->kind) {
		case METRIC_QUANTILE:
		case METRIC_MEAN:
			decimals = 1;
			break;
		case METRIC_RATE:
			decimals = rate_decimals(value, rounding);
			break;
		case METRIC_SHARE:
			value *= 100;
			break;
		case METRIC_WAIT:
			value *= 100;
			decimals = short_decimals(value);
			break;
		case METRIC_TRAFFIC:
			unit = quantity_byte_rate(value, &value);
			decimals = short_decimals(value);
			break;
		case METRIC_CORES_LOST:
		case METRIC_CPI:
			decimals = short_decimals(value);
			break;
		}
	}
	quantity_number(value, decimals, rounding, text);
	if (metric->kind == METRIC_CORES_LOST && !metric->ratio && strcmp(text, "1") == 0)
		unit = "core";
	(void)snprintf(ret, QUANTITY_MAX, "%s%s %s", text, metric_is_part(metric) ? "%" : "", unit);
}
