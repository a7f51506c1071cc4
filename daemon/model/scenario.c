// SPDX-License-Identifier: GPL-2.0
#include "scenario.h"

#include "random.h"

#define SECOND_NS 1000000000ULL

/* A separate random stream of the seed: "busy". */
#define STREAM_BUSY 0x62757379ULL

static const struct {
	u32 from; /* seconds since the cycle began */
	enum scenario_phase phase;
} phases[] = {
	{0, SCENARIO_QUIET},   {45, SCENARIO_BACKUP}, {105, SCENARIO_QUIET}, {135, SCENARIO_DEPLOY},
	{180, SCENARIO_QUIET}, {195, SCENARIO_BATCH}, {235, SCENARIO_QUIET},
};

enum scenario_phase scenario_phase_at(u64 ns, u64 *ret_ns)
{
	u64 now = ns % SCENARIO_CYCLE_NS;
	size_t i = sizeof(phases) / sizeof(*phases) - 1;

	while (now < phases[i].from * SECOND_NS)
		i--;
	if (ret_ns)
		*ret_ns = now - phases[i].from * SECOND_NS;
	return phases[i].phase;
}

u32 scenario_threads(enum workload_kind kind)
{
	if (workload_is_program(kind))
		return kind != WORKLOAD_CACHE && kind != WORKLOAD_MONITOR ? 2 : 1;
	return kind == WORKLOAD_FALSE_SHARING ? 2 : 1;
}

u32 scenario_node(enum workload_kind kind)
{
	return kind == WORKLOAD_BACKUP || kind == WORKLOAD_BATCH || kind == WORKLOAD_MONITOR;
}

/*
 * The backup reads one file after the other, and waits in between for its archive to be written: a large file
 * takes seconds, and the waits are what tells its effect from anything else that changed at the same time.
 */
#define FILE_SECONDS 5U
static const u16 files[] = {980, 980, 980, 980, 60, 980, 60, 980, 980, 60, 980, 980};

/* A daemon that sleeps wakes only to look at its clock. */
#define ASLEEP 2U

/* The monitor reads its counters for a second, once in ten. */
#define MONITOR_SECONDS 10U
#define MONITOR_BUSY    300U

static u32 usual_busy(enum workload_kind kind, u64 ns)
{
	u64 since;
	enum scenario_phase phase = scenario_phase_at(ns, &since);

	switch (kind) {
	case WORKLOAD_DATABASE:
	case WORKLOAD_SHOP:
		return 450;
	case WORKLOAD_CACHE:
		return 250;
	case WORKLOAD_BACKUP:
		return phase == SCENARIO_BACKUP
			       ? files[since / (FILE_SECONDS * SECOND_NS) % (sizeof(files) / sizeof(*files))]
			       : ASLEEP;
	case WORKLOAD_BATCH:
		return phase == SCENARIO_BATCH ? 950 : ASLEEP;
	case WORKLOAD_MONITOR:
		return ns / SECOND_NS % MONITOR_SECONDS == 0 ? MONITOR_BUSY : ASLEEP;
	default:
		return 1000;
	}
}

/* A program that serves requests gets more of them in one second than in another: up to a sixth. */
static bool serves(enum workload_kind kind)
{
	return kind == WORKLOAD_DATABASE || kind == WORKLOAD_SHOP || kind == WORKLOAD_CACHE;
}

u32 scenario_busy(enum workload_kind kind, u64 seed, u64 ns)
{
	u32 busy = usual_busy(kind, ns);
	struct random random;

	if (!serves(kind))
		return busy;
	random_seed(&random, seed, (ns / SECOND_NS) << 8 ^ STREAM_BUSY << 32 ^ kind);
	return busy - busy / 6 + random_below(&random, busy / 3 + 1);
}

bool scenario_shared_tallies(enum workload_kind kind, u64 ns)
{
	return kind == WORKLOAD_SHOP && scenario_phase_at(ns, NULL) == SCENARIO_DEPLOY;
}
