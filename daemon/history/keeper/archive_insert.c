// SPDX-License-Identifier: GPL-2.0
/* Inserts a span with its totals and the counters of its cgroups. */
#include <errno.h>
#include <string.h>

#include "collect/packed.h"
#include "history/keeper/archive_internal.h"
#include "history/keeper/row_data.h"

/* What a row of the database takes besides `data`: keys, columns and SQLite's own bytes, as measured. */
#define ROW_OVERHEAD 32

/* Events whose sums have a column, by the role in their key: "loads", or "loads:cpu_atom". */
enum column { COLUMN_NONE, COLUMN_LOADS, COLUMN_CYCLES, COLUMN_STALLS, COLUMN_MISSES, COLUMNS };

static const char *const column_keys[COLUMNS] = {
	[COLUMN_LOADS] = "loads",
	[COLUMN_CYCLES] = "cycles",
	[COLUMN_STALLS] = "stalls",
	[COLUMN_MISSES] = "misses",
};

struct columns {
	u64 loads;
	u64 latency;
	u64 weight[COLUMNS];
};

static enum column column_of(const char *key)
{
	size_t length = strcspn(key, ":");

	for (unsigned column = COLUMN_NONE + 1; column < COLUMNS; column++)
		if (strlen(column_keys[column]) == length && memcmp(key, column_keys[column], length) == 0)
			return (enum column)column;
	return COLUMN_NONE;
}

/* The column of each event of the span. */
static int find_columns(struct archive *archive, const struct archive_totals *totals,
			enum column ret[static ARCHIVE_EVENTS_MAX])
{
	for (size_t i = 0; i < totals->n; i++) {
		sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_EVENT_GET);
		int r;

		if (!statement)
			return -EIO;
		(void)sqlite3_bind_int64(statement, 1, totals->list[i].event);
		r = archive_step(statement);
		ret[i] = r == 1 ? column_of((const char *)sqlite3_column_text(statement, 0)) : COLUMN_NONE;
		(void)sqlite3_reset(statement);
		if (r < 0)
			return r;
	}
	return 0;
}

#define INDEX_OF(member) (offsetof(struct counters, member) / sizeof(u64))

static void add_loads(const struct row_part *part, struct columns *columns)
{
	struct packed_reader reader = {.from = part->packed, .end = part->packed + part->size};
	unsigned counter;
	u64 value;

	while (packed_get(&reader, &counter, &value)) {
		if (counter >= INDEX_OF(latency_sum) && counter < INDEX_OF(latency_sum) + SOURCE_SLOTS)
			columns->latency += value;
		else if (counter >= INDEX_OF(latency) && counter < INDEX_OF(latency) + FINE_BUCKETS)
			columns->loads += value;
	}
}

/* Sums the columns of a cgroup, and adds its counters to the sums of all cgroups, which are by event. */
static void sum_row(const struct archive_row *row, const struct archive_totals *totals,
		    const enum column columns_of[static ARCHIVE_EVENTS_MAX], struct columns *ret,
		    struct counters *sums)
{
	struct row_reader reader = {.from = row->data, .end = row->data + row->size};
	struct row_part part;

	*ret = (struct columns){0};
	while (row_data_get(&reader, &part)) {
		ssize_t event = archive_totals_find(totals, part.event);

		if (event < 0)
			continue;
		if (columns_of[event] == COLUMN_LOADS)
			add_loads(&part, ret);
		else if (columns_of[event] != COLUMN_NONE)
			ret->weight[columns_of[event]] += packed_weight(part.packed, part.size);
		packed_add(part.packed, part.size, &sums[event]);
	}
}

static int insert_figures(struct archive *archive, struct span *span, const struct archive_totals *totals,
			  const struct archive_rows *rows, struct counters *sums)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_FIGURES_ADD);
	enum column columns_of[ARCHIVE_EVENTS_MAX];
	struct columns columns;
	struct archive_row row;
	size_t at = 0;
	int r = statement ? find_columns(archive, totals, columns_of) : -EIO;

	span->bytes = 0;
	while (r == 0 && archive_rows_get(rows, &at, &row)) {
		sum_row(&row, totals, columns_of, &columns, sums);
		(void)sqlite3_bind_int64(statement, 1, (s64)span->id);
		(void)sqlite3_bind_int64(statement, 2, row.cgroup);
		(void)sqlite3_bind_int64(statement, 3, archive_capped(columns.loads));
		(void)sqlite3_bind_int64(statement, 4, archive_capped(columns.latency));
		(void)sqlite3_bind_int64(statement, 5, archive_capped(columns.weight[COLUMN_CYCLES]));
		(void)sqlite3_bind_int64(statement, 6, archive_capped(columns.weight[COLUMN_STALLS]));
		(void)sqlite3_bind_int64(statement, 7, archive_capped(columns.weight[COLUMN_MISSES]));
		(void)sqlite3_bind_blob(statement, 8, row.data, (int)row.size, SQLITE_STATIC);
		r = archive_run(archive, ARCHIVE_FIGURES_ADD);
		span->bytes += row.size + ROW_OVERHEAD;
	}
	return r;
}

static int insert_totals(struct archive *archive, const struct span *span,
			 const struct archive_totals *totals, const struct counters *sums)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_TOTAL_ADD);
	int r = statement ? 0 : -EIO;
	u8 packed[PACKED_MAX];

	for (size_t i = 0; r == 0 && i < totals->n; i++) {
		const struct archive_total *total = &totals->list[i];

		(void)sqlite3_bind_int64(statement, 1, (s64)span->id);
		(void)sqlite3_bind_int64(statement, 2, total->event);
		(void)sqlite3_bind_int64(statement, 3, archive_capped(total->period));
		(void)sqlite3_bind_int64(statement, 4, archive_capped(total->frequency_hz));
		(void)sqlite3_bind_int(statement, 5, total->counted);
		(void)sqlite3_bind_int(statement, 6, total->throttle_known);
		for (int n = 0; n < HISTORY_COUNTS_N; n++)
			(void)sqlite3_bind_int64(statement, 7 + n, archive_capped(total->counts[n]));
		(void)sqlite3_bind_int64(statement, 7 + HISTORY_COUNTS_N, (s64)i);
		(void)sqlite3_bind_blob(statement, 8 + HISTORY_COUNTS_N, packed,
					(int)packed_of(&sums[i], packed), SQLITE_STATIC);
		r = archive_run(archive, ARCHIVE_TOTAL_ADD);
	}
	return r;
}

static int insert_span(struct archive *archive, const struct span *span)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_SPAN_ADD);

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, (s64)span->id);
	(void)sqlite3_bind_int64(statement, 2, span_tiers[span->tier].seconds);
	(void)sqlite3_bind_int64(statement, 3, archive_capped(span->start_us));
	(void)sqlite3_bind_int64(statement, 4, archive_capped(span->end_us));
	(void)sqlite3_bind_int64(statement, 5, archive_capped(span->covered_ns));
	(void)sqlite3_bind_int64(statement, 6, (s64)span->run);
	(void)sqlite3_bind_int64(statement, 7, (s64)span->bytes);
	return archive_run(archive, ARCHIVE_SPAN_ADD);
}

int archive_insert(struct archive *archive, struct span *span, const struct archive_totals *totals,
		   const struct archive_rows *rows)
{
	_cleanup_free_ struct counters *sums = calloc(totals->n + 1, sizeof(*sums));
	int r;

	if (!sums)
		return archive_refused(archive, -ENOMEM, "cannot store in %s: no memory", archive->path);
	span->id = archive->next_id;
	r = insert_figures(archive, span, totals, rows, sums);
	if (r == 0)
		r = insert_totals(archive, span, totals, sums);
	if (r == 0)
		r = insert_span(archive, span);
	if (r < 0)
		return archive_failed(archive, "store in");
	archive->next_id++;
	if (spans_add(&archive->spans, span) < 0)
		return archive_refused(archive, -ENOMEM, "cannot store in %s: no memory", archive->path);
	return 0;
}
