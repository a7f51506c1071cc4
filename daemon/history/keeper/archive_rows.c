// SPDX-License-Identifier: GPL-2.0
/* Reads the counters of spans, and adds them up. */
#include <errno.h>
#include <string.h>

#include "collect/packed.h"
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

int archive_rows_add_sum(struct archive_rows *rows, s64 cgroup, struct row_sum *sum)
{
	u8 *to = reserve(rows, sum->size);

	if (!to)
		return -ENOMEM;
	commit(rows, cgroup, (size_t)(row_sum_take(sum, to) - to));
	return 0;
}

/* Rows by ascending cgroup: those of one span, or of the sum so far. */
struct rows_source {
	const struct archive_rows *rows; /* NULL: a span */
	size_t at;
	sqlite3_stmt *statement;
	s64 span;
	size_t next; /* index of the next cgroup, if each is read by itself */
	bool more;
	struct archive_row row; /* valid if `more` */
};

/* Several sources while they are added up. */
struct merge {
	struct archive *archive;
	const s64 *cgroups; /* NULL: all */
	size_t n_cgroups;
	bool single; /* read each cgroup by itself */
	size_t n;
	struct rows_source sources[1 + ARCHIVE_SPANS_AT_ONCE];
	struct row_sum sum;
};

/* Above this many cgroups, all rows of the span are read instead of each by itself. */
#define SINGLE_MAX 64

/* Returns 1 with the next row in the statement, 0 at the end, or -EIO. */
static int step(const struct merge *merge, struct rows_source *source)
{
	int r;

	if (!merge->single)
		return archive_step(source->statement);
	do {
		(void)sqlite3_reset(source->statement);
		if (source->next == merge->n_cgroups)
			return 0;
		(void)sqlite3_bind_int64(source->statement, 1, source->span);
		(void)sqlite3_bind_int64(source->statement, 2, merge->cgroups[source->next++]);
		r = archive_step(source->statement);
	} while (r == 0);
	return r;
}

/* Goes on to the next row that is wanted and sound. */
static int advance(struct merge *merge, struct rows_source *source)
{
	struct archive_row *row = &source->row;
	int r;

	if (source->rows) {
		source->more = archive_rows_get(source->rows, &source->at, row);
		return 0;
	}
	source->more = false;
	while ((r = step(merge, source)) == 1) {
		merge->archive->rows_read++;
		*row = (struct archive_row){.cgroup = sqlite3_column_int64(source->statement, 0),
					    .data = sqlite3_column_blob(source->statement, 1),
					    .size = (u32)sqlite3_column_bytes(source->statement, 1)};
		if (!merge->single && !is_wanted(row->cgroup, merge->cgroups, merge->n_cgroups))
			continue;
		source->more = row->data && row_data_sound(row->data, row->size);
		if (source->more)
			return 0;
		merge->archive->unreadable++;
	}
	return r < 0 ? archive_failed(merge->archive, "read") : 0;
}

static int open_span(struct merge *merge, u64 span, size_t place)
{
	struct rows_source *source = &merge->sources[merge->n];

	source->statement = archive_cursor(merge->archive, merge->single, place);
	source->span = (s64)span;
	if (!source->statement)
		return archive_failed(merge->archive, "read");
	merge->n++;
	if (!merge->single)
		(void)sqlite3_bind_int64(source->statement, 1, source->span);
	return advance(merge, source);
}

/* Returns the number of sources whose next row is the lowest cgroup, which is in `ret` with one of them. */
static unsigned find_lowest(struct merge *merge, struct rows_source **ret)
{
	unsigned n = 0;

	for (size_t i = 0; i < merge->n; i++) {
		struct rows_source *source = &merge->sources[i];

		if (!source->more)
			continue;
		if (n == 0 || source->row.cgroup < (*ret)->row.cgroup) {
			*ret = source;
			n = 1;
		} else if (source->row.cgroup == (*ret)->row.cgroup) {
			n++;
		}
	}
	return n;
}

/* Moves the rows of one cgroup in several sources to the sum. */
static int add_cgroup(struct merge *merge, s64 cgroup, struct archive_rows *to)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < merge->n; i++) {
		struct rows_source *source = &merge->sources[i];

		if (!source->more || source->row.cgroup != cgroup)
			continue;
		r = row_sum_add(&merge->sum, source->row.data, source->row.size);
		if (r == 0)
			r = advance(merge, source);
	}
	return r < 0 ? r : archive_rows_add_sum(to, cgroup, &merge->sum);
}

static int add_sources(struct merge *merge, struct archive_rows *to)
{
	struct rows_source *lowest = NULL;
	unsigned n;
	int r = 0;

	while (r == 0 && (n = find_lowest(merge, &lowest)) > 0) {
		if (n > 1) {
			r = add_cgroup(merge, lowest->row.cgroup, to);
		} else {
			r = archive_rows_add(to, lowest->row.cgroup, lowest->row.data, lowest->row.size);
			if (r == 0)
				r = advance(merge, lowest);
		}
		if (r == 0 && to->size > HISTORY_PANE_BYTES_MAX)
			r = -E2BIG;
	}
	return r;
}

/* Adds up the sum so far and as many spans as are read at once. */
static int merge_spans(struct merge *merge, const u64 *spans, size_t n, struct archive_rows *sum)
{
	struct archive_rows new = {0};
	int r;

	merge->n = 1;
	merge->sources[0] = (struct rows_source){.rows = sum};
	r = advance(merge, &merge->sources[0]);
	for (size_t i = 0; r == 0 && i < n; i++) {
		merge->sources[merge->n] = (struct rows_source){0};
		r = open_span(merge, spans[i], i);
	}
	if (r == 0)
		r = add_sources(merge, &new);
	for (size_t i = 1; i < merge->n; i++)
		(void)sqlite3_reset(merge->sources[i].statement);
	if (r < 0) {
		archive_rows_done(&new);
		return r;
	}
	archive_rows_done(sum);
	*sum = new;
	return 0;
}

int archive_rows_read(struct archive *archive, const u64 *spans, size_t n, const s64 *cgroups,
		      size_t n_cgroups, struct archive_rows *sum)
{
	struct merge merge = {.archive = archive,
			      .cgroups = cgroups,
			      .n_cgroups = n_cgroups,
			      .single = cgroups && n_cgroups <= SINGLE_MAX};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i += ARCHIVE_SPANS_AT_ONCE) {
		size_t left = n - i;

		r = merge_spans(&merge, spans + i,
				left < ARCHIVE_SPANS_AT_ONCE ? left : ARCHIVE_SPANS_AT_ONCE, sum);
	}
	row_sum_done(&merge.sum);
	return r;
}

/* Appends an event's sum to the data of a row. Returns 1, 0: it is not stored or cannot be read, or -ENOMEM. */
static int append_pairs(sqlite3_stmt *statement, u8 **data, size_t *size)
{
	struct row_part part = {.event = (u64)sqlite3_column_int64(statement, 0),
				.packed = sqlite3_column_blob(statement, 1),
				.size = (u32)sqlite3_column_bytes(statement, 1)};
	u8 *grown;

	if (sqlite3_column_type(statement, 1) != SQLITE_BLOB)
		return 0;
	if (part.size == 0)
		return 1;
	if (part.size > PACKED_MAX || !packed_sound(part.packed, part.size))
		return 0;
	grown = realloc(*data, *size + ROW_PART_HEAD + part.size);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*size = (size_t)(row_data_put(grown + *size, &part) - grown);
	return 1;
}

/* Returns 1; 0: the span was stored without its sum; or -errno. */
static int add_stored_sum(struct archive *archive, u64 span, struct row_sum *sum)
{
	/* A file without the column has no such statement. */
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_TOTAL_PAIRS);
	_cleanup_free_ u8 *data = NULL;
	int r = 1, stepped = 0;
	size_t size = 0;

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
	if (r == 1 && row_sum_add(sum, data, size) < 0)
		r = -ENOMEM;
	return r;
}

int archive_rows_sum(struct archive *archive, u64 span, struct row_sum *sum)
{
	struct archive_rows rows = {0};
	struct archive_row row;
	int r = add_stored_sum(archive, span, sum);
	size_t at = 0;

	if (r != 0)
		return r < 0 ? r : 0;
	r = archive_rows_read(archive, &span, 1, NULL, 0, &rows);
	while (r == 0 && archive_rows_get(&rows, &at, &row))
		r = row_sum_add(sum, row.data, row.size);
	archive_rows_done(&rows);
	return r;
}

ssize_t archive_totals_find(const struct archive_totals *totals, u64 event)
{
	for (size_t i = 0; i < totals->n; i++)
		if ((u64)totals->list[i].event == event)
			return (ssize_t)i;
	return -1;
}

/*
 * Returns the event's numbers in the sum. They move to the end, so that the newest settings of an event are
 * the last.
 */
static struct archive_total *total_of(struct archive_totals *totals, s64 event)
{
	struct archive_total total = {.event = event, .counted = true, .throttle_known = true};
	const ssize_t found = archive_totals_find(totals, (u64)event);
	const size_t at = found < 0 ? totals->n : (size_t)found;

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
