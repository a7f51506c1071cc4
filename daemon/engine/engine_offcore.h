// SPDX-License-Identifier: GPL-2.0
/* The engine's part for off-core responses: what each collection counted, kept for windows, and what it cost.
 */
#ifndef PEBSD_ENGINE_OFFCORE_H
#define PEBSD_ENGINE_OFFCORE_H

#include "collect/ledger.h"
#include "kernel/kernel.h"
#include "snapshot/snapshot_build.h"

struct engine_offcore;

/*
 * `kernel` and `ledger` outlive it; the others as window_new() has them. Returns 0, and then NULL in `ret`
 * where nothing is counted, or -ENOMEM. Every function below takes that NULL, and does nothing.
 */
int engine_offcore_new(const struct kernel *kernel, const struct ledger *ledger, u64 max_ns, u64 start_ns,
		       const struct timespec *start, struct engine_offcore **ret);
struct engine_offcore *engine_offcore_free(struct engine_offcore *offcore);
DEFINE_CLEANUP(struct engine_offcore *, engine_offcore_free)

/* Takes what a collection entered in the ledger, and says in `head` how the counting does. */
void engine_offcore_enter(struct engine_offcore *offcore, u64 now_ns, const struct timespec *now,
			  struct snapshot *head);

/*
 * What was counted over the last `span_ns`, as window_each() takes them, or with 0 since the start; NULL
 * where nothing is counted. The caller's. 0 or -ENOMEM.
 */
int engine_offcore_sums(const struct engine_offcore *offcore, u64 span_ns, struct offcore_sums **ret);

#endif
