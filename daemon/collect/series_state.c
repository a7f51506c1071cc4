// SPDX-License-Identifier: GPL-2.0
/* The series kept beyond the process: what changes is put into the state, and taken back. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/path_state.h"
#include "collect/series_parts.h"
#include "state/state_kinds.h"

/* One that is idle and among the N is wanted at each collection, which is put this seldom: so much sooner, at
 * most, a series ends after a restart. */
#define WANTED_GAP_NS (10 * NSEC_PER_SEC)

static u64 figures_key(u32 id, unsigned event)
{
	return (u64)id << 8 | event;
}

void series_forget_figures(struct series_table *table, struct series *series)
{
	for (size_t event = 0; event < EVENTS_MAX; event++)
		state_remove(table->state, &series->kept.figures[event]);
	state_remove(table->state, &series->kept.counters);
	series->kept.moved = 0;
	series->kept.counted = false;
}

void series_forget(struct series_table *table, struct series *series)
{
	series_forget_figures(table, series);
	state_remove(table->state, &series->kept.name);
	state_remove(table->state, &series->kept.standing);
}

static void save_figures(struct series_table *table, struct series *series)
{
	struct series_kept *kept = &series->kept;
	u8 pairs[PAIRS_MAX];

	for (u32 left = kept->moved; left; left &= left - 1) {
		unsigned event = (unsigned)__builtin_ctz(left);

		state_put(table->state, &kept->figures[event], STATE_FIGURES, figures_key(kept->id, event),
			  pairs, pairs_of(series->figures[event], pairs));
	}
	kept->moved = 0;
	if (kept->counted)
		state_put(table->state, &kept->counters, STATE_COUNTERS, kept->id, series->offcore,
			  sizeof(*series->offcore));
	kept->counted = false;
}

static void save_name(struct series_table *table, struct path *path)
{
	u8 bytes[PATH_STATE_MAX];
	struct state_writer writer = {.to = bytes};

	path->series.kept.id = table->next_id++;
	path_save(&writer, path->series.path, path->series.kept.id);
	state_put(table->state, &path->series.kept.name, STATE_PATH, path->series.kept.id, bytes,
		  (size_t)(writer.to - bytes));
}

static void save_standing(struct series_table *table, struct path *path)
{
	u8 bytes[(size_t)4 * VARINT_MAX + 2 * sizeof(double)];
	struct state_writer writer = {.to = bytes};
	struct series_kept *kept = &path->series.kept;

	state_put_number(&writer, path->standing);
	state_put_number(&writer, table->now_ns);
	state_put_number(&writer, table->now_ns - path->seen_ns);
	state_put_number(&writer, table->now_ns - path->series.wanted_ns);
	state_put_bytes(&writer, &path->series.cost, sizeof(path->series.cost));
	state_put_bytes(&writer, &path->samples, sizeof(path->samples));
	state_put(table->state, &kept->standing, STATE_SERIES, kept->id, bytes, (size_t)(writer.to - bytes));
	kept->wanted_ns = path->series.wanted_ns;
	kept->changed = false;
}

void series_table_save(struct series_table *table)
{
	if (!state_keeps(table->state))
		return;
	save_figures(table, &table->other);
	save_figures(table, &table->unattributed);
	FOREACH_PATH (&table->paths, path) {
		struct series_kept *kept = &path->series.kept;

		if (path->series.wanted_ns >= kept->wanted_ns + WANTED_GAP_NS)
			kept->changed = true;
		if (!kept->changed && !kept->moved && !kept->counted)
			continue;
		if (kept->id == 0)
			save_name(table, path);
		if (kept->changed)
			save_standing(table, path);
		save_figures(table, &path->series);
	}
}

static int restore_event(struct series_table *table, struct series *series, unsigned event)
{
	const struct state_record *record =
		state_find(table->state, STATE_FIGURES, figures_key(series->kept.id, event));

	if (!record)
		return 0;
	if (!pairs_sound(record->bytes, record->length))
		return -EBADMSG;
	series->figures[event] = calloc(1, sizeof(struct figures));
	if (!series->figures[event])
		return -ENOMEM;
	pairs_add(record->bytes, record->length, series->figures[event]);
	state_take(table->state, record, &series->kept.figures[event]);
	return 0;
}

static int restore_figures(struct series_table *table, struct series *series)
{
	const struct state_record *record = state_find(table->state, STATE_COUNTERS, series->kept.id);
	int r = 0;

	for (unsigned event = 0; event < EVENTS_MAX && r == 0; event++)
		r = restore_event(table, series, event);
	if (r < 0 || !record)
		return r;
	if (record->length != sizeof(*series->offcore))
		return -EBADMSG;
	series->offcore = malloc(sizeof(*series->offcore));
	if (!series->offcore)
		return -ENOMEM;
	memcpy(series->offcore, record->bytes, record->length);
	state_take(table->state, record, &series->kept.counters);
	return 0;
}

static bool is_cost(double value)
{
	return isfinite(value) && value >= 0;
}

/* Without a record it is what it is where nothing is known of it. Costs are as of the table's time. */
static int restore_standing(struct series_table *table, struct path *path)
{
	const struct state_record *record = state_find(table->state, STATE_SERIES, path->series.kept.id);
	struct state_reader reader;
	u64 standing, at_ns, seen, wanted;
	double left;

	if (!record)
		return 0;
	reader = (struct state_reader){.from = record->bytes, .end = record->bytes + record->length};
	standing = state_get_number(&reader);
	at_ns = state_get_number(&reader);
	seen = state_get_number(&reader);
	wanted = state_get_number(&reader);
	state_get_bytes(&reader, &path->series.cost, sizeof(path->series.cost));
	state_get_bytes(&reader, &path->samples, sizeof(path->samples));
	if (!state_read_whole(&reader) || standing > PATH_ENDED || at_ns > table->now_ns || seen > at_ns ||
	    wanted > at_ns || !is_cost(path->series.cost) || !is_cost(path->samples))
		return -EBADMSG;
	left = exp2(-(double)(table->now_ns - at_ns) / (double)SERIES_HALF_LIFE_NS);
	path->series.cost *= left;
	path->samples *= left;
	path->standing = (enum path_standing)standing;
	path->seen_ns = at_ns - seen;
	path->series.wanted_ns = path->series.kept.wanted_ns = at_ns - wanted;
	state_take(table->state, record, &path->series.kept.standing);
	return 0;
}

static int restore_path(struct series_table *table, const struct state_record *record)
{
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	_cleanup_free_ char *name = NULL;
	struct path *path;
	int r = path_restore(&reader, &name);

	if (r < 0)
		return r;
	if (record->key < table->next_id || record->key >= UINT32_MAX || paths_find(&table->paths, name))
		return -EBADMSG;
	path = paths_get(&table->paths, name);
	if (!path)
		return -ENOMEM;
	path->series.kept.id = (u32)record->key;
	table->next_id = path->series.kept.id + 1;
	state_take(table->state, record, &path->series.kept.name);
	r = restore_standing(table, path);
	return r < 0 ? r : restore_figures(table, &path->series);
}

/* As after the update that was last. */
static int list_exported(struct series_table *table)
{
	const struct series **list = reallocarray(table->list, table->paths.n + 2, sizeof(*list));

	if (!list)
		return -ENOMEM;
	table->list = list;
	FOREACH_PATH (&table->paths, path)
		if (path->standing == PATH_EXPORTED)
			table->list[table->n_list++] = &path->series;
	return 0;
}

int series_table_keep(struct series_table *table, struct state *state, u64 now_ns)
{
	const struct state_record *records;
	size_t n;
	int r;

	table->state = state;
	table->now_ns = now_ns;
	r = restore_figures(table, &table->other);
	if (r == 0)
		r = restore_figures(table, &table->unattributed);
	records = state_records(state, STATE_PATH, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = restore_path(table, &records[i]);
	return r < 0 ? r : list_exported(table);
}
