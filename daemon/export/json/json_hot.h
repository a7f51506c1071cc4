// SPDX-License-Identifier: GPL-2.0
/* The hot code and data of a cgroup as JSON. Pure. */
#ifndef PEBSD_EXPORT_JSON_HOT_H
#define PEBSD_EXPORT_JSON_HOT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

#include "collect/hot_places.h"
#include "profile/profile.h"
#include "snapshot/snapshot.h"

/* What one event found. NULL: it has no such addresses. */
struct json_hot_event {
	const struct hot_places *places[HOT_KINDS];
};

struct json_hot {
	const char *path;
	u64 id; /* of the cgroup; 0: none is known */
	struct hot_choice choice;
	const struct json_hot_event *events; /* by the snapshot's */
	struct profile_names names;          /* asked for what is shown */
	u64 limit;                           /* at most that many items of an event and kind */
	/* Else items of the kernel's half have their name alone, and those without one are one item,
	 * "[kernel]". */
	bool kernel_addresses;
	u64 now_ns; /* CLOCK_MONOTONIC, as the choice's times */
	struct timespec now;
};

/* A new object that the caller owns, NULL where memory is short. */
json_object *json_hot(const struct snapshot *snapshot, const struct json_hot *hot);

#endif
