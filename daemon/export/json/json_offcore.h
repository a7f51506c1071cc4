// SPDX-License-Identifier: GPL-2.0
/* The counts of off-core responses as JSON, to be part of the objects of json.h. */
#ifndef PEBSD_EXPORT_JSON_OFFCORE_H
#define PEBSD_EXPORT_JSON_OFFCORE_H

#include <json-c/json.h>

#include "snapshot/snapshot.h"

/* Counts by PMU; a kind that is not known is absent. The caller owns the object; NULL: no memory. */
json_object *json_offcore(const struct snapshot *snapshot, const struct offcore_figures *figures);

/* The state of the counting, or why nothing is counted. Returned as above. */
json_object *json_offcore_status(const struct snapshot *snapshot);

#endif
