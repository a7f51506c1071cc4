// SPDX-License-Identifier: GPL-2.0
/* What a rule measures: its words in the configuration, and what they mean. Pure. */
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
	bool ratio;      /* of now to the cgroup's own baseline: no unit */
	double quantile; /* 0.5, 0.9, 0.95, 0.99, 0.999 */
	enum metric_share share;
	u32 source; /* enum source, of METRIC_SHARE_SOURCE */
};

#define METRIC_TEXT_MAX 32

/* All that metric_parse() takes but for `ratio:`, in the order in which they are told; ends with NULL. */
extern const char *const metric_words[];

/* Returns 0, or -EINVAL for what is no metric (also ratio: twice). */
int metric_parse(const char *text, struct metric *ret);

/* As metric_parse() reads it. */
void metric_format(const struct metric *metric, char ret[METRIC_TEXT_MAX]);

/*
 * A threshold, or `clear`, of the metric as people write it: cycles within the histogram, a rate, a share as
 * "0.3" or "30%", a ratio. Returns 0; -EINVAL for what is none, or none that can be decided on.
 */
int metric_parse_threshold(const struct metric *metric, const char *text, double *ret);

/* What that takes, for messages: "cycles from 1 to 1048576". A constant. */
const char *metric_threshold_form(const struct metric *metric);

/* "cycles", "weighted samples a second", "of the samples", "times its baseline"; a constant. */
const char *metric_unit(const struct metric *metric);

/* The same in JSON: "cycles", "per_second", "share", "ratio". */
const char *metric_unit_word(const struct metric *metric);

#endif
