// SPDX-License-Identifier: GPL-2.0
/* Panes as bytes: every pane survives, and no hostile block is read as a pane. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/packed.h"
#include "history/shared/history_pane.h"
#include "history_fixture.h"
#include "state/state_bytes.h"

static void expect_same_pane(const struct history_pane *a, const struct history_pane *b)
{
	cr_assert(a->n_events == b->n_events && a->n_cgroups == b->n_cgroups && a->n_rows == b->n_rows);
	cr_expect(a->id == b->id && a->start_us == b->start_us && a->end_us == b->end_us);
	cr_expect(a->covered_ns == b->covered_ns && a->run == b->run);
	for (size_t i = 0; i < a->n_events; i++) {
		cr_expect_str_eq(a->events[i].key, b->events[i].key);
		cr_expect_str_eq(a->events[i].settings, b->events[i].settings);
		cr_expect_eq(a->events[i].period, b->events[i].period);
		cr_expect_eq(a->events[i].frequency_hz, b->events[i].frequency_hz);
		cr_expect_eq(a->events[i].counted, b->events[i].counted);
		cr_expect_eq(a->events[i].throttle_known, b->events[i].throttle_known);
		cr_expect_arr_eq(a->events[i].counts, b->events[i].counts, sizeof(a->events[i].counts));
	}
	for (size_t i = 0; i < a->n_cgroups; i++) {
		cr_expect_str_eq(a->cgroups[i].path, b->cgroups[i].path);
		cr_expect_str_eq(a->cgroups[i].labels, b->cgroups[i].labels);
		cr_expect_eq(a->cgroups[i].id, b->cgroups[i].id);
	}
	for (size_t i = 0; i < a->n_rows; i++) {
		cr_expect_eq(a->rows[i].cgroup, b->rows[i].cgroup);
		cr_expect_eq(a->rows[i].event, b->rows[i].event);
		cr_assert_eq(a->rows[i].size, b->rows[i].size);
		cr_expect_arr_eq(a->rows[i].packed, b->rows[i].packed, a->rows[i].size);
	}
}

static struct history_pane *some_pane(void)
{
	struct history_pane *pane = history_fixture_new(&(struct history_fixture){.seed = 5,
										  .end_us = 1ULL << 50,
										  .run = ~0ULL,
										  .cgroups = 3,
										  .loads = 1,
										  .counts = 1,
										  .counters = 9});

	pane->id = 7;
	pane->events[0].frequency_hz = 3000000000;
	pane->events[0].counts[3] = ~0ULL;
	pane->events[1].counted = false;
	pane->events[1].throttle_known = false;
	pane->cgroups[1].labels = "";
	pane->cgroups[2].id = 0;
	return pane;
}

Test(history_pane, consecutive_panes_are_read_unchanged)
{
	struct history_pane *pane = some_pane(), *empty;
	struct history_pane read;
	u8 *first, *second, *both;
	size_t n_first, n_second, used;

	empty = history_fixture_new(&(struct history_fixture){.end_us = 1ULL << 40});
	cr_assert_eq(history_pane_write(pane, &first, &n_first), 0);
	cr_assert_eq(history_pane_write(empty, &second, &n_second), 0);
	both = malloc(n_first + n_second);
	memcpy(both, first, n_first);
	memcpy(both + n_first, second, n_second);
	cr_assert_eq(history_pane_read(both, n_first + n_second, &read, &used), 0);
	cr_expect_eq(used, n_first);
	expect_same_pane(pane, &read);
	history_pane_done(&read);
	cr_assert_eq(history_pane_read(both + used, n_first + n_second - used, &read, &used), 0);
	cr_expect_eq(used, n_second);
	expect_same_pane(empty, &read);
	history_pane_done(&read);
	free(both);
	free(first);
	free(second);
	history_fixture_free(empty);
	history_fixture_free(pane);
}

Test(history_pane, a_block_cut_anywhere_is_refused)
{
	struct history_pane *pane = some_pane(), read;
	_cleanup_free_ u8 *block = NULL;
	size_t size, used;

	cr_assert_eq(history_pane_write(pane, &block, &size), 0);
	for (size_t part = 0; part < size; part++) {
		/* Memory of exactly this size, so that a sanitizer finds a read beyond it. */
		_cleanup_free_ u8 *exact = malloc(part ? part : 1);

		memcpy(exact, block, part);
		cr_expect_eq(history_pane_read(exact, part, &read, &used), -EBADMSG, "%zu bytes", part);
	}
	history_fixture_free(pane);
}

Test(history_pane, a_changed_bit_is_refused_or_safe_to_read)
{
	struct history_pane *pane = some_pane(), read;
	_cleanup_free_ u8 *block = NULL;
	unsigned refused = 0;
	size_t size, used;

	cr_assert_eq(history_pane_write(pane, &block, &size), 0);
	for (size_t at = 0; at < size; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			block[at] ^= (u8)(1U << bit);
			if (history_pane_read(block, size, &read, &used) == 0) {
				cr_expect_leq(used, size);
				for (size_t i = 0; i < read.n_rows; i++)
					cr_expect(packed_sound(read.rows[i].packed, read.rows[i].size));
				history_pane_done(&read);
			} else {
				refused++;
			}
			block[at] ^= (u8)(1U << bit);
		}
	cr_expect_gt(refused, 100);
	history_fixture_free(pane);
}

/* Writes a block by hand. */
struct hand {
	struct state_writer writer;
	u8 block[4096];
};

static void put(struct hand *hand, const u64 *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		state_put_number(&hand->writer, numbers[i]);
}

static void head(struct hand *hand, u64 events, u64 cgroups, u64 rows)
{
	hand->writer.to = hand->block;
	put(hand, (u64[]){0, 1, 2, 1, 1, events, cgroups, rows}, 8);
}

static void text(struct hand *hand, const char *bytes, size_t size)
{
	state_put_number(&hand->writer, size);
	state_put_bytes(&hand->writer, bytes, size);
}

static void event(struct hand *hand, const char *key, u64 flags)
{
	text(hand, key, strlen(key) + 1);
	text(hand, "", 1);
	put(hand, (u64[]){1, 0, flags}, 3);
	for (unsigned i = 0; i < HISTORY_COUNTS_N; i++)
		state_put_number(&hand->writer, i);
}

static void cgroup(struct hand *hand, const char *path, size_t size)
{
	text(hand, path, size);
	text(hand, "", 1);
	state_put_number(&hand->writer, 0);
}

static void row(struct hand *hand, u64 of, u64 by, const char *packed, size_t size)
{
	put(hand, (u64[]){of, by, size}, 3);
	state_put_bytes(&hand->writer, packed, size);
}

static int read_hand(struct hand *hand)
{
	struct history_pane read;
	size_t used, size = (size_t)(hand->writer.to - hand->block);
	int r = history_pane_read(hand->block, size, &read, &used);

	if (r == 0) {
		cr_expect_eq(used, size);
		history_pane_done(&read);
	}
	return r;
}

Test(history_pane, counts_beyond_the_block_are_refused)
{
	static const u64 counts[][3] = {
		{1, 0, 0},          {0, 1, 0},
		{0, 0, 1},          {4 * EVENTS_MAX + 1, 0, 0},
		{0, ~0ULL, 0},      {~0ULL, ~0ULL, ~0ULL},
		{~0ULL, 1, 1},      {1, HISTORY_CGROUPS_MAX + 1, 0},
		{1, 1ULL << 32, 1}, {1, 1, 1ULL << 60},
	};
	static struct hand hand;

	head(&hand, 0, 0, 0);
	cr_expect_eq(read_hand(&hand), 0);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		head(&hand, counts[i][0], counts[i][1], counts[i][2]);
		cr_expect_eq(read_hand(&hand), -EBADMSG, "case %zu", i);
	}
}

Test(history_pane, a_span_that_does_not_end_after_its_start_is_refused)
{
	static struct hand hand = {.writer = {hand.block}};

	put(&hand, (u64[]){0, 2, 2, 1, 1, 0, 0, 0}, 8);
	cr_expect_eq(read_hand(&hand), -EBADMSG);
}

Test(history_pane, unordered_repeated_or_empty_rows_are_refused)
{
	static const struct {
		u64 rows[2][2];
		int expected;
	} cases[] = {
		{{{0, 0}, {0, 1}}, 0},        {{{0, 1}, {1, 0}}, 0},
		{{{0, 1}, {0, 0}}, -EBADMSG}, {{{0, 0}, {0, 0}}, -EBADMSG},
		{{{1, 0}, {0, 1}}, -EBADMSG}, {{{0, 0}, {2, 0}}, -EBADMSG},
		{{{0, 0}, {1, 2}}, -EBADMSG}, {{{0, 0}, {1ULL << 32 | 1, 0}}, -EBADMSG},
	};
	static struct hand hand;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		head(&hand, 2, 2, 2);
		event(&hand, "a", 0);
		event(&hand, "b", 3);
		cgroup(&hand, "/a", 3);
		cgroup(&hand, "/b", 3);
		for (unsigned n = 0; n < 2; n++)
			row(&hand, cases[i].rows[n][0], cases[i].rows[n][1], "\x01\x01", 2);
		cr_expect_eq(read_hand(&hand), cases[i].expected, "case %zu", i);
	}
}

/* The index of a counter as a varint of two bytes. */
#define INDEX(n) (char)(((n)&127) | 128), (char)((n) >> 7)

Test(history_pane, unsound_pairs_are_refused)
{
	const struct {
		const char *packed;
		size_t size;
		int expected;
	} cases[] = {
		{"\x00\x01", 2, 0},
		{"\x00\x01\x00\x01", 4, 0},
		{"", 0, -EBADMSG},
		{"\x01", 1, -EBADMSG},     /* half a pair */
		{"\x01\x00", 2, -EBADMSG}, /* a counter of 0 */
		{(const char[]){INDEX(COUNTER_COUNT), 1}, 3, -EBADMSG},
		{"\x01\x81", 2, -EBADMSG}, /* a number without end */
		/* a counter after the last one */
		{(const char[]){INDEX(COUNTER_COUNT - 1), 1, 0, 1}, 5, -EBADMSG},
	};
	static struct hand hand;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		head(&hand, 1, 1, 1);
		event(&hand, "a", 0);
		cgroup(&hand, "/a", 3);
		row(&hand, 0, 0, cases[i].packed, cases[i].size);
		cr_expect_eq(read_hand(&hand), cases[i].expected, "case %zu", i);
	}
}

Test(history_pane, texts_without_one_nul_at_their_end_are_refused)
{
	static const struct {
		const char *path;
		size_t size;
		int expected;
	} cases[] = {
		{"/a", 3, 0}, {"", 1, 0}, {"", 0, -EBADMSG}, {"/a", 2, -EBADMSG}, {"/\0a", 4, -EBADMSG},
	};
	static struct hand hand;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		head(&hand, 0, 1, 0);
		cgroup(&hand, cases[i].path, cases[i].size);
		cr_expect_eq(read_hand(&hand), cases[i].expected, "case %zu", i);
	}
}

Test(history_pane, repeated_events_and_unknown_flags_are_refused)
{
	static struct hand hand;

	head(&hand, 2, 0, 0);
	event(&hand, "a", 0);
	event(&hand, "a", 0);
	cr_expect_eq(read_hand(&hand), -EBADMSG);
	head(&hand, 1, 0, 0);
	event(&hand, "a", 4);
	cr_expect_eq(read_hand(&hand), -EBADMSG);
}

Test(history_pane, a_pane_above_its_limits_is_not_written)
{
	struct history_pane *pane = some_pane(), read;
	_cleanup_free_ char *path = malloc(HISTORY_TEXT_MAX + 1);
	_cleanup_free_ u8 *block = NULL;
	size_t size, used;
	u8 *none;

	memset(path, 'a', HISTORY_TEXT_MAX);
	path[HISTORY_TEXT_MAX] = '\0';
	pane->cgroups[0].path = path;
	cr_expect_eq(history_pane_write(pane, &none, &size), -E2BIG);
	path[HISTORY_TEXT_MAX - 1] = '\0';
	cr_assert_eq(history_pane_write(pane, &block, &size), 0);
	cr_assert_eq(history_pane_read(block, size, &read, &used), 0);
	expect_same_pane(pane, &read);
	history_pane_done(&read);
	pane->n_cgroups = HISTORY_CGROUPS_MAX + 1;
	cr_expect_eq(history_pane_write(pane, &none, &size), -E2BIG);
	pane->n_cgroups = 3;
	pane->rows[0].size = HISTORY_PANE_BYTES_MAX;
	cr_expect_eq(history_pane_write(pane, &none, &size), -E2BIG);
	history_fixture_free(pane);
}
