// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/utf8.h"
#include "snapshot/snapshot_counters.h"
#include "snapshot/snapshot_rank.h"
#include "snapshot/snapshot_waits.h"
#include "snapshot/view_tree.h"

/* One cgroup of the view, and the source of its counters. */
struct row {
	const struct snapshot_view *view;
	const char *path; /* in the view's `paths`, or the path of a cgroup */
	u32 first, n;     /* the cgroups that it is the sum of, in the view's `members` */
	u32 entry;
	bool own; /* it is not a sum: it contains only the cgroup of this path */
	bool alive, guest;
	u64 id, without_slot;
	/* Counters of a cgroup, or of the view's `offcore`. NULL: nothing was counted. */
	const struct offcore_counts *offcore;
	struct snapshot_rank rank;
	double value;
};

struct snapshot_view {
	struct snapshot snapshot;
	const struct snapshot *of;
	struct view_request request;            /* the strings in it are not used after the view is built */
	const struct snapshot_cgroup **members; /* in the order of the tree */
	struct row *rows;
	size_t n_rows;
	double *values; /* of `snapshot.cgroups`; NULL: none */
	char *paths;
	struct offcore_counts *offcore;
	size_t bytes;
};

/* An open row: its last cgroup was not read yet. */
struct level {
	struct row row; /* so far, without path and value */
	const char *path;
	size_t length;
	struct no_slot_range no_slot; /* names that begin with the path */
	struct glob_places places;
	struct offcore_counts *offcore; /* the sum in row.offcore, if it is not that of one cgroup */
	struct snapshot_counters *sums; /* NULL: no value is requested */
	double value;
	size_t valued; /* number of the row's cgroups for which `value` was computed; 0: not computed yet */
};

/* State that exists only while the view is made. */
struct builder {
	struct snapshot_view *view;
	const struct view_tree *tree;
	struct level levels[VIEW_LEVELS_MAX];
	size_t open; /* number of levels */
	bool filters;
	struct glob filter;
	struct snapshot_counters read;  /* of the cgroup that is read */
	struct snapshot_counters *sums; /* one for each level; NULL: no value is requested */
	size_t path_bytes, merged;      /* used of the view's `paths` and `offcore` */
};

/* Returns true if the view leaves out the counters of this event. */
static bool is_left_out(const struct snapshot_view *view, unsigned event)
{
	return view->request.one_event && event != view->request.event &&
	       !(view->snapshot.unlisted >> event & 1);
}

static bool make_of_row(const struct snapshot_cgroup *cgroup, unsigned event, struct counters *ret)
{
	const struct row *row = cgroup->made_of;
	const struct snapshot *of = row->view->of;
	struct counters made;
	bool any = false;

	if (is_left_out(row->view, event))
		return false;
	for (size_t i = 0; i < row->n; i++) {
		const struct snapshot_cgroup *member = row->view->members[row->first + i];
		const struct counters *counters = member->counters[event];

		if (!counters && of->make_counters && of->make_counters(member, event, &made))
			counters = &made;
		if (!counters)
			continue;
		if (any)
			counters_add(ret, counters);
		else
			*ret = *counters;
		any = true;
	}
	return any;
}

u64 snapshot_view_without_slot(const struct snapshot *snapshot, const char *path, size_t length)
{
	return no_slot_count_subtree(snapshot->no_slot, path, length);
}

/* Searches only the names that begin with the path of the row above. */
static void find_without_slot(struct builder *builder, struct level *level, const struct level *above)
{
	const struct no_slot *list = builder->view->of->no_slot;
	struct no_slot_range within;

	if (!list || *level->path != '/')
		return;
	within = above ? above->no_slot : no_slot_all(list);
	level->row.without_slot = no_slot_count(list, &within, level->path, level->length);
	level->no_slot = no_slot_narrow(list, &within, level->path, level->length);
}

/* Reads the shown form of the part of the path that is not in the path of the row above. */
static int filter_path(const struct builder *builder, struct level *level, const struct level *above)
{
	size_t known = above ? above->length : 0;
	_cleanup_free_ char *part = NULL, *shown = NULL;

	if (above)
		level->places = above->places;
	else
		glob_begin(&builder->filter, &level->places);
	part = strndup(level->path + known, level->length - known);
	if (!part || utf8_show(part, &shown) < 0)
		return -ENOMEM;
	glob_read(&builder->filter, &level->places, shown, strlen(shown));
	return 0;
}

static int open_row(struct builder *builder, size_t leaf, size_t length)
{
	const struct view_request *request = &builder->view->request;
	struct level *level = &builder->levels[builder->open];
	const struct level *above = builder->open ? level - 1 : NULL;

	*level = (struct level){
		.row = {.view = builder->view, .first = (u32)leaf},
		.path = builder->tree->leaves[leaf].cgroup->path,
		.length = length,
	};
	if (builder->sums) {
		level->sums = &builder->sums[builder->open];
		memset(level->sums->of, 0, sizeof(level->sums->of));
	}
	if (request->sums || request->subtree)
		find_without_slot(builder, level, above);
	builder->open++;
	return builder->filters ? filter_path(builder, level, above) : 0;
}

static void add_offcore(struct builder *builder, struct level *level, const struct offcore_counts *addend)
{
	if (!addend)
		return;
	if (!level->row.offcore) {
		level->row.offcore = addend;
		return;
	}
	if (!level->offcore) {
		level->offcore = &builder->view->offcore[builder->merged++];
		*level->offcore = *level->row.offcore;
		level->row.offcore = level->offcore;
	}
	offcore_counts_add(level->offcore, addend);
}

static void add_counters(struct snapshot_counters *sum, const struct snapshot_counters *addend)
{
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		if (!addend->of[event])
			continue;
		if (sum->of[event])
			counters_add(&sum->made[event], addend->of[event]);
		else
			sum->made[event] = *addend->of[event];
		sum->of[event] = &sum->made[event];
	}
}

/* Adds a cgroup to the last row that was opened for it. The rows above get its counters when that row is closed. */
static void add_cgroup(struct builder *builder, const struct snapshot_cgroup *cgroup)
{
	struct level *level = &builder->levels[builder->open - 1];
	const struct view_request *request = &builder->view->request;
	const struct counters *listed[EVENTS_MAX];

	snapshot_counters_of(builder->view->of, cgroup, &builder->read);
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		if (is_left_out(builder->view, event))
			builder->read.of[event] = NULL;
		listed[event] =
			builder->view->snapshot.unlisted >> event & 1 ? NULL : builder->read.of[event];
	}
	snapshot_rank_count(&level->row.rank, builder->view->of, listed);
	if (level->sums)
		add_counters(level->sums, &builder->read);
	if (!request->one_event)
		add_offcore(builder, level, cgroup->offcore);
	if (!cgroup->path[level->length]) {
		level->row.id = cgroup->id;
		level->row.entry = cgroup->entry;
		level->row.own = true;
	}
	level->row.alive = level->row.alive || cgroup->alive;
	level->row.guest = level->row.guest || cgroup->guest_not_sampled;
}

static bool has_samples(const struct snapshot_rank *rank)
{
	for (size_t kind = 0; kind < SAMPLES_KINDS; kind++)
		if (rank->samples[kind] > 0)
			return true;
	return false;
}

/* Returns the path of the row as a string. */
static const char *path_of(struct builder *builder, const struct level *level)
{
	char *copy = builder->view->paths + builder->path_bytes;

	if (!level->path[level->length])
		return level->path;
	memcpy(copy, level->path, level->length);
	copy[level->length] = '\0';
	builder->path_bytes += level->length + 1;
	return copy;
}

static void keep_row(struct builder *builder, const struct level *level)
{
	struct snapshot_view *view = builder->view;
	struct row *row = &view->rows[view->n_rows];

	if (builder->filters && !glob_accepts(&builder->filter, &level->places))
		return;
	if (view->request.one_event && !has_samples(&level->row.rank))
		return;
	*row = level->row;
	row->path = path_of(builder, level);
	row->own = row->own && row->n == 1;
	row->value = level->value;
	view->n_rows++;
}

/* Closes the last open row before this leaf. Its sum is complete, and is added to the row above. */
static void close_row(struct builder *builder, size_t leaf)
{
	struct level *level = &builder->levels[--builder->open];
	struct level *above = builder->open ? level - 1 : NULL;
	const struct view_request *request = &builder->view->request;

	level->row.n = (u32)leaf - level->row.first;
	/* In a chain of rows with the same cgroups all have the same value. */
	if (level->sums && level->valued != level->row.n)
		level->value = request->value(builder->view->of, level->sums, request->userdata);
	keep_row(builder, level);
	if (!above)
		return;
	snapshot_rank_add(&above->row.rank, &level->row.rank);
	above->row.alive = above->row.alive || level->row.alive;
	above->row.guest = above->row.guest || level->row.guest;
	add_offcore(builder, above, level->row.offcore);
	if (above->sums)
		add_counters(above->sums, level->sums);
	above->value = level->value;
	above->valued = level->row.n;
}

static int make_rows(struct builder *builder)
{
	const struct view_tree *tree = builder->tree;
	int r = 0;

	for (size_t i = 0; i < tree->n; i++) {
		const struct view_leaf *leaf = &tree->leaves[i];
		size_t length;

		while (builder->open > leaf->kept)
			close_row(builder, i);
		while (r == 0 &&
		       view_tree_next(tree, leaf, builder->open,
				      builder->open ? builder->levels[builder->open - 1].length : 0, &length))
			r = open_row(builder, i, length);
		if (r < 0)
			return r;
		builder->view->members[i] = leaf->cgroup;
		add_cgroup(builder, leaf->cgroup);
	}
	while (builder->open > 0)
		close_row(builder, tree->n);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = snapshot_rank_compare(&left->rank, &right->rank);

	return order ? order : strcmp(left->path, right->path);
}

static struct snapshot_cgroup cgroup_of(const struct row *row)
{
	struct snapshot_cgroup cgroup = {
		.path = row->path,
		.id = row->id,
		.alive = row->alive,
		.guest_not_sampled = row->guest,
		.made_of = row,
		.entry = row->entry,
		.without_slot = row->without_slot,
		.offcore = row->offcore,
	};

	if (!row->own) {
		cgroup.members = row->view->members + row->first;
		cgroup.n_members = row->n;
	}
	return cgroup;
}

static void list_rows(struct snapshot_view *view)
{
	struct snapshot *snapshot = &view->snapshot;

	qsort(view->rows, view->n_rows, sizeof(*view->rows), compare_rows);
	for (size_t i = 0; i < view->n_rows; i++) {
		snapshot->cgroups[i] = cgroup_of(&view->rows[i]);
		if (view->values)
			view->values[i] = view->rows[i].value;
	}
	snapshot->n_cgroups = view->n_rows;
}

/* The events, as bits, that a view of one event has only for the cost of waiting. */
static u32 unlisted_of(const struct snapshot *snapshot, const struct view_request *request)
{
	u32 unlisted = 0;

	for (unsigned event = 0; request->one_event && event < snapshot->n_events; event++)
		if (event != request->event && snapshot_event_is_of_waits(&snapshot->events[event]))
			unlisted |= 1U << event;
	return unlisted;
}

static bool any_offcore(const struct view_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		if (tree->leaves[i].cgroup->offcore)
			return true;
	return false;
}

/*
 * Allocates a view for all rows of the tree, unless these take too much memory. qsort(3) copies the leaves. To sort
 * the rows, and to list them in another order (order.c), takes up to five words for each row.
 */
static int allocate(const struct view_tree *tree, const struct snapshot *snapshot,
		    const struct view_request *request, struct snapshot_view **ret)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = calloc(1, sizeof(*view));
	size_t merged = any_offcore(tree) ? tree->merged : 0;

	if (!view)
		return -ENOMEM;
	view->of = snapshot;
	view->request = *request;
	view->bytes = sizeof(*view) + sizeof(struct builder) +
		      (tree->n + 1) * (2 * sizeof(*tree->leaves) + sizeof(*view->members)) +
		      (tree->rows + 1) * (sizeof(*view->rows) + sizeof(*snapshot->cgroups) +
					  sizeof(*view->values) + 5 * sizeof(u64)) +
		      tree->path_bytes + merged * sizeof(*view->offcore) +
		      (request->value ? tree->levels * sizeof(struct snapshot_counters) : 0);
	if (request->sums && view->bytes > VIEW_BYTES)
		return -E2BIG;
	view->snapshot = *snapshot;
	view->snapshot.make_counters = make_of_row;
	view->snapshot.unlisted = unlisted_of(snapshot, request);
	view->snapshot.cgroups = calloc(tree->rows + 1, sizeof(*snapshot->cgroups));
	view->members = calloc(tree->n + 1, sizeof(*view->members));
	view->rows = calloc(tree->rows + 1, sizeof(*view->rows));
	view->values = request->value ? calloc(tree->rows + 1, sizeof(*view->values)) : NULL;
	view->paths = malloc(tree->path_bytes + 1);
	view->offcore = calloc(merged + 1, sizeof(*view->offcore));
	if (!view->snapshot.cgroups || !view->members || !view->rows || !view->paths || !view->offcore ||
	    (request->value && !view->values))
		return -ENOMEM;
	*ret = TAKE_PTR(view);
	return 0;
}

static int build(struct snapshot_view *view, const struct view_tree *tree)
{
	_cleanup_free_ struct builder *builder = calloc(1, sizeof(*builder));
	_cleanup_free_ struct snapshot_counters *sums = NULL;
	char pattern[VIEW_FILTER_MAX + 5];
	int r;

	if (view->request.value)
		sums = calloc(tree->levels + 1, sizeof(*sums));
	if (!builder || (view->request.value && !sums))
		return -ENOMEM;
	builder->view = view;
	builder->tree = tree;
	builder->sums = sums;
	if (view->request.filter) {
		(void)snprintf(pattern, sizeof(pattern), "**%s**", view->request.filter);
		builder->filters = true;
		r = glob_compile(pattern, &builder->filter);
		if (r < 0)
			return r;
	}
	r = make_rows(builder);
	if (r == 0)
		list_rows(view);
	return r;
}

int snapshot_view_new(const struct snapshot *snapshot, const struct view_request *request,
		      struct snapshot_view **ret)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	struct view_tree tree;
	int r;

	if (request->sums && request->depth > VIEW_DEPTH_MAX)
		return -EINVAL;
	r = view_tree_init(&tree, snapshot, request);
	if (r == 0)
		r = allocate(&tree, snapshot, request, &view);
	if (r == 0)
		r = build(view, &tree);
	view_tree_done(&tree);
	if (r == 0)
		*ret = TAKE_PTR(view);
	return r;
}

const struct snapshot *snapshot_view_of(const struct snapshot_view *view)
{
	return &view->snapshot;
}

const double *snapshot_view_values(const struct snapshot_view *view)
{
	return view->values;
}

size_t snapshot_view_bytes(const struct snapshot_view *view)
{
	return view->bytes;
}

struct snapshot_view *snapshot_view_free(struct snapshot_view *view)
{
	if (!view)
		return NULL;
	free(view->snapshot.cgroups);
	free(view->members);
	free(view->rows);
	free(view->values);
	free(view->paths);
	free(view->offcore);
	free(view);
	return NULL;
}
