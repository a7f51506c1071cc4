// SPDX-License-Identifier: GPL-2.0
/* Shared by the sources of the archive. */
#ifndef PEBSD_HISTORY_ARCHIVE_INTERNAL_H
#define PEBSD_HISTORY_ARCHIVE_INTERNAL_H

#include <sqlite3.h>
#include <stdint.h>

#include "history/keeper/archive.h"
#include "history/keeper/row_data.h"
#include "history/keeper/spans.h"

#define ARCHIVE_COLUMN_(name) ", " #name
#define ARCHIVE_VALUE_(name)  ", ?"

/* Prepared statements. They are compiled at their first use. */
#define ARCHIVE_STATEMENTS(X)                                                                                                                                                                                                                                                                                                                                                                                                                                           \
	X(BEGIN, "BEGIN IMMEDIATE")                                                                                                                                                                                                                                                                                                                                                                                                                                     \
	X(BEGIN_READ, "BEGIN")                                                                                                                                                                                                                                                                                                                                                                                                                                          \
	X(COMMIT, "COMMIT")                                                                                                                                                                                                                                                                                                                                                                                                                                             \
	X(ROLLBACK, "ROLLBACK")                                                                                                                                                                                                                                                                                                                                                                                                                                         \
	X(EVENT_FIND, "SELECT id FROM event WHERE key = ?1 AND settings = ?2")                                                                                                                                                                                                                                                                                                                                                                                          \
	X(EVENT_ADD, "INSERT INTO event(key, settings) VALUES (?1, ?2)")                                                                                                                                                                                                                                                                                                                                                                                                \
	X(EVENT_GET, "SELECT key, settings FROM event WHERE id = ?1")                                                                                                                                                                                                                                                                                                                                                                                                   \
	X(CGROUP_FIND, "SELECT id, last_span, kernel_id, labels FROM cgroup WHERE path = ?1")                                                                                                                                                                                                                                                                                                                                                                           \
	X(CGROUP_ADD, "INSERT INTO cgroup(path, kernel_id, labels, last_span) VALUES (?1, ?2, ?3, ?4)")                                                                                                                                                                                                                                                                                                                                                                 \
	X(CGROUP_SET, "UPDATE cgroup SET kernel_id = ?2, labels = ?3, last_span = ?4 WHERE id = ?1")                                                                                                                                                                                                                                                                                                                                                                    \
	X(CGROUP_GET, "SELECT path, kernel_id, labels FROM cgroup WHERE id = ?1")                                                                                                                                                                                                                                                                                                                                                                                       \
	X(CGROUP_BELOW, "SELECT id FROM cgroup WHERE path = ?1 OR (path > ?2 AND path < ?3) ORDER BY id")                                                                                                                                                                                                                                                                                                                                                               \
	X(CGROUP_DROP, "DELETE FROM cgroup WHERE last_span < ?1")                                                                                                                                                                                                                                                                                                                                                                                                       \
	X(SPAN_ADD,                                                                                                                                                                                                                                                                                                                                                                                                                                                     \
	  "INSERT INTO span(id, seconds, start_us, end_us, covered_ns, run, bytes, parent) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)")                                                                                                                                                                                                                                                                                                                                  \
	X(SPAN_PARENT, "UPDATE span SET parent = ?2 WHERE id = ?1")                                                                                                                                                                                                                                                                                                                                                                                                     \
	X(SPAN_DROP, "DELETE FROM span WHERE id = ?1")                                                                                                                                                                                                                                                                                                                                                                                                                  \
	X(SPAN_LIST,                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	  "SELECT id, seconds, start_us, end_us, covered_ns, run, bytes, parent FROM span ORDER BY id")                                                                                                                                                                                                                                                                                                                                                                 \
	X(TOTAL_ADD,                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	  "INSERT INTO event_total(span, event, period, frequency_hz, counted, throttle_known" EVENT_COUNTS_OF_READING(                                                                                                                                                                                                                                                                                                                                                 \
		  ARCHIVE_COLUMN_) ", place, pairs) VALUES (?1, ?2, ?3, ?4, ?5, ?6" EVENT_COUNTS_OF_READING(ARCHIVE_VALUE_) ", ?, ?)")                                                                                                                                                                                                                                                                                                                                  \
	X(TOTAL_GET, "SELECT event, period, frequency_hz, counted, throttle_known" EVENT_COUNTS_OF_READING(                                                                                                                                                                                                                                                                                                                                                             \
			     ARCHIVE_COLUMN_) " FROM event_total WHERE span = ?1 ORDER BY place")                                                                                                                                                                                                                                                                                                                                                                       \
	X(TOTAL_PAIRS, "SELECT event, pairs FROM event_total WHERE span = ?1 ORDER BY event")                                                                                                                                                                                                                                                                                                                                                                           \
	X(TOTAL_DROP, "DELETE FROM event_total WHERE span = ?1")                                                                                                                                                                                                                                                                                                                                                                                                        \
	X(FIGURES_ADD,                                                                                                                                                                                                                                                                                                                                                                                                                                                  \
	  "INSERT INTO figures(span, cgroup, loads, latency, cycles, stalls, misses, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                                                                                                                                                                                                                                                                                                                    \
	X(FIGURES_GET, "SELECT cgroup, data FROM figures WHERE span = ?1 ORDER BY cgroup")                                                                                                                                                                                                                                                                                                                                                                              \
	X(FIGURES_ONE, "SELECT cgroup, data FROM figures WHERE span = ?1 AND cgroup = ?2")                                                                                                                                                                                                                                                                                                                                                                              \
	X(FIGURES_DROP, "DELETE FROM figures WHERE span = ?1")                                                                                                                                                                                                                                                                                                                                                                                                          \
	X(ALERT_SET,                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	  "INSERT INTO alert(key, from_us, to_us, json) VALUES (?1, ?2, ?3, ?4) ON CONFLICT(key) DO UPDATE SET from_us = excluded.from_us, to_us = excluded.to_us, json = CASE WHEN NOT json_valid(json) THEN excluded.json WHEN json_type(json, '$.firing') = 'object' THEN json_set(excluded.json, '$.firing', json_extract(json, '$.firing')) WHEN json_type(json, '$.fired') = 'text' THEN json_set(excluded.json, '$.firing', json(json)) ELSE excluded.json END") \
	X(ALERT_GET,                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	  "SELECT CASE WHEN json_valid(json) THEN json_patch(json_remove(json, '$.sentences', '$.min_samples', '$.firing.sentences', '$.firing.min_samples'), json_object('to_us', to_us)) ELSE json END FROM alert WHERE from_us <= ?2 AND (to_us IS NULL OR to_us > ?1) ORDER BY from_us, key")                                                                                                                                                                       \
	X(ALERT_ONE,                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	  "SELECT CASE WHEN row_number() OVER (ORDER BY from_us DESC, key DESC) <= ?5 THEN json_patch(json, json_object('to_us', to_us)) ELSE 'null' END FROM alert WHERE from_us <= ?2 AND (to_us IS NULL OR to_us > ?1) AND json_valid(json) AND json_extract(json, '$.cgroup') = ?3 AND json_extract(json, '$.rule') = ?4 ORDER BY from_us, key")                                                                                                                    \
	X(ALERT_END, "UPDATE alert SET to_us = max(from_us + 1, ?1) WHERE to_us IS NULL")                                                                                                                                                                                                                                                                                                                                                                               \
	X(ALERT_DROP, "DELETE FROM alert WHERE to_us < ?1")                                                                                                                                                                                                                                                                                                                                                                                                             \
	X(ALERT_LIMIT,                                                                                                                                                                                                                                                                                                                                                                                                                                                  \
	  "DELETE FROM alert WHERE key IN (SELECT key FROM alert ORDER BY from_us DESC LIMIT -1 OFFSET ?1)")

#define ARCHIVE_STATEMENT_(name, text) ARCHIVE_##name,
enum archive_statement { ARCHIVE_STATEMENTS(ARCHIVE_STATEMENT_) ARCHIVE_STATEMENTS_N };

/*
 * The rows of one span, or of a sum of spans: for each cgroup by ascending id a head, then its data
 * (row_data.h).
 */
struct archive_rows {
	u8 *bytes;
	size_t size;
	size_t room;
};

struct archive_row {
	u32 size;
	s64 cgroup;
	const u8 *data;
};

/* An event's numbers in a span or a sum of spans. */
struct archive_total {
	s64 event;
	u64 period;
	u64 frequency_hz;
	bool counted;
	bool throttle_known;
	u64 counts[HISTORY_COUNTS_N];
};

/* Spans whose rows are read at the same time: each takes memory for a statement. */
#define ARCHIVE_SPANS_AT_ONCE 16

#define ARCHIVE_EVENTS_MAX (4UL * EVENTS_MAX)

struct archive_totals {
	size_t n;
	struct archive_total list[ARCHIVE_EVENTS_MAX];
};

struct archive {
	char *directory;
	char *path;
	const char *vfs;
	sqlite3 *db;
	sqlite3_stmt *statements[ARCHIVE_STATEMENTS_N];
	sqlite3_stmt *cursors[2][ARCHIVE_SPANS_AT_ONCE];
	struct spans spans;
	u64 next_id;
	u64 bytes_max;
	u64 age_max_s;
	u64 log_bytes;    /* of the write-ahead log after the last transaction */
	u64 deadline_ns;  /* CLOCK_MONOTONIC, of the question that is being answered; 0: none */
	bool damaged;     /* the file is replaced before its next use */
	bool outdated;    /* the same, because it has an older version */
	bool spans_stale; /* `spans` is not what the file contains: a transaction failed */
	bool has_pairs;   /* the table event_total has the column */
	s64 data_version; /* of SQLite, when `spans` was read */
	u64 tidied_id;    /* `next_id` when unused cgroups and old alerts were last removed */
	unsigned alerts;  /* stored since then */
	u64 unreadable;   /* rows that were left out because of their data */
	u64 rows_read;    /* of cgroups and of sums of all cgroups */
	struct history_status status;
};

/* archive.c */
#define ARCHIVE_PAGE_BYTES 4096 /* SQLite's default */

/* Opens the file if it is not open. Returns 0 or -errno. */
int archive_open(struct archive *archive);

/*
 * Reads the list of spans again if it is not what the file contains: after a transaction failed, or if
 * another program or another keeper, which may still run when this one starts, has written. Call it in each
 * transaction. Returns 0 or -errno.
 */
int archive_refresh(struct archive *archive);

/*
 * Remembers why something failed, for archive_status(). `what` is what was tried. Returns -errno for the
 * result of the last call of SQLite.
 */
int archive_failed(struct archive *archive, const char *what);

/* Remembers another reason, which is a complete message. Returns `error`. */
int archive_refused(struct archive *archive, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Runs a statement that returns no rows, with its parameters bound. Returns 0 or -EIO: call archive_failed().
 * The statement is reset.
 */
int archive_run(struct archive *archive, enum archive_statement name);

/* Returns a statement, reset, or NULL. */
sqlite3_stmt *archive_statement(struct archive *archive, enum archive_statement name);

/*
 * Returns one of ARCHIVE_SPANS_AT_ONCE statements, reset, that read the rows of a span: all, or that of one
 * cgroup. Returns NULL on an error.
 */
sqlite3_stmt *archive_cursor(struct archive *archive, bool one_cgroup, size_t place);

/* Returns 1 for a row, 0 at the end, or -EIO. */
int archive_step(sqlite3_stmt *statement);

/* Gets the number that a statement returns. Returns 0 or -EIO. */
int archive_number(struct archive *archive, const char *text, s64 *ret);

/* archive_rows.c */
void archive_rows_done(struct archive_rows *rows);

/* Adds a row with a higher cgroup than all before. Returns 0 or -ENOMEM. */
int archive_rows_add(struct archive_rows *rows, s64 cgroup, const u8 *data, size_t size);

/* Begins with *at = 0. Returns false at the end. */
bool archive_rows_get(const struct archive_rows *rows, size_t *at, struct archive_row *ret);

/* The same with a sum of rows, which is empty afterwards. */
int archive_rows_add_sum(struct archive_rows *rows, s64 cgroup, struct row_sum *sum);

/*
 * Reads the rows of spans and adds them to the sum, which an error does not change. `cgroups`: only these, by
 * ascending id; NULL: all. Returns 0 or -errno.
 */
int archive_rows_read(struct archive *archive, const u64 *spans, size_t n, const s64 *cgroups,
		      size_t n_cgroups, struct archive_rows *sum);

/*
 * Adds the sum of all cgroups in the span, which is stored with the span, unless an older version of pebsd stored
 * it. Returns 0 or -errno.
 */
int archive_rows_sum(struct archive *archive, u64 span, struct row_sum *sum);

/* Returns the index of the event with this id, or -1. */
ssize_t archive_totals_find(const struct archive_totals *totals, u64 event);

/* Adds a span's numbers of events to the sum. Returns 0 or -errno. */
int archive_totals_read(struct archive *archive, u64 span, struct archive_totals *sum);

/*
 * archive_insert.c: inserts a span with all that belongs to it, and adds it to `spans`. Sets its id and
 * bytes. Returns 0 or -errno.
 */
int archive_insert(struct archive *archive, struct span *span, const struct archive_totals *totals,
		   const struct archive_rows *rows);

/*
 * archive_pane_rows.c: turns a pane into rows and totals, and adds the events and cgroups that are new.
 * Returns 0 or -errno.
 */
int archive_pane_rows(struct archive *archive, const struct history_pane *pane,
		      struct archive_totals *ret_totals, struct archive_rows *ret_rows);

/* A number for a column, which has 63 bits. */
static inline s64 archive_capped(u64 value)
{
	return value > INT64_MAX ? INT64_MAX : (s64)value;
}

#endif
