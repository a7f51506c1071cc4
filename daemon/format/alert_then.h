// SPDX-License-Identifier: GPL-2.0
/* An alert of the history as it was at an earlier time. Pure. */
#ifndef PEBSD_FORMAT_ALERT_THEN_H
#define PEBSD_FORMAT_ALERT_THEN_H

#include <json-c/json.h>
#include <time.h>

/*
 * Returns a new reference to the alert as it was at `until`. `alert` has the state that was stored last; a reply about one
 * cgroup also has `firing`, the alert as it was when it fired. Figures that were stored later than `until` are left out.
 * The alert must not be used otherwise afterwards. NULL: no memory.
 */
json_object *alert_then(json_object *alert, time_t until);

#endif
