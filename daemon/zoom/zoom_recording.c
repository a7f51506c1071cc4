// SPDX-License-Identifier: GPL-2.0
/*
 * A record is a row of numbers of variable length. A time is stored as the difference from the previous
 * record. A stack is stored as a number in a store that holds each distinct stack once.
 */
#include "zoom/zoom_recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"
#include "base/varint.h"
#include "pebsd/types.h"

/* Two stores that share one budget: bytes in blocks, and stacks, each distinct one once. */

/* The stores point to their budget, which their owner owns. */
struct store_budget {
	u64 bytes; /* in use */
	u64 most;
};

struct store_block {
	u8 *bytes;
	size_t used, size;
};

struct byte_store {
	struct store_budget *budget;
	size_t n;
	struct store_block *blocks;
};

/* Numbers stacks from 1. Number 0 is the empty stack. */
struct stack_store {
	struct siphash_key key;      /* keyed: a process chooses its addresses, but not their buckets */
	struct byte_store addresses; /* for each stack: the number of addresses, then the addresses */
	size_t n;
	const u64 **stacks; /* by number minus 1 */
	u32 *table;         /* open addressing: stack numbers, 0: free */
	size_t table_size;  /* a power of two; 0: not allocated yet */
};

#define BLOCK_BYTES 65536

/* Takes `bytes` from the budget. Returns false if the budget has less left. */
static bool budget_take(struct store_budget *budget, u64 bytes)
{
	if (bytes > budget->most - budget->bytes)
		return false;
	budget->bytes += bytes;
	return true;
}

static int add_block(struct byte_store *store, size_t size)
{
	const size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
	struct store_block *blocks;
	u8 *block;

	if (!budget_take(store->budget, bytes + sizeof(*blocks)))
		return 0;
	blocks = reallocarray(store->blocks, store->n + 1, sizeof(*blocks));
	if (blocks)
		store->blocks = blocks;
	block = blocks ? malloc(bytes) : NULL;
	if (!block) {
		store->budget->bytes -= bytes + sizeof(*blocks);
		return -ENOMEM;
	}
	store->blocks[store->n++] = (struct store_block){.bytes = block, .size = bytes};
	return 1;
}

/*
 * Allocates `size` contiguous bytes, aligned to 8 if all sizes are multiples of 8. Returns 1 and the address,
 * which does not change. Returns 0 if the budget is exhausted, or -ENOMEM.
 */
static int byte_store_take(struct byte_store *store, size_t size, u8 **ret)
{
	struct store_block *last = store->n > 0 ? &store->blocks[store->n - 1] : NULL;

	if (!last || size > last->size - last->used) {
		int r = add_block(store, size);

		if (r <= 0)
			return r;
		last = &store->blocks[store->n - 1];
	}
	*ret = last->bytes + last->used;
	last->used += size;
	return 1;
}

/* Gives back the last `size` bytes of the most recent allocation. */
static void byte_store_release(struct byte_store *store, size_t size)
{
	store->blocks[store->n - 1].used -= size;
}

static void byte_store_done(struct byte_store *store)
{
	for (size_t i = 0; i < store->n; i++)
		free(store->blocks[i].bytes);
	free(store->blocks);
	*store = (struct byte_store){.budget = store->budget};
}

static size_t find_place(const struct stack_store *store, const u64 *addresses, size_t n)
{
	size_t at = siphash_words(&store->key, addresses, n) & (store->table_size - 1);

	for (; store->table[at]; at = (at + 1) & (store->table_size - 1)) {
		const u64 *stack = store->stacks[store->table[at] - 1];

		if (stack[0] == n && memcmp(stack + 1, addresses, n * sizeof(*addresses)) == 0)
			break;
	}
	return at;
}

/* Doubles the table, so that it stays at most half full. Returns the same as byte_store_take(). */
static int grow_table(struct stack_store *store)
{
	const size_t size = store->table_size ? store->table_size * 2 : 1024;
	const u64 bytes = size * sizeof(*store->table) + size / 2 * sizeof(*store->stacks);
	const u64 before =
		store->table_size * sizeof(*store->table) + store->table_size / 2 * sizeof(*store->stacks);
	_cleanup_free_ u32 *table = NULL;
	const u64 **stacks;

	if (!budget_take(store->addresses.budget, bytes - before))
		return 0;
	table = calloc(size, sizeof(*table));
	stacks = table ? reallocarray(store->stacks, size / 2, sizeof(*stacks)) : NULL;
	if (!stacks) {
		store->addresses.budget->bytes -= bytes - before;
		return -ENOMEM;
	}
	store->stacks = stacks;
	free(store->table);
	store->table = TAKE_PTR(table);
	store->table_size = size;
	for (size_t i = 0; i < store->n; i++)
		store->table[find_place(store, store->stacks[i] + 1, store->stacks[i][0])] = (u32)i + 1;
	return 1;
}

/*
 * Sets `ret` to the number of the stack, and stores the stack if it is new. Returns the same as
 * byte_store_take().
 */
static int stack_store_put(struct stack_store *store, const u64 *addresses, size_t n, u32 *ret)
{
	u8 *bytes;
	u64 *stack;
	size_t at;
	int r;

	*ret = 0;
	if (n == 0)
		return 1;
	if (store->n == store->table_size / 2) {
		r = grow_table(store);
		if (r <= 0)
			return r;
	}
	at = find_place(store, addresses, n);
	if (!store->table[at]) {
		r = byte_store_take(&store->addresses, (n + 1) * sizeof(u64), &bytes);
		if (r <= 0)
			return r;
		stack = (u64 *)(void *)bytes;
		stack[0] = n;
		memcpy(stack + 1, addresses, n * sizeof(*addresses));
		store->stacks[store->n++] = stack;
		store->table[at] = (u32)store->n;
	}
	*ret = store->table[at];
	return 1;
}

static const u64 *stack_store_get(const struct stack_store *store, u32 number, size_t *ret_n)
{
	*ret_n = number ? store->stacks[number - 1][0] : 0;
	return number ? store->stacks[number - 1] + 1 : NULL;
}

static void stack_store_done(struct stack_store *store)
{
	byte_store_done(&store->addresses);
	free(store->stacks);
	free(store->table);
	*store = (struct stack_store){.addresses.budget = store->addresses.budget};
}

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
	recording->stacks.key = siphash_key_new();
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
	byte_store_release(&recording->rows, most - (size_t)(at - bytes));
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
struct cursor {
	const u8 *at;
	u64 last_ns;
	char text[TEXT_MAX];
};

static u64 next(struct cursor *cursor)
{
	u64 value;

	cursor->at = get_varint(cursor->at, &value);
	return value;
}

static const char *next_text(struct cursor *cursor)
{
	size_t bytes = next(cursor);

	memcpy(cursor->text, cursor->at, bytes);
	cursor->text[bytes] = '\0';
	cursor->at += bytes;
	return cursor->text;
}

static void read_sample(const struct zoom_recording *recording, struct cursor *cursor,
			struct zoom_record *record)
{
	struct zoom_sample *sample = &record->sample;
	struct sample *of = &sample->of;

	sample->time_ns = record->time_ns;
	sample->pid = record->pid;
	sample->tid = record->tid;
	sample->cpu = (u32)next(cursor);
	sample->event = (u32)next(cursor);
	of->event = (u16)sample->event;
	of->fields = (u16)next(cursor);
	of->cgroup_id = next(cursor);
	of->latency = next(cursor);
	of->instruction_latency = (u32)next(cursor);
	of->data_source = next(cursor);
	of->address = next(cursor);
	of->code_address = next(cursor);
	of->period = next(cursor);
	sample->physical = next(cursor);
	sample->user_of_lbr = next(cursor) != 0;
	sample->kernel = stack_store_get(&recording->stacks, (u32)next(cursor), &sample->n_kernel);
	sample->user = stack_store_get(&recording->stacks, (u32)next(cursor), &sample->n_user);
}

static void read_mapped(struct cursor *cursor, struct zoom_record *record)
{
	u64 build_id[3];

	record->mapped.start = next(cursor);
	record->mapped.size = next(cursor);
	record->mapped.offset = next(cursor);
	record->mapped.major = (u32)next(cursor);
	record->mapped.minor = (u32)next(cursor);
	record->mapped.inode = next(cursor);
	record->mapped.protection = (u32)next(cursor);
	record->mapped.build_id_size = (u8)next(cursor);
	for (size_t i = 0; i < ARRAY_SIZE(build_id); i++)
		build_id[i] = next(cursor);
	memcpy(record->mapped.build_id, build_id, sizeof(record->mapped.build_id));
	record->mapped.path = next_text(cursor);
}

static void read_row(const struct zoom_recording *recording, struct cursor *cursor, struct zoom_record *ret)
{
	*ret = (struct zoom_record){.kind = (enum zoom_record_kind)next(cursor)};
	ret->time_ns = cursor->last_ns += unfold(next(cursor));
	ret->pid = (u32)next(cursor);
	ret->tid = (u32)next(cursor);
	switch (ret->kind) {
	case ZOOM_RECORD_SAMPLE:
		read_sample(recording, cursor, ret);
		break;
	case ZOOM_RECORD_MAPPED:
		read_mapped(cursor, ret);
		break;
	case ZOOM_RECORD_NAMED:
		ret->named.executed = next(cursor) != 0;
		ret->named.name = next_text(cursor);
		break;
	case ZOOM_RECORD_FORKED:
	case ZOOM_RECORD_EXITED:
		ret->forked.parent_pid = (u32)next(cursor);
		ret->forked.parent_tid = (u32)next(cursor);
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
	struct cursor cursor = {0};

	for (size_t i = 0; i < recording->rows.n; i++) {
		const struct store_block *block = &recording->rows.blocks[i];

		for (cursor.at = block->bytes; cursor.at < block->bytes + block->used;) {
			struct zoom_record record;
			int r;

			read_row(recording, &cursor, &record);
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
