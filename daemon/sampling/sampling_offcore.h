// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the origin `perf` for off-core responses: from the plan to counters that are read at task
 * switches.
 */
#ifndef PEBSD_SAMPLING_OFFCORE_H
#define PEBSD_SAMPLING_OFFCORE_H

#include "engine/engine.h"
#include "origin/perf/perf_offcore.h"
#include "origin/pmu/pmu.h"

struct sampling_offcore;

/*
 * Opens the plan's counters if `roles` (1 << enum event_role) ask for any. They are an addition to sampling:
 * if they are not available, this is logged and shown in the status, and sampling continues. Returns 0, with
 * NULL in `*ret` if `roles` do not ask for them, or -ENOMEM. With `require_all` it also returns an error that may
 * be gone at the next try (perf_backend_may_mend()). `*ret_message` then describes the error, and the caller
 * frees it. Every function below accepts NULL.
 */
int sampling_offcore_open(const struct pmu_plan *plan, unsigned roles, bool require_all,
			  struct sampling_offcore **ret, char **ret_message);
struct sampling_offcore *sampling_offcore_free(struct sampling_offcore *offcore);
DEFINE_CLEANUP(struct sampling_offcore *, sampling_offcore_free)

/* Returns the value for engine_settings.offcore_cpus; 0 if nothing is counted. */
u32 sampling_offcore_cpus(const struct sampling_offcore *offcore);

/* Starts counting. The engine must be open and must outlive `offcore`. `save`: see offcore_start(). */
void sampling_offcore_start(struct sampling_offcore *offcore, struct engine *engine,
			    const struct offcore_save_settings *save);

/* Adds the PMUs and their kinds of responses to `hash`: for kernel_settings.measured. */
u64 sampling_offcore_hash(const struct sampling_offcore *offcore, u64 hash);

/* sampling_offcore_collect() runs before each collection, sampling_offcore_tick() once an interval. */
void sampling_offcore_collect(const struct sampling_offcore *offcore);
void sampling_offcore_tick(struct sampling_offcore *offcore);

void sampling_offcore_pause(struct sampling_offcore *offcore);
void sampling_offcore_resume(struct sampling_offcore *offcore);

#endif
