// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call_when.h"

#include <math.h>
#include <sys/param.h>

#include "base/text.h"

/*
 * A pane of the history ends at the first collection after a multiple of this time: HISTORY_PANE_SECONDS, which a
 * client does not include.
 */
#define PANE_SECONDS 10

/* By then that collection is usually over, and its pane is stored. */
#define STORED_SECONDS 2

bool call_is_past(const struct ctl_options *options)
{
	return options->has_at || options->has_since || options->has_until;
}

struct call_range call_range(const struct ctl_options *options, double seconds)
{
	struct call_range range = {.until = options->has_at      ? options->at
					    : options->has_until ? options->until
								 : options->now};

	range.since = options->has_since ? options->since : range.until - (time_t)ceil(seconds);
	return range;
}

struct call_range call_stored_range(const struct ctl_options *options, double seconds)
{
	const struct call_range range = call_range(options, seconds);
	const time_t newest = (options->now - STORED_SECONDS) / PANE_SECONDS * PANE_SECONDS;

	/* The daemon counts a pane to the range that contains the middle of the pane. */
	if (options->has_since || range.since <= newest - PANE_SECONDS / 2)
		return range;
	return (struct call_range){.since = newest - PANE_SECONDS, .until = newest};
}

struct call_range call_neighbours_range(time_t at, time_t now)
{
	const time_t age = now - at;
	/* Most of the panes must be of one length. */
	const time_t length = age <= 3600 - 600 ? 120 * 10 : age <= 86400 - 3600 ? 120 * 60 : 120 * 600;
	const time_t until = at + length / 2 < now ? at + length / 2 : now;

	return (struct call_range){.since = until - length, .until = until};
}

static bool add_time(json_object *parameters, const char *key, time_t seconds)
{
	char text[TEXT_TIME_MAX];

	text_time(&(struct timespec){.tv_sec = seconds}, text);
	return json_object_object_add(parameters, key, json_object_new_string(text)) == 0;
}

bool call_add_range(json_object *parameters, const struct call_range *range)
{
	/* In replies, 0 is an unknown time. */
	return add_time(parameters, "since", MAX(range->since, 1)) &&
	       add_time(parameters, "until", MAX(range->until, 2));
}

bool call_add_when(json_object *parameters, const struct ctl_options *options, double seconds)
{
	struct call_range range = call_range(options, seconds);

	return parameters && (!call_is_past(options) || call_add_range(parameters, &range));
}
