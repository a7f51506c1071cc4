// SPDX-License-Identifier: GPL-2.0
/* An alert of the history as it was at an earlier time. Pure. */
#ifndef PEBSD_JSON_ALERT_THEN_H
#define PEBSD_JSON_ALERT_THEN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

/*
 * Returns a new reference to the alert as it was at `until`. `alert` is as HISTORY_ASK_ALERTS returns it: the state
 * that was stored last, in `firing` the alert as it was when it fired, and in `to_us` its end. The figures are those of
 * when the state of `until` began, and absent if they are not stored. If `measured` is false, nothing is stored for
 * that time: what was firing or pending before is unknown, for the reason "gap". An alert that pebsd did not continue
 * when it was started again is unknown from then on, for the reason "restart".
 * The alert must not be used otherwise afterwards. NULL: no memory.
 */
json_object *json_alert_then(json_object *alert, time_t until, bool measured);

#endif
