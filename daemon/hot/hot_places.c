// SPDX-License-Identifier: GPL-2.0
#include "hot/hot_places.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/param.h>

/* Reads a member of memory that is shared with a writer, once and whole. */
#define SHARED(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

/*
 * Maximum number of attempts to read a counter while a program replaces its item. A replacement takes some
 * nanoseconds.
 */
#define TRIES 1000

/* One item in one table. */
struct found {
	u64 item;
	size_t table;
	u32 way;
	u64 weight;
	struct hot_counter counter;
	struct hot_error error;
};

struct search {
	struct found *found;
	size_t n;
};

/* Upper bounds for each item that is not in a certain set of one table. */
struct passed {
	u64 weight;
	u64 samples;
};

void hot_places_done(struct hot_places *places)
{
	free(places->places);
	*places = (struct hot_places){0};
}

/*
 * Returns false if the counter has no item, or if its item changed during each of TRIES reads. The turn shows
 * such a change even if the same item is back.
 */
static bool read_counter(const struct hot_set *set, u32 way, struct found *ret)
{
	const struct hot_counter *shared = &set->counters[way];
	const struct hot_error *error = &set->errors[way];

	for (u32 i = 0; i < TRIES; i++) {
		ret->counter.turn = SHARED(shared->turn);
		ret->item = SHARED(shared->item);
		if (ret->item == 0) {
			if (ret->counter.turn == 0)
				return false;
			continue;
		}
		/*
		 * Read the errors before the sums that include them, so that a lower bound never exceeds the
		 * true value.
		 */
		ret->error.weight = SHARED(error->weight);
		ret->error.samples = SHARED(error->samples);
		ret->counter.hitm = SHARED(shared->hitm);
		ret->counter.pid = SHARED(shared->pid);
		ret->counter.samples = SHARED(shared->samples);
		ret->weight = HOT_RANK_WEIGHT(SHARED(set->ranks[way]));
		if (SHARED(shared->item) == ret->item && SHARED(shared->turn) == ret->counter.turn)
			return true;
	}
	return false;
}

static void search_set(struct search *search, const struct hot_set *set, size_t table)
{
	for (u32 way = 0; way < HOT_WAYS; way++) {
		struct found *found = &search->found[search->n];

		found->table = table;
		found->way = way;
		search->n += read_counter(set, way, found);
	}
}

/* Ways are read in ascending order, so the later one of an item's two counters in a table is the last. */
static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->item != right->item)
		return left->item < right->item ? -1 : 1;
	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	return left->way < right->way ? -1 : left->way > right->way;
}

static int compare_places(const void *a, const void *b)
{
	const struct hot_place *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	return left->address < right->address ? -1 : left->address > right->address;
}

/*
 * Sums the `n` counters of one item, which are sorted by table and way. For a table without the item, adds
 * `passed` as the upper bound. `per_cpu` tables in a row belong to one CPU; 0: the CPU is unknown.
 */
static struct hot_place sum_tables(const struct found *found, size_t n, enum hot_kind kind,
				   const struct passed *passed, size_t n_tables, size_t per_cpu)
{
	struct hot_place sum = {.address = hot_item_address(kind, found->item)};
	size_t cpu_before = SIZE_MAX, hitm_before = SIZE_MAX;
	size_t next = 0;

	for (size_t table = 0; table < n_tables; table++) {
		bool here = next < n && found[next].table == table;

		if (!here) {
			sum.weight += passed[table].weight;
			sum.weight_error += passed[table].weight;
			sum.samples += passed[table].samples;
			sum.samples_error += passed[table].samples;
			continue;
		}
		/* An item that left and came back during the read occurs twice: use the later one. */
		while (next + 1 < n && found[next + 1].table == table)
			next++;
		sum.weight += found[next].weight;
		sum.weight_error += found[next].error.weight;
		sum.samples += found[next].counter.samples;
		sum.samples_error += found[next].error.samples;
		sum.hitm += found[next].counter.hitm;
		if (per_cpu) {
			size_t cpu = table / per_cpu;

			sum.cpus += cpu != cpu_before;
			cpu_before = cpu;
			if (found[next].counter.hitm) {
				sum.hitm_cpus += cpu != hitm_before;
				hitm_before = cpu;
			}
		}
		if (found[next].counter.pid)
			sum.pid = found[next].counter.pid;
		next++;
	}
	return sum;
}

/* Sums the set's items over all tables, and appends them to `places`. */
static void sum_set(const struct hot_table *const *tables, size_t n_tables, size_t per_cpu, u32 set,
		    struct search *search, struct passed *passed, struct hot_places *places)
{
	u64 weight = 0, samples = 0;

	search->n = 0;
	for (size_t table = 0; table < n_tables; table++)
		search_set(search, &tables[table]->kinds[places->kind].sets[set], table);
	/*
	 * Read these sums after the items. `passed` then covers an item that left its counter meanwhile, and
	 * the sums cover all items.
	 */
	for (size_t table = 0; table < n_tables; table++) {
		const struct hot_set *shared = &tables[table]->kinds[places->kind].sets[set];

		passed[table].weight = SHARED(shared->passed_weight);
		passed[table].samples = SHARED(shared->passed_samples);
		weight += passed[table].weight;
		samples += passed[table].samples;
		places->weight += SHARED(shared->weight);
		places->samples += SHARED(shared->samples);
	}
	places->absent_weight = MAX(places->absent_weight, weight);
	places->absent_samples = MAX(places->absent_samples, samples);
	qsort(search->found, search->n, sizeof(*search->found), compare_found);
	for (size_t i = 0, end; i < search->n; i = end) {
		for (end = i + 1; end < search->n && search->found[end].item == search->found[i].item;)
			end++;
		places->places[places->n++] =
			sum_tables(&search->found[i], end - i, places->kind, passed, n_tables, per_cpu);
	}
}

/* Limits a value to `slack` above its lower bound. */
static void bound(u64 *value, u64 *error, u64 slack)
{
	if (*error <= slack)
		return;
	*value -= *error - slack;
	*error = slack;
}

/*
 * The total exceeds the sum of all lower bounds by some remainder. No item can have more than its lower bound
 * plus that remainder.
 */
static void bound_all(struct hot_places *places)
{
	u64 weight = 0, samples = 0;

	for (size_t i = 0; i < places->n; i++) {
		weight += places->places[i].weight - places->places[i].weight_error;
		samples += places->places[i].samples - places->places[i].samples_error;
	}
	/* The total is lower than the sum of the lower bounds only if a writer is in the middle of a sample. */
	places->weight = MAX(places->weight, weight);
	places->samples = MAX(places->samples, samples);
	weight = places->weight - weight;
	samples = places->samples - samples;
	for (size_t i = 0; i < places->n; i++) {
		bound(&places->places[i].weight, &places->places[i].weight_error, weight);
		bound(&places->places[i].samples, &places->places[i].samples_error, samples);
	}
	places->absent_weight = MIN(places->absent_weight, weight);
	places->absent_samples = MIN(places->absent_samples, samples);
}

int hot_places_read(const struct hot_table *const *tables, size_t n, u32 cpus, enum hot_kind kind,
		    bool latency, struct hot_places *ret)
{
	struct hot_places places = {.kind = kind, .latency = latency, .cpus_known = cpus > 0};
	_cleanup_free_ struct passed *passed = calloc(n + 1, sizeof(*passed));
	_cleanup_free_ struct found *found = calloc(n + 1, HOT_WAYS * sizeof(*found));
	struct search search = {.found = found};

	places.places = calloc(n + 1, (size_t)HOT_COUNTERS * sizeof(*places.places));
	if (!passed || !found || !places.places) {
		free(places.places);
		return -ENOMEM;
	}
	for (u32 set = 0; set < HOT_SETS; set++)
		sum_set(tables, n, cpus ? n / cpus : 0, set, &search, passed, &places);
	bound_all(&places);
	if (places.n)
		qsort(places.places, places.n, sizeof(*places.places), compare_places);
	*ret = places;
	return 0;
}
