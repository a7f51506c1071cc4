// SPDX-License-Identifier: GPL-2.0
/* The time that the options name, as parameters of a call. Pure. */
#ifndef PEBSD_CTL_CALL_WHEN_H
#define PEBSD_CTL_CALL_WHEN_H

#include <json-c/json.h>

#include "ctl/call/ctl_options.h"

/* A range of the past, in seconds since 1970. */
struct call_range {
	time_t since, until;
};

/* Returns true if the options ask about the past. */
bool call_is_past(const struct ctl_options *options);

/* The range that the options ask about. One that has only an end, as with --at, begins `seconds` before it. */
struct call_range call_range(const struct ctl_options *options, double seconds);

/*
 * The same, but a range that has only an end, and begins too late to contain most of a pane that is stored at `now`,
 * is the last pane of 10 s before `now` that is.
 */
struct call_range call_stored_range(const struct ctl_options *options, double seconds);

/*
 * The range in which neighbours are compared, around a moment: half of it is after the moment, or less if `now` is
 * earlier. It has 120 of the shortest panes that the history keeps for that long: of 10 s for an hour, of a minute for
 * a day, else of ten minutes.
 */
struct call_range call_neighbours_range(time_t at, time_t now);

/* Adds "since" and "until", not before 1970. Returns false if memory runs out. */
bool call_add_range(json_object *parameters, const struct call_range *range);

/*
 * Adds the range if the options ask about the past; nothing otherwise. `seconds` is as in call_range(). `parameters`
 * NULL: returns false.
 */
bool call_add_when(json_object *parameters, const struct ctl_options *options, double seconds);

#endif
