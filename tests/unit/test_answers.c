// SPDX-License-Identifier: GPL-2.0
/* Answers about the past are kept while somebody may ask again, in bounded memory. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "history/answers.h"
#include "some_panes.h"

#define SEC_US 1000000ULL
#define SECOND NSEC_PER_SEC
#define START  SOME_PANES_START_US

static struct answers *answers;
static struct history_query asked[128];
static size_t n_asked;
static int ask_result;
static u64 now_ns;
static const struct past *past;
static const char *json;

static int ask(void *userdata, const struct history_query *query, u32 *ret_number)
{
	(void)userdata;
	if (ask_result < 0)
		return ask_result;
	asked[n_asked++] = *query;
	*ret_number = (u32)(100 + n_asked);
	return 0;
}

static void setup(void)
{
	now_ns = 5000 * SECOND;
	cr_assert_eq(answers_new(ask, NULL, &answers), 0);
}

static void teardown(void)
{
	answers_free(answers);
}

TestSuite(answers, .init = setup, .fini = teardown);

static struct history_query range(u64 since_s, u64 until_s)
{
	return (struct history_query){.since_us = START + since_s * SEC_US,
				      .until_us = START + until_s * SEC_US};
}

static int get(const struct history_query *query)
{
	return answers_past(answers, query, 0, now_ns, &past);
}

/* A block as the keeper sends it: in memory that can be unmapped. */
static struct history_block block_of(const void *bytes, size_t size)
{
	struct history_block block = {.size = size};
	void *mapped =
		mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(mapped, MAP_FAILED);
	if (bytes)
		memcpy(mapped, bytes, size);
	block.bytes = mapped;
	return block;
}

/* Answers the last question with `n` panes of one event and some cgroups each. */
static bool answer_cgroups(size_t n, unsigned cgroups)
{
	const struct event loads = {.role = EVENT_LOADS, .period = 1009, .pmu = "cpu"};
	struct some_panes panes = {0};
	struct history_block block;
	u8 *all = NULL;
	size_t total = 0;

	for (size_t i = 0; i < n; i++) {
		struct history_pane *pane = some_panes_add(&panes, 0, 10);
		const struct counters counters = {.samples = {[SOURCE_L2] = 1}};
		const u32 event = some_panes_event(pane, "loads", &loads, 1);
		u8 *bytes;
		size_t size;

		for (unsigned cgroup = 0; cgroup < cgroups; cgroup++) {
			char path[16];

			(void)snprintf(path, sizeof(path), cgroup ? "/a%u" : "/a", cgroup);
			some_panes_row(pane, path, event, &counters);
		}
		cr_assert_eq(history_pane_write(pane, &bytes, &size), 0);
		all = realloc(all, total + size);
		memcpy(all + total, bytes, size);
		total += size;
		free(bytes);
	}
	some_panes_done(&panes);
	block = block_of(all, total);
	free(all);
	return answers_take(answers, (u32)(100 + n_asked), 0, &block, now_ns);
}

static bool answer_panes(size_t n)
{
	return answer_cgroups(n, 1);
}

static bool answer_error(int error)
{
	struct history_block block = {0};

	return answers_take(answers, (u32)(100 + n_asked), error, &block, now_ns);
}

static bool answer_large(size_t size)
{
	struct history_block block = block_of(NULL, size);

	return answers_take(answers, (u32)(100 + n_asked), 0, &block, now_ns);
}

Test(answers, a_request_is_sent_once_until_its_answer_arrives)
{
	const struct history_query query = range(0, 30);

	cr_expect_eq(get(&query), -EAGAIN);
	cr_expect_eq(get(&query), -EAGAIN);
	cr_expect_eq(n_asked, 1);
	cr_expect(answer_panes(3));
	cr_assert_eq(get(&query), 0);
	cr_expect_eq(past_bins(past), 3);
	cr_expect_eq(get(&query), 0);
	cr_expect_eq(n_asked, 1);
}

Test(answers, other_arguments_are_another_request)
{
	struct history_query query = range(0, 30), others[6];

	for (size_t i = 0; i < 6; i++)
		others[i] = query;
	others[0].bins = 7;
	others[1].subtree = true;
	(void)strcpy(others[2].path, "/a");
	others[3].until_us++;
	others[4].question = HISTORY_ASK_ALERTS;
	(void)strcpy(others[5].rule, "slow");
	(void)get(&query);
	cr_expect(answer_panes(1));
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(get(&others[i]), -EAGAIN, "%zu", i);
	cr_expect_eq(n_asked, 7);
}

Test(answers, without_a_number_of_bins_one_is_chosen)
{
	const u64 lengths_s[] = {1, 10, 11, 300, 600, 86400};
	const u32 bins[] = {1, 1, 2, 30, 60, 60};

	for (size_t i = 0; i < 6; i++) {
		struct history_query query = range(0, lengths_s[i]);

		(void)strcpy(query.path, "/shop");
		(void)get(&query);
		cr_expect_eq(asked[i].bins, bins[i]);
	}
}

/* The first answer must neither be too large nor take long. */
Test(answers, a_long_time_of_many_cgroups_has_few_bins)
{
	static const struct {
		size_t cgroups;
		u32 seconds, bins;
	} cases[] = {
		{0, 86400, 60},   {10, 86400, 60},   {100, 86400, 10},  {300, 86400, 3},
		{1000, 86400, 1}, {10000, 86400, 1}, {10000, 3600, 60}, {10000, 3601, 1},
	};
	struct history_query query = range(0, 86400);

	(void)get(&query);
	cr_expect_eq(asked[0].bins, 4, "the number of cgroups is not known yet");
	query.question = HISTORY_ASK_TOTALS;
	(void)get(&query);
	cr_expect_eq(asked[1].bins, 60, "a sum is one cgroup");
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		query = range(i + 1, i + 1 + cases[i].seconds);
		/* The most that a pane had fades. */
		for (unsigned pane = 0; pane < 1000; pane++)
			answers_cgroups(answers, cases[i].cgroups);
		(void)get(&query);
		cr_expect_eq(asked[2 + i].bins, cases[i].bins, "%zu cgroups: %u bins", cases[i].cgroups,
			     asked[2 + i].bins);
	}
}

/* A host that has few cgroups now may have had many. */
Test(answers, an_answer_says_how_many_cgroups_to_expect)
{
	struct history_query query = range(0, 86400);

	answers_cgroups(answers, 100);
	(void)get(&query);
	cr_expect(answer_cgroups(1, 500));
	query = range(10, 86410);
	(void)get(&query);
	cr_expect_eq(asked[1].bins, 2);
}

Test(answers, too_large_an_answer_is_asked_for_with_fewer_bins)
{
	const struct history_query query = range(0, 600);

	(void)get(&query);
	cr_expect_not(answer_large(HISTORY_ANSWER_BYTES_MAX + 1));
	cr_expect_eq(get(&query), -EAGAIN);
	cr_expect_eq(asked[1].bins, 7);
	cr_expect_not(answer_error(-E2BIG));
	cr_expect_eq(asked[2].bins, 1);
	cr_expect(answer_error(-E2BIG));
	cr_expect_eq(get(&query), -E2BIG);
	cr_expect_eq(n_asked, 3);
}

Test(answers, bins_that_were_asked_for_are_not_changed)
{
	struct history_query query = range(0, 600);

	query.bins = 60;
	(void)get(&query);
	cr_expect(answer_error(-E2BIG));
	cr_expect_eq(get(&query), -E2BIG);
}

Test(answers, an_error_is_kept_for_a_moment)
{
	const struct history_query query = range(0, 600);

	(void)get(&query);
	cr_expect(answer_error(-ETIMEDOUT));
	cr_expect_eq(get(&query), -ETIMEDOUT);
	now_ns += ANSWERS_FAIL_KEEP_NS;
	answers_tick(answers, now_ns);
	cr_expect_eq(get(&query), -EAGAIN);
}

/* The live top asks the same question each second while it shows an error. */
Test(answers, an_error_is_not_kept_longer_because_it_is_asked_for)
{
	const struct history_query query = range(0, 600);

	(void)get(&query);
	cr_expect(answer_error(-ETIMEDOUT));
	for (u64 waited = 0; waited < ANSWERS_FAIL_KEEP_NS; waited += ANSWERS_FAIL_KEEP_NS / 2) {
		answers_tick(answers, now_ns);
		cr_expect_eq(get(&query), -ETIMEDOUT);
		now_ns += ANSWERS_FAIL_KEEP_NS / 2;
	}
	answers_tick(answers, now_ns);
	cr_expect_eq(get(&query), -EAGAIN);
}

/* The keeper may be slow. */
Test(answers, a_too_large_answer_is_not_requested_again_with_fewer_bins)
{
	struct history_query many = range(0, 600), fewer = range(0, 600);

	many.bins = 60;
	fewer.bins = 30;
	(void)get(&many);
	cr_expect(answer_error(-E2BIG));
	cr_expect_eq(get(&many), -E2BIG);
	cr_expect_eq(get(&fewer), -EAGAIN);
	now_ns += ANSWERS_KEEP_NS - 1;
	answers_tick(answers, now_ns);
	(void)answer_panes(1);
	cr_expect_eq(get(&many), -E2BIG);
	cr_expect_eq(get(&fewer), 0);
	cr_expect_eq(n_asked, 2);
}

Test(answers, an_answer_is_kept_while_it_is_used)
{
	const struct history_query query = range(0, 600);

	(void)get(&query);
	(void)answer_panes(2);
	for (unsigned i = 0; i < 5; i++) {
		now_ns += ANSWERS_KEEP_NS - 1;
		answers_tick(answers, now_ns);
		cr_expect_eq(get(&query), 0);
	}
	now_ns += ANSWERS_KEEP_NS;
	answers_tick(answers, now_ns);
	cr_expect_not(answers_any(answers));
	cr_expect_eq(answers_bytes(answers), 0);
	cr_expect_eq(get(&query), -EAGAIN);
}

/* A dashboard asks again and again for today, which ends in the future. */
Test(answers, an_answer_up_to_a_later_time_lasts_until_the_next_pane)
{
	const struct history_query today = range(0, 86400), before = range(0, 300);
	const u64 newest_us = START + 300 * SEC_US, next_us = newest_us + 10 * SEC_US;
	const struct past *first;

	(void)get(&today);
	(void)answer_panes(2);
	(void)get(&before);
	(void)answer_panes(2);
	cr_assert_eq(answers_past(answers, &today, newest_us, now_ns, &first), 0);
	cr_assert_eq(answers_past(answers, &before, newest_us, now_ns, &past), 0);
	/* A call may use it twice. */
	cr_assert_eq(answers_past(answers, &today, next_us, now_ns, &past), 0);
	cr_expect_eq(past, first);
	now_ns += SECOND;
	cr_expect_eq(answers_past(answers, &before, next_us, now_ns, &past), 0);
	cr_expect_eq(n_asked, 2);
	cr_expect_eq(answers_past(answers, &today, next_us, now_ns, &past), -EAGAIN);
	cr_expect_eq(n_asked, 3);
	(void)answer_panes(3);
	cr_assert_eq(answers_past(answers, &today, next_us, now_ns, &past), 0);
	cr_expect_eq(past_bins(past), 3);
	now_ns += SECOND;
	cr_expect_eq(answers_past(answers, &today, next_us, now_ns, &past), 0, "no pane is newer");
}

Test(answers, alerts_up_to_a_later_time_are_those_of_the_last_pane)
{
	const struct history_query today = {.question = HISTORY_ASK_ALERTS,
					    .since_us = START,
					    .until_us = START + 86400 * SEC_US,
					    .bins = 1};
	struct history_block block = block_of("[]", 2);

	cr_expect_eq(answers_alerts(answers, &today, START, now_ns, &json), -EAGAIN);
	(void)answers_take(answers, 101, 0, &block, now_ns);
	cr_expect_eq(answers_alerts(answers, &today, START, now_ns, &json), 0);
	now_ns += SECOND;
	cr_expect_eq(answers_alerts(answers, &today, START, now_ns, &json), 0);
	now_ns += SECOND;
	cr_expect_eq(answers_alerts(answers, &today, START + 10 * SEC_US, now_ns, &json), -EAGAIN);
}

Test(answers, more_questions_push_out_the_oldest_answer)
{
	for (unsigned i = 0; i < ANSWERS_MAX; i++) {
		const struct history_query query = range(0, 10 + i);

		cr_expect_eq(get(&query), -EAGAIN);
		(void)answer_panes(1);
		now_ns += SECOND / 10;
	}
	{
		const struct history_query query = range(0, 1000), first = range(0, 10),
					   second = range(0, 11);

		now_ns += SECOND;
		cr_expect_eq(get(&query), -EAGAIN);
		cr_expect_eq(get(&second), 0);
		cr_expect_eq(get(&first), -EAGAIN);
	}
}

/* A shell loop asks one question after the other. */
Test(answers, answers_of_earlier_turns_are_evicted)
{
	const struct history_query held = range(0, 1000);

	for (unsigned i = 0; i < 40; i++) {
		const struct history_query query = range(0, 10 + i);

		now_ns++;
		cr_expect_eq(get(&query), -EAGAIN, "question %u", i);
		(void)answer_panes(1);
		now_ns++;
		cr_expect_eq(get(&query), 0, "answer %u", i);
	}
	/* An answer that is used in this turn stays. */
	now_ns++;
	cr_expect_eq(get(&held), -EAGAIN);
	(void)answer_panes(1);
	cr_expect_eq(get(&held), 0);
	for (unsigned i = 0; i < ANSWERS_MAX - 1; i++) {
		const struct history_query query = range(1, 10 + i);

		cr_expect_eq(get(&query), -EAGAIN);
	}
	{
		const struct history_query query = range(2, 10);

		cr_expect_eq(get(&query), -EUSERS);
	}
	cr_expect_eq(get(&held), 0);
}

Test(answers, questions_that_wait_are_never_pushed_out)
{
	const struct history_query query = range(0, 1000);

	for (unsigned i = 0; i < ANSWERS_MAX; i++) {
		const struct history_query other = range(0, 10 + i);

		cr_expect_eq(get(&other), -EAGAIN);
	}
	now_ns += 5 * SECOND;
	cr_expect_eq(get(&query), -EUSERS);
}

Test(answers, a_comparison_holds_both_answers)
{
	const struct history_query a = range(0, 600), b = range(600, 1200);
	const struct past *both[2];

	/* A call that needs two answers asks for both each time. */
	cr_expect_eq(get(&a), -EAGAIN);
	(void)answer_panes(40);
	cr_expect_eq(get(&a), 0);
	cr_expect_eq(get(&b), -EAGAIN);
	(void)answer_panes(40);
	cr_expect_eq(answers_past(answers, &a, 0, now_ns, &both[0]), 0);
	cr_expect_eq(answers_past(answers, &b, 0, now_ns, &both[1]), 0);
	cr_expect_eq(past_bins(both[0]) + past_bins(both[1]), 80);
}

Test(answers, memory_is_bounded)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct history_query query = range(0, 10 + i);

		(void)get(&query);
		(void)answer_large(HISTORY_ANSWER_BYTES_MAX);
		cr_expect_leq(answers_bytes(answers), ANSWERS_BYTES_MAX);
		now_ns += 2 * SECOND;
	}
}

Test(answers, a_large_answer_is_refused_while_others_are_in_use)
{
	struct history_query query;

	for (unsigned i = 0; i < 4; i++) {
		query = range(0, 10 + i);
		(void)get(&query);
		(void)answer_large(HISTORY_ANSWER_BYTES_MAX);
		cr_expect_leq(answers_bytes(answers), ANSWERS_BYTES_MAX);
	}
	cr_expect_eq(get(&query), -EUSERS);
	now_ns += ANSWERS_FAIL_KEEP_NS;
	answers_tick(answers, now_ns);
	cr_expect_eq(get(&query), -EAGAIN);
	(void)answer_panes(1);
	cr_expect_eq(get(&query), 0);
}

Test(answers, an_invalid_answer_is_an_error)
{
	const struct history_query query = range(0, 10), none = range(0, 20);
	struct history_block block;

	(void)get(&query);
	block = block_of("nonsense", 8);
	cr_expect(answers_take(answers, 101, 0, &block, now_ns));
	cr_expect_eq(get(&query), -EBADMSG);
	/* This question was never asked. */
	block = block_of("nonsense", 8);
	cr_expect_not(answers_take(answers, 7, 0, &block, now_ns));
	cr_expect_null(block.bytes);
	(void)get(&none);
	cr_expect(answer_panes(0));
	cr_expect_eq(get(&none), -ENODATA);
}

Test(answers, a_question_that_cannot_be_asked_is_forgotten)
{
	const struct history_query query = range(0, 10);

	ask_result = -EUSERS;
	cr_expect_eq(get(&query), -EUSERS);
	cr_expect_not(answers_any(answers));
	ask_result = 0;
	cr_expect_eq(get(&query), -EAGAIN);
}

Test(answers, the_answer_about_alerts_is_text)
{
	struct history_query query = range(0, 10);
	struct history_block block = block_of("[{\"rule\":\"x\"}]", 14);

	query.question = HISTORY_ASK_ALERTS;
	cr_expect_eq(answers_alerts(answers, &query, 0, now_ns, &json), -EAGAIN);
	cr_expect(answers_take(answers, 101, 0, &block, now_ns));
	cr_assert_eq(answers_alerts(answers, &query, 0, now_ns, &json), 0);
	cr_expect_str_eq(json, "[{\"rule\":\"x\"}]");
}

/* A parsed alert takes much more memory than its text. */
Test(answers, alerts_are_bounded_before_they_are_parsed)
{
	static char text[HISTORY_ALERTS_BYTES_MAX + 1];
	struct history_query query = range(0, 10), more = range(0, 20);
	struct history_block block, larger;

	memset(text, ' ', sizeof(text));
	block = block_of(text, HISTORY_ALERTS_BYTES_MAX);
	larger = block_of(text, HISTORY_ALERTS_BYTES_MAX + 1);
	query.question = more.question = HISTORY_ASK_ALERTS;
	cr_expect_eq(answers_alerts(answers, &query, 0, now_ns, &json), -EAGAIN);
	cr_expect(answers_take(answers, 101, 0, &block, now_ns));
	cr_expect_eq(answers_alerts(answers, &query, 0, now_ns, &json), 0);
	query.bins = more.bins = 1;
	cr_expect_eq(answers_alerts(answers, &more, 0, now_ns, &json), -EAGAIN);
	cr_expect(answers_take(answers, 102, 0, &larger, now_ns));
	cr_expect_eq(answers_alerts(answers, &more, 0, now_ns, &json), -E2BIG);
}

Test(answers, an_incomplete_pane_is_not_a_gap)
{
	const struct history_query now = range(0, 41), earlier = range(0, 100);
	size_t n;

	(void)get(&now);
	(void)answer_panes(3);
	cr_assert_eq(answers_past(answers, &now, START + 30 * SEC_US, now_ns, &past), 0);
	(void)past_gaps(past, &n);
	cr_expect_eq(n, 0);
	(void)get(&earlier);
	(void)answer_panes(3);
	cr_assert_eq(answers_past(answers, &earlier, START + 30 * SEC_US, now_ns, &past), 0);
	(void)past_gaps(past, &n);
	cr_expect_eq(n, 1);
}
