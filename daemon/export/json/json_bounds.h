// SPDX-License-Identifier: GPL-2.0
/* The bounds of a cgroup's figures in a window, as JSON. */
#ifndef PEBSD_EXPORT_JSON_BOUNDS_H
#define PEBSD_EXPORT_JSON_BOUNDS_H

#include "export/json/json_writer.h"

/*
 * Adds "confidence" (JSON_CONFIDENCE, of each bound by itself) to each event of a cgroup's "events", and "bounds" to its
 * quantiles and sources; and the bounds of its "waits" (json_waits.h). A figure gets no bounds if its samples came in too
 * few bursts. Adds nothing if the snapshot covers the whole time, or too few collections to detect bursts. `figures` are
 * those of the cgroup.
 */
void json_put_all_bounds(struct json_writer *writer, json_object *cgroup_object,
			 const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			 const struct figures *const *figures);

#endif
