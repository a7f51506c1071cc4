// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's part for off-core responses: keeps the counts of each collection for windows, and computes the
 * cost of counting.
 */
#ifndef PEBSD_ENGINE_OFFCORE_H
#define PEBSD_ENGINE_OFFCORE_H

#include "collect/totals.h"
#include "kernel/kernel.h"
#include "snapshot/snapshot_build.h"

struct engine_offcore;

/*
 * `kernel` and `totals` must outlive the result; the other arguments are those of window_new(), and the present time
 * (CLOCK_MONOTONIC), from which the cost of counting is measured. Returns 0 or -ENOMEM. *ret is NULL if off-core
 * responses are not counted. Every function below accepts that NULL and does nothing.
 */
int engine_offcore_new(const struct kernel *kernel, const struct totals *totals, u64 max_ns, u64 start_ns,
		       const struct timespec *start, u64 now_ns, struct engine_offcore **ret);
struct engine_offcore *engine_offcore_free(struct engine_offcore *offcore);
DEFINE_CLEANUP(struct engine_offcore *, engine_offcore_free)

/*
 * Adds the counts that a collection entered in the totals, and describes the state and cost of counting in
 * `head`.
 */
void engine_offcore_enter(struct engine_offcore *offcore, u64 now_ns, const struct timespec *now,
			  struct snapshot *head);

/*
 * The sums of the last `span_ns`, as in window_each(), or since the start if `span_ns` is 0. NULL if nothing
 * is counted. The caller frees them. Returns 0 or -ENOMEM.
 */
int engine_offcore_sums(const struct engine_offcore *offcore, u64 span_ns, struct offcore_sums **ret);

#endif
