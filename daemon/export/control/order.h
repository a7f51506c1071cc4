// SPDX-License-Identifier: GPL-2.0
/* In which order cgroups are listed. Pure. */
#ifndef PEBSD_ORDER_H
#define PEBSD_ORDER_H

#include "snapshot/snapshot.h"

enum order_by {
	ORDER_LATENCY, /* weighted latency sum: as the snapshot has them */
	ORDER_SAMPLES,
	ORDER_MEAN,
	ORDER_P99,
	ORDER_SHARE_SOURCE,
	ORDER_SHARE_HITM,
};

struct order {
	enum order_by by;
	enum source source; /* of ORDER_SHARE_SOURCE */
	bool any_role;      /* the cgroups have one event's figures alone: its samples are those that count */
};

/* The words of `--sort`, for messages. */
#define ORDER_WORDS "latency, samples, mean, p99, share:SOURCE or share:hitm"

/* Returns 0, or -EINVAL where `text` is none of ORDER_WORDS. */
int order_parse(const char *text, struct order *ret);

/*
 * The indexes of all cgroups, highest figure first; equal ones stay as the snapshot has them, and those
 * without the figure come last. Figures of different events are never mixed: a mean, a quantile or a share is
 * that of the first of the cgroup's events that has it, and samples are those of loads on all PMUs (of stores
 * where no loads are sampled, else of instructions). Returns 0 or -ENOMEM; the caller frees `ret`.
 */
int order_cgroups(const struct snapshot *snapshot, const struct order *order, size_t **ret);

#endif
