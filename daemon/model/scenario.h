// SPDX-License-Identifier: GPL-2.0
/*
 * The scenario: the programs of one host with two nodes, and what happens to them. It repeats after four
 * minutes:
 *
 *   0 to 45 s     quiet
 *   45 to 105 s   the backup reads files in the memory of the database's node: the database's memory is slower
 *   105 to 135 s  quiet
 *   135 to 180 s  a deploy of the shop has its workers count in the same cache lines, until it is rolled back
 *   180 to 195 s  quiet
 *   195 to 235 s  the batch job streams through its own node's memory
 *   235 to 240 s  quiet
 *
 * Pure functions of the time since the start.
 */
#ifndef PEBSD_MODEL_SCENARIO_H
#define PEBSD_MODEL_SCENARIO_H

#include "workload.h"

#define SCENARIO_NODES 2

/* What a thread of a program does changes at multiples of this time. A cycle has a whole number of them. */
#define SCENARIO_STEP_NS  100000000ULL
#define SCENARIO_CYCLE_NS 240000000000ULL

enum scenario_phase { SCENARIO_QUIET, SCENARIO_BACKUP, SCENARIO_DEPLOY, SCENARIO_BATCH };

/* Returns the phase at this time, and sets `*ret_ns` (may be NULL) to the time since the phase began. */
enum scenario_phase scenario_phase_at(u64 ns, u64 *ret_ns);

/*
 * The number of threads that a workload has, and the node that they run on. Other workloads than programs run on node
 * 0, and only false sharing needs two threads.
 */
u32 scenario_threads(enum workload_kind kind);
u32 scenario_node(enum workload_kind kind);

/*
 * Returns the time in which a thread of a program runs, in thousandths: the rest of the time it sleeps. The
 * same for the whole of a step. It varies from second to second, and `seed` decides how. 1000 for other
 * workloads.
 */
u32 scenario_busy(enum workload_kind kind, u64 seed, u64 ns);

/* Returns whether the shop runs the release with which its workers count in the same cache lines. */
bool scenario_shared_tallies(enum workload_kind kind, u64 ns);

#endif
