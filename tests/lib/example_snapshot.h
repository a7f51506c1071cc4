// SPDX-License-Identifier: GPL-2.0
/* Small snapshots for tests of exporters. */
#ifndef PEBSD_EXAMPLE_SNAPSHOT_H
#define PEBSD_EXAMPLE_SNAPSHOT_H

#include <json-c/json.h>

#include "snapshot/snapshot.h"

/* Counts `n` samples with all their fields, as the kernel side would. `period` 0: they have no weight. */
void example_add(struct counters *counters, u64 n, enum source source, u32 latency, u64 period,
		 enum snoop snoop, enum tlb tlb);

/*
 * A replay of 14 loads with 1,725 cycles in all, without periods: 13 of comm:kstaled, and one of
 * comm:evil\e[2J. The snapshot lives as long as the process. Only one caller may use it, and may change it.
 */
struct snapshot *example_replay(void);

/*
 * Same as example_replay(), but a live machine: two core PMUs, weights, and losses. The cgroup
 * /system.slice/db.service has 5 loads of 400 cycles from remote memory, 5 from a remote cache (HITM), and 1
 * load on cpu_atom. The cgroup / has 90 loads of 20 cycles from L1.
 */
struct snapshot *example_perf(void);

/*
 * A live machine with several events:
 * - 0 and 1: loads on two core PMUs;
 * - 2: stores on cpu_core, without latency, which take turns with the loads on cpu_core;
 * - 3: instructions by code address, without latency and data source.
 *
 * The cgroup /system.slice/db.service has samples of all events. /machine.slice/vm.scope, a virtual machine,
 * has loads and instructions. /batch has only stores and instructions.
 */
struct snapshot *example_several(void);

/*
 * A window of 10 s on a live machine of 8 CPUs at 2.5 GHz, with loads (0), and counts of cycles (1), instructions (2),
 * stalls (3, which ran for half of the time) and misses (4) on one PMU:
 * - /checkout uses 3.2 cores, loses 2 of these, and has 2 cycles per instruction;
 * - /batch uses 4 cores, loses 0.2 of these, and has no loads;
 * - /old has only loads.
 */
struct snapshot *example_counts(void);

/* Returns the samples of an event in a cgroup of a snapshot; 0 if there are none. */
u64 example_samples(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, unsigned event);

/*
 * Returns the JSON that json_write_top() writes of these `n` cgroups, as a client reads it; NULL on error. The caller
 * puts it.
 */
json_object *example_top(const struct snapshot *snapshot, const size_t *cgroups, size_t n);

#endif
