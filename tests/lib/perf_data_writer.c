// SPDX-License-Identifier: GPL-2.0
#include "perf_data_writer.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define FILE_HEADER_SIZE 104
#define FILLER           0xa5a5a5a5a5a5a5a5ULL
#define EVENTS_IN_ONE    128

enum { RECORD_HEADER_ATTR = 64, RECORD_HEADER_FEATURE = 80 };
enum { FEATURE_HOSTNAME = 3, FEATURE_OSRELEASE = 4, FEATURE_CPUDESC = 8 };
enum { FEATURE_CPUID = 9, FEATURE_EVENT_DESC = 12, FEATURE_PMU_MAPPINGS = 16, FEATURE_CLOCK_DATA = 29 };

#define FEATURES_MAX 7
enum { EVENT_UPDATE_NAME = 2 };
enum { MISC_LOST_SAMPLES_BPF = 1 << 15 };

struct buffer {
	u8 *bytes;
	size_t size;
	size_t capacity;
};

struct writer {
	enum writer_layout layout;
	size_t attr_size;
	struct writer_event events[EVENTS_IN_ONE];
	size_t n_events;
	const char *host;
	const char *kernel;
	const char *cpu_name;
	const char *cpuid;
	struct {
		u32 type;
		const char *name;
	} pmus[EVENTS_IN_ONE];
	size_t n_pmus;
	u64 real_time; /* 0: no clock data in the recording */
	u64 own_time;
	struct buffer data;
	struct buffer plain; /* data still to be compressed */
	bool compressing;
	ZSTD_CStream *stream;
};

static void put(struct buffer *buffer, const void *bytes, size_t size)
{
	if (buffer->size + size > buffer->capacity) {
		buffer->capacity = 2 * (buffer->size + size);
		buffer->bytes = realloc(buffer->bytes, buffer->capacity);
		if (!buffer->bytes)
			abort();
	}
	if (size)
		memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void put_u32(struct buffer *buffer, u32 value)
{
	put(buffer, &value, sizeof(value));
}

static void put_u64(struct buffer *buffer, u64 value)
{
	put(buffer, &value, sizeof(value));
}

static void put_filler(struct buffer *buffer, u64 words)
{
	for (u64 i = 0; i < words; i++)
		put_u64(buffer, FILLER);
}

/* Writes the text with its NUL, padded to 8 bytes. */
static void put_padded(struct buffer *buffer, const char *text)
{
	static const char zeros[8];
	size_t size = strlen(text) + 1;

	put(buffer, text, size);
	put(buffer, zeros, -size & 7);
}

/* Writes a string in perf's format: a length, which is a multiple of 64, and the text with NULs up to it. */
static void put_string(struct buffer *buffer, const char *text)
{
	static const char zeros[64];
	size_t size = strlen(text) + 1;

	put_u32(buffer, (u32)(size + (-size & 63)));
	put(buffer, text, size);
	put(buffer, zeros, -size & 63);
}

static void put_record_with(struct buffer *buffer, u32 type, u16 misc, const void *body, size_t size)
{
	struct perf_event_header header = {.type = type, .misc = misc, .size = (u16)(sizeof(header) + size)};

	if (size > 0xffff - sizeof(header))
		abort();
	put(buffer, &header, sizeof(header));
	put(buffer, body, size);
}

static void put_record(struct buffer *buffer, u32 type, const void *body, size_t size)
{
	put_record_with(buffer, type, 0, body, size);
}

struct writer *writer_new(enum writer_layout layout, size_t attr_size)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		abort();
	writer->layout = layout;
	writer->attr_size = attr_size ? attr_size : sizeof(struct perf_event_attr);
	return writer;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	(void)ZSTD_freeCStream(writer->stream);
	free(writer->data.bytes);
	free(writer->plain.bytes);
	free(writer);
}

void writer_cpuid(struct writer *writer, const char *cpuid)
{
	writer->cpuid = cpuid;
}

void writer_machine(struct writer *writer, const char *host, const char *kernel, const char *cpu_name)
{
	writer->host = host;
	writer->kernel = kernel;
	writer->cpu_name = cpu_name;
}

void writer_pmu(struct writer *writer, u32 type, const char *name)
{
	if (writer->n_pmus == EVENTS_IN_ONE)
		abort();
	writer->pmus[writer->n_pmus].type = type;
	writer->pmus[writer->n_pmus++].name = name;
}

void writer_clock(struct writer *writer, u64 real_time, u64 own_time)
{
	writer->real_time = real_time;
	writer->own_time = own_time;
}

size_t writer_event(struct writer *writer, const struct writer_event *event)
{
	if (writer->n_events == EVENTS_IN_ONE)
		abort();
	writer->events[writer->n_events] = *event;
	return writer->n_events++;
}

void writer_record(struct writer *writer, u32 type, const void *body, size_t size)
{
	put_record(writer->compressing ? &writer->plain : &writer->data, type, body, size);
}

void writer_bytes(struct writer *writer, const void *bytes, size_t size)
{
	put(writer->compressing ? &writer->plain : &writer->data, bytes, size);
}

static void put_read(struct buffer *body, u64 format)
{
	u64 times = (u64)__builtin_popcountll(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	u64 each = 1 + (u64)__builtin_popcountll(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));

	if (format & PERF_FORMAT_GROUP) {
		put_u64(body, 3);
		put_filler(body, times + 3 * each);
	} else {
		put_filler(body, times + each);
	}
}

static void put_branches(struct buffer *body, const struct writer_event *event,
			 const struct writer_sample *sample)
{
	put_u64(body, sample->branches);
	if ((event->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) && !sample->no_branch_stack)
		put_filler(body, 1);
	put_filler(body, 3 * sample->branches);
	if (event->branch_sample_type & WRITER_BRANCH_COUNTERS)
		put_filler(body, sample->branches);
}

static void put_registers(struct buffer *body, u64 mask)
{
	put_u64(body, mask ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	put_filler(body, (u64)__builtin_popcountll(mask));
}

static void put_variable(struct buffer *body, const struct writer_event *event,
			 const struct writer_sample *sample)
{
	u64 type = event->sample_type;

	if (type & PERF_SAMPLE_READ)
		put_read(body, event->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(body, 5);
		put_filler(body, 5);
	}
	if (type & PERF_SAMPLE_RAW) {
		put_u32(body, 12);
		put(body, "raw data, 12", 12);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(body, event, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(body, event->registers_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		put_u64(body, 16);
		put_filler(body, 3);
	}
}

static u64 sample_id(const struct writer_event *event, u64 id)
{
	return id || !event->n_ids ? id : event->ids[0];
}

void writer_sample(struct writer *writer, size_t event_index, const struct writer_sample *sample)
{
	const struct writer_event *event = &writer->events[event_index];
	u64 id = sample_id(event, sample->id);
	u64 type = event->sample_type;
	struct buffer body = {};

	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(&body, id);
	if (type & PERF_SAMPLE_IP)
		put_u64(&body, sample->code_address);
	if (type & PERF_SAMPLE_TID) {
		put_u32(&body, sample->pid);
		put_u32(&body, sample->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		put_u64(&body, sample->time);
	if (type & PERF_SAMPLE_ADDR)
		put_u64(&body, sample->address);
	if (type & PERF_SAMPLE_ID)
		put_u64(&body, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_CPU)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_PERIOD)
		put_u64(&body, sample->period);
	put_variable(&body, event, sample);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_u64(&body, sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(&body, sample->data_source);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(&body, event->registers_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_CGROUP)
		put_u64(&body, sample->cgroup_id);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_filler(&body, 1);
	if (type & PERF_SAMPLE_AUX) {
		put_u64(&body, 8);
		put_filler(&body, 1);
	}
	writer_record(writer, PERF_RECORD_SAMPLE, body.bytes, body.size);
	free(body.bytes);
}

static void put_trailer(struct buffer *body, const struct writer_event *event, u64 time)
{
	u64 type = event->sample_type;
	u64 id = time ? sample_id(event, 0) : 0;

	if (event->no_trailer)
		return;
	if (type & PERF_SAMPLE_TID)
		put_u64(body, time ? FILLER : 0);
	if (type & PERF_SAMPLE_TIME)
		put_u64(body, time);
	if (type & PERF_SAMPLE_ID)
		put_u64(body, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(body, time ? FILLER : 0);
	if (type & PERF_SAMPLE_CPU)
		put_u64(body, time ? FILLER : 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(body, id);
}

/* Ends a record that is not a sample with its trailer, writes it, and frees `body`. */
static void write_side(struct writer *writer, size_t event, u64 time, u32 type, struct buffer *body)
{
	put_trailer(body, &writer->events[event], time);
	writer_record(writer, type, body->bytes, body->size);
	free(body->bytes);
}

void writer_comm(struct writer *writer, size_t event, u64 time, u32 pid, u32 tid, const char *comm)
{
	struct buffer body = {};

	put_u32(&body, pid);
	put_u32(&body, tid);
	put_padded(&body, comm);
	write_side(writer, event, time, PERF_RECORD_COMM, &body);
}

static void write_task(struct writer *writer, size_t event, u64 time, u32 type, u32 tid, u32 parent_tid)
{
	struct buffer body = {};

	put_u32(&body, tid);
	put_u32(&body, parent_tid);
	put_u32(&body, tid);
	put_u32(&body, parent_tid);
	put_u64(&body, time);
	write_side(writer, event, time, type, &body);
}

void writer_fork(struct writer *writer, size_t event, u64 time, u32 tid, u32 parent_tid)
{
	write_task(writer, event, time, PERF_RECORD_FORK, tid, parent_tid);
}

void writer_exit(struct writer *writer, size_t event, u64 time, u32 tid)
{
	write_task(writer, event, time, PERF_RECORD_EXIT, tid, 1);
}

void writer_cgroup(struct writer *writer, size_t event, u64 time, u64 id, const char *path)
{
	struct buffer body = {};

	put_u64(&body, id);
	put_padded(&body, path);
	write_side(writer, event, time, PERF_RECORD_CGROUP, &body);
}

void writer_lost(struct writer *writer, size_t event, u64 time, u64 lost)
{
	struct buffer body = {};

	put_u64(&body, sample_id(&writer->events[event], 0));
	put_u64(&body, lost);
	write_side(writer, event, time, PERF_RECORD_LOST, &body);
}

void writer_lost_samples(struct writer *writer, size_t event, u64 time, u64 lost)
{
	struct buffer body = {};

	put_u64(&body, lost);
	write_side(writer, event, time, PERF_RECORD_LOST_SAMPLES, &body);
}

void writer_filtered(struct writer *writer, size_t event, u64 n)
{
	struct buffer body = {};

	put_u64(&body, n);
	put_trailer(&body, &writer->events[event], 0);
	put_record_with(writer->compressing ? &writer->plain : &writer->data, PERF_RECORD_LOST_SAMPLES,
			MISC_LOST_SAMPLES_BPF, body.bytes, body.size);
	free(body.bytes);
}

void writer_round(struct writer *writer)
{
	writer_record(writer, WRITER_ROUND, NULL, 0);
}

void writer_begin_compressed(struct writer *writer)
{
	writer->compressing = true;
}

static void write_piece(struct writer *writer, u32 type, const u8 *piece, size_t size)
{
	static const char zeros[8];
	struct buffer body = {};

	if (type == WRITER_COMPRESSED2)
		put_u64(&body, size);
	put(&body, piece, size);
	if (type == WRITER_COMPRESSED2)
		put(&body, zeros, -size & 7);
	writer_record(writer, type, body.bytes, body.size);
	free(body.bytes);
}

void writer_end_compressed(struct writer *writer, u32 type, size_t piece)
{
	size_t room = ZSTD_compressBound(writer->plain.size) + 1024;
	ZSTD_inBuffer input = {.src = writer->plain.bytes, .size = writer->plain.size};
	u8 *packed = malloc(room);
	ZSTD_outBuffer output = {.dst = packed, .size = room};

	if (!packed)
		abort();
	if (!writer->stream) {
		writer->stream = ZSTD_createCStream();
		if (!writer->stream || ZSTD_isError(ZSTD_initCStream(writer->stream, 1)))
			abort();
	}
	if (ZSTD_compressStream2(writer->stream, &output, &input, ZSTD_e_flush) != 0)
		abort();
	writer->compressing = false;
	writer->plain.size = 0;
	for (size_t at = 0; at < output.pos; at += piece)
		write_piece(writer, type, packed + at, output.pos - at < piece ? output.pos - at : piece);
	free(packed);
}

/* Writes the attribute of one event, truncated or padded to the recording's attribute size. */
static void put_attr(struct buffer *buffer, const struct writer *writer, const struct writer_event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = (u32)writer->attr_size,
		.config = event->config,
		.config1 = event->config1,
		.sample_period = event->period,
		.freq = event->freq,
		.exclude_kernel = event->exclude_kernel,
		.sample_type = event->sample_type,
		.read_format = event->read_format,
		.branch_sample_type = event->branch_sample_type,
		.sample_regs_user = event->registers_user,
		.sample_regs_intr = event->registers_intr,
		.sample_id_all = !event->no_trailer,
		.precise_ip = 2,
	};
	size_t whole = writer->attr_size < sizeof(attr) ? writer->attr_size : sizeof(attr);

	put(buffer, &attr, whole);
	put_filler(buffer, (writer->attr_size - whole) / sizeof(u64));
}

static void put_descriptions(struct buffer *buffer, const struct writer *writer)
{
	put_u32(buffer, (u32)writer->n_events);
	put_u32(buffer, (u32)writer->attr_size);
	for (size_t i = 0; i < writer->n_events; i++) {
		const struct writer_event *event = &writer->events[i];

		put_attr(buffer, writer, event);
		put_u32(buffer, (u32)event->n_ids);
		put_string(buffer, event->name && !event->name_by_update ? event->name : "");
		put(buffer, event->ids, event->n_ids * sizeof(u64));
	}
}

/* Makes the features that have content, in the order of their numbers. */
static size_t make_features(const struct writer *writer, struct buffer features[FEATURES_MAX],
			    u64 numbers[FEATURES_MAX])
{
	const struct {
		const char *text;
		u64 number;
	} texts[] = {{writer->host, FEATURE_HOSTNAME},
		     {writer->kernel, FEATURE_OSRELEASE},
		     {writer->cpu_name, FEATURE_CPUDESC},
		     {writer->cpuid, FEATURE_CPUID}};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!texts[i].text)
			continue;
		put_string(&features[n], texts[i].text);
		numbers[n++] = texts[i].number;
	}
	put_descriptions(&features[n], writer);
	numbers[n++] = FEATURE_EVENT_DESC;
	if (writer->n_pmus) {
		put_u32(&features[n], (u32)writer->n_pmus);
		for (size_t i = 0; i < writer->n_pmus; i++) {
			put_u32(&features[n], writer->pmus[i].type);
			put_string(&features[n], writer->pmus[i].name);
		}
		numbers[n++] = FEATURE_PMU_MAPPINGS;
	}
	if (writer->real_time) {
		put_u32(&features[n], 1); /* version */
		put_u32(&features[n], 1); /* CLOCK_MONOTONIC */
		put_u64(&features[n], writer->real_time);
		put_u64(&features[n], writer->own_time);
		numbers[n++] = FEATURE_CLOCK_DATA;
	}
	return n;
}

static void put_updates(struct buffer *buffer, const struct writer *writer)
{
	for (size_t i = 0; i < writer->n_events; i++) {
		const struct writer_event *event = &writer->events[i];
		struct buffer body = {};

		if (!event->name || !event->name_by_update)
			continue;
		put_u64(&body, EVENT_UPDATE_NAME);
		put_u64(&body, sample_id(event, 0));
		put_padded(&body, event->name);
		put_record(buffer, WRITER_EVENT_UPDATE, body.bytes, body.size);
		free(body.bytes);
	}
}

static void finish_pipe(const struct writer *writer, struct buffer *out)
{
	struct buffer features[FEATURES_MAX] = {};
	u64 numbers[FEATURES_MAX];
	size_t n = make_features(writer, features, numbers);

	put(out, "PERFILE2", 8);
	put_u64(out, 16);
	for (size_t i = 0; i < writer->n_events; i++) {
		const struct writer_event *event = &writer->events[i];
		struct buffer body = {};

		put_attr(&body, writer, event);
		put(&body, event->ids, event->n_ids * sizeof(u64));
		put_record(out, RECORD_HEADER_ATTR, body.bytes, body.size);
		free(body.bytes);
	}
	for (size_t i = 0; i < n; i++) {
		struct buffer body = {};

		put_u64(&body, numbers[i]);
		put(&body, features[i].bytes, features[i].size);
		put_record(out, RECORD_HEADER_FEATURE, body.bytes, body.size);
		free(body.bytes);
		free(features[i].bytes);
	}
	put_updates(out, writer);
	put(out, writer->data.bytes, writer->data.size);
}

static void put_file_header(const struct writer *writer, struct buffer *out, u64 attrs, u64 data,
			    u64 data_size, u64 features)
{
	put(out, "PERFILE2", 8);
	put_u64(out, FILE_HEADER_SIZE);
	put_u64(out, writer->attr_size + 16);
	put_u64(out, attrs);
	put_u64(out, writer->n_events * (writer->attr_size + 16));
	put_u64(out, data);
	put_u64(out, data_size);
	put_u64(out, 0); /* event types */
	put_u64(out, 0);
	put_u64(out, features);
	for (size_t i = 1; i < 4; i++)
		put_u64(out, 0);
}

/* Writes ids, then attributes, data, the table of features, and the features, in perf's order. */
static void finish_file(const struct writer *writer, struct buffer *out)
{
	bool finished = writer->layout == WRITER_FILE;
	struct buffer features[FEATURES_MAX] = {};
	struct buffer data = {};
	u64 numbers[FEATURES_MAX];
	size_t n = make_features(writer, features, numbers);
	u64 bits = 0;
	u64 ids = 0;
	u64 attrs_at;
	u64 data_at;
	u64 at;

	put_updates(&data, writer);
	put(&data, writer->data.bytes, writer->data.size);
	for (size_t i = 0; i < writer->n_events; i++)
		ids += writer->events[i].n_ids;
	for (size_t i = 0; i < n; i++)
		bits |= 1ULL << numbers[i];
	attrs_at = FILE_HEADER_SIZE + ids * sizeof(u64);
	data_at = attrs_at + writer->n_events * (writer->attr_size + 16);
	put_file_header(writer, out, attrs_at, data_at, finished ? data.size : 0, finished ? bits : 0);

	for (size_t i = 0; i < writer->n_events; i++)
		put(out, writer->events[i].ids, writer->events[i].n_ids * sizeof(u64));
	at = FILE_HEADER_SIZE;
	for (size_t i = 0; i < writer->n_events; i++) {
		put_attr(out, writer, &writer->events[i]);
		put_u64(out, at);
		put_u64(out, writer->events[i].n_ids * sizeof(u64));
		at += writer->events[i].n_ids * sizeof(u64);
	}
	put(out, data.bytes, data.size);
	free(data.bytes);

	at = out->size + n * 16;
	for (size_t i = 0; finished && i < n; i++) {
		put_u64(out, at);
		put_u64(out, features[i].size);
		at += features[i].size;
	}
	for (size_t i = 0; i < n; i++) {
		if (finished)
			put(out, features[i].bytes, features[i].size);
		free(features[i].bytes);
	}
}

u8 *writer_finish(struct writer *writer, size_t *ret_size)
{
	struct buffer out = {};

	if (writer->layout == WRITER_PIPE)
		finish_pipe(writer, &out);
	else
		finish_file(writer, &out);
	*ret_size = out.size;
	return out.bytes;
}

int writer_memfd(const u8 *bytes, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	for (size_t at = 0; at < size;) {
		ssize_t written = write(fd, bytes + at, size - at);

		if (written <= 0)
			abort();
		at += (size_t)written;
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}
