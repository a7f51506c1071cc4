// SPDX-License-Identifier: GPL-2.0
#include "ctl/figure.h"

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

	if (!json_get_double(quantile, "value", &ret->value) || !json_get_u64(quantile, "low", &ret->low) ||
	    !json_get_u64(quantile, "high", &ret->high))
		return false;
	ret->over = ret->high >= histogram_fine_upper(FINE_OVERFLOW);
	return true;
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

bool figure_result(const json_object *event, const char *kind, const char *result, u64 *ret)
{
	const json_object *results = json_get_object(event, kind);

	if (!results)
		return false;
	if (!json_get_u64(results, result, ret))
		*ret = 0;
	return true;
}

static enum figure_group group_of(const char *source)
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
			ret[group_of(name)] += samples;
	return true;
}
