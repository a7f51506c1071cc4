// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "origin/replay/bytes.h"
#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_input.h"
#include "pebsd/types.h"

/*
 * Messages about a recording say what is wrong with it and what to do. They follow the recording's name and a space.
 * This function replaces *message by the text, or by NULL if memory is short. Returns `error`.
 */
static int __attribute__((format(printf, 3, 4))) fail(char **message, int error, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	free(*message);
	*message = text;
	return error;
}

/*
 * Sets the message for the -errno of a system call on the recording. Returns `error`, but -EBADMSG for a
 * directory.
 */
static int fail_with_error(char **message, int error)
{
	if (error == -EISDIR)
		return fail(
			message, -EBADMSG,
			"is a directory, but replay reads files; give it a file that was recorded without "
			"--threads");
	if (error == -ENOMEM)
		return fail(message, error, "cannot be read: out of memory");
	return fail(message, error, "cannot be read: %s; check the file system that holds it",
		    strerror(-error));
}

/* Sets the message for contents that perf never writes, at the byte `position`. Returns -EBADMSG. */
static int fail_damaged(char **message, u64 position, const char *what)
{
	return fail(message, -EBADMSG, "is damaged at byte %llu: %s; copy it again, or record it again",
		    (unsigned long long)position, what);
}

/*
 * Reads the header of a recording: which of the two layouts the recording has, and where its data is. From a
 * file, it also reads the events, and what the sections after the data say about them.
 */

struct perf_data_head {
	bool pipe;       /* events and features are records in the data */
	u64 data_start;  /* bytes from the start of the recording */
	bool bounded;    /* `data_end` is known */
	u64 data_end;    /* position after the last byte of the data */
	bool unfinished; /* a file whose header perf never completed */
	bool cut;        /* the sections after the data are not complete */
};

/* Sizes in bytes of a file header without and with the feature bits, of a pipe's header, and of a section. */
#define FILE_HEADER_MIN  72
#define FILE_HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define SECTION_SIZE     16

/*
 * Limits in bytes of what a hostile header can make pebsd read: the attributes, everything before the data (both
 * HEAD_MAX), and one section after the data. The ids have their own limit (PERF_DATA_IDS_MAX).
 */
#define HEAD_MAX    (16U << 20)
#define FEATURE_MAX (16U << 20)

#define MAGIC_2         0x32454c4946524550ULL /* "PERFILE2" */
#define MAGIC_1         0x454c494646524550ULL /* "PERFFILE", perf before 3.4 */
#define MAGIC_2_SWAPPED 0x50455246494c4532ULL

struct section {
	u64 offset;
	u64 size;
};

struct file_header {
	u64 magic;
	u64 size;
	u64 attr_size;
	struct section attrs;
	struct section data;
	struct section event_types;
	u64 features[PERF_DATA_FEATURES / 64];
};

_Static_assert(sizeof(struct file_header) == FILE_HEADER_SIZE, "perf's struct perf_file_header");

/* The context while a header is read: arguments of the caller, and the results. */
struct head_reader {
	struct perf_data_input *input;
	struct perf_data_events *events;
	struct perf_data_head head;
	char **message;
};

static int check_magic(struct head_reader *reader, u64 magic, u64 size)
{
	bool swapped_size = size == __builtin_bswap64(PIPE_HEADER_SIZE) ||
			    size == __builtin_bswap64(FILE_HEADER_SIZE) ||
			    size == __builtin_bswap64(FILE_HEADER_MIN);

	if (magic == MAGIC_2_SWAPPED || (magic == MAGIC_1 && swapped_size))
		return fail(
			reader->message, -EBADMSG,
			"was recorded on a machine with the other byte order; replay it on a machine with "
			"that byte order");
	if (magic != MAGIC_2 && magic != MAGIC_1)
		return fail(reader->message, -EBADMSG,
			    "is not a perf.data recording: it does not begin with PERFILE2; "
			    "create one with perf mem record");
	if (size != PIPE_HEADER_SIZE && size != FILE_HEADER_SIZE && size != FILE_HEADER_MIN)
		return fail(reader->message, -EBADMSG,
			    "has a header of %" PRIu64 " bytes, which perf never writes; copy "
			    "it again, or record it again",
			    size);
	return 0;
}

/* Reads `section` into memory that the caller frees. Returns 1, 0 if the recording ends early, or -errno. */
static int load_section(const struct head_reader *reader, const struct section *section, u8 **ret)
{
	_cleanup_free_ u8 *bytes = NULL;
	int r;

	/* Check this before allocating memory. */
	if (reader->input->seekable &&
	    (section->size > reader->input->size || section->offset > reader->input->size - section->size))
		return 0;
	bytes = malloc(section->size ? section->size : 1);
	if (!bytes)
		return -ENOMEM;
	r = perf_data_input_copy(reader->input, section->offset, bytes, section->size);
	if (r > 0)
		*ret = TAKE_PTR(bytes);
	return r;
}

/* Turns a result of load_section() or of the functions for events into 0, or -errno with a message. */
static int check_head(struct head_reader *reader, int r)
{
	if (r > 0)
		return 0;
	if (r == 0)
		return fail(reader->message, -EBADMSG,
			    "ends within its header, at byte %" PRIu64 ": none of its samples "
			    "can be read; copy the whole file again, or record it again",
			    perf_data_input_seen(reader->input));
	if (r == -EBADMSG)
		return fail(reader->message, r,
			    "has an impossible list of events in its header; copy it again, or "
			    "record it again");
	if (r == -ESPIPE)
		return fail(reader->message, -EBADMSG,
			    "has its list of events at a position that a pipe cannot reach; "
			    "give replay the file itself");
	return fail_with_error(reader->message, r);
}

static int read_attr(struct head_reader *reader, const u8 *entry, size_t attr_size)
{
	_cleanup_free_ u8 *ids = NULL;
	struct section section;
	int r;

	memcpy(&section, entry + attr_size, sizeof(section));
	if (section.size / sizeof(u64) > PERF_DATA_IDS_MAX)
		return -EBADMSG;
	r = load_section(reader, &section, &ids);
	if (r <= 0)
		return r;
	r = perf_data_events_add(reader->events, entry, attr_size, ids, section.size / sizeof(u64));
	return r < 0 ? r : 1;
}

static int read_attrs(struct head_reader *reader, const struct file_header *header)
{
	_cleanup_free_ u8 *attrs = NULL;
	int r;

	if (header->attr_size < PERF_DATA_ATTR_MIN + SECTION_SIZE ||
	    header->attr_size > PERF_DATA_ATTR_MAX + SECTION_SIZE || header->attrs.size > HEAD_MAX)
		return -EBADMSG;
	r = load_section(reader, &header->attrs, &attrs);
	for (u64 at = 0; r > 0 && header->attrs.size - at >= header->attr_size; at += header->attr_size)
		r = read_attr(reader, attrs + at, header->attr_size - SECTION_SIZE);
	return r;
}

static bool is_read(unsigned int feature)
{
	switch (feature) {
	case PERF_DATA_FEATURE_HOSTNAME:
	case PERF_DATA_FEATURE_OSRELEASE:
	case PERF_DATA_FEATURE_CPUDESC:
	case PERF_DATA_FEATURE_CPUID:
	case PERF_DATA_FEATURE_EVENT_DESC:
	case PERF_DATA_FEATURE_PMU_MAPPINGS:
	case PERF_DATA_FEATURE_CLOCK_DATA:
		return true;
	default:
		return false;
	}
}

/* Reads a section after the data. Ignores a damaged section: the samples do not depend on it. */
static int read_feature(struct head_reader *reader, unsigned int feature, const struct section *section)
{
	_cleanup_free_ u8 *bytes = NULL;
	int r;

	if (!is_read(feature))
		return section->size <= reader->input->size &&
		       section->offset <= reader->input->size - section->size;
	if (section->size > FEATURE_MAX)
		return 1;
	r = load_section(reader, section, &bytes);
	if (r <= 0)
		return r;
	r = perf_data_events_feature(reader->events, feature, bytes, section->size);
	return r == -ENOMEM ? r : 1;
}

/* After the data comes a table of sections, one for each feature bit that is set. */
static int read_features(struct head_reader *reader, const struct file_header *header)
{
	u64 at = reader->head.data_end;

	for (unsigned int feature = 0; feature < PERF_DATA_FEATURES; feature++) {
		struct section section;
		int r;

		if (!(header->features[feature / 64] >> (feature % 64) & 1))
			continue;
		r = perf_data_input_copy(reader->input, at, &section, sizeof(section));
		if (r > 0)
			r = read_feature(reader, feature, &section);
		if (r < 0)
			return fail_with_error(reader->message, r);
		if (r == 0)
			reader->head.cut = true;
		if (r == 0)
			return 0;
		at += sizeof(section);
	}
	return 0;
}

static int read_file_head(struct head_reader *reader, u64 header_size)
{
	struct file_header header = {};
	const u8 *head;
	int r;

	r = perf_data_input_peek(reader->input, header_size, &head);
	if (r <= 0)
		return check_head(reader, r);
	memcpy(&header, head, header_size);
	if (header.data.offset < header_size || header.data.offset > HEAD_MAX ||
	    header.data.size > ~0ULL - header.data.offset)
		return fail(
			reader->message, -EBADMSG,
			"has a header with an impossible position of the data; copy it again, or record it again");
	/* In a pipe, everything before the data must fit into the buffer. */
	r = perf_data_input_peek(reader->input, header.data.offset, &head);
	if (r > 0)
		r = read_attrs(reader, &header);
	r = check_head(reader, r);
	if (r < 0)
		return r;

	/* perf writes the size when it ends. If perf was killed, the size is 0. */
	reader->head.unfinished = header.data.size == 0;
	reader->head.bounded = !reader->head.unfinished;
	reader->head.data_end = header.data.offset + header.data.size;
	if (reader->head.bounded && reader->input->seekable) {
		r = read_features(reader, &header);
		if (r < 0)
			return r;
	}
	reader->head.data_start = header.data.offset;
	return 0;
}

/*
 * Reads the header from the start of `input` without consuming anything, and adds to `events`. Returns 0,
 * -EBADMSG or another -errno. On an error *message says why.
 */
static int perf_data_head_read(struct perf_data_input *input, struct perf_data_events *events,
			       struct perf_data_head *ret, char **message)
{
	struct head_reader reader = {.input = input, .events = events, .message = message};
	const u8 *head;
	u64 magic;
	u64 size;
	int r;

	r = perf_data_input_peek(input, PIPE_HEADER_SIZE, &head);
	if (r < 0)
		return fail_with_error(message, r);
	if (r == 0 && (!input->size || (!input->seekable && input->end == input->start)))
		return fail(message, -EBADMSG, "is empty; copy it again, or record it again");
	if (r == 0)
		return fail(message, -EBADMSG,
			    "is too short for a perf.data recording; copy it again, or record it again");
	memcpy(&magic, head, sizeof(magic));
	memcpy(&size, head + sizeof(magic), sizeof(size));
	r = check_magic(&reader, magic, size);
	if (r == 0 && size != PIPE_HEADER_SIZE)
		r = read_file_head(&reader, size);
	if (r < 0)
		return r;
	if (size == PIPE_HEADER_SIZE) {
		reader.head.pipe = true;
		reader.head.data_start = size;
	}
	*ret = reader.head;
	return 0;
}

/*
 * Decompresses a recording (perf record -z). All its compressed records together are one zstd stream, which
 * contains records. These need not end where the compressed records end. Memory is bounded for any stream.
 */

/* Twice the largest record, so that the rest of one record never prevents the next from fitting. */
#define BUFFER_SIZE ((size_t)128 * 1024)

struct perf_data_inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool drained; /* the decompressor has returned everything that the input yields */
	size_t start; /* first byte in `buffer` that is not returned yet */
	size_t end;
	u8 buffer[BUFFER_SIZE];
};

/* Returns 0 or -ENOMEM. */
static int perf_data_inflate_new(struct perf_data_inflate **ret)
{
	struct perf_data_inflate *inflate;

	inflate = calloc(1, sizeof(*inflate));
	if (!inflate)
		return -ENOMEM;
	inflate->stream = ZSTD_createDStream();
	if (!inflate->stream) {
		free(inflate);
		return -ENOMEM;
	}
	inflate->drained = true;
	*ret = inflate;
	return 0;
}

static struct perf_data_inflate *perf_data_inflate_free(struct perf_data_inflate *inflate)
{
	if (!inflate)
		return NULL;
	(void)ZSTD_freeDStream(inflate->stream);
	free(inflate);
	return NULL;
}

/* Sets the next piece of the stream. The caller keeps it until perf_data_inflate_next() has returned 0. */
static void perf_data_inflate_input(struct perf_data_inflate *inflate, const u8 *at, size_t size)
{
	inflate->input = (ZSTD_inBuffer){.src = at, .size = size};
	inflate->drained = !size;
}

static int unpack_more(struct perf_data_inflate *inflate)
{
	ZSTD_outBuffer output;
	size_t r;

	memmove(inflate->buffer, inflate->buffer + inflate->start, inflate->end - inflate->start);
	inflate->end -= inflate->start;
	inflate->start = 0;
	output = (ZSTD_outBuffer){.dst = inflate->buffer, .size = BUFFER_SIZE, .pos = inflate->end};
	r = ZSTD_decompressStream(inflate->stream, &output, &inflate->input);
	if (ZSTD_isError(r))
		return -EBADMSG;
	/* If space is left in the output, this input yields nothing more. */
	inflate->drained = inflate->input.pos == inflate->input.size && output.pos < output.size;
	inflate->end = output.pos;
	return 0;
}

/*
 * Returns the next record: its header, and in *ret_record all header.size bytes including the header, valid
 * until the next call. Returns 1, 0 if it needs the next piece, or -EBADMSG if this is not a zstd stream or
 * does not contain records.
 */
static int perf_data_inflate_next(struct perf_data_inflate *inflate, struct perf_event_header *ret_header,
				  const u8 **ret_record)
{
	for (;;) {
		size_t there = inflate->end - inflate->start;
		int r;

		if (there >= sizeof(*ret_header)) {
			memcpy(ret_header, inflate->buffer + inflate->start, sizeof(*ret_header));
			if (ret_header->size < sizeof(*ret_header))
				return -EBADMSG;
			if (ret_header->size <= there) {
				*ret_record = inflate->buffer + inflate->start;
				inflate->start += ret_header->size;
				return 1;
			}
		}
		if (inflate->drained)
			return 0;
		r = unpack_more(inflate);
		if (r < 0)
			return r;
	}
}

/* Returns true if a part of a record waits for the rest. */
static bool perf_data_inflate_pending(const struct perf_data_inflate *inflate)
{
	return inflate->end > inflate->start;
}

/* Types of records that perf itself writes (tools/lib/perf/include/perf/event.h). */
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

/*
 * Set in the LOST_SAMPLES record in which perf reports how many samples `perf record --filter` dropped
 * (PERF_RECORD_MISC_LOST_SAMPLES_BPF, tools/lib/perf/include/perf/event.h). These are not lost.
 */
#define MISC_FILTERED (1U << 15)

struct perf_data {
	struct perf_data_input input;
	struct perf_data_events events;
	struct perf_data_head head;
	struct perf_data_inflate *inflate;
	u64 to_consume; /* bytes of the last record and its payload, which the caller may still read */
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
		r = fail_with_error(ret_message, r);
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

bool perf_data_no_features(const struct perf_data *data)
{
	return data->head.bounded && !data->input.seekable;
}

/* A record of the recording, or of its compressed part. */
struct raw_record {
	u32 type;
	u16 misc;
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
	return error == -EAGAIN ? error : fail_with_error(&data->message, error);
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
		return fail_damaged(&data->message, ret->position, "a record is shorter than its own header");
	if (header.size > data_left(data))
		return fail_damaged(&data->message, ret->position,
				    "a record is longer than the rest of the data");
	r = perf_data_input_peek(&data->input, header.size, &at);
	if (r < 0)
		return fail_to_read(data, r);
	if (r == 0)
		return end_cut(data);

	ret->type = header.type;
	ret->misc = header.misc;
	ret->body = at + sizeof(header);
	ret->size = header.size - sizeof(header);
	payload = payload_of(ret);
	if (payload > data_left(data) - header.size)
		return fail_damaged(&data->message, ret->position,
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
			return fail_damaged(&data->message, raw->position,
					    "a compressed record contains less data than it states");
	}
	if (!data->inflate) {
		r = perf_data_inflate_new(&data->inflate);
		if (r < 0)
			return fail_with_error(&data->message, r);
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
		return fail_damaged(&data->message, ret->position,
				    "a compressed record does not decompress to valid records");
	if (r <= 0)
		return r;
	/* perf compresses only records of the kernel, not its own. */
	if (header.type >= RECORD_USER_FIRST)
		return fail_damaged(
			&data->message, ret->position,
			"a compressed record contains a record of a kind that perf never compresses");
	ret->type = header.type;
	ret->misc = header.misc;
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

/* Reads a record about the recording's events. The header of a pipe does not describe them, so records do. */
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
		return fail_damaged(
			&data->message, raw->position,
			"a record about the events is too short for its contents, or there are too many events");
	if (r < 0)
		return fail_with_error(&data->message, r);
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
		return fail_damaged(&data->message, raw->position,
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
		(void)bytes_u64(&bytes); /* id */
		ret->lost = bytes_u64(&bytes);
		break;
	case PERF_DATA_LOST_SAMPLES:
		ret->lost = bytes_u64(&bytes);
		break;
	default:
		break;
	}
	return !bytes.overrun;
}

static enum perf_data_kind kind_of(const struct raw_record *raw)
{
	switch (raw->type) {
	case PERF_RECORD_SAMPLE:
		return PERF_DATA_SAMPLE;
	case PERF_RECORD_COMM:
		return PERF_DATA_COMM;
	case PERF_RECORD_FORK:
		return PERF_DATA_FORK;
	case PERF_RECORD_CGROUP:
		return PERF_DATA_CGROUP;
	case PERF_RECORD_LOST:
		return PERF_DATA_LOST;
	case PERF_RECORD_LOST_SAMPLES:
		return raw->misc & MISC_FILTERED ? PERF_DATA_OTHER : PERF_DATA_LOST_SAMPLES;
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
	*ret = (struct perf_data_record){.kind = kind_of(&raw), .event = -1};
	if (ret->kind == PERF_DATA_SAMPLE)
		return read_sample(data, &raw, ret);
	if (raw.type >= RECORD_USER_FIRST) {
		r = take_head_record(data, &raw);
		return r < 0 ? r : 1;
	}
	if (!read_fields(&raw, ret))
		return fail_damaged(&data->message, raw.position, "a record is too short for its kind");
	event = perf_data_events_of_trailer(&data->events, raw.body, raw.size);
	/* In records that perf itself generates, the trailer is 0. */
	if (event >= 0)
		ret->timed = perf_data_trailer_time(&data->events.list[event].attr, raw.body, raw.size,
						    &ret->time) &&
			     ret->time;
	/* perf generates its totals at the end (record__read_lost_samples(), builtin-record.c, Linux 6.1). */
	if (ret->kind == PERF_DATA_LOST_SAMPLES && !ret->timed)
		ret->kind = PERF_DATA_LOST_TOTAL;
	return 1;
}
