// SPDX-License-Identifier: GPL-2.0
/* The cache lines of a report, with the threads that share them. */
#include <errno.h>
#include <string.h>

#include "profile/report_internal.h"

/*
 * Decides which accesses belong to the same cache line. In one process (or the kernel), the address decides.
 * Accesses of several processes belong together if these are known to share the memory:
 * - For mapped files and shared memory, the physical line must be the same.
 * - For heap, stack and other private memory (shared after a fork), the physical line and the address must be
 *   the same. The address matters because all pages that were never written are the same physical page.
 * - For POSIX and System V shared memory without physical addresses, the name and the offset must be the
 *   same.
 */

#define LINE_BYTES 64U

struct line_item {
	u64 address; /* of the line */
	u32 pid;
	u32 access;
	u32 line; /* number of the line */
};

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

/*
 * Returns whether the path identifies one piece of shared memory in the whole system, apart from namespaces.
 */
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
	place = place_of(profile->table, access->data_place);
	/* `at` is an offset in the file only if the place is not a named variable. */
	if (place->n || place->module == NONE)
		return false;
	if (!is_name_of_shared(string_of(profile->table, module_of(profile->table, place->module)->path)))
		return false;
	ret->what = (u64)module_of(profile->table, place->module)->path * LINE_BYTES | MARK_NAME;
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

/* Makes an item for each access with samples. The caller frees `*ret`. Returns 0 or -ENOMEM. */
static int line_items(const struct profile *profile, struct line_item **ret, size_t *ret_n)
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

/* The sums of one line. Its accesses are items[first] to items[first + n - 1]. */
struct sums {
	size_t first, n;
	u64 samples, latency, hitm;
	u64 offsets; /* one bit for each accessed offset */
	u32 cpus, hitm_cpus;
	bool shared; /* accessed by several processes */
	bool false_sharing;
	u32 hottest; /* an access */
};

static int by_line_and_cpu(const void *a, const void *b, void *userdata)
{
	const struct line_item *one = a, *other = b;
	const struct profile *profile = *(const struct profile **)userdata;

	if (one->line != other->line)
		return compare_numbers(one->line, other->line);
	return compare_numbers(access_of(profile, one->access)->cpu, access_of(profile, other->access)->cpu);
}

static u32 frame_of_code(const struct profile *profile, const struct access *access)
{
	const struct place *place =
		access->code_place == NONE ? NULL : place_of(profile->table, access->code_place);

	if (place && place->n)
		return ((const u32 *)profile->table->place_frames.list)[place->first];
	return access->has_code && SYMBOL_IS_KERNEL(access->code) ? FRAME_KERNEL : FRAME_UNKNOWN;
}

static u32 offset_of(const struct access *access)
{
	return access->address % LINE_BYTES;
}

static int by_line_and_code(const void *a, const void *b, void *userdata)
{
	const struct line_item *one = a, *other = b;
	const struct profile *profile = *(const struct profile **)userdata;
	const struct access *x = access_of(profile, one->access), *y = access_of(profile, other->access);

	if (one->line != other->line)
		return compare_numbers(one->line, other->line);
	if (offset_of(x) != offset_of(y))
		return compare_numbers(offset_of(x), offset_of(y));
	if (frame_of_code(profile, x) != frame_of_code(profile, y))
		return compare_numbers(frame_of_code(profile, x), frame_of_code(profile, y));
	return compare_numbers(x->cpu, y->cpu);
}

/* Returns whether `one` is the better access to name the line's object after. */
static bool is_hotter(const struct access *one, const struct access *other)
{
	u64 hitm = one->hitm ? one->samples : 0, other_hitm = other->hitm ? other->samples : 0;
	int c = compare_numbers(hitm, other_hitm);

	if (c == 0)
		c = compare_numbers(one->latency, other->latency);
	if (c == 0)
		c = compare_numbers(one->samples, other->samples);
	if (c == 0)
		c = compare_numbers(other->pid, one->pid);
	if (c == 0)
		c = compare_numbers(other->address, one->address);
	return c > 0;
}

/*
 * Sums one line. Its items are sorted by CPU.
 *
 * False sharing requires HITM on 2 CPUs and at least 2 offsets. Then some 2 CPUs access different offsets: if
 * every CPU has only one offset, 2 offsets mean 2 CPUs. If a CPU has several, one of them differs from the
 * offset of another CPU.
 */
static void sum_line(const struct profile *profile, const struct line_item *items, struct sums *ret)
{
	bool hitm_here = false;

	ret->hottest = items[0].access;
	for (size_t i = 0; i < ret->n; i++) {
		const struct access *access = access_of(profile, items[i].access);
		const struct access *before = i ? access_of(profile, items[i - 1].access) : NULL;

		if (!before || before->cpu != access->cpu) {
			ret->cpus++;
			hitm_here = false;
		}
		if (access->hitm && !hitm_here) {
			ret->hitm_cpus++;
			hitm_here = true;
		}
		ret->samples += access->samples;
		ret->latency += access->latency;
		ret->hitm += access->hitm ? access->samples : 0;
		ret->offsets |= 1ULL << offset_of(access);
		ret->shared = ret->shared ||
			      pid_number(access->pid) != pid_number(access_of(profile, items[0].access)->pid);
		if (is_hotter(access, access_of(profile, ret->hottest)))
			ret->hottest = items[i].access;
	}
	ret->false_sharing = ret->hitm_cpus >= 2 && (ret->offsets & (ret->offsets - 1));
}

static int by_importance(const void *a, const void *b, void *userdata)
{
	const struct sums *one = a, *other = b;
	const struct profile *profile = *(const struct profile **)userdata;
	const struct access *x = access_of(profile, one->hottest), *y = access_of(profile, other->hottest);
	int c = compare_numbers(other->false_sharing, one->false_sharing);

	if (c == 0)
		c = compare_numbers(other->hitm, one->hitm);
	if (c == 0)
		c = compare_numbers(other->latency, one->latency);
	if (c == 0)
		c = compare_numbers(other->samples, one->samples);
	if (c == 0)
		c = compare_numbers(x->pid, y->pid);
	return c ? c : compare_numbers(x->address, y->address);
}

static int by_access_importance(const void *a, const void *b)
{
	const struct report_access *one = a, *other = b;
	int c = compare_numbers(other->hitm, one->hitm);

	if (c == 0)
		c = compare_numbers(other->latency, one->latency);
	if (c == 0)
		c = compare_numbers(other->samples, one->samples);
	if (c == 0)
		c = compare_numbers(one->offset, other->offset);
	if (c == 0)
		c = compare_texts(one->function, other->function);
	if (c == 0)
		c = compare_texts(one->file, other->file);
	if (c == 0)
		c = compare_numbers(one->line, other->line);
	return c ? c : compare_numbers(one->cpu, other->cpu);
}

static int begin_access(const struct profile *profile, const struct access *access, struct report_access *ret)
{
	const struct name_table *table = profile->table;
	const struct frame *frame = frame_of(table, frame_of_code(profile, access));

	*ret = (struct report_access){.offset = offset_of(access), .line = frame->line, .cpu = access->cpu};
	ret->function = strdup(string_of(table, frame->name));
	if (frame->file != NONE)
		ret->file = strdup(string_of(table, frame->file));
	return !ret->function || (frame->file != NONE && !ret->file) ? -ENOMEM : 0;
}

/*
 * Makes one access for each offset and code, and if `by_cpu` for each CPU. The items are sorted by offset, code and
 * CPU.
 */
static int write_accesses(const struct profile *profile, const struct line_item *items, size_t n,
			  const struct report_settings *settings, struct report_line *ret)
{
	ret->accesses = calloc(n, sizeof(*ret->accesses));
	if (!ret->accesses)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct access *access = access_of(profile, items[i].access);
		const struct access *before = i ? access_of(profile, items[i - 1].access) : NULL;
		bool begins = !before || offset_of(before) != offset_of(access) ||
			      frame_of_code(profile, before) != frame_of_code(profile, access) ||
			      (settings->by_cpu && before->cpu != access->cpu);
		struct report_access *to;

		if (begins && begin_access(profile, access, &ret->accesses[ret->n_accesses++]) < 0)
			return -ENOMEM;
		to = &ret->accesses[ret->n_accesses - 1];
		to->samples += access->samples;
		to->latency += access->latency;
		to->hitm += access->hitm ? access->samples : 0;
		to->stores += access->store ? access->samples : 0;
		to->cpus += begins || before->cpu != access->cpu;
	}
	qsort(ret->accesses, ret->n_accesses, sizeof(*ret->accesses), by_access_importance);
	for (; ret->n_accesses > settings->accesses; ret->n_accesses--) {
		free(ret->accesses[ret->n_accesses - 1].function);
		free(ret->accesses[ret->n_accesses - 1].file);
	}
	return 0;
}

static int write_line(const struct profile *profile, const struct line_item *items, const struct sums *sums,
		      const struct report_settings *settings, struct report_line *ret)
{
	const struct access *hottest = access_of(profile, sums->hottest);
	u64 at = hottest->data_place == NONE ? 0 : place_of(profile->table, hottest->data_place)->at;
	u64 begin = at - offset_of(hottest);
	bool of_one = !sums->shared && !SYMBOL_IS_KERNEL(hottest->address);

	*ret = (struct report_line){.address = hottest->address - offset_of(hottest),
				    .pid = of_one ? pid_number(hottest->pid) : 0,
				    .samples = sums->samples,
				    .latency = sums->latency,
				    .hitm = sums->hitm,
				    .cpus = sums->cpus,
				    .hitm_cpus = sums->hitm_cpus,
				    .false_sharing = sums->false_sharing};
	/* An object that begins inside the line has no offset at the line's start. */
	ret->object = object_name(profile, hottest->data_place, at >= offset_of(hottest) ? &begin : NULL);
	if (!ret->object)
		return -ENOMEM;
	return write_accesses(profile, &items[sums->first], sums->n, settings, ret);
}

/* Sums each line. The items of a line are adjacent. */
static size_t sum_lines(const struct profile *profile, const struct line_item *items, size_t n,
			struct sums *ret)
{
	size_t n_lines = 0;

	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && items[next].line == items[i].line;)
			next++;
		ret[n_lines] = (struct sums){.first = i, .n = next - i};
		sum_line(profile, &items[i], &ret[n_lines++]);
	}
	return n_lines;
}

int report_lines(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret)
{
	_cleanup_free_ struct line_item *items = NULL;
	_cleanup_free_ struct sums *lines = NULL;
	size_t n = 0, n_lines = 0;
	int r = line_items(profile, &items, &n);

	if (r < 0 || n == 0)
		return r;
	qsort_r(items, n, sizeof(*items), by_line_and_cpu, &profile);
	for (size_t i = 0; i < n; i++)
		n_lines += i == 0 || items[i].line != items[i - 1].line;
	lines = calloc(n_lines, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	n_lines = sum_lines(profile, items, n, lines);
	/*
	 * The items of each line keep their position as a group, but are sorted by offset and code within it.
	 */
	qsort_r(items, n, sizeof(*items), by_line_and_code, &profile);
	qsort_r(lines, n_lines, sizeof(*lines), by_importance, &profile);
	if (n_lines > settings->lines)
		n_lines = settings->lines;
	ret->lines = calloc(n_lines ? n_lines : 1, sizeof(*ret->lines));
	if (!ret->lines)
		return -ENOMEM;
	while (ret->n_lines < n_lines && r == 0) {
		r = write_line(profile, items, &lines[ret->n_lines], settings, &ret->lines[ret->n_lines]);
		ret->n_lines++;
	}
	return r;
}
