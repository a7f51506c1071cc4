// SPDX-License-Identifier: GPL-2.0
#include "format/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "pebsd/histogram.h"

bool figure_samples(const json_object *event, u64 *ret)
{
	return json_get_u64(event, "samples", ret);
}

bool figure_mean(const json_object *event, double *ret)
{
	return json_get_double(json_get_object(event, "latency"), "mean", ret);
}

bool figure_quantile(const json_object *event, const char *name, struct figure_quantile *ret)
{
	const json_object *quantile = json_get_object(json_get_object(event, "latency"), name);
	bool few;

	if (!json_get_double(quantile, "value", &ret->value) || !json_get_u64(quantile, "low", &ret->low) ||
	    !json_get_u64(quantile, "high", &ret->high))
		return false;
	ret->over = ret->high >= histogram_fine_upper(FINE_OVERFLOW);
	ret->few = json_get_bool(quantile, "few", &few) && few;
	return true;
}

void figure_quantile_text(const struct figure_quantile *quantile, char ret[static FIGURE_QUANTILE_MAX])
{
	char number[TEXT_NUMBER_MAX];

	text_short_count(quantile->over ? (double)quantile->low : quantile->value, number);
	(void)snprintf(ret, FIGURE_QUANTILE_MAX, "%s%s%s", quantile->over ? ">" : "", number,
		       quantile->few ? FIGURE_FEW_MARK : "");
}

const json_object *figure_bounds(const json_object *event, const char *name)
{
	return json_get_object(json_get_object(json_get_object(event, "latency"), name), "bounds");
}

bool figure_is_weighted(const json_object *event)
{
	return json_get(json_get_object(event, "weighted"), "latency_sum");
}

bool figure_latency_sum(const json_object *event, double *ret)
{
	return json_get_double(json_get_object(event, "weighted"), "latency_sum", ret) ||
	       json_get_double(json_get_object(event, "latency"), "sum", ret);
}

bool figure_weight(const json_object *event, double *ret)
{
	return json_get_double(json_get_object(event, "weighted"), "samples", ret) ||
	       json_get_double(event, "samples", ret);
}

bool figure_is_measured(json_object *results)
{
	json_object_object_foreach (results, name, count) {
		(void)count;
		if (strcmp(name, "na") != 0)
			return true;
	}
	return json_object_object_length(results) == 0;
}

bool figure_result(const json_object *event, const char *kind, const char *result, u64 *ret)
{
	json_object *results = json_get_object(event, kind);

	if (!results || !figure_is_measured(results))
		return false;
	if (!json_get_u64(results, result, ret))
		*ret = 0;
	return true;
}

bool figure_walks(const json_object *event, u64 *ret)
{
	static const char *const walks[] = {"walk", "miss", "fault"};
	u64 sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(walks); i++) {
		u64 samples;

		if (!figure_result(event, "tlb", walks[i], &samples))
			return false;
		sum += samples;
	}
	*ret = sum;
	return true;
}

bool figure_measures(const json_object *described, const char *what)
{
	json_object *measures = json_get_array(described, "measures");

	for (size_t i = 0; measures && i < json_object_array_length(measures); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(measures, i));

		if (word && strcmp(word, what) == 0)
			return true;
	}
	return !measures;
}

bool figure_nominal_hz(const json_object *described, double *ret)
{
	return json_get_double(described, "nominal_frequency", ret) && isfinite(*ret) && *ret > 0;
}

bool figure_is_count(const json_object *described)
{
	static const char *const roles[] = {"cycles", "stalls", "misses", "instructions"};
	const char *role = json_get_text(described, "role");
	json_object *measures = json_get_array(described, "measures");

	for (size_t i = 0; role && measures && i < ARRAY_SIZE(roles); i++)
		if (strcmp(role, roles[i]) == 0)
			return json_object_array_length(measures) == 0;
	return false;
}

enum figure_group figure_group_of(const char *source)
{
	static const struct {
		const char *source;
		enum figure_group group;
	} groups[] = {
		{"l1", FIGURE_L1},
		{"lfb", FIGURE_LFB},
		{"l2", FIGURE_L2},
		{"l2_mhb", FIGURE_L2},
		{"l3", FIGURE_L3},
		{"local_dram", FIGURE_LOCAL},
		{"remote_dram", FIGURE_REMOTE},
		{"remote_cache", FIGURE_REMOTE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (strcmp(source, groups[i].source) == 0)
			return groups[i].group;
	return FIGURE_OTHER;
}

bool figure_source_groups(const json_object *event, u64 ret[FIGURE_GROUPS])
{
	json_object *sources = json_get_object(event, "sources");
	u64 samples;

	if (!sources)
		return false;
	memset(ret, 0, FIGURE_GROUPS * sizeof(*ret));
	json_object_object_foreach (sources, name, source)
		if (json_get_u64(source, "samples", &samples))
			ret[figure_group_of(name)] += samples;
	return true;
}

bool figure_latency_groups(const json_object *event, double ret[FIGURE_GROUPS])
{
	json_object *sources = json_get_object(event, "sources");
	bool any = false;
	double sum;

	memset(ret, 0, FIGURE_GROUPS * sizeof(*ret));
	if (!sources)
		return false;
	json_object_object_foreach (sources, name, source)
		if (json_get_double(source, "latency_sum", &sum)) {
			ret[figure_group_of(name)] += sum;
			any = true;
		}
	return any;
}

bool figure_count_groups(json_object *sources, u64 ret[FIGURE_GROUPS])
{
	u64 samples;

	if (!sources)
		return false;
	memset(ret, 0, FIGURE_GROUPS * sizeof(*ret));
	json_object_object_foreach (sources, name, count) {
		(void)count;
		if (json_get_u64(sources, name, &samples))
			ret[figure_group_of(name)] += samples;
	}
	return true;
}

const char figure_letters[FIGURE_GROUPS] = {'1', 'F', '2', '3', 'D', 'R', 'o'};

const char figure_legend[] = "SOURCES: 1 L1  F LFB  2 L2  3 L3  D local DRAM  R remote  o other";
