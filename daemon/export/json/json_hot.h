// SPDX-License-Identifier: GPL-2.0
/* The hot code and data of a cgroup as JSON. Pure. */
#ifndef PEBSD_EXPORT_JSON_HOT_H
#define PEBSD_EXPORT_JSON_HOT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

#include "hot/hot_places.h"
#include "profile/profile.h"
#include "snapshot/snapshot.h"

/* The contents of the tables for one event. NULL: the event has no addresses of this kind (code or data). */
struct json_hot_event {
	const struct hot_places *places[HOT_KINDS];
};

struct json_hot {
	const char *path;
	u64 id; /* of the cgroup; 0: not known */
	struct hot_choice choice;
	const struct json_hot_event *events; /* in the order of the snapshot's events */
	struct profile_names names;          /* called for shown items, and for hidden kernel addresses */
	u64 limit;                           /* maximum number of items of an event and kind */
	/*
	 * If false, items in the kernel's half of the address space do not show their address. Those of them
	 * without a name are merged into one item, "[kernel]".
	 */
	bool kernel_addresses;
	u64 now_ns; /* CLOCK_MONOTONIC, as the times of `choice` */
	struct timespec now;
};

/*
 * Returns a new object that the caller owns; NULL: no memory. The text of its items takes at most one page,
 * which the lists share. `left_out` counts the items that do not fit.
 */
json_object *json_hot(const struct snapshot *snapshot, const struct json_hot *hot);

#endif
