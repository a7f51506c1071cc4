// SPDX-License-Identifier: GPL-2.0
#include "format/format_past.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/moment.h"

/* More gaps are only counted. */
#define GAPS_SHOWN 5

bool format_is_past(const json_object *reply)
{
	return json_get_array(reply, "gaps") != NULL;
}

bool format_ends_in_gap(const json_object *reply)
{
	json_object *gaps = json_get_array(reply, "gaps");
	const size_t n = gaps ? json_object_array_length(gaps) : 0;
	const char *taken = json_get_text(reply, "taken");
	const char *end = n ? json_get_text(json_object_array_get_idx(gaps, n - 1), "until") : NULL;
	time_t until, at;

	return taken && end && text_parse_time(taken, &until) == 0 && text_parse_time(end, &at) == 0 &&
	       at >= until;
}

static moment_zone zone_of(const struct format_style *style)
{
	return style->zone ? style->zone : moment_utc;
}

void format_range(const char *since, const char *until, const struct format_style *style,
		  char ret[static PAST_RANGE_MAX])
{
	const size_t date = strlen("Fri 2026-11-27 "), clock = strlen("03:12:00");
	char from[MOMENT_TEXT_MAX], to[MOMENT_TEXT_MAX];
	time_t start, end;

	(void)snprintf(ret, PAST_RANGE_MAX, "an unknown time");
	if (!since || !until || text_parse_time(since, &start) < 0 || text_parse_time(until, &end) < 0)
		return;
	moment_show(start, zone_of(style), from);
	moment_show(end, zone_of(style), to);
	if (strlen(from) < date + clock || strlen(to) < date + clock)
		return;
	/* The zone differs on both sides of a change of the clocks. */
	if (strcmp(from + date + clock, to + date + clock) == 0)
		from[date + clock] = '\0';
	(void)snprintf(ret, PAST_RANGE_MAX, "%s - %s", from, strncmp(from, to, date) == 0 ? to + date : to);
}

void format_gaps(FILE *out, const struct format_style *style, json_object *reply)
{
	json_object *gaps = json_get_array(reply, "gaps");
	size_t n = gaps ? json_object_array_length(gaps) : 0;
	u64 more = 0;

	(void)json_get_u64(reply, "more_gaps", &more);
	for (size_t i = 0; i < n && i < GAPS_SHOWN; i++) {
		const json_object *gap = json_object_array_get_idx(gaps, i);
		char range[PAST_RANGE_MAX];

		format_range(json_get_text(gap, "since"), json_get_text(gap, "until"), style, range);
		line_put(out, style, "Gap", "%s: nothing is stored for this time", range);
	}
	if (n > GAPS_SHOWN)
		more += n - GAPS_SHOWN;
	if (more > 0)
		line_put(out, style, "Gap", "%llu more", (unsigned long long)more);
}

void format_past(FILE *out, const struct format_style *style, json_object *reply)
{
	json_object *notes = json_get_array(reply, "notes");
	const char *until = json_get_text(reply, "taken");
	char range[PAST_RANGE_MAX], covered[TEXT_NUMBER_MAX] = "";
	double seconds;

	if (!format_is_past(reply))
		return;
	format_range(json_get_text(reply, "since"), until, style, range);
	if (json_get_double(reply, "window_s", &seconds))
		text_span(seconds, covered);
	line_put(out, style, "Time", "%s%s%s%s", range, *covered ? " (" : "", covered, *covered ? ")" : "");
	format_gaps(out, style, reply);
	for (size_t i = 0; notes && i < json_object_array_length(notes); i++) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "Note", "%s",
			 line_sentence(style, json_object_get_string(json_object_array_get_idx(notes, i)),
				       &kept));
	}
}
