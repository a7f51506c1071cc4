// SPDX-License-Identifier: GPL-2.0
/*
 * A record is a row of numbers of variable length. A time is stored as the difference from the previous
 * record. A stack is stored as a number in a store that holds each distinct stack once.
 */
#include "zoom/zoom_recording.h"

#include <errno.h>
#include <string.h>

#include "base/varint.h"
#include "zoom/zoom_recording_store.h"

/* Upper bounds of a row: its numbers, and the text that may follow them, with a NUL. */
#define NUMBERS_MAX 24
#define TEXT_MAX    4096

struct zoom_recording {
	struct zoom_about about;
	struct store_budget budget;
	struct byte_store rows;
	struct stack_store stacks;
	u64 samples;
	u64 last_ns;
};

int zoom_recording_new(const struct zoom_about *about, size_t bytes_max, struct zoom_recording **ret)
{
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return -ENOMEM;
	recording->about = *about;
	recording->about.cgroup = strdup(about->cgroup);
	if (!recording->about.cgroup)
		return -ENOMEM;
	recording->budget = (struct store_budget){.bytes = sizeof(*recording) + strlen(about->cgroup) + 1,
						  .most = bytes_max};
	if (recording->budget.bytes > bytes_max)
		recording->budget.most = recording->budget.bytes;
	recording->rows.budget = &recording->budget;
	recording->stacks.key = hash_key_new();
	recording->stacks.addresses.budget = &recording->budget;
	*ret = TAKE_PTR(recording);
	return 0;
}

struct zoom_recording *zoom_recording_free(struct zoom_recording *recording)
{
	if (!recording)
		return NULL;
	byte_store_done(&recording->rows);
	stack_store_done(&recording->stacks);
	free(recording->about.cgroup);
	free(recording);
	return NULL;
}

struct zoom_about *zoom_recording_about(struct zoom_recording *recording)
{
	return &recording->about;
}

const struct zoom_about *zoom_recording_about_const(const struct zoom_recording *recording)
{
	return &recording->about;
}

/* Maps differences close to 0, of either sign, to small numbers (zigzag encoding). */
static u64 fold(u64 difference)
{
	return difference << 1 ^ (u64)((s64)difference >> 63);
}

static u64 unfold(u64 folded)
{
	return folded >> 1 ^ (0 - (folded & 1));
}

struct row {
	size_t n;
	u64 numbers[NUMBERS_MAX];
	const void *text;
	size_t text_bytes;
};

static void row_put(struct row *row, u64 number)
{
	row->numbers[row->n++] = number;
}

/* Returns the same as stack_store_put(). */
static int row_put_stack(struct zoom_recording *recording, const u64 *stack, size_t n, struct row *row)
{
	u32 number;
	int r = stack_store_put(&recording->stacks, stack, n, &number);

	row_put(row, number);
	return r;
}

static int write_sample(struct zoom_recording *recording, const struct zoom_sample *sample, struct row *row)
{
	const struct sample *of = &sample->of;
	int r;

	row_put(row, sample->cpu);
	row_put(row, sample->event);
	row_put(row, of->fields);
	row_put(row, of->cgroup_id);
	row_put(row, of->latency);
	row_put(row, of->instruction_latency);
	row_put(row, of->data_source);
	row_put(row, of->address);
	row_put(row, of->code_address);
	row_put(row, of->period);
	row_put(row, sample->physical);
	row_put(row, sample->user_of_lbr);
	r = row_put_stack(recording, sample->kernel, sample->n_kernel, row);
	return r <= 0 ? r : row_put_stack(recording, sample->user, sample->n_user, row);
}

static void put_text(struct row *row, const char *text)
{
	size_t bytes = strnlen(text, TEXT_MAX - 1);

	row->text = text;
	row->text_bytes = bytes;
	row_put(row, bytes);
}

static void write_mapped(const struct zoom_record *record, struct row *row)
{
	u64 build_id[3] = {0};

	memcpy(build_id, record->mapped.build_id, sizeof(record->mapped.build_id));
	row_put(row, record->mapped.start);
	row_put(row, record->mapped.size);
	row_put(row, record->mapped.offset);
	row_put(row, record->mapped.major);
	row_put(row, record->mapped.minor);
	row_put(row, record->mapped.inode);
	row_put(row, record->mapped.protection);
	row_put(row, record->mapped.build_id_size);
	for (size_t i = 0; i < ARRAY_SIZE(build_id); i++)
		row_put(row, build_id[i]);
	put_text(row, record->mapped.path);
}

static int add_row(struct zoom_recording *recording, const struct row *row)
{
	const size_t most = row->n * VARINT_MAX + row->text_bytes;
	u8 *bytes, *at;
	int r = byte_store_take(&recording->rows, most, &bytes);

	if (r <= 0)
		return r;
	at = bytes;
	for (size_t i = 0; i < row->n; i++)
		at = put_varint(at, row->numbers[i]);
	if (row->text_bytes > 0)
		memcpy(at, row->text, row->text_bytes);
	at += row->text_bytes;
	byte_store_give_back(&recording->rows, most - (size_t)(at - bytes));
	return 1;
}

static int write_row(struct zoom_recording *recording, const struct zoom_record *record)
{
	struct row row = {0};
	int r = 1;

	row_put(&row, record->kind);
	row_put(&row, fold(record->time_ns - recording->last_ns));
	row_put(&row, record->pid);
	row_put(&row, record->tid);
	switch (record->kind) {
	case ZOOM_RECORD_SAMPLE:
		r = write_sample(recording, &record->sample, &row);
		break;
	case ZOOM_RECORD_MAPPED:
		write_mapped(record, &row);
		break;
	case ZOOM_RECORD_NAMED:
		row_put(&row, record->named.executed);
		put_text(&row, record->named.name);
		break;
	case ZOOM_RECORD_FORKED:
	case ZOOM_RECORD_EXITED:
		row_put(&row, record->forked.parent_pid);
		row_put(&row, record->forked.parent_tid);
		break;
	case ZOOM_RECORD_LOST:
	case ZOOM_RECORD_THROTTLED:
	case ZOOM_RECORD_OTHER:
		break;
	}
	return r <= 0 ? r : add_row(recording, &row);
}

int zoom_recording_add(struct zoom_recording *recording, const struct zoom_record *record)
{
	int r;

	switch (record->kind) {
	case ZOOM_RECORD_LOST:
	case ZOOM_RECORD_THROTTLED:
	case ZOOM_RECORD_OTHER:
		return 0;
	default:
		break;
	}
	r = write_row(recording, record);
	if (r < 0)
		return r;
	if (r > 0)
		recording->last_ns = record->time_ns;
	if (record->kind == ZOOM_RECORD_SAMPLE) {
		recording->samples += r > 0;
		recording->about.dropped += r == 0;
	}
	return 0;
}

/* Read position, and storage for the text that a record points to. */
struct reading {
	const u8 *at;
	u64 last_ns;
	char text[TEXT_MAX];
};

static u64 next(struct reading *reading)
{
	u64 value;

	reading->at = get_varint(reading->at, &value);
	return value;
}

static const char *next_text(struct reading *reading)
{
	size_t bytes = next(reading);

	memcpy(reading->text, reading->at, bytes);
	reading->text[bytes] = '\0';
	reading->at += bytes;
	return reading->text;
}

static void read_sample(const struct zoom_recording *recording, struct reading *reading,
			struct zoom_record *record)
{
	struct zoom_sample *sample = &record->sample;
	struct sample *of = &sample->of;

	sample->time_ns = record->time_ns;
	sample->pid = record->pid;
	sample->tid = record->tid;
	sample->cpu = (u32)next(reading);
	sample->event = (u32)next(reading);
	of->event = (u16)sample->event;
	of->fields = (u16)next(reading);
	of->cgroup_id = next(reading);
	of->latency = next(reading);
	of->instruction_latency = (u32)next(reading);
	of->data_source = next(reading);
	of->address = next(reading);
	of->code_address = next(reading);
	of->period = next(reading);
	sample->physical = next(reading);
	sample->user_of_lbr = next(reading) != 0;
	sample->kernel = stack_store_get(&recording->stacks, (u32)next(reading), &sample->n_kernel);
	sample->user = stack_store_get(&recording->stacks, (u32)next(reading), &sample->n_user);
}

static void read_mapped(struct reading *reading, struct zoom_record *record)
{
	u64 build_id[3];

	record->mapped.start = next(reading);
	record->mapped.size = next(reading);
	record->mapped.offset = next(reading);
	record->mapped.major = (u32)next(reading);
	record->mapped.minor = (u32)next(reading);
	record->mapped.inode = next(reading);
	record->mapped.protection = (u32)next(reading);
	record->mapped.build_id_size = (u8)next(reading);
	for (size_t i = 0; i < ARRAY_SIZE(build_id); i++)
		build_id[i] = next(reading);
	memcpy(record->mapped.build_id, build_id, sizeof(record->mapped.build_id));
	record->mapped.path = next_text(reading);
}

static void read_row(const struct zoom_recording *recording, struct reading *reading, struct zoom_record *ret)
{
	*ret = (struct zoom_record){.kind = (enum zoom_record_kind)next(reading)};
	ret->time_ns = reading->last_ns += unfold(next(reading));
	ret->pid = (u32)next(reading);
	ret->tid = (u32)next(reading);
	switch (ret->kind) {
	case ZOOM_RECORD_SAMPLE:
		read_sample(recording, reading, ret);
		break;
	case ZOOM_RECORD_MAPPED:
		read_mapped(reading, ret);
		break;
	case ZOOM_RECORD_NAMED:
		ret->named.executed = next(reading) != 0;
		ret->named.name = next_text(reading);
		break;
	case ZOOM_RECORD_FORKED:
	case ZOOM_RECORD_EXITED:
		ret->forked.parent_pid = (u32)next(reading);
		ret->forked.parent_tid = (u32)next(reading);
		break;
	case ZOOM_RECORD_LOST:
	case ZOOM_RECORD_THROTTLED:
	case ZOOM_RECORD_OTHER:
		break;
	}
}

int zoom_recording_each(const struct zoom_recording *recording,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	struct reading reading = {0};

	for (size_t i = 0; i < recording->rows.n; i++) {
		const struct store_block *block = &recording->rows.blocks[i];

		for (reading.at = block->bytes; reading.at < block->bytes + block->used;) {
			struct zoom_record record;
			int r;

			read_row(recording, &reading, &record);
			r = callback(userdata, &record);
			if (r != 0)
				return r;
		}
	}
	return 0;
}

u64 zoom_recording_samples(const struct zoom_recording *recording)
{
	return recording->samples;
}

u64 zoom_recording_bytes(const struct zoom_recording *recording)
{
	return recording->budget.bytes;
}
