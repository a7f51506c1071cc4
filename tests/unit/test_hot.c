// SPDX-License-Identifier: GPL-2.0
/* Hot tables against exact counts: the code that BPF runs, and what the daemon makes of it. */
#include <criterion/criterion.h>

#include <string.h>

#include "base/cleanup.h"
#include "collect/hot.h"
#include "hot.h"

#define TABLES 3
#define OWNERS 6
#define ITEMS  4096

static struct hot_set tables[TABLES * HOT_SETS];
static u64 exact[TABLES][OWNERS][ITEMS];
static u64 weight_of_set[TABLES][HOT_SETS];
static u64 seed;
static u32 generations[OWNERS];

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static u64 owner_of(u32 owner)
{
	return hot_owner(owner + 1, generations[owner], 2);
}

static int is_gone(u64 owner)
{
	return generations[HOT_OWNER_SLOT(owner) - 1] != HOT_OWNER_GENERATION(owner);
}

static u64 item_of(u32 item)
{
	return 0x401000 + 4 * (u64)item;
}

static void begin(u64 with_seed)
{
	memset(tables, 0, sizeof(tables));
	memset(exact, 0, sizeof(exact));
	memset(weight_of_set, 0, sizeof(weight_of_set));
	seed = with_seed;
	for (u32 i = 0; i < OWNERS; i++)
		generations[i] = 1;
}

static void add(u32 table, u32 owner, u32 item, u64 weight)
{
	u32 set = hot_set_of(owner_of(owner), item_of(item), seed);

	cr_assert_lt(set, HOT_SETS);
	hot_add(&tables[table * HOT_SETS + set], owner_of(owner), item_of(item), weight, is_gone);
	exact[table][owner][item] += weight;
	weight_of_set[table][set] += weight;
}

/* The slot passes to another cgroup. */
static void bury(u32 owner)
{
	generations[owner] += 2;
	for (u32 table = 0; table < TABLES; table++)
		memset(exact[table][owner], 0, sizeof(exact[table][owner]));
}

static u64 exact_sum(u32 owner, u32 item)
{
	u64 sum = 0;

	for (u32 table = 0; table < TABLES; table++)
		sum += exact[table][owner][item];
	return sum;
}

static u64 exact_all(u32 owner)
{
	u64 sum = 0;

	for (u32 item = 0; item < ITEMS; item++)
		sum += exact_sum(owner, item);
	return sum;
}

static const struct hot_item *find(const struct hot_list *list, u64 item)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].item == item)
			return &list->items[i];
	return NULL;
}

/* What the tables promise of an item, whatever came. Returns whether it is listed. */
static bool check_item(const struct hot_list *list, u32 owner, u32 item)
{
	const struct hot_item *found = find(list, item_of(item));
	u32 set = hot_set_of(owner_of(owner), item_of(item), seed);
	u64 really = exact_sum(owner, item);
	u64 passed = 0;

	for (u32 table = 0; table < TABLES; table++) {
		passed += tables[table * HOT_SETS + set].passed;
		if (exact[table][owner][item] > weight_of_set[table][set] / HOT_WAYS)
			cr_expect_not_null(found, "owner %u item %u is heavy in table %u and was lost", owner,
					   item, table);
	}
	if (!found) {
		cr_expect_leq(really, passed, "owner %u item %u", owner, item);
		return false;
	}
	cr_expect_leq(found->samples, really, "owner %u item %u: less came", owner, item);
	cr_expect_geq(found->samples + found->error, really, "owner %u item %u: more came", owner, item);
	return true;
}

static void check_owner(u32 owner)
{
	struct hot_list list = {0};
	u64 listed = 0;

	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(owner)), 0);
	hot_list_finish(&list, exact_all(owner));
	cr_expect_eq(list.samples, exact_all(owner));
	for (u32 item = 0; item < ITEMS; item++)
		listed += check_item(&list, owner, item);
	cr_expect_eq(listed, list.n, "all that is listed is the owner's, and once");
	for (size_t i = 1; i < list.n; i++)
		cr_expect_geq(list.items[i - 1].samples, list.items[i].samples);
	hot_list_done(&list);
}

static void check_all(void)
{
	for (u32 owner = 0; owner < OWNERS; owner++)
		check_owner(owner);
}

Test(hot, few_items_are_counted_exactly)
{
	struct hot_list list = {0};

	begin(1);
	for (u32 i = 0; i < 300; i++)
		add(i % TABLES, 0, i % 10, 1);
	add(0, 0, 3, 5);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(0)), 0);
	hot_list_finish(&list, 305);
	cr_assert_eq(list.n, 10);
	cr_expect_eq(list.items[0].item, item_of(3));
	cr_expect_eq(list.items[0].samples, 35);
	for (size_t i = 0; i < list.n; i++)
		cr_expect_eq(list.items[i].error, 0);
	hot_list_done(&list);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(1)), 0);
	cr_expect_eq(list.n, 0, "another owner has none of it");
	hot_list_done(&list);
}

/* What services do: few hot addresses and a long tail, cgroups that come and go. */
Test(hot, skewed_streams_keep_their_bounds)
{
	for (u64 round = 1; round <= 20; round++) {
		u64 random = round * 0x9e3779b97f4a7c15ULL;

		begin(next_random(&random));
		for (u32 i = 0; i < 60000; i++) {
			u64 draw = next_random(&random);
			u32 owner = (u32)(draw >> 40) % OWNERS;
			u32 item = (u32)(draw & 0xfff) >> (draw >> 12 & 0xf);

			add((u32)(draw >> 50) % TABLES, owner, item, 1 + (draw >> 56 & 3));
			if (i % 9973 == 0)
				bury(owner);
		}
		check_all();
	}
}

/* Streams made to fill one set, by somebody who knows the seed: bounds hold there too. */
Test(hot, streams_aimed_at_one_set_keep_their_bounds)
{
	for (u64 round = 1; round <= 50; round++) {
		u64 random = round * 0x2545f4914f6cdd1dULL;
		u32 chosen[ITEMS], n = 0;

		begin(next_random(&random));
		for (u32 item = 0; item < ITEMS; item++)
			if (hot_set_of(owner_of(0), item_of(item), seed) ==
			    hot_set_of(owner_of(0), item_of(0), seed))
				chosen[n++] = item;
		cr_assert_gt(n, 1);
		for (u32 i = 0; i < 5000; i++) {
			u64 draw = next_random(&random);
			u32 item = round % 3 == 0   ? chosen[i % n]
				   : round % 3 == 1 ? chosen[draw % n]
						    : chosen[draw % 4 ? i / 500 % n : draw % n];

			add((u32)(draw >> 50) % TABLES, 0, item, round % 2 ? 1 : 1 + (draw >> 60));
		}
		check_owner(0);
	}
}

/* What a removed cgroup left behind is given up, or its counts would stand in the way of others for ever. */
Test(hot, the_cells_of_owners_that_are_gone_are_taken)
{
	struct hot_list list = {0};
	u64 certain = 0;

	/* Each fills more than half of the table: there is no room for both. */
	begin(7);
	for (u32 item = 0; item < ITEMS / 2; item++)
		add(0, 0, item, 1000);
	bury(0);
	for (u32 i = 0; i < 40; i++)
		for (u32 item = 0; item < ITEMS / 2; item++)
			add(0, 1, item, 1);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(1)), 0);
	hot_list_finish(&list, exact_all(1));
	for (size_t i = 0; i < list.n; i++)
		certain += list.items[i].samples;
	cr_expect_gt(10 * certain, 9 * list.samples, "%llu of %llu", (unsigned long long)certain,
		     (unsigned long long)list.samples);
	cr_expect_eq(list.items[0].samples, 40);
	hot_list_done(&list);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(0)), 0);
	cr_expect_eq(list.n, 0, "the slot's next owner has none of it");
	hot_list_done(&list);
	check_owner(1);
}

Test(hot, the_items_of_two_owners_are_put_together)
{
	struct hot_list list = {0};

	begin(3);
	add(0, 0, 1, 10);
	add(1, 1, 1, 5);
	add(2, 1, 2, 7);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(0)), 0);
	cr_assert_eq(hot_list_add(&list, tables, TABLES, seed, owner_of(1)), 0);
	hot_list_finish(&list, 20);
	cr_expect_eq(list.samples, 22, "never less than its items");
	cr_assert_eq(list.n, 2);
	cr_expect_eq(list.items[0].samples, 15);
	cr_expect_eq(list.items[1].samples, 7);
	hot_list_done(&list);
}

/* Addresses of functions lie 16 bytes apart: they must not share a few sets. */
Test(hot, items_spread_over_the_sets)
{
	u32 items[HOT_SETS] = {0};
	u32 most = 0;

	begin(0x1234567);
	for (u32 i = 0; i < 16 * HOT_SETS; i++) {
		u32 set = hot_set_of(owner_of(0), 0x7f0000400000ULL + 16 * (u64)i, seed);

		if (++items[set] > most)
			most = items[set];
	}
	cr_expect_lt(most, 48, "a set has %u of 16 on average", most);
}

Test(hot, owners_come_apart_again)
{
	u64 owner = hot_owner(65535, 0xfffffffeU, 11);

	cr_expect_eq(HOT_OWNER_SLOT(owner), 65535);
	cr_expect_eq(HOT_OWNER_EVENT(owner), 11);
	cr_expect_eq(HOT_OWNER_GENERATION(owner), 0xfffffffeU);
}
