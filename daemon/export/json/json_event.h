// SPDX-License-Identifier: GPL-2.0
/* The figures of events as JSON: what was measured of one, and what became of the samples of several. */
#ifndef PEBSD_EXPORT_JSON_EVENT_H
#define PEBSD_EXPORT_JSON_EVENT_H

#include "export/json/json_writer.h"

/* Adds "events": by key, those of the snapshot's events that have `figures`; with histograms where
 * `detailed`. */
void json_put_events(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		     const struct figures *const *figures, bool detailed);

/*
 * What became of the samples of `n` events together. A sum is known where all its parts are. A recording's
 * own losses are not known: only what the replay itself had to leave out is.
 */
json_object *json_samples(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct snapshot_event *events, size_t n);

#endif
