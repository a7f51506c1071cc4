// SPDX-License-Identifier: GPL-2.0
#include "format/trend_line.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/json_get.h"

#define LEVELS 8

bool trend_line_read(const json_object *event, bool latency, struct trend_line *ret)
{
	const json_object *trend = json_get_object(event, "trend");
	json_object *list = json_get_array(trend, latency ? "mean" : "samples");
	/* Only trends of the past have this member. */
	json_object *covered = json_get_array(trend, "covered_s");
	size_t n = list ? json_object_array_length(list) : 0, first = n;

	*ret = (struct trend_line){.latency = latency, .past = covered != NULL};
	if (n == 0 || n > TREND_LINE_MAX || !json_get_double(trend, "bin_s", &ret->bin_seconds) ||
	    !(ret->bin_seconds > 0))
		return false;
	ret->n = n;
	for (size_t i = 0; i < n; i++) {
		json_object *value = json_object_array_get_idx(list, i);
		bool known = json_object_is_type(value, json_type_double) ||
			     json_object_is_type(value, json_type_int);

		ret->values[i] = known ? json_object_get_double(value) : NAN;
		if (known && first == n)
			first = i;
		if (known && !latency)
			ret->values[i] /=
				covered ? json_object_get_double(json_object_array_get_idx(covered, i))
					: ret->bin_seconds;
	}
	/* The last bin has not ended yet, and sampling began within the first one: their samples are incomplete. */
	if (!latency && !covered) {
		ret->values[n - 1] = NAN;
		if (first > 0 && first < n)
			ret->values[first] = NAN;
	}
	return true;
}

bool trend_line_bounds(const struct trend_line *line, double *ret_low, double *ret_high)
{
	bool any = false;

	for (size_t i = 0; i < line->n; i++) {
		double value = line->values[i];

		if (!isfinite(value))
			continue;
		if (!any || value < *ret_low)
			*ret_low = value;
		if (!any || value > *ret_high)
			*ret_high = value;
		any = true;
	}
	return any;
}

static void find_scale(const struct trend_line *line, double *ret_low, double *ret_high)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < line->n; i++) {
		if (!isfinite(line->values[i]))
			continue;
		sum += line->values[i];
		n++;
	}
	*ret_low = fmin(*ret_low, 0.75 * sum / (double)n);
	*ret_high = fmax(*ret_high, 1.25 * sum / (double)n);
}

void trend_line_put(FILE *out, const struct trend_line *line, size_t cells, bool utf8)
{
	static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const signs[LEVELS] = {"_", ".", "-", "~", "=", "+", "*", "#"};
	size_t shown = line->n < cells ? line->n : cells;
	double low = 0, high = 0;

	if (trend_line_bounds(line, &low, &high))
		find_scale(line, &low, &high);
	(void)fprintf(out, "%*s", (int)(cells - shown), "");
	for (size_t i = line->n - shown; i < line->n; i++) {
		double value = line->values[i];
		int level;

		if (!isfinite(value)) {
			(void)fputc(' ', out);
			continue;
		}
		level = high > low ? (int)(LEVELS * (value - low) / (high - low)) : 0;
		level = level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
		(void)fputs(utf8 ? blocks[level] : signs[level], out);
	}
}
