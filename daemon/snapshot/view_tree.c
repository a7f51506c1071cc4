// SPDX-License-Identifier: GPL-2.0
#include "snapshot/view_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/utf8.h"

/* Number of bytes that two paths have in common at their beginning. */
static size_t common_bytes(const struct view_leaf *one, const struct view_leaf *other)
{
	const char *a = one->cgroup->path, *b = other->cgroup->path;
	size_t n = MIN(one->length, other->length), i = 0;

	/* Chains of nested cgroups make long paths that differ only at their end. */
	while (n - i >= sizeof(u64) && memcmp(a + i, b + i, sizeof(u64)) == 0)
		i += sizeof(u64);
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* A path sorts before the paths below it, and these sort before all others that begin with its bytes. */
static int rank_of(char byte)
{
	return byte == '/' ? 1 : byte ? 2 + (unsigned char)byte : 0;
}

static int compare_leaves(const void *a, const void *b)
{
	const struct view_leaf *left = a, *right = b;
	size_t at = common_bytes(left, right);
	int order = rank_of(left->cgroup->path[at]) - rank_of(right->cgroup->path[at]);

	if (order)
		return order;
	return left->cgroup < right->cgroup ? -1 : left->cgroup > right->cgroup;
}

static bool is_path(const struct view_tree *tree, const char *name)
{
	return tree->request->sums && *name == '/';
}

bool view_tree_next(const struct view_tree *tree, const struct view_leaf *leaf, size_t open, size_t at,
		    size_t *ret)
{
	const struct view_request *request = tree->request;
	const char *path = leaf->cgroup->path;

	if (open == 0) {
		*ret = request->subtree ? tree->subtree_length : is_path(tree, path) ? 1 : leaf->length;
		return true;
	}
	if (request->subtree || !is_path(tree, path) || open > request->depth || !path[at])
		return false;
	at += path[at] == '/';
	*ret = at + strcspn(path + at, "/");
	return true;
}

/* Returns true if the first `length` bytes of this path are the path of a row. */
static bool ends_at(const struct view_tree *tree, const char *path, size_t length)
{
	if (tree->request->subtree)
		return true;
	if (!is_path(tree, path))
		return !path[length];
	return length == 1 || !path[length] || (length > 0 && path[length] == '/');
}

/* Counts the rows, and sets `kept` of each leaf. */
static void count_rows(struct view_tree *tree)
{
	size_t lengths[VIEW_LEVELS_MAX], parts[VIEW_LEVELS_MAX], open = 0;

	for (size_t i = 0; i < tree->n; i++) {
		struct view_leaf *leaf = &tree->leaves[i];
		const char *path = leaf->cgroup->path;
		size_t common = i ? common_bytes(leaf - 1, leaf) : 0, kept = 0, end;

		while (kept < open && lengths[kept] <= common && ends_at(tree, path, lengths[kept]))
			kept++;
		leaf->kept = (u32)kept;
		/* The leaf, or the row below that contains it, is another part of the last row that stays open. */
		if (kept > 0 && parts[kept - 1]++ == 1)
			tree->merged++;
		for (open = kept; view_tree_next(tree, leaf, open, open ? lengths[open - 1] : 0, &end);
		     open++) {
			lengths[open] = end;
			parts[open] = 1;
			tree->rows++;
			tree->path_bytes += path[end] ? end + 1 : 0;
		}
		tree->levels = MAX(tree->levels, open);
	}
}

/* The length of the part of `path` that has as many names as `subtree`, or of the whole path if that has fewer. */
static size_t part_length(const char *path, const char *subtree)
{
	size_t names = 0, length = 0;

	/* The name of a command may contain a slash and is not a path. */
	if (*subtree != '/')
		return strlen(path);
	for (const char *at = subtree; *at; at++)
		names += *at == '/';
	for (; path[length]; length++)
		if (path[length] == '/' && names-- == 0)
			break;
	return length;
}

bool view_tree_holds(const char *path, const char *subtree, size_t *ret_length)
{
	const bool root = strcmp(subtree, "/") == 0;
	const size_t length = root ? 1 : part_length(path, subtree);

	if (root ? *path != '/' : !utf8_part_is_shown_as(path, length, subtree))
		return false;
	*ret_length = length;
	return true;
}

int view_tree_init(struct view_tree *tree, const struct snapshot *snapshot,
		   const struct view_request *request)
{
	*tree = (struct view_tree){.request = request};
	tree->leaves = calloc(snapshot->n_cgroups + 1, sizeof(*tree->leaves));
	if (!tree->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		const struct snapshot_cgroup *cgroup = &snapshot->cgroups[i];

		if (request->subtree &&
		    !view_tree_holds(cgroup->path, request->subtree, &tree->subtree_length))
			continue;
		tree->leaves[tree->n++] =
			(struct view_leaf){.cgroup = cgroup, .length = (u32)strlen(cgroup->path)};
	}
	qsort(tree->leaves, tree->n, sizeof(*tree->leaves), compare_leaves);
	count_rows(tree);
	return 0;
}

void view_tree_done(struct view_tree *tree)
{
	free(tree->leaves);
	*tree = (struct view_tree){0};
}
