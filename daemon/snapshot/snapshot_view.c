// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/utf8.h"
#include "snapshot/snapshot_figures.h"
#include "snapshot/snapshot_rank.h"

/* One cgroup of the view, and the source of its figures. */
struct group {
	const struct snapshot_view *view;
	char *path;                             /* owned */
	const struct snapshot_cgroup **members; /* in the view's list */
	size_t n_members;
	struct offcore_figures *offcore; /* the sum of the members; NULL: nothing counted */
	struct snapshot_rank rank;
	struct snapshot_cgroup cgroup;
};

struct snapshot_view {
	struct snapshot snapshot;
	const struct snapshot *of;
	struct view_request request; /* the strings in it are not used after the view is built */
	const struct snapshot_cgroup **members;
	struct group *groups;
	size_t n_groups;
};

/* The cgroup with the index `cgroup` is part of the sum for the first `length` bytes of `path`. */
struct part {
	const char *path;
	size_t length;
	size_t cgroup;
};

struct parts {
	struct part *list;
	size_t n, room;
};

static bool make_of_group(const struct snapshot_cgroup *cgroup, unsigned event, struct figures *ret)
{
	const struct group *group = cgroup->made_of;
	const struct snapshot *of = group->view->of;
	struct figures made;
	bool any = false;

	if (group->view->request.one_event && event != group->view->request.event)
		return false;
	for (size_t i = 0; i < group->n_members; i++) {
		const struct snapshot_cgroup *member = group->members[i];
		const struct figures *figures = member->figures[event];

		if (!figures && of->make_figures && of->make_figures(member, event, &made))
			figures = &made;
		if (!figures)
			continue;
		if (any)
			figures_add(ret, figures);
		else
			*ret = *figures;
		any = true;
	}
	return any;
}

static int add_part(struct parts *parts, const char *path, size_t length, size_t cgroup)
{
	if (parts->n == parts->room) {
		size_t room = 2 * parts->room + 64;
		struct part *longer = reallocarray(parts->list, room, sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		parts->list = longer;
		parts->room = room;
	}
	parts->list[parts->n++] = (struct part){.path = path, .length = length, .cgroup = cgroup};
	return 0;
}

/* Adds a path to the sums that it is part of, down to `depth`: "/a/b" is part of "/", "/a" and "/a/b". */
static int add_parts(struct parts *parts, const char *path, u64 depth, size_t cgroup)
{
	size_t length = 1;
	int r;

	if (*path != '/')
		return add_part(parts, path, strlen(path), cgroup);
	r = add_part(parts, path, length, cgroup);
	for (u64 level = 0; r == 0 && level < depth && path[length]; level++) {
		length += strcspn(path + length + (path[length] == '/'), "/") + (path[length] == '/');
		r = add_part(parts, path, length, cgroup);
	}
	return r;
}

/* Returns true if a path is displayed as `subtree`, or lies below it. */
static bool is_below(const char *path, const char *subtree)
{
	_cleanup_free_ char *shown = NULL;
	size_t length = strlen(subtree);

	if (utf8_show(path, &shown) < 0)
		return false;
	if (strcmp(subtree, "/") == 0)
		return *shown == '/';
	/* The name of a command may contain a slash and is not a path. */
	if (*subtree != '/')
		return strcmp(shown, subtree) == 0;
	return strncmp(shown, subtree, length) == 0 && (!shown[length] || shown[length] == '/');
}

/* Number of bytes of `path` that are displayed as `subtree`. */
static size_t length_of(const char *path, const char *subtree)
{
	size_t names = 0, length = 0;

	if (strcmp(subtree, "/") == 0)
		return 1;
	if (*subtree != '/')
		return strlen(path);
	for (const char *at = subtree; *at; at++)
		names += *at == '/';
	for (length = 0; path[length]; length++)
		if (path[length] == '/' && names-- == 0)
			break;
	return length;
}

bool snapshot_view_holds(const char *path, const char *subtree, size_t *ret_length)
{
	if (!is_below(path, subtree))
		return false;
	*ret_length = length_of(path, subtree);
	return true;
}

/* Number of paths in the ascending list that sort before this text: `length` bytes of `path`, then `end`. */
static size_t count_before(const struct no_slot *list, const char *path, size_t length, unsigned char end)
{
	size_t first = 0, n = list->n;

	while (n > 0) {
		const char *middle = list->paths[first + n / 2];
		int order = strncmp(middle, path, length);

		if (order < 0 || (order == 0 && (unsigned char)middle[length] < end)) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return first;
}

u64 snapshot_view_without_slot(const struct snapshot *snapshot, const char *path, size_t length)
{
	const struct no_slot *list = snapshot->no_slot;

	if (!list || *path != '/')
		return 0;
	if (length == 1)
		return list->n;
	/* Counts the path itself, which ends there, and the paths that continue it with a slash. */
	return count_before(list, path, length, 1) - count_before(list, path, length, 0) +
	       count_before(list, path, length, '/' + 1) - count_before(list, path, length, '/');
}

static int find_parts(const struct snapshot *snapshot, const struct view_request *request,
		      struct parts *parts)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < snapshot->n_cgroups; i++) {
		const char *path = snapshot->cgroups[i].path;

		if (request->subtree)
			r = is_below(path, request->subtree)
				    ? add_part(parts, path, length_of(path, request->subtree), i)
				    : 0;
		else if (request->sums)
			r = add_parts(parts, path, request->depth, i);
		else
			r = add_part(parts, path, strlen(path), i);
	}
	return r;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *left = a, *right = b;
	size_t shorter = left->length < right->length ? left->length : right->length;
	int order = memcmp(left->path, right->path, shorter);

	if (order)
		return order;
	if (left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return left->cgroup < right->cgroup ? -1 : left->cgroup > right->cgroup;
}

static bool passes(const struct view_request *request, const char *path)
{
	char pattern[VIEW_FILTER_MAX + 5];
	_cleanup_free_ char *shown = NULL;

	if (!request->filter)
		return true;
	(void)snprintf(pattern, sizeof(pattern), "**%s**", request->filter);
	return utf8_show(path, &shown) == 0 && glob_match(pattern, shown);
}

static int add_offcore(struct group *group, const struct snapshot_cgroup *member)
{
	if (!member->offcore || group->view->request.one_event)
		return 0;
	if (!group->offcore)
		group->offcore = calloc(1, sizeof(*group->offcore));
	if (!group->offcore)
		return -ENOMEM;
	offcore_figures_add(group->offcore, member->offcore);
	return 0;
}

/*
 * Builds a group from the parts from `first` to `end`, which all have the same path. Returns 1; 0 if the
 * filter excludes the path; or -ENOMEM.
 */
static int make_group(struct snapshot_view *view, const struct part *parts, size_t first, size_t end,
		      const struct snapshot_rank *ranks, struct group *group)
{
	const struct snapshot_cgroup *cgroups = view->of->cgroups;
	const struct part *part = &parts[first];
	int r = 0;

	*group = (struct group){.view = view, .members = view->members + first, .n_members = end - first};
	group->path = strndup(part->path, part->length);
	if (!group->path)
		return -ENOMEM;
	if (!passes(&view->request, group->path)) {
		free(group->path);
		return 0;
	}
	group->cgroup.path = group->path;
	for (size_t i = first; r == 0 && i < end; i++) {
		const struct snapshot_cgroup *member = &cgroups[parts[i].cgroup];

		view->members[i] = member;
		if (!member->path[part->length]) {
			group->cgroup.id = member->id;
			group->cgroup.entry = member->entry;
		}
		group->cgroup.alive = group->cgroup.alive || member->alive;
		group->cgroup.guest_not_sampled =
			group->cgroup.guest_not_sampled || member->guest_not_sampled;
		snapshot_rank_add(&group->rank, &ranks[parts[i].cgroup]);
		r = add_offcore(group, member);
	}
	if (end - first > 1 || cgroups[part->cgroup].path[part->length]) {
		group->cgroup.members = group->members;
		group->cgroup.n_members = group->n_members;
	}
	if (view->request.subtree || view->request.sums)
		group->cgroup.without_slot = snapshot_view_without_slot(view->of, part->path, part->length);
	group->cgroup.offcore = group->offcore;
	if (r < 0) {
		free(group->path);
		free(group->offcore);
	}
	return r < 0 ? r : 1;
}

static bool has_samples(const struct snapshot_rank *rank)
{
	for (size_t role = 0; role < EVENT_ROLES; role++)
		if (rank->samples[role] > 0)
			return true;
	return false;
}

/* Computes the rank of each cgroup. The rank of a sum is the sum of its cgroups' ranks. */
static int rank_cgroups(const struct snapshot *snapshot, const struct view_request *request,
			struct snapshot_rank *ranks)
{
	_cleanup_free_ struct cgroup_figures *figures = malloc(sizeof(*figures));

	if (!figures)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		snapshot_figures(snapshot, &snapshot->cgroups[i], figures);
		for (unsigned event = 0; event < EVENTS_MAX; event++)
			if (request->one_event && event != request->event)
				figures->of[event] = NULL;
		snapshot_rank_count(&ranks[i], snapshot, figures->of);
	}
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a, *right = b;
	int order = snapshot_rank_compare(&left->rank, &right->rank);

	return order ? order : strcmp(left->path, right->path);
}

static int make_groups(struct snapshot_view *view, struct parts *parts, const struct snapshot_rank *ranks)
{
	view->members = calloc(parts->n + 1, sizeof(*view->members));
	view->groups = calloc(parts->n + 1, sizeof(*view->groups));
	if (!view->members || !view->groups)
		return -ENOMEM;
	if (parts->n)
		qsort(parts->list, parts->n, sizeof(*parts->list), compare_parts);
	for (size_t i = 0, end; i < parts->n; i = end) {
		struct group *group = &view->groups[view->n_groups];
		int r;

		for (end = i + 1;
		     end < parts->n && parts->list[end].length == parts->list[i].length &&
		     memcmp(parts->list[end].path, parts->list[i].path, parts->list[i].length) == 0;)
			end++;
		r = make_group(view, parts->list, i, end, ranks, group);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		view->n_groups++;
		if (view->request.one_event && !has_samples(&group->rank)) {
			free(group->path);
			view->n_groups--;
		}
	}
	return 0;
}

static int list_groups(struct snapshot_view *view)
{
	struct snapshot *snapshot = &view->snapshot;

	*snapshot = *view->of;
	snapshot->make_figures = make_of_group;
	snapshot->n_cgroups = 0;
	snapshot->cgroups = calloc(view->n_groups + 1, sizeof(*snapshot->cgroups));
	if (!snapshot->cgroups)
		return -ENOMEM;
	if (view->n_groups)
		qsort(view->groups, view->n_groups, sizeof(*view->groups), compare_groups);
	for (size_t i = 0; i < view->n_groups; i++) {
		view->groups[i].cgroup.made_of = &view->groups[i];
		snapshot->cgroups[snapshot->n_cgroups++] = view->groups[i].cgroup;
	}
	return 0;
}

int snapshot_view_new(const struct snapshot *snapshot, const struct view_request *request,
		      struct snapshot_view **ret)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = calloc(1, sizeof(*view));
	_cleanup_free_ struct snapshot_rank *ranks = calloc(snapshot->n_cgroups + 1, sizeof(*ranks));
	struct parts parts = {0};
	int r;

	if (!view || !ranks)
		return -ENOMEM;
	view->of = snapshot;
	view->request = *request;
	r = rank_cgroups(snapshot, request, ranks);
	if (r == 0)
		r = find_parts(snapshot, request, &parts);
	if (r == 0)
		r = make_groups(view, &parts, ranks);
	free(parts.list);
	if (r == 0)
		r = list_groups(view);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(view);
	return 0;
}

const struct snapshot *snapshot_view_of(const struct snapshot_view *view)
{
	return &view->snapshot;
}

struct snapshot_view *snapshot_view_free(struct snapshot_view *view)
{
	if (!view)
		return NULL;
	for (size_t i = 0; i < view->n_groups; i++) {
		free(view->groups[i].path);
		free(view->groups[i].offcore);
	}
	free(view->groups);
	free(view->members);
	free(view->snapshot.cgroups);
	free(view);
	return NULL;
}
