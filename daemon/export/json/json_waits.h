// SPDX-License-Identifier: GPL-2.0
/* What waiting for memory costs (window/waits.h), as JSON: type Waits of the interface. */
#ifndef PEBSD_EXPORT_JSON_WAITS_H
#define PEBSD_EXPORT_JSON_WAITS_H

#include "export/json/json_writer.h"
#include "window/waits.h"

struct window_samples;

/* Adds "waits" with the values of all known figures. Adds nothing if no figure is known. */
void json_put_waits(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		    const struct counters *const *counters);

/*
 * Adds "confidence" (JSON_CONFIDENCE, of each bound by itself) to the "waits" of a cgroup, and bounds to its figures.
 * `samples` are those of the cgroup, in the window that the snapshot covers. A figure gets no bounds if its samples
 * came in too few bursts.
 */
void json_put_wait_bounds(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			  const struct counters *const *counters, const struct window_samples *samples);

/* Adds "waits" with the known ones of these values; with their bounds and "confidence" if they are `bounded`. */
void json_put_wait_values(struct json_writer *writer, json_object *object,
			  const struct wait_value values[WAIT_FIGURES], bool bounded);

#endif
