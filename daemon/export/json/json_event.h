// SPDX-License-Identifier: GPL-2.0
/* The counters of events as JSON: those of one event, and the losses of several events. */
#ifndef PEBSD_EXPORT_JSON_EVENT_H
#define PEBSD_EXPORT_JSON_EVENT_H

#include "export/json/json_writer.h"

/* Adds "events": by key, the events of the snapshot that have `figures`, with histograms if `detailed`. */
void json_put_events(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		     const struct figures *const *figures, bool detailed);

/*
 * Returns how many samples of `n` events together were seen, attributed and lost. A sum is known only if all
 * its parts are known. The losses of a recording are not known, except the records that the replay itself had
 * to leave out.
 */
json_object *json_samples(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct snapshot_event *events, size_t n);

#endif
