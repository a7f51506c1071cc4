// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <stdio.h>

#include "collect/collect.h"
#include "collect/ledger.h"

static struct figures some(u64 samples)
{
	struct figures figures = {0};

	figures.samples[SOURCE_L2] = samples;
	return figures;
}

static void add(struct ledger_entry *entry, const struct figures *figures)
{
	cr_assert_eq(ledger_reserve(entry, 0), 0);
	ledger_add(entry, 0, figures);
}

static u64 total(const struct ledger_entry *entry)
{
	return entry->total[0] ? figures_samples(entry->total[0]) : 0;
}

Test(ledger, a_path_has_one_entry_and_differences_last_one_collection)
{
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	const struct figures three = some(3), four = some(4);
	struct ledger_entry *entry, *again;

	cr_assert_eq(ledger_new(&ledger), 0);
	cr_expect_null(ledger_find(ledger, "/a"));
	cr_assert_eq(ledger_get(ledger, "/a", &entry), 0);
	cr_assert_eq(ledger_get(ledger, "/a", &again), 0);
	cr_expect_eq(entry, again);
	cr_expect_eq(ledger_find(ledger, "/a"), entry);

	add(entry, &three);
	add(entry, &four);
	cr_expect_eq(figures_samples(entry->difference[0]), 7);
	ledger_begin(ledger);
	cr_expect_null(entry->difference[0]);
	cr_expect_eq(total(entry), 7);
}

Test(ledger, folding_moves_totals_and_loses_nothing)
{
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	const struct figures one = some(1);
	struct ledger_entry *const *entries;
	char path[32];
	u64 sum;
	size_t n;

	cr_assert_eq(ledger_new(&ledger), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct ledger_entry *entry;

		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(ledger_get(ledger, path, &entry), 0);
		add(entry, &one);
		entry->died_ns = i;
		entry->holders = i % 2; /* every second one still rests in a slot */
	}
	cr_assert_eq(ledger_fold(ledger, 500, 10000), 0);
	entries = ledger_entries(ledger, &n);
	cr_expect_eq(n, 750);
	sum = total(ledger_other(ledger));
	cr_expect_eq(sum, 250);
	for (size_t i = 0; i < n; i++)
		sum += total(entries[i]);
	cr_expect_eq(sum, 1000);
	cr_expect_null(ledger_find(ledger, "/c0"));
	cr_expect_not_null(ledger_find(ledger, "/c1"));
	cr_expect_not_null(ledger_find(ledger, "/c500"));
}

Test(ledger, a_crowd_of_dead_folds_oldest_first)
{
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	const struct figures one = some(1);
	char path[32];
	size_t n;

	cr_assert_eq(ledger_new(&ledger), 0);
	for (unsigned i = 0; i < 1001; i++) {
		struct ledger_entry *entry;

		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(ledger_get(ledger, path, &entry), 0);
		add(entry, &one);
		entry->died_ns = 1000 + (i * 5) % 1001; /* in another order than their numbers */
	}
	cr_assert_eq(ledger_fold(ledger, 0, 1001), 0);
	(void)ledger_entries(ledger, &n);
	cr_expect_eq(n, 1001, "as many as may be");
	cr_assert_eq(ledger_fold(ledger, 0, 1000), 0);
	(void)ledger_entries(ledger, &n);
	cr_expect_eq(n, 750);
	for (size_t i = 0; i < n; i++) {
		cr_expect_geq(ledger_entries(ledger, &n)[i]->died_ns, 1000 + 251);
		if (i)
			cr_expect_gt(ledger_entries(ledger, &n)[i]->number,
				     ledger_entries(ledger, &n)[i - 1]->number);
	}
	cr_expect_eq(total(ledger_other(ledger)), 251);
	cr_assert_eq(ledger_fold(ledger, 0, 0), 0);
	(void)ledger_entries(ledger, &n);
	cr_expect_eq(n, 0);
}

Test(ledger, numbers_are_never_used_twice)
{
	_cleanup_(ledger_freep) struct ledger *ledger = NULL;
	struct ledger_entry *entry;
	u32 first;

	cr_assert_eq(ledger_new(&ledger), 0);
	cr_assert_eq(ledger_get(ledger, "/a", &entry), 0);
	first = entry->number;
	cr_assert_eq(ledger_fold(ledger, 1, 10), 0);
	cr_assert_eq(ledger_get(ledger, "/a", &entry), 0);
	cr_expect_gt(entry->number, first);
}

Test(collect, the_way_back_of_a_slot)
{
	const u64 grace = 1000, rest = COLLECT_REST_NS;

	cr_expect_eq(collect_next_step(SLOT_ALIVE, 0, 1ULL << 40, grace), SLOT_STEP_NONE);
	cr_expect_eq(collect_next_step(SLOT_DEAD, 5000, 5999, grace), SLOT_STEP_NONE);
	cr_expect_eq(collect_next_step(SLOT_DEAD, 5000, 6000, grace), SLOT_STEP_RETIRE);
	cr_expect_eq(collect_next_step(SLOT_DEAD, 5000, 4000, grace), SLOT_STEP_NONE,
		     "died after `now` was taken");
	cr_expect_eq(collect_next_step(SLOT_RETIRED, 5000, 5000 + rest - 1, grace), SLOT_STEP_NONE);
	cr_expect_eq(collect_next_step(SLOT_RETIRED, 5000, 5000 + rest, grace), SLOT_STEP_GIVE);
	cr_expect_eq(collect_next_step(SLOT_FREE, 0, 1ULL << 40, grace), SLOT_STEP_NONE);
}
