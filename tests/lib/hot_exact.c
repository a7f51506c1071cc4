// SPDX-License-Identifier: GPL-2.0
#include "hot_exact.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "hot_write.h"

void hot_exact_begin(struct hot_exact *exact, enum hot_kind kind, u32 cpus, u64 seed)
{
	exact->kind = kind;
	exact->seed = seed;
	exact->cpus = cpus;
	exact->n = 0;
	memset(exact->tables, 0, cpus * sizeof(exact->tables[0]));
}

void hot_exact_done(struct hot_exact *exact)
{
	free(exact->came);
	*exact = (struct hot_exact){0};
}

void hot_exact_add(struct hot_exact *exact, u32 cpu, u64 address, u64 weight, u32 hitm)
{
	const struct hot_sample sample = {
		.item = exact->kind == HOT_CODE ? hot_code_item(address) : hot_line_item(address),
		.weight = weight,
		.hitm = hitm,
		.pid = 100 + cpu,
	};

	if (!sample.item)
		return;
	if (exact->n == exact->room) {
		exact->room = exact->room ? 2 * exact->room : 4096;
		exact->came = reallocarray(exact->came, exact->room, sizeof(*exact->came));
		if (!exact->came)
			abort();
	}
	exact->came[exact->n++] = (struct hot_came){
		.item = sample.item, .weight = weight, .samples = 1, .hitm = hitm, .cpu = cpu};
	hot_add(&exact->tables[cpu].kinds[exact->kind], exact->seed, &sample);
}

static int compare_came(const void *a, const void *b)
{
	const struct hot_came *left = a, *right = b;

	return left->item < right->item ? -1 : left->item > right->item;
}

/* Merges the samples into one entry per item, sorted by item. */
static void add_up(struct hot_exact *exact)
{
	size_t n = 0;

	if (exact->n)
		qsort(exact->came, exact->n, sizeof(*exact->came), compare_came);
	for (size_t i = 0; i < exact->n; i++) {
		if (n && exact->came[n - 1].item == exact->came[i].item) {
			exact->came[n - 1].weight += exact->came[i].weight;
			exact->came[n - 1].samples += exact->came[i].samples;
			exact->came[n - 1].hitm += exact->came[i].hitm;
		} else {
			exact->came[n++] = exact->came[i];
		}
	}
	exact->n = n;
}

static int compare_places(const void *a, const void *b)
{
	const struct hot_place *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static const struct hot_place *find(const struct hot_places *by_address, u64 address)
{
	const struct hot_place wanted = {.address = address};

	return by_address->n
		       ? bsearch(&wanted, by_address->places, by_address->n, sizeof(wanted), compare_places)
		       : NULL;
}

static void check_order(const struct hot_places *places, const char *what)
{
	for (size_t i = 1; i < places->n; i++)
		cr_assert_geq(places->places[i - 1].weight, places->places[i].weight, "%s", what);
}

static void check_place(const struct hot_place *place, const struct hot_came *came, const char *what)
{
	cr_assert_leq(place->weight - place->weight_error, came->weight, "%s: less weight came", what);
	cr_assert_geq(place->weight, came->weight, "%s: more weight came", what);
	cr_assert_leq(place->samples - place->samples_error, came->samples, "%s: fewer samples came", what);
	cr_assert_geq(place->samples, came->samples, "%s: more samples came", what);
	cr_assert_leq(place->hitm, came->hitm, "%s", what);
	cr_assert_leq(place->hitm_cpus, place->cpus, "%s", what);
	if (place->cpus)
		cr_assert_geq(place->pid, 100, "%s", what);
}

void hot_exact_check(struct hot_exact *exact, const char *what, struct hot_recall *recall)
{
	const struct hot_table *tables[HOT_EXACT_CPUS];
	struct hot_places places;
	u64 weight = 0, samples = 0;
	size_t listed = 0;

	for (u32 cpu = 0; cpu < exact->cpus; cpu++)
		tables[cpu] = &exact->tables[cpu];
	cr_assert_eq(hot_places_read(tables, exact->cpus, exact->cpus, exact->kind, true, &places), 0);
	add_up(exact);
	for (size_t i = 0; i < exact->n; i++) {
		weight += exact->came[i].weight;
		samples += exact->came[i].samples;
	}
	cr_assert_eq(places.weight, weight, "%s", what);
	cr_assert_eq(places.samples, samples, "%s", what);
	check_order(&places, what);
	if (places.n)
		qsort(places.places, places.n, sizeof(*places.places), compare_places);
	for (size_t i = 0; i < exact->n; i++) {
		const struct hot_came *came = &exact->came[i];
		const struct hot_place *place = find(&places, hot_item_address(exact->kind, came->item));

		if (place) {
			check_place(place, came, what);
			listed++;
		} else {
			cr_assert_leq(came->weight, places.absent_weight, "%s", what);
			cr_assert_leq(came->samples, places.absent_samples, "%s", what);
		}
		if (came->weight > weight / HOT_EXACT_K) {
			recall->heavy++;
			recall->found += place != NULL;
		}
	}
	cr_assert_eq(listed, places.n, "%s: all that is listed came, and once", what);
	hot_places_done(&places);
}
