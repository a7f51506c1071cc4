// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/replay/bytes.h"
#include "origin/replay/perf_data_fail.h"
#include "origin/replay/perf_data_head.h"
#include "origin/replay/perf_data_inflate.h"
#include "origin/replay/perf_data_input.h"

/*
 * Types of records that perf itself writes, and of those that the kernel added after Linux 6.1
 * (tools/lib/perf/include/perf/event.h).
 */
enum {
	RECORD_USER_FIRST = 64,
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_EVENT_UPDATE = 78,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
};

struct perf_data {
	struct perf_data_input input;
	struct perf_data_events events;
	struct perf_data_head head;
	struct perf_data_inflate *inflate;
	u64 to_consume; /* length of the last record, still visible to the caller, and its payload */
	bool cut;
	char *message;
};

/* Handles an input that ends before the recording does. */
static int end_cut(struct perf_data *data)
{
	data->cut = true;
	return 0;
}

int perf_data_open(int fd, struct perf_data **ret, char **ret_message)
{
	struct perf_data *data;
	int r;

	*ret_message = NULL;
	data = calloc(1, sizeof(*data));
	if (!data) {
		(void)close(fd);
		return -ENOMEM;
	}
	r = perf_data_input_open(&data->input, fd);
	if (r < 0)
		r = perf_data_fail_to_read(ret_message, r);
	else
		r = perf_data_head_read(&data->input, &data->events, &data->head, ret_message);
	if (r < 0) {
		perf_data_free(data);
		return r;
	}
	data->cut = data->head.cut;
	data->to_consume = data->head.data_start;
	*ret = data;
	return 0;
}

void perf_data_no_wait(struct perf_data *data)
{
	data->input.no_wait = true;
}

int perf_data_fd(const struct perf_data *data)
{
	return data->input.fd;
}

struct perf_data *perf_data_free(struct perf_data *data)
{
	if (!data)
		return NULL;
	perf_data_input_close(&data->input);
	perf_data_events_clear(&data->events);
	perf_data_inflate_free(data->inflate);
	free(data->message);
	free(data);
	return NULL;
}

const char *perf_data_message(const struct perf_data *data)
{
	return data->message ? data->message : "cannot be read: out of memory";
}

const struct perf_data_events *perf_data_events(const struct perf_data *data)
{
	return &data->events;
}

bool perf_data_cut(const struct perf_data *data, u64 *ret_position)
{
	if (data->cut)
		*ret_position = perf_data_input_seen(&data->input);
	return data->cut;
}

bool perf_data_unfinished(const struct perf_data *data)
{
	return data->head.unfinished;
}

/* A record of the recording, or of its compressed part. */
struct raw_record {
	u32 type;
	const u8 *body;
	size_t size; /* of the body */
	u64 position;
};

/* Returns the number of bytes up to the end of the data section. */
static u64 data_left(const struct perf_data *data)
{
	u64 position = data->input.position;

	if (!data->head.bounded)
		return ~0ULL;
	return position < data->head.data_end ? data->head.data_end - position : 0;
}

/* Returns the number of bytes that follow a record without being part of it. */
static u64 payload_of(const struct raw_record *raw)
{
	struct bytes bytes = {.at = raw->body, .left = raw->size};

	if (raw->type == RECORD_AUXTRACE)
		return bytes_u64(&bytes);
	if (raw->type == RECORD_HEADER_TRACING_DATA)
		return ((u64)bytes_u32(&bytes) + 7) & ~7ULL;
	return 0;
}

static int fail_to_read(struct perf_data *data, int error)
{
	return error == -EAGAIN ? error : perf_data_fail_to_read(&data->message, error);
}

static int next_outer(struct perf_data *data, struct raw_record *ret)
{
	struct perf_event_header header;
	const u8 *at;
	u64 payload;
	int r;

	r = perf_data_input_skip(&data->input, &data->to_consume);
	if (r < 0)
		return fail_to_read(data, r);
	if (r == 0)
		return end_cut(data);
	if (!data_left(data))
		return 0;

	r = perf_data_input_peek(&data->input, 1, &at);
	if (r > 0) {
		r = perf_data_input_peek(&data->input, sizeof(header), &at);
		if (r == 0)
			return end_cut(data);
	}
	if (r < 0)
		return fail_to_read(data, r);
	/* If the data section is bounded, data is missing. If not, it ends with the input. */
	if (r == 0)
		return data->head.bounded ? end_cut(data) : 0;

	memcpy(&header, at, sizeof(header));
	ret->position = data->input.position;
	if (header.size < sizeof(header))
		return perf_data_fail_damaged(&data->message, ret->position,
					      "a record is shorter than its own header");
	if (header.size > data_left(data))
		return perf_data_fail_damaged(&data->message, ret->position,
					      "a record is longer than the rest of the data");
	r = perf_data_input_peek(&data->input, header.size, &at);
	if (r < 0)
		return fail_to_read(data, r);
	if (r == 0)
		return end_cut(data);

	ret->type = header.type;
	ret->body = at + sizeof(header);
	ret->size = header.size - sizeof(header);
	payload = payload_of(ret);
	if (payload > data_left(data) - header.size)
		return perf_data_fail_damaged(&data->message, ret->position,
					      "a record states that more data follows than is left");
	data->to_consume = header.size + payload;
	return 1;
}

/* Passes a compressed record to the decompression. */
static int begin_inflate(struct perf_data *data, const struct raw_record *raw)
{
	struct bytes bytes = {.at = raw->body, .left = raw->size};
	u64 size = raw->size;
	int r;

	/* This kind is padded and begins with the length of its data. */
	if (raw->type == RECORD_COMPRESSED2) {
		size = bytes_u64(&bytes);
		if (bytes.overrun || size > bytes.left)
			return perf_data_fail_damaged(
				&data->message, raw->position,
				"a compressed record contains less data than it states");
	}
	if (!data->inflate) {
		r = perf_data_inflate_new(&data->inflate);
		if (r < 0)
			return perf_data_fail_to_read(&data->message, r);
	}
	perf_data_inflate_input(data->inflate, bytes.at, (size_t)size);
	return 0;
}

static int next_inflated(struct perf_data *data, struct raw_record *ret)
{
	struct perf_event_header header;
	const u8 *at;
	int r;

	if (!data->inflate)
		return 0;
	ret->position = data->input.position;
	r = perf_data_inflate_next(data->inflate, &header, &at);
	if (r == -EBADMSG)
		return perf_data_fail_damaged(&data->message, ret->position,
					      "a compressed record does not decompress to valid records");
	if (r <= 0)
		return r;
	/* perf compresses only records of the kernel, not its own. */
	if (header.type >= RECORD_USER_FIRST)
		return perf_data_fail_damaged(
			&data->message, ret->position,
			"a compressed record contains a record of a kind that perf never compresses");
	ret->type = header.type;
	ret->body = at + sizeof(header);
	ret->size = header.size - sizeof(header);
	return 1;
}

static int next_raw(struct perf_data *data, struct raw_record *ret)
{
	for (;;) {
		int r = next_inflated(data, ret);

		if (r)
			return r;
		r = next_outer(data, ret);
		if (r == 0 && data->inflate && perf_data_inflate_pending(data->inflate))
			return end_cut(data);
		if (r <= 0)
			return r;
		if (ret->type != RECORD_COMPRESSED && ret->type != RECORD_COMPRESSED2)
			return r;
		r = begin_inflate(data, ret);
		if (r < 0)
			return r;
	}
}

/* Reads records about the recording's events, which pipes contain. */
static int take_head_record(struct perf_data *data, const struct raw_record *raw)
{
	struct bytes bytes = {.at = raw->body, .left = raw->size};
	u64 feature;
	int r = 0;

	if (raw->type == RECORD_HEADER_ATTR && data->head.pipe) {
		r = perf_data_events_add_record(&data->events, raw->body, raw->size);
	} else if (raw->type == RECORD_EVENT_UPDATE) {
		r = perf_data_events_update(&data->events, raw->body, raw->size);
	} else if (raw->type == RECORD_HEADER_FEATURE) {
		feature = bytes_u64(&bytes);
		r = perf_data_events_feature(&data->events, feature, bytes.at, bytes.left);
	}
	if (r == -EBADMSG)
		return perf_data_fail_damaged(&data->message, raw->position,
					      "a record about the events does not have the length that it "
					      "states");
	if (r < 0)
		return perf_data_fail_to_read(&data->message, r);
	return 0;
}

static int read_sample(struct perf_data *data, const struct raw_record *raw, struct perf_data_record *ret)
{
	const struct perf_event_attr *attr;
	int r;

	ret->event = perf_data_events_of_sample(&data->events, raw->body, raw->size);
	if (ret->event < 0)
		return 1;
	attr = &data->events.list[ret->event].attr;
	r = perf_data_sample_decode(attr, raw->body, raw->size, &ret->sample);
	if (r == -ENOTUNIQ) {
		*ret = (struct perf_data_record){.kind = PERF_DATA_UNREADABLE, .event = -1};
		return 1;
	}
	if (r < 0)
		return perf_data_fail_damaged(&data->message, raw->position,
					      "a sample does not have the length that its event requires");
	ret->timed = attr->sample_type & PERF_SAMPLE_TIME;
	ret->time = ret->sample.time;
	return 1;
}

/* Returns a name that ends at its NUL or at the end of the record. */
static const char *take_text(const struct bytes *bytes, size_t *ret_length)
{
	const char *text = (const char *)bytes->at;

	*ret_length = bytes->left ? strnlen(text, bytes->left) : 0;
	return text;
}

/* Reads the fields before the trailer of a record that is not a sample. */
static bool read_fields(const struct raw_record *raw, struct perf_data_record *ret)
{
	struct bytes bytes = {.at = raw->body, .left = raw->size};

	switch (ret->kind) {
	case PERF_DATA_COMM:
		(void)bytes_u32(&bytes); /* pid */
		ret->comm.tid = bytes_u32(&bytes);
		ret->comm.name = take_text(&bytes, &ret->comm.length);
		break;
	case PERF_DATA_FORK:
		(void)bytes_u64(&bytes); /* pid, parent's pid */
		ret->fork.tid = bytes_u32(&bytes);
		ret->fork.parent_tid = bytes_u32(&bytes);
		break;
	case PERF_DATA_CGROUP:
		ret->cgroup.id = bytes_u64(&bytes);
		ret->cgroup.path = take_text(&bytes, &ret->cgroup.length);
		break;
	case PERF_DATA_LOST:
		if (raw->type == PERF_RECORD_LOST)
			(void)bytes_u64(&bytes); /* id */
		ret->lost = bytes_u64(&bytes);
		break;
	default:
		break;
	}
	return !bytes.overrun;
}

static enum perf_data_kind kind_of(u32 type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return PERF_DATA_SAMPLE;
	case PERF_RECORD_COMM:
		return PERF_DATA_COMM;
	case PERF_RECORD_FORK:
		return PERF_DATA_FORK;
	case PERF_RECORD_CGROUP:
		return PERF_DATA_CGROUP;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return PERF_DATA_LOST;
	case RECORD_FINISHED_ROUND:
		return PERF_DATA_ROUND;
	default:
		return PERF_DATA_OTHER;
	}
}

int perf_data_next(struct perf_data *data, struct perf_data_record *ret)
{
	struct raw_record raw = {};
	int event;
	int r;

	r = next_raw(data, &raw);
	if (r <= 0)
		return r;
	*ret = (struct perf_data_record){.kind = kind_of(raw.type), .event = -1};
	if (ret->kind == PERF_DATA_SAMPLE)
		return read_sample(data, &raw, ret);
	if (raw.type >= RECORD_USER_FIRST) {
		r = take_head_record(data, &raw);
		return r < 0 ? r : 1;
	}
	if (!read_fields(&raw, ret))
		return perf_data_fail_damaged(&data->message, raw.position,
					      "a record is too short for its kind");
	event = perf_data_events_of_trailer(&data->events, raw.body, raw.size);
	/* In records that perf itself generates, the trailer is 0. */
	if (event >= 0)
		ret->timed = perf_data_trailer_time(&data->events.list[event].attr, raw.body, raw.size,
						    &ret->time) &&
			     ret->time;
	return 1;
}
