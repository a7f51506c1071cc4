// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_past.h"

#include "base/monotonic.h"

#define USEC_PER_SEC 1000000ULL

void json_put_moment(struct json_writer *writer, json_object *object, const char *key, u64 us)
{
	const struct timespec time = realtime_of_us(us);

	json_put_time(writer, object, key, &time);
}

json_object *json_gap(struct json_writer *writer, const struct past_span *gap)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_moment(writer, object, "since", gap->since_us);
	json_put_moment(writer, object, "until", gap->until_us);
	return object;
}

/*
 * A pane belongs to the range that contains its middle. So half a pane may be missing at each end of the range, which
 * is not a gap.
 */
static bool is_part_of_pane(const struct past *past, const struct past_span *gap, size_t pane)
{
	struct past_span span = past_bin(past, pane).span;

	return gap->until_us - gap->since_us <= (span.until_us - span.since_us) / 2 + USEC_PER_SEC;
}

static void put_gaps(struct json_writer *writer, json_object *object, const struct past *past, bool open)
{
	json_object *list = json_checked(writer, json_object_new_array());
	struct past_span range = past_range(past);
	size_t n, first = 0, listed = 0, panes = past_bins(past);
	const struct past_span *gaps = past_gaps(past, &n);

	if (n > 0 && panes > 0 && gaps[n - 1].until_us >= range.until_us &&
	    (is_part_of_pane(past, &gaps[n - 1], panes - 1) ||
	     (open && gaps[n - 1].until_us - gaps[n - 1].since_us <= 3 * HISTORY_PANE_US)))
		n--;
	if (n > 0 && panes > 0 && gaps[0].since_us <= range.since_us && is_part_of_pane(past, &gaps[0], 0))
		first = 1;
	for (; first + listed < n && listed < JSON_GAPS_MAX; listed++)
		json_append(writer, list, json_gap(writer, &gaps[first + listed]));
	json_put(writer, object, "gaps", list);
	if (n > first + listed)
		json_put_u64(writer, object, "more_gaps", n - first - listed);
}

void json_put_past(struct json_writer *writer, json_object *object, const struct past *past, bool open)
{
	const struct snapshot *snapshot = past_snapshot(past);

	if (!json_object_object_get(object, "since"))
		json_put_time(writer, object, "since", &snapshot->since);
	if (!json_object_object_get(object, "until"))
		json_put_time(writer, object, "until", &snapshot->taken);
	json_put_time(writer, object, "taken", &snapshot->taken);
	put_gaps(writer, object, past, open);
	if (!json_object_object_get(object, "notes"))
		json_put(writer, object, "notes", json_notes(writer, snapshot));
}

json_object *json_add_past(json_object *reply, const struct past *past, bool open)
{
	struct json_writer writer = {.failed = !reply};

	if (reply)
		json_put_past(&writer, reply, past, open);
	return json_finish(&writer, reply);
}

json_object *json_history_status(struct json_writer *writer, const struct history_state *state)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put(writer, object, "on", json_object_new_boolean(state->on));
	if (state->off_reason)
		json_put_text(writer, object, "off_reason", state->off_reason);
	if (!state->on)
		return object;
	if (state->directory)
		json_put_text(writer, object, "directory", state->directory);
	json_put_u64(writer, object, "bytes", state->kept.bytes);
	json_put_u64(writer, object, "bytes_max", state->bytes_max);
	json_put_u64(writer, object, "age_max_s", state->age_max_s);
	if (state->kept.oldest_us)
		json_put_moment(writer, object, "oldest", state->kept.oldest_us);
	if (state->kept.newest_us)
		json_put_moment(writer, object, "newest", state->kept.newest_us);
	json_put(writer, object, "limited", json_object_new_boolean(state->kept.limited));
	json_put_u64(writer, object, "panes_stored", state->panes_stored);
	json_put_u64(writer, object, "panes_lost", state->panes_lost);
	if (state->kept.error)
		json_put_text(writer, object, "trouble", state->kept.what);
	return object;
}
