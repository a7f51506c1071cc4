// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define USEC_PER_SEC 1000000ULL

/* The clock is trusted after this much recorded time without a step. */
#define TRUST_NS (3600 * NSEC_PER_SEC)

/*
 * A clock that is set forward looks like a host that was off. A gap above a day is taken for a step, so that
 * the age limit waits an hour after it. Panes may begin this much before the end of the previous one without
 * a step.
 */
#define STEP_FORWARD_US (86400 * USEC_PER_SEC)
#define STEP_BACK_US    (1 * USEC_PER_SEC)

const struct span_tier span_tiers[SPAN_TIERS] = {
	{.seconds = 10, .kept_s = 3600, .share = 3},
	{.seconds = 60, .kept_s = 86400, .share = 7},
	{.seconds = 600, .share = 5},
	{.seconds = 7200, .share = 5},
};

int spans_add(struct spans *spans, const struct span *span)
{
	if (spans->n == spans->room) {
		size_t room = spans->room ? 2 * spans->room : 256;
		struct span *list = realloc(spans->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		spans->list = list;
		spans->room = room;
	}
	spans->list[spans->n++] = *span;
	return 0;
}

void spans_remove(struct spans *spans, size_t index)
{
	spans->n--;
	memmove(spans->list + index, spans->list + index + 1, (spans->n - index) * sizeof(*spans->list));
}

void spans_done(struct spans *spans)
{
	free(spans->list);
	*spans = (struct spans){0};
}

ssize_t spans_find(const struct spans *spans, u64 id)
{
	size_t low = 0, high = spans->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->list[middle].id == id)
			return (ssize_t)middle;
		if (spans->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static u64 width_us(u32 tier)
{
	return span_tiers[tier].seconds * USEC_PER_SEC;
}

/*
 * A pane ends at the first collection after a multiple of 10 s of the clock, so that some of it belongs to
 * the next window or bin. Its middle says where it counts, and of longer spans the middles of the first and
 * last pane in it.
 */
static u64 half_pane_us(const struct span *span)
{
	u64 half = (span->end_us - span->start_us) / 2, most = width_us(0) / 2;

	return half < most ? half : most;
}

static u64 first_middle(const struct span *span)
{
	return span->start_us + half_pane_us(span);
}

static u64 last_middle(const struct span *span)
{
	return span->end_us - half_pane_us(span);
}

/* The window of the next tier that the span is in. */
static u64 window_of(const struct span *span)
{
	return last_middle(span) / width_us(span->tier + 1);
}

static bool joins(const struct span *previous, const struct span *span)
{
	return span->run == previous->run && span->start_us == previous->end_us &&
	       window_of(span) == window_of(previous);
}

/* Whether a span of the same length that follows would be in another window. */
static bool ends_window(const struct span *span)
{
	u64 length_us = span->end_us - span->start_us;

	return (last_middle(span) + length_us) / width_us(span->tier + 1) != window_of(span);
}

static size_t merge_of_tier(const struct spans *spans, u32 tier, size_t ret[static SPAN_CHILDREN_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct span *span = &spans->list[i];

		if (span->tier != tier || span->parent != 0)
			continue;
		if (n > 0 && (n == SPAN_CHILDREN_MAX || !joins(&spans->list[ret[n - 1]], span)))
			return n;
		ret[n++] = i;
	}
	return n > 0 && ends_window(&spans->list[ret[n - 1]]) ? n : 0;
}

size_t spans_to_merge(const struct spans *spans, size_t ret[static SPAN_CHILDREN_MAX])
{
	size_t n = 0;

	for (u32 tier = 0; n == 0 && tier < SPAN_TIERS - 1; tier++)
		n = merge_of_tier(spans, tier, ret);
	return n;
}

bool spans_clock_is_trusted(const struct spans *spans)
{
	const struct span *later = NULL;
	u64 recorded_ns = 0;

	for (size_t i = spans->n; i-- > 0 && recorded_ns < TRUST_NS;) {
		const struct span *span = &spans->list[i];

		if (span->tier != 0)
			continue;
		if (later && (span->end_us > later->start_us + STEP_BACK_US ||
			      span->end_us + STEP_FORWARD_US < later->start_us))
			return false;
		recorded_ns += span->covered_ns;
		later = span;
	}
	return recorded_ns >= TRUST_NS;
}

static const struct span *newest_of(const struct spans *spans)
{
	for (size_t i = spans->n; i-- > 0;)
		if (spans->list[i].tier == 0)
			return &spans->list[i];
	return NULL;
}

/* The oldest span of the tier, if those after it are all that the tier keeps. */
static ssize_t beyond_tier(const struct spans *spans, u32 tier)
{
	u64 recorded_ns = 0;
	ssize_t oldest = -1;

	for (size_t i = spans->n; i-- > 0;) {
		const struct span *span = &spans->list[i];

		if (span->tier != tier)
			continue;
		if (recorded_ns >= span_tiers[tier].kept_s * NSEC_PER_SEC && span->parent != 0)
			oldest = (ssize_t)i;
		recorded_ns += span->covered_ns;
	}
	return oldest;
}

static ssize_t beyond_age(const struct spans *spans, u64 age_max_s)
{
	const struct span *newest = newest_of(spans);

	if (!newest || !spans_clock_is_trusted(spans))
		return -1;
	for (size_t i = 0; i < spans->n; i++) {
		const struct span *span = &spans->list[i];

		if (newest->end_us > span->end_us &&
		    (newest->end_us - span->end_us) / USEC_PER_SEC > age_max_s)
			return (ssize_t)i;
	}
	return -1;
}

/* The newest span stays, however small the space is. */
static ssize_t beyond_share(const struct spans *spans)
{
	u64 bytes[SPAN_TIERS] = {0};
	u32 worst = 0;

	for (size_t i = 0; i < spans->n; i++)
		bytes[spans->list[i].tier] += spans->list[i].bytes + 1;
	for (u32 tier = 1; tier < SPAN_TIERS; tier++)
		if (bytes[tier] / span_tiers[tier].share > bytes[worst] / span_tiers[worst].share)
			worst = tier;
	for (size_t i = 0; i + 1 < spans->n; i++)
		if (spans->list[i].tier == worst)
			return (ssize_t)i;
	return spans->n > 1 ? 0 : -1;
}

enum spans_drop spans_to_drop(const struct spans *spans, const struct spans_limits *limits, size_t *ret)
{
	enum spans_drop why = SPANS_KEEP;
	ssize_t found = -1;

	for (u32 tier = 0; found < 0 && tier < SPAN_TIERS; tier++)
		if (span_tiers[tier].kept_s > 0)
			found = beyond_tier(spans, tier);
	if (found >= 0)
		why = SPANS_DROP_TIER;
	if (found < 0 && (found = beyond_age(spans, limits->age_max_s)) >= 0)
		why = SPANS_DROP_AGE;
	if (found < 0 && spans->n >= SPANS_MAX) {
		found = 0;
		why = SPANS_DROP_COUNT;
	}
	if (found < 0 && limits->used > limits->used_max && (found = beyond_share(spans)) >= 0)
		why = SPANS_DROP_SIZE;
	if (found >= 0)
		*ret = (size_t)found;
	return why;
}

/* The spans in an order in which the children of a span follow each other, by ascending start. */
struct family {
	const struct spans *spans;
	size_t *order;
	size_t *todo; /* spans that are still to be looked at: each at most once, because it has one parent */
	size_t n_todo;
	struct span_use *uses;
	size_t n_uses;
	const struct span_question *question;
	u64 bin_us;
};

static int by_parent(const void *a, const void *b, void *userdata)
{
	const struct spans *spans = userdata;
	const struct span *x = &spans->list[*(const size_t *)a];
	const struct span *y = &spans->list[*(const size_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->start_us != y->start_us)
		return x->start_us < y->start_us ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static size_t first_child(const struct family *family, u64 parent)
{
	size_t low = 0, high = family->spans->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (family->spans->list[family->order[middle]].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of children from `first` on, or 0 if some of them were dropped. */
static size_t children_of(const struct family *family, const struct span *span, size_t first)
{
	const struct spans *spans = family->spans;
	u64 covered_ns = 0;
	size_t n = 0;

	while (first + n < spans->n && spans->list[family->order[first + n]].parent == span->id)
		covered_ns += spans->list[family->order[first + n++]].covered_ns;
	return covered_ns == span->covered_ns ? n : 0;
}

/* Returns the bin of a moment in the range. The last bin also has the remainder of the division. */
static u32 bin_of(const struct family *family, u64 moment_us)
{
	u64 bin = (moment_us - family->question->since_us - 1) / family->bin_us;

	return bin < family->question->bins ? (u32)bin : family->question->bins - 1;
}

static bool inside_a_bin(const struct family *family, const struct span *span)
{
	const struct span_question *question = family->question;

	return first_middle(span) > question->since_us && last_middle(span) <= question->until_us &&
	       bin_of(family, first_middle(span)) == bin_of(family, last_middle(span));
}

static void use(struct family *family, size_t index)
{
	const struct span *span = &family->spans->list[index];
	const struct span_question *question = family->question;
	u32 bin;

	if (last_middle(span) > question->since_us && last_middle(span) <= question->until_us)
		bin = bin_of(family, last_middle(span));
	else if (span->start_us <= question->since_us && span->end_us >= question->until_us)
		bin = question->bins - 1;
	else
		return;
	family->uses[family->n_uses++] = (struct span_use){.index = index, .bin = bin};
}

/* Uses the span, or puts its children on the list of spans to look at. */
static void visit(struct family *family, size_t index)
{
	const struct span *span = &family->spans->list[index];
	const struct span_question *question = family->question;
	size_t first, n;

	if (span->end_us <= question->since_us || span->start_us >= question->until_us ||
	    span_tiers[span->tier].seconds < question->least_seconds)
		return;
	if (inside_a_bin(family, span) || span->tier == 0 ||
	    span_tiers[span->tier - 1].seconds < question->least_seconds) {
		use(family, index);
		return;
	}
	first = first_child(family, span->id);
	n = children_of(family, span, first);
	if (n == 0)
		use(family, index);
	for (size_t i = 0; i < n; i++)
		family->todo[family->n_todo++] = family->order[first + i];
}

/* The shortest span that contains the end of the range: a short range may have the middle of no span. */
static void use_end(struct family *family)
{
	const struct spans *spans = family->spans;
	const struct span_question *question = family->question;
	const struct span *shortest = NULL;

	for (size_t i = 0; i < spans->n; i++) {
		const struct span *span = &spans->list[i];

		if (span->start_us < question->until_us && span->end_us >= question->until_us &&
		    span_tiers[span->tier].seconds >= question->least_seconds &&
		    (!shortest || span->tier < shortest->tier))
			shortest = span;
	}
	if (shortest)
		family->uses[family->n_uses++] = (struct span_use){.index = (size_t)(shortest - spans->list),
								   .bin = question->bins - 1};
}

static int by_bin(const void *a, const void *b, void *userdata)
{
	const struct spans *spans = userdata;
	const struct span_use *x = a, *y = b;
	const struct span *of_x = &spans->list[x->index], *of_y = &spans->list[y->index];

	if (x->bin != y->bin)
		return x->bin < y->bin ? -1 : 1;
	if (of_x->start_us != of_y->start_us)
		return of_x->start_us < of_y->start_us ? -1 : 1;
	return of_x->id < of_y->id ? -1 : 1;
}

int spans_cover(const struct spans *spans, const struct span_question *question, struct span_use **ret,
		size_t *ret_n)
{
	_cleanup_free_ size_t *order = calloc(spans->n + 1, sizeof(*order));
	_cleanup_free_ size_t *todo = calloc(spans->n + 1, sizeof(*todo));
	struct family family = {.spans = spans, .order = order, .todo = todo, .question = question};

	family.uses = calloc(spans->n + 1, sizeof(*family.uses));
	if (!order || !todo || !family.uses) {
		free(family.uses);
		return -ENOMEM;
	}
	family.bin_us = (question->until_us - question->since_us) / question->bins;
	if (family.bin_us == 0)
		family.bin_us = 1;
	for (size_t i = 0; i < spans->n; i++)
		order[i] = i;
	qsort_r(order, spans->n, sizeof(*order), by_parent, (void *)spans);
	/* Begins with the spans that are in no other one that is still stored. */
	for (size_t i = 0; i < spans->n; i++)
		if (spans->list[i].parent == 0 || spans_find(spans, spans->list[i].parent) < 0)
			family.todo[family.n_todo++] = i;
	while (family.n_todo > 0)
		visit(&family, family.todo[--family.n_todo]);
	if (family.n_uses == 0)
		use_end(&family);
	qsort_r(family.uses, family.n_uses, sizeof(*family.uses), by_bin, (void *)spans);
	*ret = family.uses;
	*ret_n = family.n_uses;
	return 0;
}
