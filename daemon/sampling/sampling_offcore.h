// SPDX-License-Identifier: GPL-2.0
/* The origin `perf`'s part for off-core responses: from the plan to counters that are read at task switches.
 */
#ifndef PEBSD_SAMPLING_OFFCORE_H
#define PEBSD_SAMPLING_OFFCORE_H

#include "engine/engine.h"
#include "origin/perf/perf_offcore.h"
#include "origin/pmu/pmu.h"

struct sampling_offcore;

/*
 * Opens the plan's counters where `roles` (1 << enum event_role) ask for any. They are a baseline beside what
 * is sampled: where they cannot be had that is told, here and in the status, and sampling goes on. Returns 0,
 * and then NULL in `ret` where they were not asked for, or -ENOMEM; `whole`: or what another try may mend
 * (perf_backend_may_mend()), then with `ret_message`, the caller's. Every function below takes that NULL.
 */
int sampling_offcore_open(const struct pmu_plan *plan, unsigned roles, bool whole,
			  struct sampling_offcore **ret, char **ret_message);
struct sampling_offcore *sampling_offcore_free(struct sampling_offcore *offcore);
DEFINE_CLEANUP(struct sampling_offcore *, sampling_offcore_free)

/* For engine_settings.offcore_cpus: 0 where nothing is counted. */
u32 sampling_offcore_cpus(const struct sampling_offcore *offcore);

/* The engine is open, and outlives it. `keep`: see offcore_start(). */
void sampling_offcore_start(struct sampling_offcore *offcore, struct engine *engine,
			    const struct offcore_keep *keep);

/* Which PMUs and responses they are, hashed onto `hash`: for kernel_settings.measured. */
u64 sampling_offcore_hash(const struct sampling_offcore *offcore, u64 hash);

/* Before each collection; and once an interval. */
void sampling_offcore_collect(const struct sampling_offcore *offcore);
void sampling_offcore_tick(struct sampling_offcore *offcore);

void sampling_offcore_pause(struct sampling_offcore *offcore);
void sampling_offcore_resume(struct sampling_offcore *offcore);

#endif
