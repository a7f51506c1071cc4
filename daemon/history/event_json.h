// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of an event as a text of the history: a JSON object with everything of struct event that does not
 * change while the event is open. The period is not part of it. Other versions of pebsd may have written the text,
 * and other programs may have changed it. Pure functions.
 */
#ifndef PEBSD_EVENT_JSON_H
#define PEBSD_EVENT_JSON_H

#include "origin/event.h"

#define EVENT_JSON_MAX 1024 /* bytes of a text, with its NUL */

/*
 * Writes the text to `ret`, which holds EVENT_JSON_MAX bytes. `origin` is "perf", "replay" or "model", as in struct
 * snapshot. Returns 0, -ENOMEM, or -EINVAL if the text does not fit.
 */
int event_json_write(const struct event *event, const char *origin, char *ret);

/*
 * Reads a text. Unknown members are ignored; a member that is missing is none, not known or false. `period` and
 * `first_record` are 0. Returns 0, -ENOMEM, or -EBADMSG: not such an object, a role, kind or origin that this
 * version does not know, or a value out of range. `*ret_origin` is a constant.
 */
int event_json_read(const char *text, struct event *ret, const char **ret_origin);

/*
 * Returns true if counters of both events mean the same and may be added: they have the same role, PMU, threshold,
 * kinds, fields and operations.
 */
bool event_json_same(const struct event *a, const struct event *b);

#endif
