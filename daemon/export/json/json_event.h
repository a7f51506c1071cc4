// SPDX-License-Identifier: GPL-2.0
/* The counters of events as JSON: those of one event, and the losses of several events. */
#ifndef PEBSD_EXPORT_JSON_EVENT_H
#define PEBSD_EXPORT_JSON_EVENT_H

#include "export/json/json_writer.h"
#include "snapshot/event_figures.h"

/*
 * The confidence of the bounds that are shown. Quantiles with fewer samples than both bounds need at this confidence
 * (bounds_quantile_needs()) get "few": 5 samples for p50, 299 for p99, 2995 for p999. With fewer, a quantile says
 * little more than the lowest or highest latency of the samples.
 */
#define JSON_CONFIDENCE 0.95

/* The quantiles of a latency, and their names. */
#define JSON_QUANTILES 5
extern const struct json_quantile {
	const char *name;
	double q;
} json_quantiles[JSON_QUANTILES];

/* Adds "events": by key, the events of the snapshot that have `counters`, with histograms if `detailed`. */
void json_put_events(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		     const struct counters *const *counters, bool detailed);

/* The figures of all cgroups together. An event without samples has figures, too. */
void json_totals(const struct snapshot *snapshot, const struct counters *ret[EVENTS_MAX]);

/* Adds the figures of a place, summed over `n` events, that are known (snapshot/event_figures.h). */
void json_put_figures(struct json_writer *writer, json_object *object, enum event_figure_place place,
		      const struct snapshot *snapshot, const struct snapshot_event *events, size_t n);

/*
 * Returns how many samples of `n` events together were seen, attributed and lost. A sum is known only if all
 * its parts are known. The losses of a recording are not known, except the records that the replay itself had
 * to leave out.
 */
json_object *json_samples(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct snapshot_event *events, size_t n);

#endif
