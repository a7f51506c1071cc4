// SPDX-License-Identifier: GPL-2.0
/* The metric of a rule: its name in the configuration, and the meaning of that name. Pure. */
#ifndef PEBSD_METRIC_H
#define PEBSD_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "pebsd/data_source.h"

enum metric_kind {
	METRIC_QUANTILE, /* p50 p90 p95 p99 p999, cycles */
	METRIC_MEAN,     /* cycles */
	METRIC_RATE,     /* weighted samples a second */
	METRIC_SHARE,    /* of the samples, 0 to 1 */
	/* These imply their events: metric_events(). */
	METRIC_WAIT,       /* stalled cycles divided by cycles, 0 to 1 */
	METRIC_CORES_LOST, /* stalled cycles a second divided by the running frequency, cores */
	METRIC_CPI,        /* cycles divided by instructions */
	METRIC_TRAFFIC,    /* cache misses a second times WAIT_LINE_BYTES (window/waits.h), bytes a second */
};

#define METRIC_KINDS      (METRIC_TRAFFIC + 1)
#define METRIC_EVENTS_MAX 2

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
 * Writes the events that the metric is computed from, and returns their number. 0: the rule chooses the event.
 * The first event is the rule's own. The second one is what `wait` and `cpi` divide by. For `cores-lost` it is
 * the event whose running frequency is used.
 */
size_t metric_events(const struct metric *metric, enum event_role ret[METRIC_EVENTS_MAX]);

/* Returns whether the metric has a second event. */
bool metric_has_second(const struct metric *metric);

/*
 * Metrics with the same first event have the same second event, if they have two. Returns it; EVENT_ROLES: no metric
 * with two events begins with `first`.
 */
enum event_role metric_second_role(enum event_role first);

/* Returns whether the metric divides the rate of its event by that of its second event. */
bool metric_is_quotient(const struct metric *metric);

/* Returns whether the metric is the rate of one event, in some unit. Further samples can only raise it. */
bool metric_is_rate(const struct metric *metric);

/* Returns whether the metric is computed from the periods of samples and the time in which the event ran. */
bool metric_uses_weights(const struct metric *metric);

/* Returns whether the metric is a part of a whole, and not a ratio. It is printed as a percentage. */
bool metric_is_part(const struct metric *metric);

/* Returns whether the metric needs the running frequency of the CPUs. In a ratio the frequency cancels out. */
bool metric_needs_frequency(const struct metric *metric);

/*
 * Parses a threshold, or a value of `clear`, of the metric: cycles within the range of the histogram, a rate,
 * a share as "0.3" or "30%", a number of cores, bytes a second as "5GB/s" or a number, or a ratio. Returns 0,
 * or -EINVAL if `text` is not such a value or out of range.
 */
int metric_parse_threshold(const struct metric *metric, const char *text, double *ret);

/* The values that metric_parse_threshold() accepts, for messages: "cycles from 1 to 1048576". A constant. */
const char *metric_threshold_form(const struct metric *metric);

/*
 * "cycles", "weighted samples a second", "of the samples", "of its cycles", "cores", "cycles per instruction",
 * "bytes a second" or "times its baseline"; a constant.
 */
const char *metric_unit(const struct metric *metric);

/*
 * The word for the unit in JSON: "cycles", "per_second", "share", "cores", "cycles_per_instruction",
 * "bytes_per_second" or "ratio".
 */
const char *metric_unit_word(const struct metric *metric);

#endif
