// SPDX-License-Identifier: GPL-2.0
/* The description of an event that is being sampled, or that a recording contains. */
#ifndef PEBSD_EVENT_H
#define PEBSD_EVENT_H

#include <stddef.h>

#include "pebsd/offcore.h"
#include "pebsd/sample.h"

enum event_role { EVENT_LOADS, EVENT_STORES, EVENT_INSTRUCTIONS, EVENT_OFFCORE, EVENT_ROLES };

/*
 * The meaning of an event's latency, and its name for users:
 * - LATENCY_USE, "use": cycles from the dispatch of the load until its data is there.
 * - LATENCY_CACHE, "cache": cache latency of a load, or latency of a store, on CPUs that report the
 *   instruction latency separately.
 * - LATENCY_DC_MISS, "dc_miss": cycles from a miss of the first level cache to the data (AMD IBS).
 */
enum latency_kind { LATENCY_NONE, LATENCY_USE, LATENCY_CACHE, LATENCY_DC_MISS };

#define EVENT_PMU_MAX 64
#define EVENT_KEY_MAX (EVENT_PMU_MAX + 16)

struct event {
	enum event_role role;
	u32 ldlat;  /* cycles; 0: none or not known */
	u64 period; /* number of events that one sample stands for; 0: varies or not known */
	enum latency_kind latency_kind;
	struct event_settings settings; /* the kernel side fills in `first_record` */
	/* Name in /sys/bus/event_source/devices. Empty if a recording does not contain it. */
	char pmu[EVENT_PMU_MAX];
};

/* Returns "loads", "stores", "instructions" or "offcore". */
const char *event_role_name(enum event_role role);

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
