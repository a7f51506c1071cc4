// SPDX-License-Identifier: GPL-2.0
/* Turns a pane into the rows that are inserted, and finds the ids of its cgroups and events. */
#include <errno.h>
#include <string.h>

#include "history/keeper/archive_internal.h"
#include "history/keeper/row_data.h"

/* A cgroup's `last_span` is written again after this many spans: not in each, and long before KEPT_SPANS. */
#define LAST_SPAN_STEP 500

/* A cgroup of the pane: its rows are those from `first` on. */
struct member {
	s64 id;
	size_t first;
	size_t n;
};

static int find_event(struct archive *archive, const struct history_event *event, s64 *ret)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_EVENT_FIND);
	int r = -EIO;

	if (!statement)
		return r;
	(void)sqlite3_bind_text(statement, 1, event->key, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 2, event->settings, -1, SQLITE_STATIC);
	r = archive_step(statement);
	*ret = r == 1 ? sqlite3_column_int64(statement, 0) : 0;
	(void)sqlite3_reset(statement);
	if (r != 0)
		return r < 0 ? r : 0;
	statement = archive_statement(archive, ARCHIVE_EVENT_ADD);
	if (!statement)
		return -EIO;
	(void)sqlite3_bind_text(statement, 1, event->key, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 2, event->settings, -1, SQLITE_STATIC);
	r = archive_run(archive, ARCHIVE_EVENT_ADD);
	*ret = sqlite3_last_insert_rowid(archive->db);
	return r;
}

static int find_events(struct archive *archive, const struct history_pane *pane, struct archive_totals *ret)
{
	int r = 0;

	ret->n = 0;
	for (size_t i = 0; r == 0 && i < pane->n_events; i++) {
		const struct history_event *event = &pane->events[i];
		struct archive_total *total = &ret->list[ret->n++];

		*total = (struct archive_total){.period = event->period,
						.frequency_hz = event->frequency_hz,
						.counted = event->counted,
						.throttle_known = event->throttle_known};
		memcpy(total->counts, event->counts, sizeof(total->counts));
		r = find_event(archive, event, &total->event);
	}
	return r;
}

static int add_cgroup(struct archive *archive, const struct history_cgroup *cgroup, s64 *ret)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_CGROUP_ADD);
	int r;

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_text(statement, 1, cgroup->path, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(statement, 2, (s64)cgroup->id);
	(void)sqlite3_bind_text(statement, 3, cgroup->labels, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(statement, 4, (s64)archive->next_id);
	r = archive_run(archive, ARCHIVE_CGROUP_ADD);
	*ret = sqlite3_last_insert_rowid(archive->db);
	return r;
}

static int set_cgroup(struct archive *archive, const struct history_cgroup *cgroup, s64 id)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_CGROUP_SET);

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_int64(statement, 1, id);
	(void)sqlite3_bind_int64(statement, 2, (s64)cgroup->id);
	(void)sqlite3_bind_text(statement, 3, cgroup->labels, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(statement, 4, (s64)archive->next_id);
	return archive_run(archive, ARCHIVE_CGROUP_SET);
}

/* Labels and ids that are not known yet do not replace known ones. */
static bool differs(const struct history_cgroup *cgroup, sqlite3_stmt *row)
{
	const char *labels = (const char *)sqlite3_column_text(row, 3);

	return (cgroup->id != 0 && (s64)cgroup->id != sqlite3_column_int64(row, 2)) ||
	       (cgroup->labels[0] && labels && strcmp(cgroup->labels, labels) != 0);
}

static int find_cgroup(struct archive *archive, const struct history_cgroup *cgroup, s64 *ret)
{
	sqlite3_stmt *statement = archive_statement(archive, ARCHIVE_CGROUP_FIND);
	bool found, set = false;
	struct history_cgroup merged = *cgroup;
	_cleanup_free_ char *labels = NULL;
	int r;

	if (!statement)
		return -EIO;
	(void)sqlite3_bind_text(statement, 1, cgroup->path, -1, SQLITE_STATIC);
	r = archive_step(statement);
	found = r == 1;
	if (found) {
		const char *known = (const char *)sqlite3_column_text(statement, 3);

		*ret = sqlite3_column_int64(statement, 0);
		set = differs(cgroup, statement) ||
		      archive->next_id > (u64)sqlite3_column_int64(statement, 1) + LAST_SPAN_STEP;
		if (set && !cgroup->labels[0]) {
			labels = strdup(known ? known : "");
			merged.labels = labels;
			/* Without memory, a later pane changes the row. */
			set = labels != NULL;
		}
		if (set && cgroup->id == 0)
			merged.id = (u64)sqlite3_column_int64(statement, 2);
	}
	(void)sqlite3_reset(statement);
	if (r < 0)
		return r;
	if (!found)
		return add_cgroup(archive, cgroup, ret);
	return set ? set_cgroup(archive, &merged, *ret) : 0;
}

static int find_members(struct archive *archive, const struct history_pane *pane, struct member *members,
			size_t *ret_n)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < pane->n_rows;) {
		struct member *member = &members[n++];
		u32 cgroup = pane->rows[i].cgroup;

		*member = (struct member){.first = i};
		while (i < pane->n_rows && pane->rows[i].cgroup == cgroup)
			i++;
		member->n = i - member->first;
		r = find_cgroup(archive, &pane->cgroups[cgroup], &member->id);
	}
	*ret_n = n;
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Writes the rows of a cgroup by ascending id of their events. Returns the bytes. */
static size_t write_member(const struct history_pane *pane, const struct archive_totals *totals,
			   const struct member *member, u8 *to)
{
	struct row_part parts[ARCHIVE_EVENTS_MAX];
	u8 *start = to;

	for (size_t i = 0; i < member->n; i++) {
		const struct history_row *row = &pane->rows[member->first + i];
		const struct row_part part = {(u64)totals->list[row->event].event, row->packed, row->size};
		size_t at = i;

		for (; at > 0 && parts[at - 1].event > part.event; at--)
			parts[at] = parts[at - 1];
		parts[at] = part;
	}
	for (size_t i = 0; i < member->n; i++)
		to = row_data_put(to, &parts[i]);
	return (size_t)(to - start);
}

static size_t room_of(const struct history_pane *pane, const struct member *member)
{
	size_t room = 0;

	for (size_t i = 0; i < member->n; i++)
		room += pane->rows[member->first + i].size + ROW_PART_HEAD;
	return room;
}

static int make_room(u8 **data, size_t *room, size_t needed)
{
	u8 *grown = needed > *room ? realloc(*data, needed) : *data;

	if (!grown)
		return -ENOMEM;
	*data = grown;
	*room = needed > *room ? needed : *room;
	return 0;
}

/* Several cgroups of the pane may have the same path. */
static int write_members(const struct history_pane *pane, const struct archive_totals *totals,
			 const struct member *members, size_t n, struct archive_rows *rows)
{
	_cleanup_(row_sum_done) struct row_sum sum = {0};
	_cleanup_free_ u8 *data = NULL;
	size_t room = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const s64 id = members[i].id;
		const bool more = i + 1 < n && members[i + 1].id == id;
		size_t size;

		r = make_room(&data, &room, room_of(pane, &members[i]) + 1);
		if (r < 0)
			break;
		size = write_member(pane, totals, &members[i], data);
		if (more || sum.size > 0)
			r = row_sum_add(&sum, data, size);
		if (r == 0 && !more)
			r = sum.size > 0 ? archive_rows_add_sum(rows, id, &sum)
					 : archive_rows_add(rows, id, data, size);
	}
	return r;
}

int archive_pane_rows(struct archive *archive, const struct history_pane *pane,
		      struct archive_totals *ret_totals, struct archive_rows *ret_rows)
{
	_cleanup_free_ struct member *members = calloc(pane->n_cgroups + 1, sizeof(*members));
	size_t n = 0;
	int r;

	if (!members)
		return archive_refused(archive, -ENOMEM, "cannot store in %s: no memory", archive->path);
	r = find_events(archive, pane, ret_totals);
	if (r == 0)
		r = find_members(archive, pane, members, &n);
	if (r < 0)
		return archive_failed(archive, "store in");
	qsort(members, n, sizeof(*members), by_id);
	r = write_members(pane, ret_totals, members, n, ret_rows);
	if (r < 0)
		return archive_refused(archive, r, "cannot store in %s: no memory", archive->path);
	return 0;
}
