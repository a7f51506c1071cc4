// SPDX-License-Identifier: GPL-2.0
/* The order in which cgroups are listed. Pure functions. */
#ifndef PEBSD_ORDER_H
#define PEBSD_ORDER_H

#include "snapshot/snapshot.h"
#include "window/waits.h"

struct snapshot_counters;

enum order_by {
	ORDER_LATENCY, /* weighted latency sum; the snapshot has this order */
	ORDER_SAMPLES,
	ORDER_MEAN,
	ORDER_P99,
	ORDER_SHARE_SOURCE,
	ORDER_SHARE_HITM,
	ORDER_WAIT, /* a figure of the cost of waiting */
};

struct order {
	enum order_by by;
	enum source source;      /* for ORDER_SHARE_SOURCE */
	enum wait_figure figure; /* for ORDER_WAIT */
	bool one_event;          /* only `event` decides, whatever its role, except for ORDER_WAIT */
	unsigned event;
};

/*
 * Reads a word of `--sort`: latency, samples, mean, p99, share:SOURCE, share:hitm, wait, cores-lost, cpi, misses or
 * traffic. Returns 0, or -EINVAL if `text` is none of these.
 */
int order_parse(const char *text, struct order *ret);

/*
 * Returns the indexes of all cgroups, highest value first. Cgroups with equal values keep the order of the
 * snapshot, and cgroups without a value come last. Values of different events are never mixed: a mean, a
 * quantile or a share is that of the first event of the cgroup that has one. Samples are those of one kind on
 * all PMUs: the first kind that has an event, in the order of enum snapshot_samples.
 * Returns 0 or -ENOMEM; the caller frees `ret`.
 */
int order_cgroups(const struct snapshot *snapshot, const struct order *order, size_t **ret);

/*
 * The parts of order_cgroups(), for values that were computed elsewhere. order_value() returns the value of one
 * cgroup by `order`, a struct order; not for ORDER_LATENCY. order_values() returns the indexes of `n` values; all
 * values are equal if `values` is NULL.
 */
double order_value(const struct snapshot *snapshot, const struct snapshot_counters *read, const void *order);
int order_values(const double *values, size_t n, size_t **ret);

#endif
