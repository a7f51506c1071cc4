// SPDX-License-Identifier: GPL-2.0
/* The state of events as JSON. */
#ifndef PEBSD_EXPORT_JSON_STATUS_H
#define PEBSD_EXPORT_JSON_STATUS_H

#include "export/json/json_writer.h"

/* Adds "events": the state of each event, by its key. */
void json_put_event_states(struct json_writer *writer, json_object *object, const struct snapshot *snapshot);

#endif
