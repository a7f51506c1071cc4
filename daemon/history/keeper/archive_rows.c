// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "collect/pairs.h"
#include "history/keeper/archive_internal.h"
#include "history/keeper/row_data.h"

/* The header of each row, before its data. */
struct head {
	s64 cgroup;
	u32 size;
} __attribute__((packed));

void archive_rows_done(struct archive_rows *rows)
{
	free(rows->bytes);
	*rows = (struct archive_rows){0};
}

/* Makes room for a row. Returns where its data is to be written, or NULL. */
static u8 *reserve(struct archive_rows *rows, size_t size)
{
	size_t needed = rows->size + sizeof(struct head) + size;

	if (needed > rows->room) {
		size_t room = needed + needed / 4 + 16384;
		u8 *bytes = realloc(rows->bytes, room);

		if (!bytes)
			return NULL;
		rows->bytes = bytes;
		rows->room = room;
	}
	return rows->bytes + rows->size + sizeof(struct head);
}

static void commit(struct archive_rows *rows, s64 cgroup, size_t size)
{
	const struct head head = {.cgroup = cgroup, .size = (u32)size};

	memcpy(rows->bytes + rows->size, &head, sizeof(head));
	rows->size += sizeof(head) + size;
}

int archive_rows_add(struct archive_rows *rows, s64 cgroup, const u8 *data, size_t size)
{
	u8 *to = reserve(rows, size);

	if (!to)
		return -ENOMEM;
	if (size > 0)
		memcpy(to, data, size);
	commit(rows, cgroup, size);
	return 0;
}

bool archive_rows_get(const struct archive_rows *rows, size_t *at, struct archive_row *ret)
{
	struct head head;

	if (*at == rows->size)
		return false;
	memcpy(&head, rows->bytes + *at, sizeof(head));
	*ret = (struct archive_row){
		.cgroup = head.cgroup, .size = head.size, .data = rows->bytes + *at + sizeof(head)};
	*at += sizeof(head) + head.size;
	return true;
}

static bool is_wanted(s64 cgroup, const s64 *cgroups, size_t n)
{
	size_t low = 0, high = n;

	if (!cgroups)
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cgroups[middle] == cgroup)
			return true;
		if (cgroups[middle] < cgroup)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int add_both(struct archive_rows *to, const struct archive_row *a, const u8 *data, size_t size)
{
	u8 *place = reserve(to, a->size + size);

	if (!place)
		return -ENOMEM;
	commit(to, a->cgroup, row_data_merge(a->data, a->size, data, size, place));
	return 0;
}

/* The sum while rows are merged into a new one: `row` is the next row of the old one. */
struct merge {
	struct archive_rows old;
	struct archive_rows new;
	size_t at;
	struct archive_row row;
	bool more;
};

/* Copies the rows of the old sum that come before the cgroup. */
static int copy_until(struct merge *merge, s64 cgroup)
{
	int r = 0;

	while (r == 0 && merge->more && merge->row.cgroup < cgroup) {
		r = archive_rows_add(&merge->new, merge->row.cgroup, merge->row.data, merge->row.size);
		merge->more = archive_rows_get(&merge->old, &merge->at, &merge->row);
	}
	return r;
}

static int merge_row(struct archive *archive, struct merge *merge, s64 cgroup, const u8 *data, size_t size)
{
	int r;

	if (!data || !row_data_sound(data, size)) {
		archive->unreadable++;
		return 0;
	}
	r = copy_until(merge, cgroup);
	if (r < 0)
		return r;
	if (!merge->more || merge->row.cgroup != cgroup)
		return archive_rows_add(&merge->new, cgroup, data, size);
	r = add_both(&merge->new, &merge->row, data, size);
	merge->more = archive_rows_get(&merge->old, &merge->at, &merge->row);
	return r;
}

static int merge_statement(struct archive *archive, sqlite3_stmt *statement, const s64 *cgroups, size_t n,
			   struct merge *merge)
{
	int r;

	while ((r = archive_step(statement)) == 1) {
		s64 cgroup = sqlite3_column_int64(statement, 0);

		archive->rows_read++;
		if (!is_wanted(cgroup, cgroups, n))
			continue;
		r = merge_row(archive, merge, cgroup, sqlite3_column_blob(statement, 1),
			      (size_t)sqlite3_column_bytes(statement, 1));
		if (r < 0)
			return r;
		if (merge->new.size > HISTORY_PANE_BYTES_MAX)
			return -E2BIG;
	}
	return r;
}

/* Above this many cgroups, all rows of the span are read instead of each by itself. */
#define SINGLE_MAX 64

static int merge_span(struct archive *archive, u64 span, const s64 *cgroups, size_t n, struct merge *merge)
{
	bool single = cgroups && n <= SINGLE_MAX;
	sqlite3_stmt *statement =
		archive_statement(archive, single ? ARCHIVE_FIGURES_ONE : ARCHIVE_FIGURES_GET);
	int r = statement ? 0 : -EIO;

	if (r == 0)
		(void)sqlite3_bind_int64(statement, 1, (s64)span);
	for (size_t i = 0; r == 0 && i < (single ? n : 1); i++) {
		if (single)
			(void)sqlite3_bind_int64(statement, 2, cgroups[i]);
		r = merge_statement(archive, statement, single ? NULL : cgroups, n, merge);
		if (r == -EIO)
			r = archive_failed(archive, "read");
		(void)sqlite3_reset(statement);
	}
	return statement ? r : archive_failed(archive, "read");
}

static void begin_merge(const struct archive_rows *sum, struct merge *ret)
{
	*ret = (struct merge){.old = *sum};
	ret->more = archive_rows_get(&ret->old, &ret->at, &ret->row);
}

/* Replaces the sum, unless `r` or the rest of the merge is an error. */
static int end_merge(struct merge *merge, int r, struct archive_rows *sum)
{
	if (r == 0)
		r = copy_until(merge, INT64_MAX);
	if (r < 0) {
		archive_rows_done(&merge->new);
		return r;
	}
	archive_rows_done(&merge->old);
	*sum = merge->new;
	return 0;
}

int archive_rows_read(struct archive *archive, u64 span, const s64 *cgroups, size_t n_cgroups,
		      struct archive_rows *sum)
{
	struct merge merge;

	begin_merge(sum, &merge);
	return end_merge(&merge, merge_span(archive, span, cgroups, n_cgroups, &merge), sum);
}

/* Appends an event's sum to the data of a row. Returns 1, 0: it is not stored or cannot be read, or -ENOMEM. */
static int append_pairs(sqlite3_stmt *statement, u8 **data, size_t *size)
{
	struct row_part part = {.event = (u64)sqlite3_column_int64(statement, 0),
				.pairs = sqlite3_column_blob(statement, 1),
				.size = (u32)sqlite3_column_bytes(statement, 1)};
	u8 *grown;

	if (sqlite3_column_type(statement, 1) != SQLITE_BLOB)
		return 0;
	if (part.size == 0)
		return 1;
	if (part.size > PAIRS_MAX || !pairs_sound(part.pairs, part.size))
		return 0;
	grown = realloc(*data, *size + ROW_PART_HEAD + part.size);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*size = (size_t)(row_data_put(grown + *size, &part) - grown);
	return 1;
}

int archive_rows_read_all(struct archive *archive, u64 span, struct archive_rows *sum)
{
	/* A file without the column has no such statement. */
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_TOTAL_PAIRS);
	_cleanup_free_ u8 *data = NULL;
	size_t size = 0;
	struct merge merge;
	int r = 1, stepped = 0;

	if (!statement)
		return 0;
	(void)sqlite3_bind_int64(statement, 1, (s64)span);
	while (r == 1 && (stepped = archive_step(statement)) == 1) {
		archive->rows_read++;
		r = append_pairs(statement, &data, &size);
	}
	if (stepped < 0)
		r = archive_failed(archive, "read");
	(void)sqlite3_reset(statement);
	if (r <= 0 || size == 0)
		return r;
	begin_merge(sum, &merge);
	r = end_merge(&merge, merge_row(archive, &merge, ARCHIVE_ALL, data, size), sum);
	return r < 0 ? r : 1;
}

/*
 * Returns the event's numbers in the sum. They move to the end, so that the newest settings of an event are
 * the last.
 */
static struct archive_total *total_of(struct archive_totals *totals, s64 event)
{
	struct archive_total total = {.event = event, .counted = true, .throttle_known = true};
	size_t at = 0;

	while (at < totals->n && totals->list[at].event != event)
		at++;
	if (at == ARCHIVE_EVENTS_MAX)
		return NULL;
	if (at == totals->n)
		totals->n++;
	else
		total = totals->list[at];
	memmove(&totals->list[at], &totals->list[at + 1], (totals->n - 1 - at) * sizeof(total));
	totals->list[totals->n - 1] = total;
	return &totals->list[totals->n - 1];
}

/*
 * The sum has the period and frequency of the last span that was added, and knows only what each span knows.
 */
static void add_total(struct archive_total *total, sqlite3_stmt *statement)
{
	s64 frequency_hz = sqlite3_column_int64(statement, 2);

	total->period = (u64)sqlite3_column_int64(statement, 1);
	if (frequency_hz > 0)
		total->frequency_hz = (u64)frequency_hz;
	total->counted = total->counted && sqlite3_column_int(statement, 3);
	total->throttle_known = total->throttle_known && sqlite3_column_int(statement, 4);
	for (int i = 0; i < HISTORY_COUNTS_N; i++)
		total->counts[i] += (u64)sqlite3_column_int64(statement, 5 + i);
}

int archive_totals_read(struct archive *archive, u64 span, struct archive_totals *sum)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_TOTAL_GET);
	int r;

	if (!statement)
		return archive_failed(archive, "read");
	(void)sqlite3_bind_int64(statement, 1, (s64)span);
	while ((r = archive_step(statement)) == 1) {
		struct archive_total *total = total_of(sum, sqlite3_column_int64(statement, 0));

		if (total)
			add_total(total, statement);
		else
			archive->unreadable++;
	}
	if (r < 0)
		r = archive_failed(archive, "read");
	(void)sqlite3_reset(statement);
	return r;
}
