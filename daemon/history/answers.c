// SPDX-License-Identifier: GPL-2.0
#include "history/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* After this many panes, two thirds of the cgroups that no pane has any more are no longer expected. */
#define FADE 64

/* The most that is left out for the next question with fewer bins. */
#define FEWER_BINS 8

struct answer {
	struct history_query query; /* as it was asked for: `bins` may be 0 */
	bool used;                  /* the entry is not free */
	bool pending;
	u32 number;
	u32 bins; /* as the keeper was asked */
	int error;
	u64 used_ns;
	bool shown;    /* it was returned */
	u64 newest_us; /* end of the last pane when it was returned first */
	struct history_block block;
	size_t n;
	struct history_pane *panes;
	struct past *past; /* NULL: not made yet */
	char *json;        /* of alerts */
};

struct answers {
	answers_ask ask;
	void *userdata;
	size_t cgroups; /* of a pane */
	struct answer list[ANSWERS_MAX];
};

int answers_new(answers_ask ask, void *userdata, struct answers **ret)
{
	struct answers *answers = calloc(1, sizeof(*answers));

	if (!answers)
		return -ENOMEM;
	answers->ask = ask;
	answers->userdata = userdata;
	answers->cgroups = ANSWERS_CGROUPS_ASSUMED;
	*ret = answers;
	return 0;
}

static void drop(struct answer *answer)
{
	past_free(answer->past);
	for (size_t i = 0; i < answer->n; i++)
		history_pane_done(&answer->panes[i]);
	free(answer->panes);
	if (answer->block.bytes)
		history_block_unmap(&answer->block);
	free(answer->json);
	*answer = (struct answer){0};
}

struct answers *answers_free(struct answers *answers)
{
	if (!answers)
		return NULL;
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		drop(&answers->list[i]);
	free(answers);
	return NULL;
}

size_t answers_bytes(const struct answers *answers)
{
	size_t bytes = 0;

	for (size_t i = 0; i < ANSWERS_MAX; i++)
		bytes += answers->list[i].block.size;
	return bytes;
}

bool answers_any(const struct answers *answers)
{
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		if (answers->list[i].used)
			return true;
	return false;
}

static bool same_query(const struct history_query *a, const struct history_query *b)
{
	return a->question == b->question && a->since_us == b->since_us && a->until_us == b->until_us &&
	       a->bins == b->bins && a->least_seconds == b->least_seconds && a->subtree == b->subtree &&
	       strcmp(a->path, b->path) == 0 && strcmp(a->rule, b->rule) == 0;
}

/* The answer that was used least recently, and not in this turn of the loop; NULL: none. */
static struct answer *oldest(struct answers *answers, u64 now_ns)
{
	struct answer *found = NULL;

	for (size_t i = 0; i < ANSWERS_MAX; i++) {
		struct answer *answer = &answers->list[i];

		if (answer->used && !answer->pending && answer->used_ns < now_ns &&
		    (!found || answer->used_ns < found->used_ns))
			found = answer;
	}
	return found;
}

/* An answer that was too large stays so, and who asks for fewer bins next asks for as many again after that. */
static u64 keep_ns(const struct answer *answer)
{
	return answer->error && answer->error != -E2BIG ? ANSWERS_FAIL_KEEP_NS : ANSWERS_KEEP_NS;
}

void answers_tick(struct answers *answers, u64 now_ns)
{
	for (size_t i = 0; i < ANSWERS_MAX; i++) {
		struct answer *answer = &answers->list[i];

		if (answer->used && !answer->pending && now_ns - answer->used_ns >= keep_ns(answer))
			drop(answer);
	}
}

static struct answer *find(struct answers *answers, const struct history_query *query)
{
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		if (answers->list[i].used && same_query(&answers->list[i].query, query))
			return &answers->list[i];
	return NULL;
}

static struct answer *room_for(struct answers *answers, u64 now_ns)
{
	struct answer *found;

	for (size_t i = 0; i < ANSWERS_MAX; i++)
		if (!answers->list[i].used)
			return &answers->list[i];
	found = oldest(answers, now_ns);
	if (found)
		drop(found);
	return found;
}

void answers_cgroups(struct answers *answers, size_t n)
{
	const size_t fewer = answers->cgroups > n ? answers->cgroups - n : 0;

	answers->cgroups = fewer ? answers->cgroups - (fewer + FADE - 1) / FADE : n;
}

static u32 bins_of(const struct answers *answers, const struct history_query *query)
{
	const u64 range_us = query->until_us - query->since_us;
	u64 most = ANSWERS_BINS;

	if (query->bins)
		return query->bins;
	if (query->question == HISTORY_ASK_PANES && !query->path[0] &&
	    range_us > ANSWERS_SHORT_S * 1000000ULL)
		most = MIN(most, MAX(ANSWERS_CGROUPS / MAX(answers->cgroups, 1U), 1U));
	return (u32)MIN(most, (range_us + HISTORY_PANE_US - 1) / HISTORY_PANE_US);
}

static int ask(struct answers *answers, struct answer *answer)
{
	struct history_query query = answer->query;

	query.bins = answer->bins;
	return answers->ask(answers->userdata, &query, &answer->number);
}

/* Returns true if the range may contain a pane that the answer lacks. An answer that was used in this turn stays. */
static bool is_outdated(const struct answer *answer, u64 newest_us, u64 now_ns)
{
	return answer->shown && newest_us != answer->newest_us &&
	       answer->query.until_us > answer->newest_us && answer->used_ns < now_ns;
}

/* Returns 0 with an answer that has come, or -errno. */
static int get(struct answers *answers, const struct history_query *query, u64 newest_us, u64 now_ns,
	       struct answer **ret)
{
	struct answer *answer = find(answers, query);
	int r;

	if (answer && is_outdated(answer, newest_us, now_ns)) {
		drop(answer);
		answer = NULL;
	}
	if (answer) {
		*ret = answer;
		if (!answer->pending && !answer->error && !answer->shown) {
			answer->shown = true;
			answer->newest_us = newest_us;
		}
		/* A client that asks again and again must not keep an error that would pass. */
		if (!answer->error || answer->error == -E2BIG)
			answer->used_ns = now_ns;
		return answer->pending ? -EAGAIN : answer->error;
	}
	answer = room_for(answers, now_ns);
	if (!answer)
		return -EUSERS;
	*answer = (struct answer){.query = *query,
				  .used = true,
				  .pending = true,
				  .bins = bins_of(answers, query),
				  .used_ns = now_ns};
	r = ask(answers, answer);
	if (r < 0)
		drop(answer);
	return r < 0 ? r : -EAGAIN;
}

/* A range that reaches up to now ends with the last pane: the next one is not complete yet. */
static u64 end_of(const struct history_query *query, u64 newest_us)
{
	const u64 late_us = 2 * HISTORY_PANE_US;

	return newest_us > query->since_us && query->until_us > newest_us &&
			       query->until_us - newest_us <= late_us
		       ? newest_us
		       : query->until_us;
}

static int make_past(struct answer *answer, u64 newest_us)
{
	const struct past_settings settings = {
		.range = {answer->query.since_us, end_of(&answer->query, newest_us)}};

	return past_new(&settings, answer->panes, answer->n, &answer->past);
}

int answers_past(struct answers *answers, const struct history_query *query, u64 newest_us, u64 now_ns,
		 const struct past **ret)
{
	struct answer *answer;
	int r = get(answers, query, newest_us, now_ns, &answer);

	if (r == 0 && !answer->past) {
		r = make_past(answer, newest_us);
		/* Keep the error: another attempt would fail in the same way. */
		answer->error = r;
	}
	if (r == 0)
		*ret = answer->past;
	return r;
}

int answers_alerts(struct answers *answers, const struct history_query *query, u64 newest_us, u64 now_ns,
		   const char **ret_json)
{
	struct answer *answer;
	int r = get(answers, query, newest_us, now_ns, &answer);

	if (r == 0)
		*ret_json = answer->json;
	return r;
}

static int read_panes(struct answer *answer)
{
	for (size_t at = 0, used; at < answer->block.size; at += used) {
		struct history_pane *grown;
		int r;

		if (answer->n == HISTORY_PANES_MAX)
			return -EBADMSG;
		grown = reallocarray(answer->panes, answer->n + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		answer->panes = grown;
		r = history_pane_read(answer->block.bytes + at, answer->block.size - at, &grown[answer->n],
				      &used);
		if (r < 0)
			return r;
		answer->n++;
	}
	return 0;
}

static int read_answer(struct answer *answer)
{
	if (answer->query.question != HISTORY_ASK_ALERTS)
		return read_panes(answer);
	if (memchr(answer->block.bytes, 0, answer->block.size))
		return -EBADMSG;
	answer->json = strndup((const char *)answer->block.bytes, answer->block.size);
	return answer->json ? 0 : -ENOMEM;
}

/* The next question about the past may be about as many cgroups as the answer has. */
static void expect_as_many(struct answers *answers, const struct answer *answer)
{
	for (size_t i = 0; i < answer->n && !answer->query.path[0]; i++)
		answers->cgroups = MAX(answers->cgroups, answer->panes[i].n_cgroups);
}

static struct answer *numbered(struct answers *answers, u32 number)
{
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		if (answers->list[i].pending && answers->list[i].number == number)
			return &answers->list[i];
	return NULL;
}

/* Makes room for an answer. Returns false if those that are in use take it. */
static bool make_room(struct answers *answers, size_t size, u64 now_ns)
{
	while (answers_bytes(answers) + size > ANSWERS_BYTES_MAX) {
		struct answer *answer = oldest(answers, now_ns);

		if (!answer)
			return false;
		drop(answer);
	}
	return true;
}

static size_t most_bytes(const struct answer *answer)
{
	return answer && answer->query.question == HISTORY_ASK_ALERTS ? HISTORY_ALERTS_BYTES_MAX
								      : HISTORY_ANSWER_BYTES_MAX;
}

bool answers_take(struct answers *answers, u32 number, int error, struct history_block *block, u64 now_ns)
{
	struct answer *answer = numbered(answers, number);

	if (error == 0 && block->size > most_bytes(answer))
		error = -E2BIG;
	if (answer && error == 0 && !make_room(answers, block->size, now_ns))
		error = -EUSERS;
	if (!answer || error) {
		if (block->bytes)
			history_block_unmap(block);
		*block = (struct history_block){0};
	}
	if (!answer)
		return false;
	if (error == -E2BIG && answer->query.bins == 0 && answer->bins > 1) {
		answer->bins = answer->bins > FEWER_BINS ? answer->bins / FEWER_BINS : 1;
		error = ask(answers, answer);
		if (error == 0)
			return false;
	}
	answer->pending = false;
	answer->used_ns = now_ns;
	answer->block = *block;
	*block = (struct history_block){0};
	answer->error = error ? error : read_answer(answer);
	expect_as_many(answers, answer);
	return true;
}
