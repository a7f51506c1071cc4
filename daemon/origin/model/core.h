// SPDX-License-Identifier: GPL-2.0
/*
 * One core of the model's computer: a workload, its memory system, a PEBS unit that watches it, and a driver
 * that samples it.
 *
 * A core executes far fewer loads than a real one. To yield as many samples, each load that counts stands for
 * many. The loads in between are skipped. Their number is drawn at random each time, so that no loop runs in
 * step with the sampling. A recorded load was always executed, with the caches and TLBs as the previous loads
 * left them. The core's clock runs at the speed that its loads require.
 */
#ifndef PEBSD_MODEL_CORE_H
#define PEBSD_MODEL_CORE_H

#include "base/cleanup.h"
#include "model/workload.h"
#include "origin/model/count.h"
#include "origin/model/driver.h"

/*
 * CORE_LOADS is the number of loads above CORE_USUAL cycles that a core executes each second. Each of them
 * stands for CORE_SCALE loads on average. With the default ldlat and period, some 1,000 samples a second are
 * taken: about one in ten of these loads. Each second of the model takes one to four milliseconds of CPU time.
 */
#define CORE_USUAL 30
#define CORE_LOADS 10000
#define CORE_SCALE 1000

/*
 * Loads that a core executes before it is sampled. The first half fills its caches. The share of loads above
 * CORE_USUAL in the second half determines the speed of its clock.
 */
#define CORE_WARM_UP 200000

/*
 * The clock of a core that runs a program of the scenario is a real core's, slowed down by this number, because
 * the program's loads are rare in one phase and frequent in another. Each of its loads stands for this number of loads.
 */
#define CORE_SLOWNESS 5000

struct core_settings {
	const struct machine *machine; /* machine_refusal() must return NULL for it; owned by the caller */
	enum workload_kind workload;
	u32 thread; /* of the workload; each has random numbers of its own */
	u64 seed;   /* each workload derives independent random numbers from it */
	u32 ldlat;
	u64 period;
	u64 cgroup_id;   /* of the core's samples */
	size_t n_counts; /* at most MODEL_COUNTS_MAX; the samples of counts[i] are those of event 1 + i */
	struct model_count counts[MODEL_COUNTS_MAX];
};

struct core;

/*
 * Creates a core that is warmed up and being sampled. Returns 0, -ENOMEM, or an error of driver_start(). The
 * caller frees it with core_free().
 */
int core_new(const struct core_settings *settings, struct core **ret);
struct core *core_free(struct core *core);
DEFINE_CLEANUP(struct core *, core_free)

/*
 * The work that the scenario gives a core from now on. Without this call the core runs all the time, alone.
 */
struct core_state {
	u32 busy; /* thousandths of the time in which it runs; it halts in the rest, and counts no cycles */
	bool shared_tallies;         /* struct workload */
	u32 local_wait, remote_wait; /* memory_contend() */
};
void core_set(struct core *core, const struct core_state *state);

/* Returns the lines that came from DRAM since the start, and the core clock cycles of a second. */
struct memory_traffic core_traffic(const struct core *core);
u64 core_hertz(const struct core *core);

/*
 * Runs for `ns`, at most 60 s. Delivers samples to `take` at each interrupt of the unit. Returns like
 * driver_interrupt().
 */
int core_run(struct core *core, u64 ns, model_take take, void *userdata);

/* Delivers the samples that wait in the buffer. */
int core_drain(struct core *core, model_take take, void *userdata);

/*
 * Returns the number of expected samples, as counted by the unit: records written, and records that did not
 * fit.
 */
u64 core_expected(const struct core *core);

/* Returns the number of samples that counts[i] had. */
u64 core_counted(const struct core *core, size_t i);

#endif
