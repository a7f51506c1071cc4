// SPDX-License-Identifier: GPL-2.0
/*
 * One core of the model's computer: a workload, the memory system under it, a PEBS unit that watches it, and
 * a driver that samples it.
 *
 * A core does far fewer loads than a real one. So that it is sampled as often all the same, one that counts
 * stands for many: those between are passed over, by a number drawn anew each time, so that no loop falls
 * into step with it. What is recorded is always a load that was run, with the caches and TLBs as the loads
 * before it left them. A core's clock goes as fast as it takes for what it runs.
 */
#ifndef PEBSD_MODEL_CORE_H
#define PEBSD_MODEL_CORE_H

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/driver.h"

/*
 * Loads a second that a core does of those above CORE_USUAL cycles, and how many one of them stands for on
 * average. With the default ldlat and period that is some 1,000 samples a second, of which each is the tenth
 * such load after the last one, and one to four milliseconds of CPU time.
 */
#define CORE_USUAL 30
#define CORE_LOADS 10000
#define CORE_SCALE 1000

/* Loads that a core does before it is sampled: half of them until its caches are as full as they will ever
 * be, the others to see how fast its clock has to go. */
#define CORE_WARM_UP 200000

struct core_settings {
	const struct machine
		*machine; /* one that machine_refusal() has nothing against; stays the caller's */
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

/* Runs for `ns`, at most 60 s. Samples go to `take` as the unit's interrupts come. As driver_interrupt(). */
int core_run(struct core *core, u64 ns, model_take take, void *userdata);

/* Hands over what waits in the buffer. */
int core_drain(struct core *core, model_take take, void *userdata);

/* Samples that there should be, by the unit's own books: records, and those it found no room for. */
u64 core_expected(const struct core *core);

#endif
