// SPDX-License-Identifier: GPL-2.0
/* The hot code of a cgroup as JSON. Pure. */
#ifndef PEBSD_EXPORT_JSON_HOT_H
#define PEBSD_EXPORT_JSON_HOT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "collect/hot.h"
#include "snapshot.h"

struct json_hot_options {
	u64 limit;             /* at most that many addresses of an event */
	bool kernel_addresses; /* else those of the kernel's half are one item, named "kernel" */
};

/*
 * `lists[i]` is what the snapshot's event i found; NULL where it has no code addresses. A new object that the
 * caller owns, NULL where memory is short.
 */
json_object *json_hot(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      const struct hot_list *const *lists, const struct json_hot_options *options);

#endif
