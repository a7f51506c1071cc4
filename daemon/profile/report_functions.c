// SPDX-License-Identifier: GPL-2.0
/* The functions of a report. */
#include <errno.h>
#include <string.h>

#include "profile/report_internal.h"

/* The sums of a frame (a function at a line). */
struct frame_sums {
	u64 samples, latency;
	u64 total_samples, total_latency;
	u32 function;
	u32 seen; /* 1 + the cell last counted in its totals */
};

/* The sums of a function: all frames with one name and module. */
struct function_sums {
	u32 name, module;
	u64 samples, latency;
	u64 total_samples, total_latency;
	u64 sources[SOURCE_SLOTS];
	u32 hottest; /* a frame */
	u32 seen;
};

struct work {
	const struct profile *profile;
	struct frame_sums *frames;
	struct function_sums *functions;
	size_t n_functions;
};

static int by_function(const void *a, const void *b, void *userdata)
{
	const struct name_table *table = *(const struct name_table **)userdata;
	const struct frame *one = frame_of(table, *(const u32 *)a), *other = frame_of(table, *(const u32 *)b);

	if (one->name != other->name)
		return compare_numbers(one->name, other->name);
	return compare_numbers(one->module, other->module);
}

static int find_functions(struct work *work)
{
	const struct name_table *table = work->profile->table;
	size_t n = table->frames.n;
	_cleanup_free_ u32 *order = calloc(n, sizeof(*order));

	work->frames = calloc(n, sizeof(*work->frames));
	work->functions = calloc(n, sizeof(*work->functions));
	if (!order || !work->frames || !work->functions)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_function, &table);
	for (size_t i = 0; i < n; i++) {
		const struct frame *frame = frame_of(table, order[i]);

		if (i == 0 || by_function(&order[i - 1], &order[i], &table) != 0)
			work->functions[work->n_functions++] = (struct function_sums){
				.name = frame->name, .module = frame->module, .hottest = NONE};
		work->frames[order[i]].function = (u32)work->n_functions - 1;
	}
	return 0;
}

/* A recursive function, and each of its lines, counts once in a stack. */
static void add_totals(struct work *work, const struct cell *cell, u32 stamp)
{
	for (u32 i = cell->node; !node_of(work->profile, i)->root; i = node_of(work->profile, i)->caller) {
		const u32 *frames;
		size_t n = node_frames(work->profile, node_of(work->profile, i), &frames);

		for (size_t j = 0; j < n; j++) {
			struct frame_sums *frame = &work->frames[frames[j]];
			struct function_sums *function = &work->functions[frame->function];

			if (frame->seen != stamp) {
				frame->seen = stamp;
				frame->total_samples += cell->samples;
				frame->total_latency += cell->latency;
			}
			if (function->seen != stamp) {
				function->seen = stamp;
				function->total_samples += cell->samples;
				function->total_latency += cell->latency;
			}
		}
	}
}

static void add_cell(struct work *work, const struct cell *cell, u32 stamp)
{
	static const u32 unknown = FRAME_UNKNOWN;
	const struct node *node = node_of(work->profile, cell->node);
	const u32 *frames = &unknown;
	struct frame_sums *frame;
	struct function_sums *function;

	if (!node->root)
		(void)node_frames(work->profile, node, &frames);
	frame = &work->frames[frames[0]];
	function = &work->functions[frame->function];
	frame->samples += cell->samples;
	frame->latency += cell->latency;
	function->samples += cell->samples;
	function->latency += cell->latency;
	function->sources[cell->source] += cell->samples;
	if (node->root) { /* a sample without a code address or stack */
		function->total_samples += cell->samples;
		function->total_latency += cell->latency;
	}
	add_totals(work, cell, stamp);
}

static bool is_hotter(const struct work *work, u32 a, u32 b)
{
	const struct frame_sums *one = &work->frames[a], *other = &work->frames[b];
	const struct name_table *table = work->profile->table;
	int c = compare_numbers(one->latency, other->latency);

	if (c == 0)
		c = compare_numbers(one->samples, other->samples);
	if (c == 0)
		c = compare_numbers(one->total_latency, other->total_latency);
	if (c == 0)
		c = compare_numbers(one->total_samples, other->total_samples);
	if (c == 0)
		c = compare_texts(string_of(table, frame_of(table, b)->file),
				  string_of(table, frame_of(table, a)->file));
	if (c == 0)
		c = compare_numbers(frame_of(table, b)->line, frame_of(table, a)->line);
	return c > 0;
}

static void find_hottest(struct work *work)
{
	for (u32 i = 0; i < work->profile->table->frames.n; i++) {
		struct function_sums *function = &work->functions[work->frames[i].function];

		if (frame_of(work->profile->table, i)->file != NONE && work->frames[i].total_samples &&
		    (function->hottest == NONE || is_hotter(work, i, function->hottest)))
			function->hottest = i;
	}
}

/* The most expensive function first. */
static int by_cost(const void *a, const void *b, void *userdata)
{
	const struct function_sums *one = a, *other = b;
	const struct name_table *table = userdata;
	int c = compare_numbers(other->latency, one->latency);

	if (c == 0)
		c = compare_numbers(other->samples, one->samples);
	if (c == 0)
		c = compare_numbers(other->total_latency, one->total_latency);
	if (c == 0)
		c = compare_numbers(other->total_samples, one->total_samples);
	if (c == 0)
		c = compare_texts(string_of(table, one->name), string_of(table, other->name));
	return c ? c : compare_texts(string_of(table, one->module), string_of(table, other->module));
}

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int write_function(const struct name_table *table, const struct function_sums *sums,
			  struct report_function *ret)
{
	*ret = (struct report_function){.samples = sums->samples,
					.latency = sums->latency,
					.total_samples = sums->total_samples,
					.total_latency = sums->total_latency};
	memcpy(ret->sources, sums->sources, sizeof(ret->sources));
	if (copy_text(string_of(table, sums->name), &ret->name) < 0 ||
	    copy_text(string_of(table, sums->module), &ret->module) < 0)
		return -ENOMEM;
	if (sums->hottest == NONE)
		return 0;
	ret->line = frame_of(table, sums->hottest)->line;
	return copy_text(string_of(table, frame_of(table, sums->hottest)->file), &ret->file);
}

static int write_functions(const struct work *work, size_t limit, struct profile_report *ret)
{
	size_t n = 0;
	int r = 0;

	while (n < work->n_functions && work->functions[n].total_samples)
		n++;
	if (n > limit)
		n = limit;
	ret->functions = calloc(n ? n : 1, sizeof(*ret->functions));
	if (!ret->functions)
		return -ENOMEM;
	while (ret->n_functions < n && r == 0) {
		r = write_function(work->profile->table, &work->functions[ret->n_functions],
				   &ret->functions[ret->n_functions]);
		ret->n_functions++;
	}
	return r;
}

int report_functions(const struct profile *profile, size_t limit, struct profile_report *ret)
{
	struct work work = {.profile = profile};
	int r = find_functions(&work);

	for (u32 i = 0; i < profile->cells.n && r == 0; i++)
		if (cell_of(profile, i)->samples)
			add_cell(&work, cell_of(profile, i), i + 1);
	if (r == 0) {
		find_hottest(&work);
		qsort_r(work.functions, work.n_functions, sizeof(*work.functions), by_cost, profile->table);
		r = write_functions(&work, limit, ret);
	}
	free(work.frames);
	free(work.functions);
	return r;
}
