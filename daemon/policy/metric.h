// SPDX-License-Identifier: GPL-2.0
/* The metric of a rule: its name in the configuration, and the meaning of that name. Pure. */
#ifndef PEBSD_METRIC_H
#define PEBSD_METRIC_H

#include <stdbool.h>

#include "pebsd/data_source.h"

enum metric_kind {
	METRIC_QUANTILE, /* p50 p90 p95 p99 p999, cycles */
	METRIC_MEAN,     /* cycles */
	METRIC_RATE,     /* weighted samples a second */
	METRIC_SHARE,    /* of the samples, 0 to 1 */
};

enum metric_share { METRIC_SHARE_SOURCE, METRIC_SHARE_HITM, METRIC_SHARE_TLB_WALK, METRIC_SHARE_LOCKED };

struct metric {
	enum metric_kind kind;
	bool ratio;      /* the window's figure divided by that of the cgroup's own baseline: no unit */
	double quantile; /* 0.5, 0.9, 0.95, 0.99, 0.999 */
	enum metric_share share;
	u32 source; /* enum source, for METRIC_SHARE_SOURCE */
};

#define METRIC_TEXT_MAX 32

/*
 * All names that metric_parse() accepts, without `ratio:`, in the order in which they are listed; ends with
 * NULL.
 */
extern const char *const metric_words[];

/* Returns 0, or -EINVAL if `text` is not a metric, for example because it has `ratio:` twice. */
int metric_parse(const char *text, struct metric *ret);

/* Writes the name that metric_parse() reads. */
void metric_format(const struct metric *metric, char ret[METRIC_TEXT_MAX]);

/*
 * Parses a threshold, or a value of `clear`, of the metric: cycles within the range of the histogram, a rate,
 * a share as "0.3" or "30%", or a ratio. Returns 0, or -EINVAL if `text` is not a number or out of range.
 */
int metric_parse_threshold(const struct metric *metric, const char *text, double *ret);

/* The values that metric_parse_threshold() accepts, for messages: "cycles from 1 to 1048576". A constant. */
const char *metric_threshold_form(const struct metric *metric);

/* "cycles", "weighted samples a second", "of the samples", "times its baseline"; a constant. */
const char *metric_unit(const struct metric *metric);

/* The word for the unit in JSON: "cycles", "per_second", "share", "ratio". */
const char *metric_unit_word(const struct metric *metric);

#endif
