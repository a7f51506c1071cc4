// SPDX-License-Identifier: GPL-2.0
/* The model's computer: a core for each workload, all sampled alike, and time that passes for all of them. */
#ifndef PEBSD_MODEL_COMPUTER_H
#define PEBSD_MODEL_COMPUTER_H

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/take.h"

#define COMPUTER_NAME_MAX 64

struct computer_settings {
	const struct machine *machine; /* as in core.h */
	u64 seed;
	unsigned int workloads; /* bit 1 << enum workload_kind */
	u32 ldlat;
	u64 period; /* as asked for; see driver_period() */
};

struct computer;

/* 0, or as core_new(). */
int computer_new(const struct computer_settings *settings, struct computer **ret);
struct computer *computer_free(struct computer *computer);
DEFINE_CLEANUP(struct computer *, computer_free)

/* The period in force: as driver_period() of the one asked for. */
u64 computer_period(const struct computer *computer);

/* Its cores, and of each (from 0 on) the id of its samples' cgroup, and that cgroup's name "model:WORKLOAD".
 */
size_t computer_cores(const struct computer *computer);
u64 computer_cgroup(const struct computer *computer, size_t core, char ret_name[static COMPUTER_NAME_MAX]);

/* Time passes, at most 60 s. Samples go to `take` as interrupts come, those that wait in buffers with
 * computer_drain(). As driver_interrupt(). */
int computer_run(struct computer *computer, u64 ns, model_take take, void *userdata);
int computer_drain(struct computer *computer, model_take take, void *userdata);

/* As core_expected(), of all cores. */
u64 computer_expected(const struct computer *computer);

/* Time that has passed for each core. */
u64 computer_ns(const struct computer *computer);

#endif
