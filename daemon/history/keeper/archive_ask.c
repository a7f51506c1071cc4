// SPDX-License-Identifier: GPL-2.0
/* Answers questions from the spans of the archive. */
#include <errno.h>
#include <string.h>

#include "base/monotonic.h"
#include "history/keeper/archive_internal.h"

#define ANSWER_NS (5 * NSEC_PER_SEC)

/* An answer while it is made. */
struct answer {
	u8 *bytes;
	size_t size;
	size_t room;
	size_t most;
};

static int append(struct answer *answer, const void *bytes, size_t size)
{
	if (answer->size + size > answer->most)
		return -E2BIG;
	if (answer->size + size > answer->room) {
		size_t room = answer->size + size + answer->room / 2 + 4096;
		u8 *grown = realloc(answer->bytes, room);

		if (!grown)
			return -ENOMEM;
		answer->bytes = grown;
		answer->room = room;
	}
	memcpy(answer->bytes + answer->size, bytes, size);
	answer->size += size;
	return 0;
}

/*
 * The texts that a pane points to: cgroups' and events'. They are one block, which grows: first offsets are
 * kept.
 */
struct texts {
	char *bytes;
	size_t size;
	size_t room;
};

/* A text that is too long or has a NUL inside was not written by pebsd: the text is empty then. */
static int keep_text(struct texts *texts, const char *text, size_t length, size_t *ret)
{
	size_t size = length + 1;

	if (!text || size > HISTORY_TEXT_MAX || strlen(text) != length) {
		text = "";
		size = 1;
	}
	if (texts->size + size > texts->room) {
		size_t room = texts->size + size + texts->room / 2 + 16384;
		char *bytes = realloc(texts->bytes, room);

		if (!bytes)
			return -ENOMEM;
		texts->bytes = bytes;
		texts->room = room;
	}
	*ret = texts->size;
	memcpy(texts->bytes + texts->size, text, size);
	texts->size += size;
	return 0;
}

/* A pane of the answer while it is made. */
struct making {
	struct history_pane pane;
	struct archive_rows rows;
	struct archive_totals totals;
	struct texts texts;
	struct text_pair {
		size_t first;
		size_t second;
	} * offsets; /* of the events, then of the cgroups */
};

static void making_done(struct making *making)
{
	history_pane_done(&making->pane);
	archive_rows_done(&making->rows);
	free(making->texts.bytes);
	free(making->offsets);
}

static int keep_column(struct texts *texts, sqlite3_stmt *statement, int column, size_t *ret)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return keep_text(texts, text, (size_t)sqlite3_column_bytes(statement, column), ret);
}

/* An event whose row is missing has an empty key, and settings that no other event of the pane has. */
static int keep_unknown(struct texts *texts, s64 id, struct text_pair *ret)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%lld", (long long)id);
	int r = keep_text(texts, "", 0, &ret->first);

	return r < 0 ? r : keep_text(texts, text, (size_t)length, &ret->second);
}

/*
 * Gets two texts of the row with an id, and the number in `column` if it is not 0. Returns 1, 0: no such row,
 * or -errno.
 */
static int get_texts(struct archive *archive, enum archive_statement name, s64 id, const int columns[3],
		     struct texts *texts, struct text_pair *ret, u64 *ret_number)
{
	sqlite3_stmt *statement = archive_statement(archive, name);
	int r;

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, id);
	r = archive_step(statement);
	if (r == 1) {
		int kept = keep_column(texts, statement, columns[0], &ret->first);

		if (kept == 0)
			kept = keep_column(texts, statement, columns[1], &ret->second);
		if (ret_number)
			*ret_number = (u64)sqlite3_column_int64(statement, columns[2]);
		r = kept < 0 ? kept : 1;
	}
	(void)sqlite3_reset(statement);
	return r;
}

static int make_events(struct archive *archive, struct making *making)
{
	struct archive_totals *totals = &making->totals;

	for (size_t i = 0; i < totals->n; i++) {
		const struct archive_total *total = &totals->list[i];
		struct history_event *event = &making->pane.events[i];
		int r = get_texts(archive, ARCHIVE_EVENT_GET, total->event, (const int[]){0, 1, 0},
				  &making->texts, &making->offsets[i], NULL);

		if (r == 0) {
			archive->unreadable++;
			r = keep_unknown(&making->texts, total->event, &making->offsets[i]);
		}
		if (r < 0)
			return r;
		*event = (struct history_event){.period = total->period,
						.frequency_hz = total->frequency_hz,
						.counted = total->counted,
						.throttle_known = total->throttle_known};
		memcpy(event->counts, total->counts, sizeof(event->counts));
	}
	making->pane.n_events = totals->n;
	return 0;
}

/* The parts of a row are by event id, those of a pane by index. */
static void make_cgroup_rows(struct archive *archive, struct making *making, u32 cgroup,
			     const struct archive_row *row)
{
	struct row_reader reader = {.from = row->data, .end = row->data + row->size};
	struct history_pane *pane = &making->pane;
	size_t first = pane->n_rows;
	struct row_part part;

	while (row_data_get(&reader, &part)) {
		ssize_t event = archive_totals_find(&making->totals, part.event);
		size_t at;

		if (event < 0) {
			archive->unreadable++;
			continue;
		}
		for (at = pane->n_rows++; at > first && pane->rows[at - 1].event > (u32)event; at--)
			pane->rows[at] = pane->rows[at - 1];
		pane->rows[at] = (struct history_row){cgroup, (u32)event, part.size, part.packed};
	}
}

static int make_cgroups(struct archive *archive, struct making *making)
{
	struct history_pane *pane = &making->pane;
	struct archive_row row;
	size_t at = 0;

	while (archive_rows_get(&making->rows, &at, &row)) {
		struct history_cgroup *cgroup = &pane->cgroups[pane->n_cgroups];
		int r = get_texts(archive, ARCHIVE_CGROUP_GET, row.cgroup, (const int[]){0, 2, 1},
				  &making->texts, &making->offsets[making->totals.n + pane->n_cgroups],
				  &cgroup->id);

		if (r < 0)
			return r;
		if (r == 0) {
			archive->unreadable++;
			continue;
		}
		make_cgroup_rows(archive, making, (u32)pane->n_cgroups, &row);
		pane->n_cgroups++;
	}
	return 0;
}

/* Makes the rows of the sum of all cgroups. */
static int make_total(struct archive *archive, struct making *making)
{
	const size_t n = making->totals.n;
	struct archive_row row = {0};
	size_t at = 0;
	int r = keep_text(&making->texts, HISTORY_TOTAL, strlen(HISTORY_TOTAL), &making->offsets[n].first);

	if (r == 0)
		r = keep_text(&making->texts, "", 0, &making->offsets[n].second);
	if (r == 0 && archive_rows_get(&making->rows, &at, &row))
		make_cgroup_rows(archive, making, 0, &row);
	making->pane.n_cgroups = making->pane.n_rows > 0;
	return r;
}

static void point_to_texts(struct making *making)
{
	const char *texts = making->texts.bytes;

	for (size_t i = 0; i < making->pane.n_events; i++) {
		making->pane.events[i].key = texts + making->offsets[i].first;
		making->pane.events[i].settings = texts + making->offsets[i].second;
	}
	for (size_t i = 0; i < making->pane.n_cgroups; i++) {
		making->pane.cgroups[i].path = texts + making->offsets[making->totals.n + i].first;
		making->pane.cgroups[i].labels = texts + making->offsets[making->totals.n + i].second;
	}
}

static size_t count_rows(const struct archive_rows *rows, size_t *ret_parts)
{
	struct archive_row row;
	struct row_part part;
	size_t at = 0, n = 0;

	*ret_parts = 0;
	while (archive_rows_get(rows, &at, &row)) {
		struct row_reader reader = {.from = row.data, .end = row.data + row.size};

		n++;
		while (row_data_get(&reader, &part))
			++*ret_parts;
	}
	return n;
}

static int make_pane(struct archive *archive, struct making *making, bool total, struct answer *answer)
{
	struct history_pane *pane = &making->pane;
	size_t parts, cgroups = count_rows(&making->rows, &parts), size;
	_cleanup_free_ u8 *block = NULL;
	int r;

	if (total)
		cgroups = 1;
	pane->events = calloc(making->totals.n + 1, sizeof(*pane->events));
	pane->cgroups = calloc(cgroups + 1, sizeof(*pane->cgroups));
	pane->rows = calloc(parts + 1, sizeof(*pane->rows));
	making->offsets = calloc(making->totals.n + cgroups + 1, sizeof(*making->offsets));
	if (!pane->events || !pane->cgroups || !pane->rows || !making->offsets)
		return -ENOMEM;
	r = make_events(archive, making);
	if (r == 0)
		r = total ? make_total(archive, making) : make_cgroups(archive, making);
	if (r < 0)
		return r;
	point_to_texts(making);
	r = history_pane_write(pane, &block, &size);
	return r < 0 ? r : append(answer, block, size);
}

static int add_span(struct archive *archive, const struct span *span, struct making *making)
{
	struct history_pane *pane = &making->pane;

	pane->id = span->id;
	pane->run = span->run;
	if (pane->start_us == 0 || span->start_us < pane->start_us)
		pane->start_us = span->start_us;
	if (span->end_us > pane->end_us)
		pane->end_us = span->end_us;
	pane->covered_ns += span->covered_ns;
	return archive_totals_read(archive, span->id, &making->totals);
}

/* Reads the sum of all cgroups, as the row of one. */
static int read_total(struct archive *archive, const u64 *spans, size_t n, struct archive_rows *ret)
{
	_cleanup_(row_sum_done) struct row_sum sum = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = archive_rows_sum(archive, spans[i], &sum);
	return r < 0 ? r : archive_rows_add_sum(ret, 0, &sum);
}

static int make_panes(struct archive *archive, const struct history_query *query, const s64 *cgroups,
		      size_t n, struct answer *answer)
{
	const bool total = query->question == HISTORY_ASK_TOTALS;
	const struct span_question question = {query->since_us, query->until_us, query->bins,
					       query->least_seconds};
	_cleanup_free_ struct span_use *uses = NULL;
	_cleanup_free_ u64 *spans = NULL;
	size_t n_uses = 0;
	int r = spans_cover(&archive->spans, &question, &uses, &n_uses);

	if (r == 0) {
		spans = calloc(n_uses + 1, sizeof(*spans));
		r = spans ? 0 : -ENOMEM;
	}
	for (size_t i = 0, first = 0; r == 0 && i < n_uses; first = i) {
		struct making making = {0};

		for (; r == 0 && i < n_uses && uses[i].bin == uses[first].bin; i++) {
			const struct span *span = &archive->spans.list[uses[i].index];

			spans[i] = span->id;
			r = add_span(archive, span, &making);
		}
		if (r == 0)
			r = total ? read_total(archive, spans + first, i - first, &making.rows)
				  : archive_rows_read(archive, spans + first, i - first, cgroups, n,
						      &making.rows);
		if (r == 0)
			r = make_pane(archive, &making, total, answer);
		making_done(&making);
	}
	return r;
}

/* Ids of the cgroups that the question is about, ascending. */
static int find_cgroups(struct archive *archive, const struct history_query *query, s64 **ret, size_t *ret_n)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_CGROUP_BELOW);
	const char *path = strcmp(query->path, "/") == 0 ? "" : query->path;
	_cleanup_free_ char *low = NULL;
	_cleanup_free_ char *high = NULL;
	_cleanup_free_ s64 *list = NULL;
	size_t n = 0;
	int r;

	/* '0' follows '/'. Without `subtree`, no path is in the range. */
	if (asprintf(&low, "%s/", path) < 0 || asprintf(&high, "%s%c", path, query->subtree ? '0' : '/') < 0)
		return -ENOMEM;
	if (!statement)
		return -EIO;
	(void)sqlite3_bind_text(statement, 1, query->path, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 2, low, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 3, high, -1, SQLITE_STATIC);
	while ((r = archive_step(statement)) == 1) {
		s64 *grown = n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * sizeof(*list));

		if (!grown) {
			r = -ENOMEM;
			break;
		}
		list = grown;
		list[n++] = sqlite3_column_int64(statement, 0);
	}
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
	*ret_n = n;
	*ret = TAKE_PTR(list);
	return r;
}

static int ask_panes(struct archive *archive, const struct history_query *query, struct answer *answer)
{
	_cleanup_free_ s64 *cgroups = NULL;
	s64 none = 0;
	size_t n = 0;
	int r = 0;

	if (!query->path[0])
		return make_panes(archive, query, NULL, 0, answer);
	r = find_cgroups(archive, query, &cgroups, &n);
	/* A cgroup that is not known has panes without rows: the time was recorded. */
	return r < 0 ? r : make_panes(archive, query, n ? cgroups : &none, n, answer);
}

static int ask_alerts(struct archive *archive, const struct history_query *query, struct answer *answer)
{
	const bool one = query->path[0];
	sqlite3_stmt *statement = archive_statement(archive, one ? ARCHIVE_ALERT_ONE : ARCHIVE_ALERT_GET);
	int r, stepped;

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, archive_capped(query->since_us));
	(void)sqlite3_bind_int64(statement, 2, archive_capped(query->until_us));
	if (one) {
		(void)sqlite3_bind_text(statement, 3, query->path, -1, SQLITE_STATIC);
		(void)sqlite3_bind_text(statement, 4, query->rule, -1, SQLITE_STATIC);
		(void)sqlite3_bind_int(statement, 5, HISTORY_EXPLAINED_MAX);
	}
	r = append(answer, "[", 1);
	while (r == 0 && (stepped = archive_step(statement)) != 0) {
		const char *json = stepped == 1 ? (const char *)sqlite3_column_text(statement, 0) : NULL;

		r = stepped < 0 ? stepped : 0;
		if (json && answer->size > 1)
			r = append(answer, ",", 1);
		if (r == 0 && json)
			r = append(answer, json, strlen(json));
	}
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
	return r < 0 ? r : append(answer, "]", 1);
}

/* A query must not change the status, which is about storing. */
int archive_ask(struct archive *archive, const struct history_query *query, u8 **ret, size_t *ret_size)
{
	const struct history_status before = archive->status;
	const bool alerts = query->question == HISTORY_ASK_ALERTS;
	struct answer answer = {.most = alerts ? HISTORY_ALERTS_BYTES_MAX : HISTORY_ANSWER_BYTES_MAX};
	bool opened = archive->db;
	int r = archive_open(archive);

	if (r < 0)
		return r;
	archive->deadline_ns = monotonic_ns() + ANSWER_NS;
	r = archive_run(archive, ARCHIVE_BEGIN_READ);
	if (r == 0)
		r = archive_refresh(archive);
	if (r == 0)
		r = alerts ? ask_alerts(archive, query, &answer) : ask_panes(archive, query, &answer);
	archive->deadline_ns = 0;
	if (r == -EIO)
		r = archive_failed(archive, "read");
	if (!sqlite3_get_autocommit(archive->db))
		(void)archive_run(archive, ARCHIVE_ROLLBACK);
	if (opened && !archive->damaged)
		archive->status = before;
	if (r < 0) {
		free(answer.bytes);
		return r;
	}
	*ret = answer.bytes;
	*ret_size = answer.size;
	return 0;
}
