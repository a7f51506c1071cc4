// SPDX-License-Identifier: GPL-2.0
/* The counts of off-core responses as JSON, to be part of the objects of json.h. */
#ifndef PEBSD_EXPORT_JSON_OFFCORE_H
#define PEBSD_EXPORT_JSON_OFFCORE_H

#include "export/json/json_writer.h"

/* Counts by PMU; a kind that is not known is absent. */
json_object *json_offcore(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct offcore_counts *counters);

/* The state of the counting, or why nothing is counted: one of both must be known. */
json_object *json_offcore_status(struct json_writer *writer, const struct snapshot *snapshot);

#endif
