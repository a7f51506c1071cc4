// SPDX-License-Identifier: GPL-2.0
#include "alerts/alerts_record.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "state/state_bytes.h"

/* The last second of the year 9999, as in alert_store_json.c. */
#define SECONDS_MAX 253402300799ULL

/* Upper bound of a record's bytes without its strings: 16 numbers, and the value with its bounds. */
#define NUMBERS_BYTES_MAX (16UL * VARINT_MAX + 3 * sizeof(double))

static void put_text(struct state_writer *writer, const char *text)
{
	size_t length = strlen(text);

	state_put_number(writer, length);
	state_put_bytes(writer, text, length);
}

static void put_time(struct state_writer *writer, const struct timespec *time)
{
	state_put_number(writer, (u64)time->tv_sec);
	state_put_number(writer, (u64)time->tv_nsec);
}

size_t alerts_record_write(const struct policy_saved_alert *saved, u8 to[STATE_RECORD_MAX], size_t *ret_named)
{
	struct state_writer writer = {.to = to};

	if (strlen(saved->rule) + strlen(saved->event_key) + strlen(saved->cgroup) + NUMBERS_BYTES_MAX >
	    STATE_RECORD_MAX)
		return 0;
	put_text(&writer, saved->rule);
	put_text(&writer, saved->event_key);
	put_text(&writer, saved->cgroup);
	/*
	 * Rule, event and cgroup alone are not unique: the cgroup may be made again while an old alert is
	 * resolved.
	 */
	state_put_number(&writer, saved->number);
	*ret_named = (size_t)(writer.to - to);
	state_put_number(&writer, saved->fingerprint);
	state_put_number(&writer, saved->state);
	state_put_number(&writer, saved->end);
	state_put_number(&writer, saved->held_ns);
	put_time(&writer, &saved->since);
	put_time(&writer, &saved->breached);
	put_time(&writer, &saved->fired);
	put_time(&writer, &saved->resolved);
	state_put_bytes(&writer, &saved->value, sizeof(saved->value));
	state_put_bytes(&writer, &saved->low, sizeof(saved->low));
	state_put_bytes(&writer, &saved->high, sizeof(saved->high));
	return (size_t)(writer.to - to);
}

/* Reads a string that is not empty. The caller frees it. */
static int get_text(struct state_reader *reader, size_t max, const char **ret)
{
	u64 length = state_get_number(reader);
	char *text;

	if (reader->bad || length == 0 || length > max || length > (size_t)(reader->end - reader->from) ||
	    memchr(reader->from, '\0', length))
		return -EBADMSG;
	text = strndup((const char *)reader->from, length);
	if (!text)
		return -ENOMEM;
	reader->from += length;
	*ret = text;
	return 0;
}

static int get_rule(struct state_reader *reader, char ret[RULE_NAME_MAX])
{
	u64 length = state_get_number(reader);

	if (length == 0 || length >= RULE_NAME_MAX)
		return -EBADMSG;
	state_get_bytes(reader, ret, length);
	ret[length] = '\0';
	return !reader->bad && strspn(ret, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
					   "-_.") == length
		       ? 0
		       : -EBADMSG;
}

static int get_names(struct state_reader *reader, struct policy_saved_alert *ret)
{
	int r = get_rule(reader, ret->rule);

	if (r == 0)
		r = get_text(reader, EVENT_KEY_MAX - 1, &ret->event_key);
	return r < 0 ? r : get_text(reader, STATE_RECORD_MAX, &ret->cgroup);
}

static bool get_time(struct state_reader *reader, struct timespec *ret)
{
	u64 seconds = state_get_number(reader), nanoseconds = state_get_number(reader);

	*ret = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds};
	return seconds <= SECONDS_MAX && nanoseconds < NSEC_PER_SEC;
}

static bool get_times(struct state_reader *reader, struct policy_saved_alert *ret)
{
	return get_time(reader, &ret->since) && get_time(reader, &ret->breached) &&
	       get_time(reader, &ret->fired) && get_time(reader, &ret->resolved);
}

/* A ratio is infinite if its baseline is 0. Bounds may be infinite, too. */
static bool get_estimate(struct state_reader *reader, struct policy_saved_alert *ret)
{
	state_get_bytes(reader, &ret->value, sizeof(ret->value));
	state_get_bytes(reader, &ret->low, sizeof(ret->low));
	state_get_bytes(reader, &ret->high, sizeof(ret->high));
	return isnan(ret->value) || (ret->value > -INFINITY && !isnan(ret->low) && !isnan(ret->high));
}

/* `held_ns` cannot exceed `now_ns`, the time since boot. */
static bool get_state(struct state_reader *reader, u64 now_ns, struct policy_saved_alert *ret)
{
	u64 state, end;

	ret->fingerprint = state_get_number(reader);
	state = state_get_number(reader);
	end = state_get_number(reader);
	ret->held_ns = state_get_number(reader);
	if (state < ALERT_PENDING || state > ALERT_RESOLVED || end > ALERT_END_IGNORED ||
	    ret->held_ns > now_ns || (state == ALERT_PENDING) != (ret->number == 0))
		return false;
	ret->state = (enum alert_state)state;
	ret->end = (enum alert_end)end;
	return true;
}

int alerts_record_read(const u8 *bytes, size_t length, u64 now_ns, u64 next, struct policy_saved_alert *ret,
		       size_t *ret_named)
{
	struct state_reader reader = {.from = bytes, .end = bytes + length};
	int r;

	*ret = (struct policy_saved_alert){0};
	r = get_names(&reader, ret);
	if (r < 0)
		return r;
	ret->number = state_get_number(&reader);
	*ret_named = (size_t)(reader.from - bytes);
	if (ret->number >= next || !get_state(&reader, now_ns, ret) || !get_times(&reader, ret) ||
	    !get_estimate(&reader, ret) || !state_read_whole(&reader))
		return -EBADMSG;
	return 0;
}
