// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collect/totals.h"
#include "heap.h"
#include "scarce_memory.h"
#include "state/state_kinds.h"

/* Samples of L2 without latency, as a slot's record and as a packed delta. */
static struct latency_record record_of(u32 samples)
{
	return (struct latency_record){.without_latency[SOURCE_L2] = samples};
}

static size_t packed_some(u64 samples, u8 *packed)
{
	struct counters counters = {0};

	counters.samples[SOURCE_L2] = samples;
	return packed_of(&counters, packed);
}

static void add(struct totals_entry *entry, u64 samples)
{
	u8 packed[PACKED_MAX];

	cr_assert_eq(totals_add(entry, 0, packed, packed_some(samples, packed)), 0);
}

static u64 total_of(const struct totals_entry *entry, unsigned event)
{
	struct counters counters;

	totals_counters(entry, event, &counters);
	return counters_samples(&counters);
}

static u64 total(const struct totals_entry *entry)
{
	return total_of(entry, 0);
}

/* Reads a slot of the entry whose record has `samples` samples of the event. */
static void read_slot(struct totals_entry *entry, struct totals_sum **of_slot, unsigned event, u32 samples)
{
	const struct latency_record record = record_of(samples);
	const void *const records[] = {&record};
	struct totals_sum *sum = totals_sum(entry, of_slot, event);
	u64 by_stripe[STRIPES_MAX] = {0};
	u8 packed[PACKED_MAX];
	size_t size;

	cr_assert_not_null(sum);
	cr_assert_eq(last_reading_read(&sum->last, records, 1, true, packed, &size, by_stripe), 0);
}

static int leave_all(struct totals_entry *entry, struct totals_sum **of_slot)
{
	int r = 0;

	while (*of_slot && r == 0)
		r = totals_merge(entry, of_slot);
	return r;
}

Test(totals, a_path_has_one_entry)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_entry *entry, *again;

	cr_assert_eq(totals_new(&totals), 0);
	cr_expect_null(totals_find(totals, "/a"));
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	cr_assert_eq(totals_get(totals, "/a", &again), 0);
	cr_expect_eq(entry, again);
	cr_expect_eq(totals_find(totals, "/a"), entry);
	cr_expect_not(totals_has(entry, 0));
	cr_expect_eq(total(entry), 0);
	add(entry, 3);
	add(entry, 4);
	cr_expect_eq(total(entry), 7);
	cr_expect(totals_has(entry, 0));
	cr_expect_not(totals_has(entry, 1));
}

/*
 * Slots at the same time and one after another, with several events: the total of the path has all their
 * samples.
 */
Test(totals, a_total_includes_present_and_past_slots)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_sum *first = NULL, *second = NULL, *third = NULL;
	struct totals_entry *entry;

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	read_slot(entry, &first, 0, 10);
	read_slot(entry, &first, 2, 1000);
	read_slot(entry, &second, 0, 5);
	cr_expect_eq(total(entry), 15);
	cr_expect_eq(total_of(entry, 2), 1000);
	read_slot(entry, &first, 0, 30);
	cr_expect_eq(total(entry), 35, "a slot's reading is all it brought, not one more");

	cr_assert_eq(leave_all(entry, &first), 0);
	cr_expect_null(first);
	cr_expect_eq(total(entry), 35);
	cr_expect_eq(total_of(entry, 2), 1000);
	read_slot(entry, &second, 0, 6);
	cr_expect_eq(total(entry), 36);
	read_slot(entry, &third, 2, 7);
	cr_assert_eq(leave_all(entry, &second), 0);
	cr_assert_eq(leave_all(entry, &third), 0);
	cr_expect_eq(total(entry), 36);
	cr_expect_eq(total_of(entry, 2), 1007);
	cr_expect(totals_has(entry, 0));
	cr_expect_not(totals_has(entry, 1));
}

/* A dirty slot without a sample gets a sum, but the entry still has no sample of the event. */
Test(totals, an_entry_without_samples_does_not_have_the_event)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_sum *of_slot = NULL;
	struct totals_entry *entry;

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	read_slot(entry, &of_slot, 0, 0);
	cr_expect_not(totals_has(entry, 0));
	cr_assert_eq(leave_all(entry, &of_slot), 0);
	cr_expect_not(totals_has(entry, 0));
}

/*
 * If any allocation fails, the slot keeps the counts that were not moved yet, and a second attempt moves
 * them.
 */
Test(totals, a_failed_allocation_when_leaving_loses_nothing)
{
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		_cleanup_(totals_freep) struct totals *totals = NULL;
		struct totals_sum *of_slot = NULL;
		struct totals_entry *entry;
		int r;

		cr_assert_eq(totals_new(&totals), 0);
		cr_assert_eq(totals_get(totals, "/a", &entry), 0);
		add(entry, 5);
		read_slot(entry, &of_slot, 0, 10);
		read_slot(entry, &of_slot, 1, 100);
		scarce_memory_after(after);
		r = leave_all(entry, &of_slot);
		failed = scarce_memory_end();
		cr_expect_eq(r, failed ? -ENOMEM : 0);
		cr_expect_eq(total(entry), 15);
		cr_expect_eq(total_of(entry, 1), 100);
		cr_expect_eq(leave_all(entry, &of_slot), 0);
		cr_expect_eq(total(entry), 15);
		cr_expect_eq(total_of(entry, 1), 100);
		cr_expect_leq(after, 3);
	}
}

Test(totals, folding_moves_totals_and_loses_nothing)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_entry *const *entries;
	char path[32];
	u64 sum;
	size_t n;

	cr_assert_eq(totals_new(&totals), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct totals_entry *entry;

		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(totals_get(totals, path, &entry), 0);
		add(entry, 1);
		totals_hold(entry);
		entry->died_ns = i;
		if (i % 2 == 0) /* every other cgroup still has its slot */
			totals_unhold(entry);
	}
	cr_assert_eq(totals_fold(totals, 500, 10000), 0);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 1000, "they are in the deltas of this collection");
	totals_begin(totals);
	totals_begin(totals);
	cr_assert_eq(totals_fold(totals, 500, 10000), 0);
	entries = totals_entries(totals, &n);
	cr_expect_eq(n, 750);
	sum = total(totals_other(totals));
	cr_expect_eq(sum, 250);
	for (size_t i = 0; i < n; i++)
		sum += total(entries[i]);
	cr_expect_eq(sum, 1000);
	cr_expect_null(totals_find(totals, "/c0"));
	cr_expect_not_null(totals_find(totals, "/c1"));
	cr_expect_not_null(totals_find(totals, "/c500"));
}

Test(totals, many_removed_cgroups_are_folded_oldest_first)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	char path[32];
	size_t n;

	cr_assert_eq(totals_new(&totals), 0);
	for (unsigned i = 0; i < 1001; i++) {
		struct totals_entry *entry;

		(void)snprintf(path, sizeof(path), "/c%u", i);
		cr_assert_eq(totals_get(totals, path, &entry), 0);
		add(entry, 1);
		totals_hold(entry);
		entry->died_ns = 1000 + (i * 5) % 1001; /* in another order than their numbers */
		totals_unhold(entry);
	}
	totals_begin(totals);
	totals_begin(totals);
	cr_assert_eq(totals_fold(totals, 0, 1001), 0);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 1001, "the maximum number");
	cr_assert_eq(totals_fold(totals, 0, 1000), 0);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 750);
	for (size_t i = 0; i < n; i++) {
		cr_expect_geq(totals_entries(totals, &n)[i]->died_ns, 1000 + 251);
		if (i)
			cr_expect_gt(totals_entries(totals, &n)[i]->number,
				     totals_entries(totals, &n)[i - 1]->number);
	}
	cr_expect_eq(total(totals_other(totals)), 251);
	cr_assert_eq(totals_fold(totals, 0, 0), 0);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 0);
}

/* A removed cgroup with the longest path, samples of two events and off-core counts. */
static void add_removed(struct totals *totals, unsigned i)
{
	static struct offcore_counts counts;
	char path[PATH_MAX];
	struct totals_entry *entry;
	struct totals_sum *of_slot = NULL;

	memset(path, 'p', sizeof(path));
	(void)snprintf(path + sizeof(path) - 8, 8, "%07u", i);
	path[0] = '/';
	cr_assert_eq(totals_get(totals, path, &entry), 0);
	totals_hold(entry);
	read_slot(entry, &of_slot, 0, 1);
	read_slot(entry, &of_slot, 1, 10);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &counts);
	cr_assert_eq(leave_all(entry, &of_slot), 0);
	entry->died_ns = 1000 + i;
	totals_unhold(entry);
}

/* Measured is what malloc() handed out. Each collection has 500 births and deaths, all within the window. */
Test(totals, memory_of_removed_cgroups_is_bounded)
{
	enum { EACH = 500, COLLECTIONS = 60 };
	_cleanup_(totals_freep) struct totals *totals = NULL;
	size_t before = heap_bytes(), most = 0, n;
	struct totals_entry *const *entries;
	u64 sum[2];

	cr_assert_eq(totals_new(&totals), 0);
	for (unsigned collection = 0; collection < COLLECTIONS; collection++) {
		cr_assert_eq(totals_fold(totals, 0, SIZE_MAX), 0);
		/* Those of the last two collections cannot be folded yet. */
		cr_assert_leq(totals_unheld_bytes(totals), TOTALS_UNHELD_BYTES);
		cr_assert_leq(heap_bytes() - before, totals_unheld_bytes(totals) + TOTALS_UNHELD_BYTES / 32,
			      "collection %u", collection);
#ifndef __SANITIZE_ADDRESS__ /* mallinfo2() counts nothing with the sanitizer's allocator */
		cr_assert_leq(totals_unheld_bytes(totals), heap_bytes() - before + TOTALS_UNHELD_BYTES / 32,
			      "collection %u", collection);
#endif
		most = totals_unheld_bytes(totals) > most ? totals_unheld_bytes(totals) : most;
		totals_begin(totals);
		for (unsigned i = 0; i < EACH; i++)
			add_removed(totals, collection * EACH + i);
		totals_offcore_taken(totals);
	}
	cr_expect_geq(most, TOTALS_UNHELD_BYTES / 10 * 9);

	entries = totals_entries(totals, &n);
	sum[0] = total_of(totals_other(totals), 0);
	sum[1] = total_of(totals_other(totals), 1);
	for (size_t i = 0; i < n; i++) {
		sum[0] += total_of(entries[i], 0);
		sum[1] += total_of(entries[i], 1);
		/* The latest ones are left, without a gap. */
		cr_assert_eq(entries[i]->died_ns, 1000 + (u64)EACH * COLLECTIONS - n + i);
	}
	cr_expect_eq(sum[0], (u64)EACH * COLLECTIONS);
	cr_expect_eq(sum[1], 10ULL * EACH * COLLECTIONS);
	cr_expect_geq(n, 1000);
	/* Folding an entry subtracts all bytes that were added for it. */
	for (int i = 0; i < 3; i++)
		totals_begin(totals);
	cr_assert_eq(totals_fold(totals, UINT64_MAX, 0), 0);
	cr_expect_eq(totals_unheld_bytes(totals), 0);
}

/* An allocation fails in the middle of an entry. The next fold continues, and `other` has nothing twice. */
Test(totals, a_failed_allocation_when_folding_loses_nothing)
{
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		_cleanup_(totals_freep) struct totals *totals = NULL;
		struct totals_entry *entry;
		u8 packed[PACKED_MAX];
		size_t n;

		cr_assert_eq(totals_new(&totals), 0);
		for (unsigned i = 0; i < 2; i++) {
			cr_assert_eq(totals_get(totals, i ? "/b" : "/a", &entry), 0);
			add(entry, 3);
			cr_assert_eq(totals_add(entry, 1, packed, packed_some(4, packed)), 0);
		}
		scarce_memory_after(after);
		(void)totals_fold(totals, 1, 10);
		failed = scarce_memory_end();
		cr_expect_eq(totals_fold(totals, 1, 10), 0);
		(void)totals_entries(totals, &n);
		cr_expect_eq(n, 0);
		cr_expect_eq(total(totals_other(totals)), 6);
		cr_expect_eq(total_of(totals_other(totals), 1), 8);
		cr_expect_leq(after, 8);
	}
}

/* An entry that is still held, or is held again before the fold, stays. */
Test(totals, a_path_that_comes_back_is_not_folded)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_entry *entry, *other;
	size_t n;

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	cr_assert_eq(totals_get(totals, "/b", &other), 0);
	totals_hold(entry);
	totals_hold(entry);
	totals_hold(other);
	totals_unhold(entry);
	totals_unhold(other);
	for (int i = 0; i < 3; i++)
		totals_begin(totals);
	cr_assert_eq(totals_fold(totals, 100, 0), 0);
	cr_expect_eq(totals_find(totals, "/a"), entry);
	cr_expect_null(totals_find(totals, "/b"));
	totals_unhold(entry);
	totals_hold(entry);
	for (int i = 0; i < 3; i++)
		totals_begin(totals);
	cr_assert_eq(totals_fold(totals, 100, 0), 0);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 1);
}

Test(totals, numbers_are_never_reused)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_entry *entry;
	u32 first;

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	first = entry->number;
	cr_assert_eq(totals_fold(totals, 1, 10), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	cr_expect_gt(entry->number, first);
}

/* After 2^32 entries the numbers have wrapped around: older entries have higher or equal numbers. */
Test(totals, entries_of_any_number_are_folded)
{
	_cleanup_(totals_freep) struct totals *totals = NULL;
	struct totals_entry *entries[6];
	size_t n;

	cr_assert_eq(totals_new(&totals), 0);
	for (unsigned i = 0; i < 6; i++) {
		const char path[] = {'/', (char)('a' + i), 0};

		cr_assert_eq(totals_get(totals, path, &entries[i]), 0);
		add(entries[i], 1);
		totals_hold(entries[i]);
		entries[i]->number = i < 3 ? ~0U - 2 + i : i - 3;
		entries[i]->died_ns = i % 2 ? 1 : 9;
		totals_unhold(entries[i]);
	}
	entries[5]->number = entries[0]->number;
	totals_begin(totals);
	totals_begin(totals);
	cr_assert_eq(totals_fold(totals, 5, 10), 0);
	cr_expect_eq(total(totals_other(totals)), 3);
	(void)totals_entries(totals, &n);
	cr_expect_eq(n, 3);
	cr_expect_eq(totals_find(totals, "/a"), entries[0]);
	cr_expect_eq(totals_find(totals, "/e"), entries[4]);
	cr_expect_null(totals_find(totals, "/f"));
	cr_expect_eq(total(entries[0]) + total(entries[2]) + total(entries[4]), 3);
}

static struct totals *restarted(struct state **saved)
{
	struct state *inherited;
	struct totals *totals;
	const char *wrong;

	cr_assert_eq(state_commit(*saved), 0);
	cr_assert_eq(state_inherit(state_fd(*saved), STATE_RECORDS, &inherited, &wrong), 0);
	state_free(*saved);
	*saved = inherited;
	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_restore(totals, inherited), 0);
	state_settle(inherited);
	return totals;
}

/*
 * Off-core counts were read between two collections, and the process was killed before the second one: the first
 * collection of the next process consumes them, and no later one.
 */
Test(totals, offcore_counts_read_early_survive_the_process)
{
	const struct offcore_counts counts = {
		.of[0][OFFCORE_L3] = {.count = 7, .enabled_ns = 2, .running_ns = 2}};
	const struct totals_entry *found;
	struct totals_entry *entry;
	struct totals *totals;
	struct state *saved;

	cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_restore(totals, saved), 0);
	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &counts);
	totals_save(totals);
	totals_free(totals);

	totals = restarted(&saved);
	found = totals_find(totals, "/a");
	cr_assert_not_null(found);
	cr_expect_eq(found->offcore_total->of[0][OFFCORE_L3].count, 7);
	cr_assert_not_null(found->offcore_delta);
	cr_expect_eq(found->offcore_delta->of[0][OFFCORE_L3].count, 7);
	cr_expect_eq(totals_fold(totals, ~0ULL, 0), 0);
	cr_expect_eq(totals_find(totals, "/a"), found, "it is not folded before that collection");
	totals_offcore_taken(totals);
	totals_save(totals);
	totals_free(totals);

	totals = restarted(&saved);
	found = totals_find(totals, "/a");
	cr_assert_not_null(found);
	cr_expect_eq(found->offcore_total->of[0][OFFCORE_L3].count, 7);
	cr_expect_null(found->offcore_delta);
	totals_free(totals);
	state_free(saved);
}
