// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "collect/packed.h"
#include "in_packed.h"
#include "random_numbers.h"

#define START_NS (5 * NSEC_PER_SEC)

static const struct timespec start = {.tv_sec = 1000};

static struct window *new_window(size_t max_bytes, u64 max_ns)
{
	struct window *window;

	cr_assert_eq(window_new(max_bytes, max_ns, START_NS, &start, &window), 0);
	return window;
}

/* Both clocks run at the same speed here. CLOCK_REALTIME is 995 s ahead. */
static struct timespec realtime(u64 ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC) + 995,
				 .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

static void begin(struct window *window, u64 now_ns)
{
	struct timespec now = realtime(now_ns);

	window_begin(window, now_ns, &now);
}

/* Runs a collection with one L1 sample of `weight` for one entry. */
static int collect_one(struct window *window, u64 now_ns, u32 entry, u64 weight)
{
	struct counters counters = {.samples[SOURCE_L1] = 1, .weight[SOURCE_L1] = weight};

	begin(window, now_ns);
	window_put_counters(window, entry, 0, &counters);
	return window_end(window);
}

static int collect_none(struct window *window, u64 now_ns)
{
	begin(window, now_ns);
	return window_end(window);
}

static void expect_span(const struct window_span *span, u64 covered_ns, u64 since_ns)
{
	struct timespec since = realtime(since_ns);

	cr_expect_eq(span->covered_ns, covered_ns, "%llu", (unsigned long long)span->covered_ns);
	cr_expect_eq(span->since.tv_sec, since.tv_sec);
	cr_expect_eq(span->since.tv_nsec, since.tv_nsec);
}

static struct counters counters_of(const struct window_sum *sum)
{
	struct counters counters = {0};

	packed_add(sum->packed, sum->size, &counters);
	return counters;
}

/* Returns the weight of entry 7 over the last `span_ns`. */
static u64 weight_over(const struct window *window, u64 span_ns, u64 covered_ns, u64 since_ns)
{
	_cleanup_(window_sums_freep) struct window_sums *sums = NULL;

	cr_assert_eq(window_sum(window, span_ns, &sums), 0);
	expect_span(&sums->span, covered_ns, since_ns);
	if (!sums->n)
		return 0;
	cr_assert_eq(sums->n, 1);
	cr_assert_eq(sums->sums[0].entry, 7);
	return counters_of(&sums->sums[0]).weight[SOURCE_L1];
}

Test(window, the_newest_collections_are_used_as_a_whole)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);

	for (u64 i = 1; i <= 4; i++)
		cr_assert_eq(collect_one(window, START_NS + i * 1000, 7, 1ULL << (8 * i)), 0);
	cr_expect_eq(weight_over(window, 0, 1000, START_NS + 3000), 1ULL << 32);
	cr_expect_eq(weight_over(window, 1, 1000, START_NS + 3000), 1ULL << 32);
	cr_expect_eq(weight_over(window, 1000, 1000, START_NS + 3000), 1ULL << 32);
	cr_expect_eq(weight_over(window, 1001, 2000, START_NS + 2000), 0x101000000);
	cr_expect_eq(weight_over(window, 3500, 4000, START_NS), 0x101010100);
	cr_expect_eq(weight_over(window, ~0ULL, 4000, START_NS), 0x101010100);
}

Test(window, an_empty_window_has_no_figures)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	struct window_sums *sums;

	cr_expect_eq(window_sum(window, 1, &sums), -ENODATA);
	cr_assert_eq(collect_none(window, START_NS + 5), 0);
	cr_expect_eq(weight_over(window, 1, 5, START_NS), 0);
	/* The clock did not advance. */
	cr_assert_eq(collect_none(window, START_NS + 5), 0);
	cr_expect_eq(weight_over(window, 1, 5, START_NS), 0);
	cr_expect_eq(weight_over(window, 0, 0, START_NS + 5), 0);
}

Test(window, idle_time_costs_little_and_counts)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, ~0ULL);

	cr_assert_eq(collect_one(window, START_NS + NSEC_PER_SEC, 7, 3), 0);
	for (u64 i = 2; i <= 1001; i++)
		cr_assert_eq(collect_none(window, START_NS + i * NSEC_PER_SEC), 0);
	cr_expect_eq(window_collections(window), 1001);
	cr_expect_leq(window_bytes(window), 1001 * WINDOW_COLLECTION_BYTES + 32);
	cr_expect_eq(weight_over(window, 1000 * NSEC_PER_SEC, 1000 * NSEC_PER_SEC, START_NS + NSEC_PER_SEC),
		     0);
	cr_expect_eq(weight_over(window, 1001 * NSEC_PER_SEC, 1001 * NSEC_PER_SEC, START_NS), 3);

	/* One long gap, as after a suspend. */
	cr_assert_eq(collect_one(window, START_NS + 5000 * NSEC_PER_SEC, 7, 4), 0);
	cr_expect_eq(weight_over(window, NSEC_PER_SEC, 3999 * NSEC_PER_SEC, START_NS + 1001 * NSEC_PER_SEC),
		     4);
}

Test(window, older_than_max_ns_is_dropped)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 10 * NSEC_PER_SEC);

	for (u64 i = 1; i <= 100; i++) {
		cr_assert_eq(collect_one(window, START_NS + i * NSEC_PER_SEC, 7, 1), 0);
		cr_expect_eq(window_collections(window), i < 10 ? i : 10);
	}
	cr_expect_eq(weight_over(window, ~0ULL, 10 * NSEC_PER_SEC, START_NS + 90 * NSEC_PER_SEC), 10);
	/* A collection that is longer than the window stays whole. */
	cr_assert_eq(collect_one(window, START_NS + 500 * NSEC_PER_SEC, 7, 5), 0);
	cr_expect_eq(window_collections(window), 1);
	cr_expect_eq(weight_over(window, 1, 400 * NSEC_PER_SEC, START_NS + 100 * NSEC_PER_SEC), 5);
}

Test(window, counters_of_every_magnitude_are_stored)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	_cleanup_(window_sums_freep) struct window_sums *sums = NULL;
	struct counters counters, summed;
	u64 *values = (u64 *)&counters;

	begin(window, START_NS + 1);
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		values[i] = ~0ULL >> (i % 64);
	window_put_counters(window, ~0U, EVENTS_MAX - 1, &counters);
	cr_assert_eq(window_end(window), 0);
	cr_assert_eq(window_sum(window, 1, &sums), 0);
	cr_assert_eq(sums->n, 1);
	cr_expect_eq(sums->sums[0].entry, ~0U);
	cr_expect_eq(sums->sums[0].event, EVENTS_MAX - 1);
	cr_expect_not(sums->sums[0].more);
	summed = counters_of(&sums->sums[0]);
	cr_expect_eq(memcmp(&summed, &counters, sizeof(counters)), 0);

	/* Sums saturate at 2^64 - 1. The large ones overflow in the second collection. */
	begin(window, START_NS + 2);
	window_put_counters(window, ~0U, EVENTS_MAX - 1, &counters);
	cr_assert_eq(window_end(window), 0);
	sums = window_sums_free(sums);
	cr_assert_eq(window_sum(window, ~0ULL, &sums), 0);
	summed = counters_of(&sums->sums[0]);
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		cr_expect_eq(((const u64 *)&summed)[i], i % 64 ? 2 * values[i] : ~0ULL, "%zu", i);
}

Test(window, an_empty_delta_is_not_stored)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	_cleanup_(window_sums_freep) struct window_sums *sums = NULL;
	static const struct counters nothing;

	begin(window, START_NS + 1);
	window_put_counters(window, 1, 0, &nothing);
	cr_assert_eq(window_end(window), 0);
	cr_assert_eq(window_sum(window, 1, &sums), 0);
	cr_expect_eq(sums->n, 0);
}

struct calls {
	u32 entries[8];
	unsigned events[8];
	size_t n;
	size_t stop_at;
};

static int count_call(u32 entry, unsigned event, const struct counters *counters, void *userdata)
{
	struct calls *calls = userdata;

	cr_expect_eq(counters->locked, 2, "entry %u, event %u", entry, event);
	calls->entries[calls->n] = entry;
	calls->events[calls->n++] = event;
	return calls->n == calls->stop_at ? -EPIPE : 0;
}

Test(window, each_collection_is_visited_once_in_order)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	const struct counters counters = {.locked = 1};
	struct calls calls = {.n = 0};
	struct window_span span;

	for (u64 i = 1; i <= 2; i++) {
		begin(window, START_NS + i);
		window_put_counters(window, 300, 0, &counters);
		window_put_counters(window, 20, 1, &counters);
		window_put_counters(window, 70000, 2, &counters);
		window_put_counters(window, 20, 0, &counters);
		cr_assert_eq(window_end(window), 0);
	}
	cr_expect_eq(window_each(window, 2, count_call, &calls, &span), 0);
	cr_assert_eq(calls.n, 4);
	cr_expect_eq(memcmp(calls.entries, (const u32[]){20, 20, 300, 70000}, 4 * sizeof(u32)), 0);
	cr_expect_eq(memcmp(calls.events, (const unsigned[]){0, 1, 0, 2}, 4 * sizeof(unsigned)), 0);

	calls = (struct calls){.stop_at = 2};
	cr_expect_eq(window_each(window, 2, count_call, &calls, &span), -EPIPE);
	cr_expect_eq(calls.n, 2);
	expect_span(&span, 2, START_NS);
}

Test(window, a_collection_that_does_not_fit_leaves_no_gap)
{
	_cleanup_(window_freep) struct window *window = new_window(4096, 3600 * NSEC_PER_SEC);
	struct counters large;
	struct window_sums *sums;

	memset(&large, 0xff, sizeof(large));
	cr_assert_eq(collect_one(window, START_NS + 1, 7, 1), 0);
	begin(window, START_NS + 2);
	window_put_counters(window, 7, 0, &large);
	window_put_counters(window, 8, 0, &large);
	cr_expect_eq(window_end(window), -ENOSPC);
	cr_expect_eq(window_collections(window), 0);
	cr_expect_eq(window_bytes(window), 0);
	cr_expect_eq(window_sum(window, ~0ULL, &sums), -ENODATA);
	cr_assert_eq(collect_one(window, START_NS + 5, 7, 2), 0);
	cr_expect_eq(weight_over(window, ~0ULL, 3, START_NS + 2), 2);
}

Test(window, wrong_order_and_wrong_events_are_refused)
{
	_cleanup_(window_freep) struct window *window = new_window(4096, 3600 * NSEC_PER_SEC);
	const struct counters counters = {.locked = 1};

	window_put_counters(window, 1, 0, &counters);
	cr_expect_eq(window_end(window), -EINVAL);
	begin(window, START_NS + 10);
	window_put_counters(window, 1, EVENTS_MAX, &counters);
	cr_expect_eq(window_end(window), -EINVAL);
	cr_assert_eq(collect_one(window, START_NS + 20, 7, 1), 0);
	cr_expect_eq(collect_one(window, START_NS + 19, 7, 2), -EINVAL);
	cr_expect_eq(window_collections(window), 0);
	cr_assert_eq(collect_one(window, START_NS + 20, 7, 4), 0);
	cr_expect_eq(weight_over(window, ~0ULL, 1, START_NS + 19), 4);
	begin(window, START_NS + 21);
	cr_expect_eq(collect_one(window, START_NS + 22, 7, 4), -EINVAL);
	/* This collection stays open. */
	begin(window, START_NS + 23);
	window_put_counters(window, 1, 0, &counters);
}

/* A reference model of the window: it keeps each collection as unpacked struct counters. */
#define ENTRIES     12
#define EVENTS_USED 3
#define COLLECTIONS 400

struct model {
	u64 end_ns[COLLECTIONS];
	struct counters *counters[COLLECTIONS][ENTRIES][EVENTS_USED];
	size_t n;
};

static u64 random_state = XORSHIFT_SEED;

static u64 random_below(u64 n)
{
	return xorshift(&random_state) % n;
}

/* Entry numbers of any size and in no particular order. */
static u32 number_of(size_t entry)
{
	return (u32)(entry * 2654435761U);
}

static void model_collect(struct model *model, struct window *window, u64 now_ns)
{
	model->end_ns[model->n] = now_ns;
	begin(window, now_ns);
	for (size_t entry = 0; entry < ENTRIES; entry++)
		for (unsigned event = 0; event < EVENTS_USED; event++) {
			struct counters *counters;

			if (random_below(4))
				continue;
			counters = calloc(1, sizeof(*counters));
			for (u64 moved = 1 + random_below(30); moved; moved--)
				((u64 *)counters)[random_below(COUNTER_COUNT)] =
					1 + (random_below(1ULL << 60) >> random_below(60));
			model->counters[model->n][entry][event] = counters;
			window_put_counters(window, number_of(entry), event, counters);
		}
	cr_assert_eq(window_end(window), 0);
	model->n++;
}

static void add(struct counters *sum, const struct counters *addend)
{
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		u64 before = ((u64 *)sum)[i];

		((u64 *)sum)[i] = before + ((const u64 *)addend)[i];
		if (((u64 *)sum)[i] < before)
			((u64 *)sum)[i] = ~0ULL;
	}
}

static const struct window_sum *sum_of(const struct window_sums *sums, u32 number, unsigned event)
{
	for (size_t i = 0; i < sums->n; i++)
		if (sums->sums[i].entry == number && sums->sums[i].event == event)
			return &sums->sums[i];
	return NULL;
}

struct begins {
	u64 begin_ns[COLLECTIONS];
	size_t n;
};

static int note_begin(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct begins *begins = userdata;

	(void)end_ns;
	begins->begin_ns[begins->n++] = begin_ns;
	return 0;
}

static int note_nothing(u32 entry, unsigned event, const struct counters *counters, void *userdata)
{
	(void)entry;
	(void)event;
	(void)counters;
	(void)userdata;
	return 0;
}

/*
 * Returns the time at which the last `span_ns` begin, as far back as data is held. Collections may be merged,
 * but each is taken whole.
 */
static u64 since_of(const struct window *window, u64 newest_ns, u64 span_ns)
{
	struct begins begins = {.n = 0};
	size_t first;

	cr_assert_eq(window_walk(window, ~0ULL,
				 &(struct window_visitor){.collection = note_begin,
							  .counters = note_nothing,
							  .userdata = &begins}),
		     0);
	cr_assert_eq(begins.n, window_collections(window));
	first = begins.n - 1;
	while (first > 0 && newest_ns - begins.begin_ns[first] < span_ns)
		first--;
	return begins.begin_ns[first];
}

static void compare(const struct model *model, const struct window *window, u64 span_ns)
{
	_cleanup_(window_sums_freep) struct window_sums *sums = NULL;
	u64 newest = model->end_ns[model->n - 1];
	u64 since = since_of(window, newest, span_ns);
	size_t first = 0;

	while ((first ? model->end_ns[first - 1] : START_NS) < since)
		first++;
	cr_assert_eq(first ? model->end_ns[first - 1] : START_NS, since, "a collection is taken whole");
	if (newest - since > span_ns)
		cr_assert(newest - since < 2 * span_ns || newest - since < span_ns + 2 * NSEC_PER_SEC,
			  "at most twice what was asked for, or a collection more");
	cr_assert_eq(window_sum(window, span_ns, &sums), 0);
	expect_span(&sums->span, newest - since, since);
	for (size_t i = 1; i < sums->n; i++) {
		const struct window_sum *before = &sums->sums[i - 1], *sum = &sums->sums[i];

		cr_assert_eq(before->more, before->entry == sum->entry);
		cr_assert(before->more ? before->event < sum->event : before->entry < sum->entry);
	}
	for (size_t entry = 0; entry < ENTRIES; entry++) {
		for (unsigned event = 0; event < EVENTS_USED; event++) {
			const struct window_sum *found = sum_of(sums, number_of(entry), event);
			struct counters expected = {0}, summed;
			bool any = false;

			for (size_t i = first; i < model->n; i++)
				if (model->counters[i][entry][event]) {
					add(&expected, model->counters[i][entry][event]);
					any = true;
				}
			cr_assert_eq(found != NULL, any);
			if (!any)
				continue;
			summed = counters_of(found);
			cr_assert_eq(memcmp(&summed, &expected, sizeof(expected)), 0);
		}
	}
}

static void model_free(struct model *model)
{
	for (size_t i = 0; i < model->n; i++)
		for (size_t entry = 0; entry < ENTRIES; entry++)
			for (size_t event = 0; event < EVENTS_USED; event++)
				free(model->counters[i][entry][event]);
	free(model);
}

static void run_model(size_t max_bytes)
{
	_cleanup_(window_freep) struct window *window = new_window(max_bytes, ~0ULL);
	struct model *model = calloc(1, sizeof(*model));
	u64 now_ns = START_NS;
	size_t held = 0;

	for (size_t i = 0; i < COLLECTIONS; i++) {
		now_ns += 1 + random_below(2 * NSEC_PER_SEC);
		model_collect(model, window, now_ns);
		cr_assert_leq(window_bytes(window), max_bytes);
		cr_assert_leq(window_collections(window), held + 1);
		held = window_collections(window);
		cr_assert_geq(held, 1);
		if (i % 10 == 0) {
			compare(model, window, random_below(30 * NSEC_PER_SEC));
			compare(model, window, ~0ULL);
		}
	}
	if (max_bytes >= 1 << 20) {
		cr_expect_eq(held, COLLECTIONS);
	} else {
		/*
		 * A collection takes less than 2 KiB here, and less than 4 KiB with the space for growth, so
		 * more collections than this fit.
		 */
		cr_expect_lt(held, COLLECTIONS);
		cr_expect_gt(held, max_bytes / 8192);
	}
	model_free(model);
}

Test(window, the_window_equals_an_unbounded_model)
{
	run_model(16 << 20);
}

Test(window, the_window_equals_the_model_when_memory_is_short)
{
	run_model(64 << 10);
}

Test(window, memory_is_bounded_at_every_moment)
{
	_cleanup_(window_freep) struct window *window = new_window(20000, ~0ULL);
	struct counters counters = {0};

	for (u64 i = 1; i < 300; i++) {
		u64 n = random_below(200);

		begin(window, START_NS + i);
		for (u32 entry = 0; entry < n; entry++) {
			counters.latency[random_below(FINE_BUCKETS)] = random_below(1000);
			window_put_counters(window, entry, 0, &counters);
			cr_assert_leq(window_bytes(window), 20000);
		}
		(void)window_end(window);
		cr_assert_leq(window_bytes(window), 20000);
	}
	/* The memory is less than one collection needs. */
	(void)window_free(window);
	window = new_window(WINDOW_COLLECTION_BYTES - 1, ~0ULL);
	cr_expect_eq(collect_none(window, START_NS + 1), -ENOSPC);
}

/* The calls of a walk, written as text. */
struct diary {
	char text[512];
	int answer;
	unsigned until; /* number of the call that returns `answer`; 0: none */
};

static int note(struct diary *diary, const char *text)
{
	(void)strncat(diary->text, text, sizeof(diary->text) - strlen(diary->text) - 1);
	return diary->until && --diary->until == 0 ? diary->answer : 0;
}

static int note_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "[%llu-%llu]", (unsigned long long)(begin_ns - START_NS),
		       (unsigned long long)(end_ns - START_NS));
	return note(userdata, text);
}

static int note_counters(u32 entry, unsigned event, const struct counters *counters, void *userdata)
{
	char text[96];
	u64 sum = 0;

	for (size_t i = 0; i < COUNTER_COUNT; i++)
		sum += ((const u64 *)counters)[i];
	(void)snprintf(text, sizeof(text), " %u.%u:%llu/%llu", entry, event,
		       (unsigned long long)counters->weight[SOURCE_L1], (unsigned long long)sum);
	return note(userdata, text);
}

static int note_packed(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata)
{
	struct counters counters = {0};

	packed_add(packed, size, &counters);
	return note_counters(entry, event, &counters, userdata);
}

static int walk(const struct window *window, u64 span_ns, struct diary *diary)
{
	return window_walk(window, span_ns,
			   &(struct window_visitor){.collection = note_collection,
						    .counters = note_counters,
						    .userdata = diary});
}

/* The counters of each call are separate: nothing of the previous ones is left in the next. */
Test(window, a_walk_goes_through_collections_oldest_first)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	const struct counters small = {.weight[SOURCE_L1] = 5};
	struct counters large = {.samples[SOURCE_L1] = 1, .latency[3] = 2, .locked = 300};
	struct diary diary = {0};

	cr_expect_eq(walk(window, 1, &diary), -ENODATA);
	cr_expect_str_empty(diary.text);
	begin(window, START_NS + 10);
	window_put_counters(window, 9, 1, &large);
	window_put_counters(window, 2, 0, &small);
	cr_assert_eq(window_end(window), 0);
	cr_assert_eq(collect_none(window, START_NS + 20), 0);
	cr_assert_eq(collect_one(window, START_NS + 25, 2, 7), 0);

	cr_expect_eq(walk(window, 100, &diary), 0);
	cr_expect_str_eq(diary.text, "[0-10] 9.1:0/303 2.0:5/5[10-20][20-25] 2.0:7/8");
	diary = (struct diary){0};
	cr_expect_eq(walk(window, 6, &diary), 0);
	cr_expect_str_eq(diary.text, "[10-20][20-25] 2.0:7/8");
	diary = (struct diary){.until = 2, .answer = 3};
	cr_expect_eq(walk(window, 100, &diary), 3);
	cr_expect_str_eq(diary.text, "[0-10] 9.1:0/303");
	diary = (struct diary){.until = 4, .answer = -EIO};
	cr_expect_eq(walk(window, 100, &diary), -EIO);
	cr_expect_str_eq(diary.text, "[0-10] 9.1:0/303 2.0:5/5[10-20]");
}

Test(window, a_lower_limit_holds_at_once)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	size_t bytes, each;

	for (u64 i = 1; i <= 10; i++)
		cr_assert_eq(collect_one(window, START_NS + i, 7, 1), 0);
	bytes = window_bytes(window);
	each = bytes / 10;
	window_limit(window, bytes);
	cr_expect_eq(window_collections(window), 10);
	window_limit(window, bytes - 1);
	cr_expect_lt(window_collections(window), 10);
	cr_expect_eq(weight_over(window, ~0ULL, 10, START_NS), 10, "the oldest were added up");
	cr_expect_eq(weight_over(window, 5, 5, START_NS + 5), 5, "and the newer ones were not");
	window_limit(window, 3 * each);
	cr_expect_eq(window_collections(window), 3);
	cr_expect_eq(weight_over(window, ~0ULL, 3, START_NS + 7), 3, "the newest are left");
	cr_assert_eq(collect_one(window, START_NS + 11, 7, 1), 0);
	cr_expect_leq(window_bytes(window), 3 * each, "and it holds for what comes");
	window_limit(window, bytes);
	for (u64 i = 12; i <= 20; i++)
		cr_assert_eq(collect_one(window, START_NS + i, 7, 1), 0);
	cr_expect_gt(window_collections(window), 5, "more room than before");
}

/* Sums of counters near 2^64 are stored, too, in no more bytes than their addends. */
Test(window, merged_counters_saturate)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	const struct counters few = {.samples[0] = 3, .locked = 200};
	_cleanup_(window_sums_freep) struct window_sums *sums = NULL;
	struct counters large, sum;
	size_t bytes;

	for (size_t i = 0; i < COUNTER_COUNT; i++)
		((u64 *)&large)[i] = ~0ULL >> i % 64;
	for (u64 i = 1; i <= 2; i++) {
		begin(window, START_NS + i * NSEC_PER_SEC);
		window_put_counters(window, 70000, 1, &few);
		window_put_counters(window, 5, 2, &large);
		window_put_counters(window, ~0U, 11, &few);
		cr_assert_eq(window_end(window), 0);
	}
	cr_assert_eq(collect_none(window, START_NS + 4 * NSEC_PER_SEC), 0);
	bytes = window_bytes(window);
	window_limit(window, bytes - 1);
	cr_assert_eq(window_collections(window), 2);
	cr_expect_lt(window_bytes(window), bytes * 2 / 3);
	cr_assert_eq(window_sum(window, ~0ULL, &sums), 0);
	cr_assert_eq(sums->n, 3);
	cr_expect(sums->sums[0].entry == 5 && sums->sums[1].entry == 70000 && sums->sums[2].entry == ~0U);
	sum = counters_of(&sums->sums[0]);
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		cr_assert_eq(((u64 *)&sum)[i], i % 64 ? 2 * (~0ULL >> i % 64) : ~0ULL, "counter %zu", i);
	sum = counters_of(&sums->sums[2]);
	cr_expect_eq(sum.samples[0], 6);
	cr_expect_eq(sum.locked, 400);
}

/* Fifty cgroups in the memory of about ten collections. */
Test(window, when_memory_is_short_old_collections_are_added_up)
{
	_cleanup_(window_freep) struct window *window = new_window(10000, ~0ULL);
	const size_t n = 600, entries = 50;

	for (u64 i = 1; i <= n; i++) {
		begin(window, START_NS + i * NSEC_PER_SEC);
		for (u32 entry = 0; entry < entries; entry++) {
			struct counters counters = {.samples[SOURCE_L1] = i, .locked = entry};

			counters.latency[i % 3] = 1;
			window_put_counters(window, entry, 1, &counters);
		}
		cr_assert_eq(window_end(window), 0);
		cr_assert_leq(window_bytes(window), 10000);
		for (u64 span = 1; i % 50 == 0 && span <= 300; span += span / 4 + 1) {
			_cleanup_(window_sums_freep) struct window_sums *sums = NULL;
			u64 covered, weight = 0;

			cr_assert_eq(window_sum(window, span * NSEC_PER_SEC, &sums), 0);
			covered = sums->span.covered_ns / NSEC_PER_SEC;
			if (span < i)
				cr_expect_geq(covered, span < 45 ? span : 45, "of %llu s after %llu",
					      (unsigned long long)span, (unsigned long long)i);
			cr_expect(covered < 2 * span || covered == 1, "%llu of %llu",
				  (unsigned long long)covered, (unsigned long long)span);
			for (u64 second = i - covered + 1; second <= i; second++)
				weight += second;
			cr_assert_eq(sums->n, entries);
			for (u32 entry = 0; entry < entries; entry++) {
				struct counters counters = counters_of(&sums->sums[entry]);

				cr_assert_eq(counters.samples[SOURCE_L1], weight);
				cr_assert_eq(counters.locked, entry * covered);
				cr_assert_eq(counters_latency_samples(&counters), covered);
			}
		}
	}
}

Test(window, a_walk_gives_packed_deltas_or_none)
{
	_cleanup_(window_freep) struct window *window = new_window(1 << 20, 3600 * NSEC_PER_SEC);
	struct diary packed = {0}, none = {0}, ended = {.until = 2, .answer = 5};

	cr_assert_eq(collect_one(window, START_NS + 10, 3, 7), 0);
	cr_assert_eq(collect_one(window, START_NS + 20, 4, 9), 0);
	cr_expect_eq(window_walk(window, 100,
				 &(struct window_visitor){.collection = note_collection,
							  .counters = note_counters,
							  .packed = note_packed,
							  .userdata = &packed}),
		     0);
	cr_expect_str_eq(packed.text, "[0-10] 3.0:7/8[10-20] 4.0:9/10");
	cr_expect_eq(window_walk(window, 100,
				 &(struct window_visitor){.collection = note_collection, .userdata = &none}),
		     0);
	cr_expect_str_eq(none.text, "[0-10][10-20]");
	cr_expect_eq(window_walk(window, 100,
				 &(struct window_visitor){.collection = note_collection,
							  .packed = note_packed,
							  .userdata = &ended}),
		     5);
	cr_expect_str_eq(ended.text, "[0-10] 3.0:7/8");
}
