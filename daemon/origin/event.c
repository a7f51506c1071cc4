// SPDX-License-Identifier: GPL-2.0
#include "origin/event.h"

#include <stdio.h>
#include <stdlib.h>

const char *event_role_name(enum event_role role)
{
	static const char *const names[EVENT_ROLES] = {
		[EVENT_LOADS] = "loads",     [EVENT_STORES] = "stores", [EVENT_INSTRUCTIONS] = "instructions",
		[EVENT_OFFCORE] = "offcore", [EVENT_CYCLES] = "cycles", [EVENT_STALLS] = "stalls",
		[EVENT_MISSES] = "misses",
	};

	return role < EVENT_ROLES ? names[role] : "unknown";
}

char *event_role_names(unsigned roles)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (unsigned role = 0; role < EVENT_ROLES; role++) {
		const unsigned before = roles & ((1U << role) - 1), after = roles >> role >> 1;

		if (roles & 1U << role)
			(void)fprintf(stream, "%s%s",
				      !before ? ""
				      : after ? ", "
					      : " and ",
				      event_role_name((enum event_role)role));
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

u64 event_period_of(const struct event_periods *periods, enum event_role role)
{
	switch (role) {
	case EVENT_LOADS:
	case EVENT_STORES:
		return periods->accesses;
	case EVENT_INSTRUCTIONS:
		return periods->instructions;
	case EVENT_CYCLES:
		return periods->cycles;
	case EVENT_STALLS:
		return periods->stalls;
	case EVENT_MISSES:
		return periods->misses;
	case EVENT_OFFCORE:
	case EVENT_ROLES:
		break;
	}
	return 0;
}

bool event_periods_equal(const struct event_periods *a, const struct event_periods *b)
{
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		if (event_period_of(a, role) != event_period_of(b, role))
			return false;
	return true;
}

bool event_is_count(const struct event *event)
{
	const struct event_settings *settings = &event->settings;

	return event->role >= EVENT_INSTRUCTIONS && event->role != EVENT_OFFCORE && !settings->has_latency &&
	       !settings->has_source && !settings->has_code_address;
}

bool event_role_is_estimate(enum event_role role)
{
	return role == EVENT_INSTRUCTIONS || role == EVENT_CYCLES || role == EVENT_STALLS ||
	       role == EVENT_MISSES;
}

const char *event_count_kind_name(enum count_kind kind)
{
	switch (kind) {
	case COUNT_STALLS_LOAD:
		return "load";
	case COUNT_STALLS_L1_MISS:
		return "l1_miss";
	case COUNT_STALLS_RETIRE:
		return "retire";
	case COUNT_MISSES_L3:
		return "l3";
	case COUNT_MISSES_L2:
		return "l2";
	case COUNT_MISSES_FILLS:
		return "fills";
	case COUNT_MISSES_DEMAND_FILLS:
		return "demand_fills";
	case COUNT_NONE:
		break;
	}
	return NULL;
}

const char *event_latency_kind_name(enum latency_kind kind)
{
	switch (kind) {
	case LATENCY_USE:
		return "use";
	case LATENCY_CACHE:
		return "cache";
	case LATENCY_DC_MISS:
		return "dc_miss";
	case LATENCY_NONE:
		break;
	}
	return NULL;
}

const char *offcore_kind_name(enum offcore_kind kind)
{
	static const char *const names[OFFCORE_KINDS] = {
		[OFFCORE_L3] = "l3",
		[OFFCORE_LOCAL_DRAM] = "local_dram",
		[OFFCORE_REMOTE_DRAM] = "remote_dram",
		[OFFCORE_OUTSTANDING] = "outstanding",
		[OFFCORE_REQUESTS] = "requests",
	};

	return names[kind];
}

void event_key(const struct event *events, size_t n, size_t index, char *ret)
{
	const struct event *event = &events[index];
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		if (events[i].role == event->role)
			same++;
	if (same > 1 && event->pmu[0])
		(void)snprintf(ret, EVENT_KEY_MAX, "%s:%s", event_role_name(event->role), event->pmu);
	else
		(void)snprintf(ret, EVENT_KEY_MAX, "%s", event_role_name(event->role));
}
