// SPDX-License-Identifier: GPL-2.0
/* An event that is being sampled, or was when a recording was made: what its figures mean. */
#ifndef PEBSD_EVENT_H
#define PEBSD_EVENT_H

#include <stddef.h>

#include "pebsd/offcore.h"
#include "pebsd/sample.h"

enum event_role { EVENT_LOADS, EVENT_STORES, EVENT_INSTRUCTIONS, EVENT_OFFCORE, EVENT_ROLES };

/* What a latency counts: interfaces.md's `use`, `cache`, `dc_miss`. */
enum latency_kind { LATENCY_NONE, LATENCY_USE, LATENCY_CACHE, LATENCY_DC_MISS };

#define EVENT_PMU_MAX 64
#define EVENT_KEY_MAX (EVENT_PMU_MAX + 16)

struct event {
	enum event_role role;
	u32 ldlat;  /* cycles; 0: none or not known */
	u64 period; /* events a sample stands for; 0: varies or not known */
	enum latency_kind latency_kind;
	struct event_settings settings; /* `first_record` is the kernel side's to fill */
	char pmu[EVENT_PMU_MAX];        /* name in /sys/bus/event_source/devices; "" where a recording does
					   not tell */
};

/* "loads", "stores", ... */
const char *event_role_name(enum event_role role);

/* "use", "cache", "dc_miss"; NULL for LATENCY_NONE. */
const char *event_latency_kind_name(enum latency_kind kind);

/* What an event of EVENT_OFFCORE counts: "l3", "local_dram", "remote_dram", "outstanding", "requests". */
const char *offcore_kind_name(enum offcore_kind kind);

/*
 * The event's name where users see it: its role, followed by ":PMU" where another of the `n` events has the
 * same role. `ret` holds EVENT_KEY_MAX bytes.
 */
void event_key(const struct event *events, size_t n, size_t index, char *ret);

#endif
