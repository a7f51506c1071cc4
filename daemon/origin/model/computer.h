// SPDX-License-Identifier: GPL-2.0
/*
 * The model's computer. It has a core for each thread of each workload, and all cores are sampled in the same way.
 *
 * Programs of the scenario follow it (model/scenario.h), and compete for the memory of two nodes
 * (model/contention.h). The other workloads disturb nobody, as if each had a computer of its own.
 */
#ifndef PEBSD_MODEL_COMPUTER_H
#define PEBSD_MODEL_COMPUTER_H

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/count.h"
#include "origin/model/take.h"

#define COMPUTER_NAME_MAX  64
#define COMPUTER_CORES_MAX (2 * (size_t)WORKLOAD_KINDS)

struct computer_settings {
	const struct machine *machine; /* as in core.h */
	u64 seed;
	unsigned int workloads; /* one bit for each workload: 1 << enum workload_kind */
	u32 ldlat;
	u64 period;      /* as requested; see driver_period() */
	size_t n_counts; /* as in core.h */
	struct model_count counts[MODEL_COUNTS_MAX];
};

struct computer;

/* Returns 0, or an error of core_new(). */
int computer_new(const struct computer_settings *settings, struct computer **ret);
struct computer *computer_free(struct computer *computer);
DEFINE_CLEANUP(struct computer *, computer_free)

/* Returns the period in force: driver_period() of the requested one. */
u64 computer_period(const struct computer *computer);

size_t computer_cores(const struct computer *computer);

/*
 * computer_cgroups() returns the number of cgroups, one for each workload. computer_cgroup() returns the id of the
 * i-th one and its name "model:WORKLOAD". They are numbered from 0.
 */
size_t computer_cgroups(const struct computer *computer);
u64 computer_cgroup(const struct computer *computer, size_t i, char ret_name[static COMPUTER_NAME_MAX]);

/*
 * computer_run() lets `ns` pass, at most 60 s, and delivers samples to `take` at each interrupt.
 * computer_drain() delivers those that still wait in the buffers. Both return like driver_interrupt().
 */
int computer_run(struct computer *computer, u64 ns, model_take take, void *userdata);
int computer_drain(struct computer *computer, model_take take, void *userdata);

/* The thread that runs on a core, and the NUMA node of that core. */
struct computer_thread {
	enum workload_kind workload;
	u32 number; /* among the threads of the workload */
	u32 node;
};
struct computer_thread computer_thread(const struct computer *computer, size_t core);

/* Returns the core that a sample comes from, while `take` is called with it. */
size_t computer_current(const struct computer *computer);

/* Returns the sum of core_expected() over all cores. */
u64 computer_expected(const struct computer *computer);

/* Returns the sum of core_counted(i) over all cores. */
u64 computer_counted(const struct computer *computer, size_t i);

/* Returns the time that has passed on each core. */
u64 computer_ns(const struct computer *computer);

#endif
