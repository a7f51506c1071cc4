// SPDX-License-Identifier: GPL-2.0
#include "profile/report_lines_join.h"

#include <errno.h>
#include <string.h>

#include "profile/report_parts.h"

/* Lines with equal marks (except `line`) are the same line. */
struct mark {
	u64 what;  /* physical line or number of a name; the lowest bits say which */
	u64 where; /* address or offset of the line, or 0 if it does not matter */
	u32 region;
	u32 line;
};

enum { MARK_PHYSICAL = 1, MARK_NAME = 2 };

static u64 line_of(u64 address)
{
	return address & ~(u64)(LINE_BYTES - 1);
}

static int by_address(const void *a, const void *b)
{
	const struct line_item *one = a, *other = b;
	int c = compare_numbers(one->pid, other->pid);

	return c ? c : compare_numbers(one->address, other->address);
}

static int by_mark(const void *a, const void *b)
{
	const struct mark *one = a, *other = b;
	int c = compare_numbers(one->what, other->what);

	if (c == 0)
		c = compare_numbers(one->where, other->where);
	if (c == 0)
		c = compare_numbers(one->region, other->region);
	return c;
}

/* Returns whether the path names shared memory that is unique in the system, apart from namespaces. */
static bool is_name_of_shared(const char *path)
{
	if (strncmp(path, "/dev/shm/", strlen("/dev/shm/")) == 0)
		return true;
	return strncmp(path, "/SYSV", strlen("/SYSV")) == 0 &&
	       strncmp(path, "/SYSV00000000", strlen("/SYSV00000000")) != 0;
}

static bool mark_of(const struct profile *profile, const struct line_item *item, bool has_physical,
		    struct mark *ret)
{
	const struct access *access = access_of(profile, item->access);
	enum symbol_region region = object_region(profile, access->data_place);
	bool is_shared = region == SYMBOL_FILE || region == SYMBOL_SHARED;
	bool is_own = region == SYMBOL_HEAP || region == SYMBOL_STACK || region == SYMBOL_ANONYMOUS;
	const struct place *place;

	*ret = (struct mark){.region = region, .line = item->line};
	if (access->physical && (is_shared || is_own)) {
		ret->what = line_of(access->physical) | MARK_PHYSICAL;
		ret->where = is_own ? item->address : 0;
		return true;
	}
	if (has_physical || !is_shared)
		return false;
	place = place_of(profile->book, access->data_place);
	/* `at` is an offset in the file only if the place is not a named variable. */
	if (place->n || place->module == NONE)
		return false;
	if (!is_name_of_shared(string_of(profile->book, module_of(profile->book, place->module)->path)))
		return false;
	ret->what = (u64)module_of(profile->book, place->module)->path * LINE_BYTES | MARK_NAME;
	ret->where = line_of(place->at);
	return true;
}

static u32 representative(u32 *lines, u32 i)
{
	while (lines[i] != i) {
		lines[i] = lines[lines[i]];
		i = lines[i];
	}
	return i;
}

/* The lower number represents both. */
static void unite(u32 *lines, u32 a, u32 b)
{
	a = representative(lines, a);
	b = representative(lines, b);
	if (a < b)
		lines[b] = a;
	else
		lines[a] = b;
}

static int join(const struct profile *profile, struct line_item *items, size_t n, u32 n_lines)
{
	_cleanup_free_ struct mark *marks = calloc(n, sizeof(*marks));
	_cleanup_free_ u32 *lines = calloc(n_lines, sizeof(*lines));
	_cleanup_free_ bool *physical = calloc(n_lines, sizeof(*physical));
	size_t n_marks = 0;

	if (!marks || !lines || !physical)
		return -ENOMEM;
	for (u32 i = 0; i < n_lines; i++)
		lines[i] = i;
	for (size_t i = 0; i < n; i++)
		if (access_of(profile, items[i].access)->physical)
			physical[items[i].line] = true;
	for (size_t i = 0; i < n; i++)
		n_marks += mark_of(profile, &items[i], physical[items[i].line], &marks[n_marks]);
	qsort(marks, n_marks, sizeof(*marks), by_mark);
	for (size_t i = 1; i < n_marks; i++)
		if (by_mark(&marks[i - 1], &marks[i]) == 0)
			unite(lines, marks[i - 1].line, marks[i].line);
	for (size_t i = 0; i < n; i++)
		items[i].line = representative(lines, items[i].line);
	return 0;
}

int line_items(const struct profile *profile, struct line_item **ret, size_t *ret_n)
{
	size_t n = profile->accesses.n, n_items = 0;
	_cleanup_free_ struct line_item *items = calloc(n ? n : 1, sizeof(*items));
	u32 n_lines = 0;
	int r = 0;

	if (!items)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++) {
		const struct access *access = access_of(profile, i);

		if (access->samples)
			items[n_items++] =
				(struct line_item){.address = line_of(access->address),
						   .pid = SYMBOL_IS_KERNEL(access->address) ? 0 : access->pid,
						   .access = i};
	}
	qsort(items, n_items, sizeof(*items), by_address);
	for (size_t i = 0; i < n_items; i++) {
		n_lines += i == 0 || by_address(&items[i - 1], &items[i]) != 0;
		items[i].line = n_lines - 1;
	}
	if (n_items)
		r = join(profile, items, n_items, n_lines);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(items);
	*ret_n = n_items;
	return 0;
}
