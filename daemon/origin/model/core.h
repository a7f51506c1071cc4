// SPDX-License-Identifier: GPL-2.0
/*
 * One core of the model's computer: a workload, the memory system under it, a PEBS unit that watches it, and
 * a driver that samples it.
 *
 * A core is slower than a real one by far. So that it is sampled as often as a real one is or more, a load
 * that counts stands for many: those between are passed over, by a number drawn anew each time, so that no
 * loop falls into step with it. What is recorded is always a load that was run, with the caches and TLBs as
 * the loads before it left them.
 */
#ifndef PEBSD_MODEL_CORE_H
#define PEBSD_MODEL_CORE_H

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/driver.h"

/* Loads above ldlat that one of them stands for, on average. */
#define CORE_SCALE 2500

/* Loads that a core does before it is sampled: its caches are as full then as they will ever be. */
#define CORE_WARM_UP 300000

struct core_settings {
	const struct machine *machine; /* one that machine_refusal() has nothing against; stays the caller's */
	enum workload_kind workload;
	u64 seed; /* cores of different workloads draw from it independently */
	u32 ldlat;
	u64 period;
	u64 cgroup_id; /* of its samples */
};

struct core;

/* A core, warm and being sampled. 0, -ENOMEM, or as driver_start(); free with core_free(). */
int core_new(const struct core_settings *settings, struct core **ret);
struct core *core_free(struct core *core);
DEFINE_CLEANUP(struct core *, core_free)

/* Runs for `cycles` of its clock. Samples go to `take` as the unit's interrupts come. As driver_interrupt(). */
int core_run(struct core *core, u64 cycles, model_take take, void *userdata);

/* Hands over what waits in the buffer. */
int core_drain(struct core *core, model_take take, void *userdata);

/* Samples that there should be, by the unit's own books: records, and those it found no room for. */
u64 core_expected(const struct core *core);

#endif
