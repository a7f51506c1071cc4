// SPDX-License-Identifier: GPL-2.0
/*
 * The values of one event of a reply (type Event of the interface). Pure functions. A function with `ret` returns
 * true if the value is there.
 */
#ifndef PEBSD_FORMAT_FIGURE_H
#define PEBSD_FORMAT_FIGURE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/text.h"
#include "pebsd/types.h"

struct figure_quantile {
	double value; /* cycles */
	u64 low;      /* exclusive */
	u64 high;     /* inclusive */
	bool over;    /* in the overflow bucket: all that is known is that it is above `low` */
	bool few;     /* too few samples for this quantile: shown with FIGURE_FEW_MARK */
};

#define FIGURE_FEW_MARK "?"

bool figure_samples(const json_object *event, u64 *ret);
bool figure_mean(const json_object *event, double *ret);
bool figure_quantile(const json_object *event, const char *name, struct figure_quantile *ret);

/* Writes "381", "381?" if there are few samples, or ">1.05M" for the overflow bucket. */
#define FIGURE_QUANTILE_MAX (TEXT_NUMBER_MAX + 2)
void figure_quantile_text(const struct figure_quantile *quantile, char ret[static FIGURE_QUANTILE_MAX]);

/* Returns the bounds of a quantile (type QuantileBounds of the interface) as a borrowed reference, or NULL. */
const json_object *figure_bounds(const json_object *event, const char *name);

/*
 * The latency sum by which cgroups are compared: the weighted one, or the plain one if weights are not known.
 */
bool figure_latency_sum(const json_object *event, double *ret);
bool figure_is_weighted(const json_object *event);

/*
 * The value by which cgroups are compared if there is no latency: weighted samples, or samples if weights are
 * not known.
 */
bool figure_weight(const json_object *event, double *ret);

/*
 * Samples with one result of "snoop" or "tlb": 0 if results were measured and this result did not occur. If all
 * results are "na", they were not measured.
 */
bool figure_result(const json_object *event, const char *kind, const char *result, u64 *ret);

/* Returns true if results ("snoop", "tlb") were measured. They were not if there are results and all are "na". */
bool figure_is_measured(json_object *results);

/*
 * Samples whose address translation needed a page walk: results walk, miss and fault. The drivers of Intel PEBS
 * and AMD IBS report a walk as miss.
 */
bool figure_walks(const json_object *event, u64 *ret);

/*
 * Returns true if samples of the event have `what` ("latency", "source", ...). `described` is the event's
 * entry in GetStatus; if that has no "measures", the result is true.
 */
bool figure_measures(const json_object *described, const char *what);

/*
 * The nominal frequency in Hz at which latencies of the event are converted to times. `described` is as above, or
 * an alert.
 */
bool figure_nominal_hz(const json_object *described, double *ret);

/*
 * Returns true if samples of the event only say how often it happened (event_is_count()). `described` is the event's
 * entry in GetStatus.
 */
bool figure_is_count(const json_object *described);

/* The groups of data sources that a narrow table shows. Each sample is in exactly one. */
enum figure_group {
	FIGURE_L1,
	FIGURE_LFB,
	FIGURE_L2,
	FIGURE_L3,
	FIGURE_LOCAL,  /* memory of this node */
	FIGURE_REMOTE, /* cache or memory of another node */
	FIGURE_OTHER,
	FIGURE_GROUPS,
};

enum figure_group figure_group_of(const char *source);
bool figure_source_groups(const json_object *event, u64 ret[FIGURE_GROUPS]);

/* The latency sum of each group, in cycles. Returns false if no source has latency. */
bool figure_latency_groups(const json_object *event, double ret[FIGURE_GROUPS]);

/* Same as figure_source_groups(), for an object of samples by source, as in the report of a zoom. */
bool figure_count_groups(json_object *sources, u64 ret[FIGURE_GROUPS]);

/* The letters of the groups in a bar, and the legend that explains them. */
extern const char figure_letters[FIGURE_GROUPS];
extern const char figure_legend[];

#endif
