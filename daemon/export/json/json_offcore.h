// SPDX-License-Identifier: GPL-2.0
/* What was counted of off-core responses, as JSON; see json.h, whose objects it is a part of. */
#ifndef PEBSD_EXPORT_JSON_OFFCORE_H
#define PEBSD_EXPORT_JSON_OFFCORE_H

#include <json-c/json.h>

#include "snapshot/snapshot.h"

/* Figures by PMU; a kind that is not known is absent. The caller's; NULL where memory is short. */
json_object *json_offcore(const struct snapshot *snapshot, const struct offcore_figures *figures);

/* How the counting does, or why there is none. As above. */
json_object *json_offcore_status(const struct snapshot *snapshot);

#endif
