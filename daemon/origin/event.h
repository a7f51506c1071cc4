// SPDX-License-Identifier: GPL-2.0
/* The description of an event that is being sampled, or that a recording contains. */
#ifndef PEBSD_EVENT_H
#define PEBSD_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/offcore.h"
#include "pebsd/sample.h"

/* The numbers are saved over restarts. */
enum event_role {
	EVENT_LOADS,
	EVENT_STORES,
	EVENT_INSTRUCTIONS,
	EVENT_OFFCORE,
	EVENT_CYCLES,
	EVENT_STALLS, /* cycles that were stalled on memory: see enum count_kind */
	EVENT_MISSES, /* of the last cache level that the CPU's own counters see */
	EVENT_ROLES
};

/* The roles that `events = auto` stands for: 1 << enum event_role. A machine may lack some of them. */
#define EVENT_ROLES_AUTO                                                                          \
	(1U << EVENT_LOADS | 1U << EVENT_INSTRUCTIONS | 1U << EVENT_CYCLES | 1U << EVENT_STALLS | \
	 1U << EVENT_MISSES)

/*
 * The meaning of an event's latency, and its name for users:
 * - LATENCY_USE, "use": cycles from the dispatch of the load until its data is there.
 * - LATENCY_CACHE, "cache": cache latency of a load, or latency of a store, on CPUs that report the
 *   instruction latency separately.
 * - LATENCY_DC_MISS, "dc_miss": cycles from a miss of the first level cache to the data (AMD IBS).
 */
enum latency_kind { LATENCY_NONE, LATENCY_USE, LATENCY_CACHE, LATENCY_DC_MISS };

/*
 * What an event of stalls or misses counts, and its name for users. CPU generations differ, and figures of
 * different kinds must not be compared:
 * - COUNT_STALLS_LOAD, "load": cycles in which nothing executes while a load is outstanding.
 * - COUNT_STALLS_L1_MISS, "l1_miss": cycles in which nothing executes while a load that missed the first
 *   level cache is outstanding, or in which an E-core is stalled on such a load.
 * - COUNT_STALLS_RETIRE, "retire": cycles in which nothing retires while the oldest operation waits for the
 *   data of a load (AMD Zen 4 and later).
 * - COUNT_MISSES_L3, "l3", and COUNT_MISSES_L2, "l2": requests of the core, including prefetches into L1 and
 *   L2, that missed the last level, which is L3 or, on CPUs without one, L2.
 * - COUNT_MISSES_FILLS, "fills": lines that came from memory into the first level data cache (AMD).
 * - COUNT_MISSES_DEMAND_FILLS, "demand_fills": the same, but without the lines of hardware prefetches (Zen 2).
 */
enum count_kind {
	COUNT_NONE,
	COUNT_STALLS_LOAD,
	COUNT_STALLS_L1_MISS,
	COUNT_STALLS_RETIRE,
	COUNT_MISSES_L3,
	COUNT_MISSES_L2,
	COUNT_MISSES_FILLS,
	COUNT_MISSES_DEMAND_FILLS,
};

#define EVENT_PMU_MAX 64
#define EVENT_KEY_MAX (EVENT_PMU_MAX + 16)

struct event {
	enum event_role role;
	u32 ldlat;  /* cycles; 0: none or not known */
	u64 period; /* number of events that one sample stands for; 0: varies or not known */
	enum latency_kind latency_kind;
	enum count_kind count_kind;
	/*
	 * Nominal frequency of the cores that the event runs on, in Hz (machine/nominal.h); 0: not known. Latencies
	 * in cycles are converted to nanoseconds at this frequency.
	 */
	double nominal_hz;
	struct event_settings settings; /* the kernel side fills in `first_record` */
	/* Name in /sys/bus/event_source/devices. Empty if a recording does not contain it. */
	char pmu[EVENT_PMU_MAX];
};

/* The number of events for each sample, by role. 0: the PMU's default. */
struct event_periods {
	u64 accesses; /* loads, stores, or operations of IBS */
	u64 instructions;
	u64 cycles;
	u64 stalls;
	u64 misses;
};

/* Returns the period of a role. Off-core responses are not sampled: 0. */
u64 event_period_of(const struct event_periods *periods, enum event_role role);

/* Returns true if both have the same periods. */
bool event_periods_equal(const struct event_periods *a, const struct event_periods *b);

/* Returns "loads", "stores", "instructions", "offcore", "cycles", "stalls" or "misses". */
const char *event_role_name(enum event_role role);

/*
 * Returns the names of `roles` (1 << enum event_role) as part of a sentence: "loads, stores and cycles". The caller
 * frees it. NULL: no memory.
 */
char *event_role_names(unsigned roles);

/*
 * Returns true if the event's samples only say how often something happened: it has no latency, data source
 * or code address. Such an event is not pinned, and may run on any counter.
 */
bool event_is_count(const struct event *event);

/*
 * Returns true if the weights of the samples estimate how often the event happened: cycles, instructions, stalls
 * and misses. Loads and stores are sampled from a part of all accesses only.
 */
bool event_role_is_estimate(enum event_role role);

/* Returns the name in the list of enum count_kind; NULL for COUNT_NONE. */
const char *event_count_kind_name(enum count_kind kind);

/* Returns "use", "cache" or "dc_miss"; NULL for LATENCY_NONE. */
const char *event_latency_kind_name(enum latency_kind kind);

/* Returns the name of an off-core counter: "l3", "local_dram", "remote_dram", "outstanding" or "requests". */
const char *offcore_kind_name(enum offcore_kind kind);

/*
 * Writes the name of the event that users see to `ret`, which holds EVENT_KEY_MAX bytes. The name is the
 * role, followed by ":PMU" if the PMU is known and another of the `n` events has the same role.
 */
void event_key(const struct event *events, size_t n, size_t index, char *ret);

#endif
