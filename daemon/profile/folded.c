// SPDX-License-Identifier: GPL-2.0
/* A profile as folded stacks, a line for each stack. */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/pprof.h"
#include "profile/profile_walk.h"
#include "profile/report_internal.h"

struct line {
	size_t start; /* in the text */
	u64 number;
};

struct folded {
	const struct profile *profile;
	char **shown; /* the output form of each string; NULL: not converted yet */
	struct budget budget;
	struct growing text;
	struct growing lines;
};

/* Replaces `;`, which separates names, and control characters such as the newline, which ends a line. */
static int show(struct folded *folded, u32 string, const char **ret)
{
	if (!folded->shown[string]) {
		if (utf8_show(string_of(folded->profile->table, string), &folded->shown[string]) < 0)
			return -ENOMEM;
		for (char *c = folded->shown[string]; *c; c++)
			if (*c == ';')
				*c = ':';
			else if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
	}
	*ret = folded->shown[string];
	return 0;
}

/* Returns 0, -E2BIG (FOLDED_BYTES_MAX reached) or -ENOMEM. So do the functions that call it. */
static int reserve(struct folded *folded, struct growing *array, size_t size, size_t more)
{
	int r = growing_reserve(array, size, more, &folded->budget);

	return r == -ENOSPC ? -E2BIG : r;
}

static int append(struct folded *folded, const char *text, size_t size)
{
	int r = reserve(folded, &folded->text, 1, size);

	if (r < 0)
		return r;
	memcpy((char *)folded->text.list + folded->text.n, text, size);
	folded->text.n += size;
	return 0;
}

static int append_frames(struct folded *folded, const u32 *frames, size_t n)
{
	int r = 0;

	for (size_t i = n; i > 0 && r == 0; i--) {
		const char *name;

		r = show(folded, frame_of(folded->profile->table, frames[i - 1])->name, &name);
		if (r == 0)
			r = append(folded, name, strlen(name));
		if (r == 0 && i > 1)
			r = append(folded, ";", 1);
	}
	return r;
}

static int append_stack(struct folded *folded, u32 node, bool kernel_names, struct growing *frames)
{
	struct walk walk = walk_begin(folded->profile, node, kernel_names);
	const struct node *ignored;
	const u32 *some;
	size_t n;

	frames->n = 0;
	while (walk_next(&walk, &ignored, &some, &n)) {
		int r = reserve(folded, frames, sizeof(u32), n);

		if (r < 0)
			return r;
		memcpy((u32 *)frames->list + frames->n, some, n * sizeof(u32));
		frames->n += n;
	}
	return append_frames(folded, frames->list, frames->n);
}

static int add_line(struct folded *folded, u32 node, bool kernel_names, struct growing *frames)
{
	int r = reserve(folded, &folded->lines, sizeof(struct line), 1);

	if (r < 0)
		return r;
	((struct line *)folded->lines.list)[folded->lines.n++] = (struct line){.start = folded->text.n};
	r = append_stack(folded, node, kernel_names, frames);
	return r < 0 ? r : append(folded, "", 1);
}

/* Adds one line for each stack. Cells of the same stack are adjacent. */
static int add_lines(struct folded *folded, bool kernel_names, bool latency)
{
	_cleanup_free_ struct cell *cells = NULL;
	struct growing frames = {0};
	size_t n = 0;
	int r = walk_cells(folded->profile, &cells, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct cell *cell = &cells[i];

		if (i == 0 || cells[i - 1].node != cell->node)
			r = add_line(folded, cell->node, kernel_names, &frames);
		if (r == 0)
			((struct line *)folded->lines.list)[folded->lines.n - 1].number +=
				latency ? cell->latency : cell->samples;
	}
	free(frames.list);
	return r;
}

static int by_text(const void *a, const void *b, void *userdata)
{
	const char *text = *(const char **)userdata;

	return strcmp(text + ((const struct line *)a)->start, text + ((const struct line *)b)->start);
}

/* Sums lines with the same text: stacks that differ only in addresses within the same functions. */
static int write_lines(struct folded *folded, char **ret, size_t *ret_size)
{
	struct line *lines = folded->lines.list;
	const char *text = folded->text.list;
	FILE *file = open_memstream(ret, ret_size);
	bool failed;

	if (!file)
		return -ENOMEM;
	if (folded->lines.n)
		qsort_r(lines, folded->lines.n, sizeof(*lines), by_text, &text);
	for (size_t i = 0, next; i < folded->lines.n; i = next) {
		u64 number = lines[i].number;

		for (next = i + 1; next < folded->lines.n && by_text(&lines[i], &lines[next], &text) == 0;)
			number += lines[next++].number;
		if (number)
			(void)fprintf(file, "%s %llu\n", text + lines[i].start, (unsigned long long)number);
	}
	failed = ferror(file);
	if (fclose(file) == 0 && !failed)
		return 0;
	free(*ret);
	*ret = NULL;
	return -ENOMEM;
}

int folded_write(const struct profile *profile, const struct profile_names *names,
		 const struct profile_about *about, bool latency, char **ret, size_t *ret_size)
{
	struct folded folded = {.profile = profile, .budget = {.max = FOLDED_BYTES_MAX}};
	size_t n;
	int r;

	(void)profile_resolve_const(profile, names);
	n = profile->table->strings.n;
	folded.shown = calloc(n, sizeof(*folded.shown));
	if (!folded.shown)
		return -ENOMEM;
	r = add_lines(&folded, about->kernel_names, latency);
	if (r == 0)
		r = write_lines(&folded, ret, ret_size);
	for (size_t i = 0; i < n; i++)
		free(folded.shown[i]);
	free(folded.shown);
	free(folded.text.list);
	free(folded.lines.list);
	return r;
}
