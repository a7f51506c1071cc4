// SPDX-License-Identifier: GPL-2.0
/* The figures in an event of a reply (type Event of the interface). Pure; all return whether it is there. */
#ifndef PEBSD_FORMAT_FIGURE_H
#define PEBSD_FORMAT_FIGURE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "pebsd/types.h"

struct figure_quantile {
	double value; /* cycles */
	u64 low;      /* exclusive */
	u64 high;     /* inclusive */
	bool over;    /* in the overflow: only that it is above `low` is known */
};

bool figure_samples(const json_object *event, u64 *ret);
bool figure_mean(const json_object *event, double *ret);
bool figure_quantile(const json_object *event, const char *name, struct figure_quantile *ret);

/* The latency sum to compare cgroups by: the weighted one, or the plain one where no weight is known. */
bool figure_latency_sum(const json_object *event, double *ret);
bool figure_is_weighted(const json_object *event);

/* What to compare cgroups by where there is no latency: weighted samples, or samples where no weight is
 * known. */
bool figure_weight(const json_object *event, double *ret);

/* Samples of one result in "snoop" or "tlb": 0 where these were measured and the result did not occur.
 * Results that are all "na" were not measured. */
bool figure_result(const json_object *event, const char *kind, const char *result, u64 *ret);

/* Whether results ("snoop", "tlb") were measured at all: they were not where all are "na". */
bool figure_is_measured(json_object *results);

/* Samples whose translation took a page walk: results walk, miss (Intel's only word for it) and fault. */
bool figure_walks(const json_object *event, u64 *ret);

/* Whether a sample of the event has what `what` says ("latency", "source", ...): by its entry in GetStatus;
 * true where that does not tell. */
bool figure_measures(const json_object *described, const char *what);

/* The groups of sources that a narrow table shows. They partition the samples. */
enum figure_group {
	FIGURE_L1,
	FIGURE_LFB,
	FIGURE_L2,
	FIGURE_L3,
	FIGURE_LOCAL,  /* this node's memory */
	FIGURE_REMOTE, /* another node's cache or memory */
	FIGURE_OTHER,
	FIGURE_GROUPS,
};

bool figure_source_groups(const json_object *event, u64 ret[FIGURE_GROUPS]);

/* The same of an object of samples by source, as a zoom has them. */
bool figure_count_groups(json_object *sources, u64 ret[FIGURE_GROUPS]);

/* The groups as letters of a bar, and what they mean. */
extern const char figure_letters[FIGURE_GROUPS];
extern const char figure_legend[];

#endif
