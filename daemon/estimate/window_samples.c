// SPDX-License-Identifier: GPL-2.0
#include "estimate/window_samples.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "collect/packed.h"
#include "window/sliding.h"

/* As many parts as the windows of rules have. */
#define PARTS_MAX SLIDING_PANES

_Static_assert(PARTS_MAX <= BURSTS_PARTS_MAX, "all parts fit");

/* Divides the collections of a span into parts. */
struct division {
	size_t collections;
	u64 begin_ns, end_ns; /* of all collections */
	size_t part;          /* the part of time to which the collection belongs, of PARTS_MAX */
	size_t n_parts;
	double seconds[BURSTS_PARTS_MAX];
};

static int measure_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct division *division = userdata;

	if (division->collections++ == 0)
		division->begin_ns = begin_ns;
	division->end_ns = end_ns;
	return 0;
}

/* Returns 0, or -ENODATA if the span has too few collections. */
static int measure(const struct window *window, u64 span_ns, struct division *ret)
{
	int r;

	*ret = (struct division){0};
	r = window_walk(window, span_ns,
			&(struct window_visitor){.collection = measure_collection, .userdata = ret});
	if (r < 0)
		return r;
	return ret->collections < BURSTS_COLLECTIONS_MIN ? -ENODATA : 0;
}

/*
 * A collection belongs to the part in which it ends. A part in which none ends is left out. Returns true if the
 * collection begins another part.
 */
static bool divide(struct division *division, u64 begin_ns, u64 end_ns)
{
	u64 all_ns = division->end_ns - division->begin_ns;
	u64 before_ns = end_ns > division->begin_ns ? end_ns - division->begin_ns - 1 : 0;
	size_t part = all_ns ? (size_t)((double)before_ns / (double)all_ns * PARTS_MAX) : 0;
	bool another = division->n_parts == 0 || part != division->part;

	division->n_parts += another;
	division->part = part;
	division->seconds[division->n_parts - 1] += (double)(end_ns - begin_ns) / (double)NSEC_PER_SEC;
	return another;
}

struct summing {
	const u32 *entries;
	size_t n_entries;
	struct window_samples *samples;
	struct division division;
};

static int begin_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct summing *summing = userdata;
	struct window_samples *samples = summing->samples;
	bool another = divide(&summing->division, begin_ns, end_ns);
	size_t part = summing->division.n_parts - 1;

	samples->n_parts = part + 1;
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		if (another)
			samples->parts[event][part] = (struct measured_part){0};
		samples->parts[event][part].seconds = summing->division.seconds[part];
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	u32 one = *(const u32 *)a, other = *(const u32 *)b;

	return (one > other) - (one < other);
}

static int add_record(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata)
{
	struct summing *summing = userdata;
	struct window_samples *samples = summing->samples;
	struct tally tally;

	if (!bsearch(&entry, summing->entries, summing->n_entries, sizeof(entry), compare_entries))
		return 0;
	tally_of(packed, size, &tally);
	tally_add(&samples->parts[event][samples->n_parts - 1].tally, &tally);
	tally_add(&samples->sums[event], &tally);
	return 0;
}

int window_samples_of(const struct window *window, u64 span_ns, u32 *entries, size_t n_entries,
		      struct window_samples *ret)
{
	struct summing summing = {.entries = entries, .n_entries = n_entries, .samples = ret};
	int r;

	qsort(entries, n_entries, sizeof(*entries), compare_entries);
	ret->n_parts = 0;
	memset(ret->sums, 0, sizeof(ret->sums));
	r = measure(window, span_ns, &summing.division);
	if (r < 0)
		return r;
	return window_walk(window, span_ns,
			   &(struct window_visitor){.collection = begin_collection,
						    .packed = add_record,
						    .userdata = &summing});
}

/* The sums of one event in one part of time. */
struct count {
	u64 samples;
	u64 weight;
	double weight_squared;
};

/* A cgroup of a row. */
struct place {
	u32 entry;
	u32 row;
};

struct window_counts {
	unsigned events;      /* bit mask */
	size_t n_events;      /* number of bits in it */
	struct place *places; /* by ascending entry */
	size_t n_places;
	u32 all; /* the row with every cgroup; UINT32_MAX: none */
	struct division division;
	size_t n_parts_max;
	struct count *counts; /* of [row][event][part] */
};

struct window_counts *window_counts_free(struct window_counts *counts)
{
	if (!counts)
		return NULL;
	free(counts->places);
	free(counts->counts);
	free(counts);
	return NULL;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	return one->entry != other->entry ? compare_entries(&one->entry, &other->entry)
					  : compare_entries(&one->row, &other->row);
}

static int list_places(struct window_counts *counts, const struct window_row *rows, size_t n)
{
	size_t n_places = 0;

	for (size_t i = 0; i < n; i++)
		n_places += rows[i].n;
	counts->places = calloc(n_places + 1, sizeof(*counts->places));
	if (!counts->places)
		return -ENOMEM;
	counts->all = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].entries)
			counts->all = (u32)i;
		for (size_t j = 0; rows[i].entries && j < rows[i].n; j++)
			counts->places[counts->n_places++] =
				(struct place){.entry = rows[i].entries[j], .row = (u32)i};
	}
	qsort(counts->places, counts->n_places, sizeof(*counts->places), compare_places);
	return 0;
}

/* Returns the index of the first place of an entry, or of a larger one. */
static size_t first_place(const struct window_counts *counts, u32 entry)
{
	size_t low = 0, high = counts->n_places;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counts->places[middle].entry < entry)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct count *count_at(const struct window_counts *counts, size_t row, unsigned event, size_t part)
{
	size_t number = (size_t)__builtin_popcount(counts->events & ((1U << event) - 1));

	return &counts->counts[(row * counts->n_events + number) * counts->n_parts_max + part];
}

static int begin_counts(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct window_counts *counts = userdata;

	(void)divide(&counts->division, begin_ns, end_ns);
	return 0;
}

static void add_count(struct window_counts *counts, size_t row, unsigned event, const struct count *count)
{
	struct count *sum = count_at(counts, row, event, counts->division.n_parts - 1);

	sum->samples += count->samples;
	sum->weight += count->weight;
	sum->weight_squared += count->weight_squared;
}

static int add_counts(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata)
{
	struct window_counts *counts = userdata;
	struct count count = {0};
	size_t i;

	if (!(counts->events >> event & 1))
		return 0;
	i = first_place(counts, entry);
	if (counts->all == UINT32_MAX && (i == counts->n_places || counts->places[i].entry != entry))
		return 0;
	count.samples = packed_samples(packed, size);
	count.weight = packed_weight(packed, size);
	if (count.samples)
		count.weight_squared = (double)count.weight * (double)count.weight / (double)count.samples;
	if (counts->all != UINT32_MAX)
		add_count(counts, counts->all, event, &count);
	for (; i < counts->n_places && counts->places[i].entry == entry; i++)
		add_count(counts, counts->places[i].row, event, &count);
	return 0;
}

int window_counts_of(const struct window *window, u64 span_ns, unsigned events, const struct window_row *rows,
		     size_t n, struct window_counts **ret)
{
	_cleanup_(window_counts_freep) struct window_counts *counts = calloc(1, sizeof(*counts));
	int r;

	if (!counts)
		return -ENOMEM;
	r = measure(window, span_ns, &counts->division);
	if (r == 0)
		r = list_places(counts, rows, n);
	if (r < 0)
		return r;
	counts->events = events;
	counts->n_events = (size_t)__builtin_popcount(events);
	counts->n_parts_max = MIN(counts->division.collections, BURSTS_PARTS_MAX);
	counts->counts = calloc(n * counts->n_events * counts->n_parts_max + 1, sizeof(*counts->counts));
	if (!counts->counts)
		return -ENOMEM;
	r = window_walk(window, span_ns,
			&(struct window_visitor){
				.collection = begin_counts, .packed = add_counts, .userdata = counts});
	if (r == 0)
		*ret = TAKE_PTR(counts);
	return r;
}

static void put_tally(const struct count *count, struct tally *ret)
{
	ret->samples = count->samples;
	ret->weight = count->weight;
	ret->weight_squared = count->weight_squared;
}

void window_counts_row(const struct window_counts *counts, size_t row, struct window_samples *ret)
{
	ret->n_parts = counts->division.n_parts;
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		struct count sum = {0};

		for (size_t part = 0; part < ret->n_parts; part++) {
			static const struct count none;
			const struct count *count =
				counts->events >> event & 1 ? count_at(counts, row, event, part) : &none;

			put_tally(count, &ret->parts[event][part].tally);
			ret->parts[event][part].seconds = counts->division.seconds[part];
			sum.samples += count->samples;
			sum.weight += count->weight;
			sum.weight_squared += count->weight_squared;
		}
		put_tally(&sum, &ret->sums[event]);
	}
}

void window_samples_metric(const struct window_samples *samples, unsigned event, const struct metric *metric,
			   double confidence, struct estimate *ret)
{
	const struct rule rule = {.metric = *metric, .confidence = confidence};
	struct measured measured = {
		.tally = &samples->sums[event],
		.parts = samples->parts[event],
		.n_parts = samples->n_parts,
	};

	measured.effect = estimate_effect(&rule, NULL, &measured);
	estimate_of(&rule, NULL, &measured, ret);
}

void window_samples_quantile(const struct window_samples *samples, unsigned event, double q,
			     double confidence, struct estimate *ret)
{
	window_samples_metric(samples, event, &(struct metric){.kind = METRIC_QUANTILE, .quantile = q},
			      confidence, ret);
}

void window_samples_share(const struct window_samples *samples, unsigned event, u32 source, double confidence,
			  struct estimate *ret)
{
	window_samples_metric(
		samples, event,
		&(struct metric){.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = source},
		confidence, ret);
}
