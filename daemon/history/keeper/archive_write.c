// SPDX-License-Identifier: GPL-2.0
/* Stores panes and alerts, adds up spans that are due, and drops those beyond the limits. */
#include <errno.h>
#include <string.h>

#include "history/keeper/archive_internal.h"

/* Space for the log. */
#define RESERVE_MAX (4ULL << 20)

/* Maximum number of spans that are dropped with one pane, so that a pane has a bounded time. */
#define DROPS_MAX 64

/*
 * Unused cgroups are removed after this many spans without them that are older than all that are stored. It
 * is above the number of spans that can be between a cgroup's row and the longer span that the row is added
 * to.
 */
#define KEPT_SPANS 20000

/* Cgroups and alerts are looked through after this many spans or alerts. */
#define TIDY_SPANS  512
#define TIDY_ALERTS 64

#define USEC_PER_SEC 1000000ULL

/* Bytes of the database that are in use, and of the file. */
static int measure(struct archive *archive, u64 *ret_used, u64 *ret_file)
{
	s64 pages = 0, unused = 0;

	if (archive_number(archive, "PRAGMA page_count", &pages) < 0 ||
	    archive_number(archive, "PRAGMA freelist_count", &unused) < 0)
		return archive_failed(archive, "read");
	*ret_used = (u64)(pages - unused) * ARCHIVE_PAGE_BYTES;
	*ret_file = (u64)pages * ARCHIVE_PAGE_BYTES;
	return 0;
}

static int run_with_id(struct archive *archive, enum archive_statement name, u64 id)
{
	sqlite3_stmt *statement = archive_statement(archive, name);

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, (s64)id);
	return archive_run(archive, name);
}

static u64 used_max(const struct archive *archive)
{
	u64 reserve = archive->bytes_max / 4 < RESERVE_MAX ? archive->bytes_max / 4 : RESERVE_MAX;

	return archive->bytes_max - reserve;
}

/* `incoming`: bytes that are about to be stored. */
static int drop_spans(struct archive *archive, u64 incoming)
{
	struct spans_limits limits = {.age_max_s = archive->age_max_s, .used_max = used_max(archive)};
	u64 file;
	size_t index;
	int r = measure(archive, &limits.used, &file);

	limits.used += incoming;
	for (unsigned i = 0; r == 0 && i < DROPS_MAX; i++) {
		enum spans_drop why = spans_to_drop(&archive->spans, &limits, &index);
		const struct span *span;

		if (why == SPANS_KEEP)
			return 0;
		span = &archive->spans.list[index];
		if (run_with_id(archive, ARCHIVE_FIGURES_DROP, span->id) < 0 ||
		    run_with_id(archive, ARCHIVE_TOTAL_DROP, span->id) < 0 ||
		    run_with_id(archive, ARCHIVE_SPAN_DROP, span->id) < 0)
			return archive_failed(archive, "store in");
		if (why == SPANS_DROP_SIZE || why == SPANS_DROP_COUNT)
			archive->status.limited = true;
		spans_remove(&archive->spans, index);
		r = measure(archive, &limits.used, &file);
		limits.used += incoming;
	}
	return r;
}

static int set_parent(struct archive *archive, struct span *child, u64 parent)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_SPAN_PARENT);

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, (s64)child->id);
	(void)sqlite3_bind_int64(statement, 2, (s64)parent);
	child->parent = parent;
	return archive_run(archive, ARCHIVE_SPAN_PARENT);
}

/*
 * Adds up the first spans, as many as fit in memory. Returns their number, or -errno if not even
 * one fits or for another reason. The other spans are due again.
 */
static int sum_spans(struct archive *archive, const size_t *indexes, size_t n, struct span *sum,
		     struct archive_totals *totals, struct archive_rows *rows)
{
	u64 ids[SPAN_CHILDREN_MAX];
	int r;

	for (size_t i = 0; i < n; i++)
		ids[i] = archive->spans.list[indexes[i]].id;
	/* The rows stay as they are after an error. SQLite may end the transaction if it has no memory. */
	while ((r = archive_rows_read(archive, ids, n, NULL, 0, rows)) < 0 && n > 1 &&
	       (r == -E2BIG || r == -ENOMEM) && !sqlite3_get_autocommit(archive->db))
		n /= 2;
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct span *child = &archive->spans.list[indexes[i]];

		r = archive_totals_read(archive, child->id, totals);
		sum->end_us = child->end_us;
		sum->covered_ns += child->covered_ns;
	}
	return r < 0 ? r : (int)n;
}

static int merge_spans(struct archive *archive, const size_t *indexes, size_t n)
{
	const struct span first = archive->spans.list[indexes[0]];
	struct span sum = {.start_us = first.start_us, .run = first.run, .tier = first.tier + 1};
	struct archive_totals totals = {0};
	struct archive_rows rows = {0};
	int r = sum_spans(archive, indexes, n, &sum, &totals, &rows);

	if (r > 0) {
		n = (size_t)r;
		r = 0;
	}
	if (r == -ENOMEM || r == -E2BIG)
		r = archive_refused(archive, r, "cannot store in %s: no memory", archive->path);
	if (r == 0)
		r = archive_insert(archive, &sum, &totals, &rows);
	archive_rows_done(&rows);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (set_parent(archive, &archive->spans.list[indexes[i]], sum.id) < 0)
			r = archive_failed(archive, "store in");
	return r;
}

static int merge_due(struct archive *archive)
{
	size_t indexes[SPAN_CHILDREN_MAX];
	size_t n;
	int r = 0;

	while (r == 0 && (n = spans_to_merge(&archive->spans, indexes)) > 0)
		r = merge_spans(archive, indexes, n);
	return r;
}

static int tidy_cgroups(struct archive *archive)
{
	if (archive->spans.n == 0 || archive->spans.list[0].id <= KEPT_SPANS)
		return 0;
	return run_with_id(archive, ARCHIVE_CGROUP_DROP, archive->spans.list[0].id - KEPT_SPANS);
}

/*
 * Alerts may take an eighth of the space. If they take more, the older ones go, so that about half of it is
 * left.
 */
static int tidy_alerts(struct archive *archive)
{
	const struct span *newest = archive->spans.n > 0 ? &archive->spans.list[archive->spans.n - 1] : NULL;
	u64 age_us = archive->age_max_s * USEC_PER_SEC;
	s64 bytes = 0, n = 0;

	if (newest && newest->end_us > age_us && spans_clock_is_trusted(&archive->spans) &&
	    run_with_id(archive, ARCHIVE_ALERT_DROP, newest->end_us - age_us) < 0)
		return -EIO;
	/* The length of a text would be its characters. */
	if (archive_number(archive,
			   "SELECT sum(length(CAST(key AS BLOB)) + length(CAST(json AS BLOB))) FROM alert",
			   &bytes) < 0 ||
	    archive_number(archive, "SELECT count(*) FROM alert", &n) < 0)
		return -EIO;
	if ((u64)bytes <= archive->bytes_max / 8)
		return 0;
	return run_with_id(archive, ARCHIVE_ALERT_LIMIT, (u64)n * (archive->bytes_max / 16) / (u64)bytes);
}

static int tidy(struct archive *archive)
{
	if (archive->next_id < archive->tidied_id + TIDY_SPANS && archive->alerts < TIDY_ALERTS)
		return 0;
	if (tidy_cgroups(archive) < 0 || tidy_alerts(archive) < 0)
		return archive_failed(archive, "store in");
	archive->tidied_id = archive->next_id;
	archive->alerts = 0;
	return 0;
}

/* A pane may complete a span of each longer tier, which have more counters. */
#define SPANS_AT_ONCE 6

static size_t bytes_of(const struct history_pane *pane)
{
	size_t bytes = 0;

	for (size_t i = 0; i < pane->n_rows; i++)
		bytes += pane->rows[i].size + 16;
	return SPANS_AT_ONCE * bytes;
}

/* pebsd sends a pane again if the keeper ended before it acknowledged the pane. */
static bool is_stored(const struct archive *archive, const struct history_pane *pane)
{
	for (size_t i = archive->spans.n; i-- > 0;) {
		const struct span *span = &archive->spans.list[i];

		if (span->tier == 0 && span->run == pane->run && span->end_us == pane->end_us)
			return true;
	}
	return false;
}

static int write_pane(struct archive *archive, const struct history_pane *pane)
{
	struct span span = {.start_us = pane->start_us,
			    .end_us = pane->end_us,
			    .covered_ns = pane->covered_ns,
			    .run = pane->run};
	struct archive_totals totals = {0};
	struct archive_rows rows = {0};
	int r;

	if (is_stored(archive, pane))
		return 0;
	r = drop_spans(archive, bytes_of(pane));
	if (r == 0)
		r = archive_pane_rows(archive, pane, &totals, &rows);
	if (r == 0)
		r = archive_insert(archive, &span, &totals, &rows);
	archive_rows_done(&rows);
	if (r == 0)
		r = merge_due(archive);
	return r;
}

static int write_alert(struct archive *archive, const struct history_alert *alert)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_ALERT_SET);

	if (statement) {
		(void)sqlite3_bind_text(statement, 1, alert->key, -1, SQLITE_STATIC);
		(void)sqlite3_bind_int64(statement, 2, archive_capped(alert->from_us));
		if (alert->to_us != 0)
			(void)sqlite3_bind_int64(statement, 3, archive_capped(alert->to_us));
		else
			(void)sqlite3_bind_null(statement, 3);
		(void)sqlite3_bind_text(statement, 4, alert->json, -1, SQLITE_STATIC);
	}
	if (!statement || archive_run(archive, ARCHIVE_ALERT_SET) < 0)
		return archive_failed(archive, "store in");
	archive->alerts++;
	return 0;
}

static int write_ends(struct archive *archive)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_ALERT_END);
	u64 newest_us = 0;

	for (size_t i = 0; i < archive->spans.n; i++)
		if (archive->spans.list[i].tier == 0)
			newest_us = archive->spans.list[i].end_us;
	if (statement)
		(void)sqlite3_bind_int64(statement, 1, archive_capped(newest_us));
	return !statement || archive_run(archive, ARCHIVE_ALERT_END) < 0 ? archive_failed(archive, "store in")
									 : 0;
}

/* The log cannot begin again while a reader needs an old state of the database. */
static int check_log(struct archive *archive)
{
	int pages = 0, written = 0;

	if (archive->log_bytes <= ARCHIVE_LOG_MAX)
		return 0;
	if (sqlite3_wal_checkpoint_v2(archive->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &pages, &written) ==
	    SQLITE_OK) {
		archive->log_bytes = 0;
		return 0;
	}
	return archive_refused(
		archive, -EBUSY,
		"cannot store in %s: another program has been reading it, so its log has %llu MiB; end that program",
		archive->path, (unsigned long long)(archive->log_bytes >> 20));
}

/* Gives free space back if the limit was made smaller. A failure costs nothing: the next pane tries again. */
static void shrink(struct archive *archive)
{
	u64 used = 0, file = 0;

	if (measure(archive, &used, &file) == 0 && file > archive->bytes_max && used < file)
		(void)sqlite3_exec(archive->db, "PRAGMA incremental_vacuum(256)", NULL, NULL, NULL);
	archive->status.bytes = file + archive->log_bytes;
}

/* Adds the column that files of older versions lack. Their spans have NULL in it. */
static int add_pairs_column(struct archive *archive)
{
	s64 columns = 0;

	if (archive->has_pairs)
		return 0;
	if (archive_number(archive,
			   "SELECT count(*) FROM pragma_table_info('event_total') WHERE name = 'pairs'",
			   &columns) < 0 ||
	    (columns == 0 && sqlite3_exec(archive->db, "ALTER TABLE event_total ADD COLUMN pairs BLOB", NULL,
					  NULL, NULL) != SQLITE_OK))
		return archive_failed(archive, "store in");
	archive->has_pairs = true;
	return 0;
}

/* At most one of both is given; none: alerts are ended. */
static int write_once(struct archive *archive, const struct history_pane *pane,
		      const struct history_alert *alert)
{
	int r = archive_open(archive);

	if (r == 0)
		r = check_log(archive);
	if (r < 0)
		return r;
	if (archive_run(archive, ARCHIVE_BEGIN) < 0)
		return archive_failed(archive, "store in");
	r = archive_refresh(archive);
	if (r == 0)
		r = add_pairs_column(archive);
	if (r == 0)
		r = pane    ? write_pane(archive, pane)
		    : alert ? write_alert(archive, alert)
			    : write_ends(archive);
	if (r == 0)
		r = tidy(archive);
	if (r == 0 && archive_run(archive, ARCHIVE_COMMIT) < 0)
		r = archive_failed(archive, "store in");
	if (r < 0) {
		archive->spans_stale = true;
		archive->has_pairs = false;
		if (!sqlite3_get_autocommit(archive->db))
			(void)archive_run(archive, ARCHIVE_ROLLBACK);
		return r;
	}
	archive->status.error = 0;
	archive->status.what[0] = '\0';
	shrink(archive);
	return 0;
}

static int write_any(struct archive *archive, const struct history_pane *pane,
		     const struct history_alert *alert)
{
	int r = write_once(archive, pane, alert);

	/* After corruption a new file was begun: store the pane or alert in it. */
	if (r == -EUCLEAN)
		r = write_once(archive, pane, alert);
	if (r < 0)
		archive->status.lost++;
	else if (pane)
		archive->status.panes++;
	return r;
}

int archive_pane(struct archive *archive, const struct history_pane *pane)
{
	return write_any(archive, pane, NULL);
}

int archive_alert(struct archive *archive, const struct history_alert *alert)
{
	return write_any(archive, NULL, alert);
}

int archive_end_alerts(struct archive *archive)
{
	int r = write_once(archive, NULL, NULL);

	/* A new file has no alerts. */
	return r == -EUCLEAN ? 0 : r;
}
