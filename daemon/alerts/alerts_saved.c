// SPDX-License-Identifier: GPL-2.0
#include "alerts/alerts_saved.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alerts/alerts_record.h"
#include "state/state.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

/* A copy of a record in the state. */
struct saved_record {
	u8 *bytes;
	size_t length;
	size_t named; /* the first `named` bytes identify the alert */
	u64 id;
	struct state_ref ref;
};

/* Records, sorted by the bytes that identify the alert. */
struct saved_list {
	struct saved_record *records;
	size_t n;
};

struct alerts_saved {
	struct state *state;
	struct state_ref head;
	u64 next_id;
	struct saved_list list;
	/* The state that the previous process left. */
	bool before;
	u64 judged_ns;
	u64 next_number;
	struct policy_saved_alert *inherited;
	size_t n_inherited;
};

static void list_free(struct saved_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->records[i].bytes);
	free(list->records);
	*list = (struct saved_list){0};
}

static void forget_before(struct alerts_saved *saved)
{
	for (size_t i = 0; i < saved->n_inherited; i++) {
		free((char *)saved->inherited[i].cgroup);
		free((char *)saved->inherited[i].event_key);
	}
	free(TAKE_PTR(saved->inherited));
	saved->n_inherited = 0;
}

struct alerts_saved *alerts_saved_free(struct alerts_saved *saved)
{
	if (!saved)
		return NULL;
	forget_before(saved);
	list_free(&saved->list);
	free(saved);
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	const struct saved_record *left = a, *right = b;
	size_t least = left->named < right->named ? left->named : right->named;
	int order = memcmp(left->bytes, right->bytes, least);

	if (order)
		return order;
	return (left->named > right->named) - (left->named < right->named);
}

static void sort(struct saved_list *list)
{
	if (list->n > 0)
		qsort(list->records, list->n, sizeof(*list->records), compare_names);
}

static int list_add(struct saved_list *list, const u8 *bytes, size_t length, size_t named)
{
	struct saved_record record = {.bytes = malloc(length), .length = length, .named = named};

	if (!record.bytes)
		return -ENOMEM;
	memcpy(record.bytes, bytes, length);
	list->records[list->n++] = record;
	return 0;
}

static int read_head(struct alerts_saved *saved, u64 now_ns)
{
	const struct state_record *record = state_find(saved->state, STATE_RULES, 0);
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};

	saved->judged_ns = state_get_number(&reader);
	saved->next_number = state_get_number(&reader);
	if (!state_read_whole(&reader) || saved->judged_ns > now_ns || saved->next_number == 0 ||
	    saved->next_number > INT64_MAX)
		return -EBADMSG;
	return 0;
}

static int read_alerts(struct alerts_saved *saved, const struct state_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct policy_saved_alert *alert = &saved->inherited[saved->n_inherited++];
		size_t named;
		int r = alerts_record_read(records[i].bytes, records[i].length, saved->judged_ns,
					   saved->next_number, alert, &named);

		if (r == 0 && records[i].key > INT64_MAX)
			r = -EBADMSG;
		if (r == 0)
			r = list_add(&saved->list, records[i].bytes, records[i].length, named);
		if (r < 0)
			return r;
		saved->list.records[i].id = records[i].key;
		/* Records come in ascending order of their keys, so the last one has the highest key. */
		saved->next_id = records[i].key + 1;
	}
	sort(&saved->list);
	for (size_t i = 1; i < n; i++)
		if (compare_names(&saved->list.records[i - 1], &saved->list.records[i]) == 0)
			return -EBADMSG;
	return 0;
}

static int take_over(struct alerts_saved *saved, u64 now_ns)
{
	const struct state_record *records;
	size_t n;
	int r;

	if (!state_find(saved->state, STATE_RULES, 0))
		return 0;
	r = read_head(saved, now_ns);
	if (r < 0)
		return r;
	records = state_records(saved->state, STATE_ALERT, &n);
	saved->inherited = calloc(n + 1, sizeof(*saved->inherited));
	saved->list.records = calloc(n + 1, sizeof(*saved->list.records));
	if (!saved->inherited || !saved->list.records)
		return -ENOMEM;
	r = read_alerts(saved, records, n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct saved_record *record = &saved->list.records[i];

		state_take(saved->state, state_find(saved->state, STATE_ALERT, record->id), &record->ref);
	}
	state_take(saved->state, state_find(saved->state, STATE_RULES, 0), &saved->head);
	saved->before = true;
	return 0;
}

int alerts_saved_new(struct state *state, u64 now_ns, struct alerts_saved **ret, const char **ret_wrong)
{
	_cleanup_(alerts_saved_freep) struct alerts_saved *saved = calloc(1, sizeof(*saved));
	int r;

	*ret_wrong = NULL;
	if (!saved)
		return -ENOMEM;
	saved->state = state;
	r = take_over(saved, now_ns);
	if (r == -EBADMSG) {
		*ret_wrong = "the alerts that the previous process passed on are not valid";
		forget_before(saved);
		list_free(&saved->list);
		saved->next_id = 0;
		r = 0;
	}
	if (r < 0)
		return r;
	if (!saved->before)
		saved->next_number = 1;
	*ret = TAKE_PTR(saved);
	return 0;
}

bool alerts_saved_is_newer(const struct alerts_saved *saved, u64 judged_ns)
{
	return saved->before && saved->judged_ns >= judged_ns;
}

u64 alerts_saved_next_number(const struct alerts_saved *saved)
{
	return saved->next_number;
}

const struct policy_saved_alert *alerts_saved_alerts(const struct alerts_saved *saved, size_t *ret_n)
{
	*ret_n = saved->n_inherited;
	return saved->inherited;
}

/*
 * Lists the present alerts. An alert whose path is too long for a record is left out, so it does not survive
 * a restart.
 */
static int make_list(const struct policy *policy, struct saved_list *ret)
{
	_cleanup_free_ struct policy_saved_alert *saved_alerts = NULL;
	u8 bytes[STATE_RECORD_MAX];
	size_t n;
	int r = policy_save_states(policy, &saved_alerts, &n);

	if (r < 0)
		return r;
	ret->records = calloc(n + 1, sizeof(*ret->records));
	if (!ret->records)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		size_t named, length = alerts_record_write(&saved_alerts[i], bytes, &named);

		if (length > 0)
			r = list_add(ret, bytes, length, named);
	}
	sort(ret);
	return r;
}

static void put(struct alerts_saved *saved, struct saved_record *record)
{
	state_put(saved->state, &record->ref, STATE_ALERT, record->id, record->bytes, record->length);
}

/* Writes the differences between the saved list and the present one, in one pass over both, which are sorted. */
static void put_changes(struct alerts_saved *saved, struct saved_list *now)
{
	struct saved_list *before = &saved->list;
	size_t i = 0, j = 0;

	while (i < before->n || j < now->n) {
		int order = i == before->n ? 1
			    : j == now->n  ? -1
					   : compare_names(&before->records[i], &now->records[j]);

		if (order < 0) {
			state_remove(saved->state, &before->records[i++].ref);
			continue;
		}
		if (order > 0) {
			now->records[j].id = saved->next_id++;
			put(saved, &now->records[j++]);
			continue;
		}
		now->records[j].id = before->records[i].id;
		now->records[j].ref = before->records[i].ref;
		if (now->records[j].length != before->records[i].length ||
		    memcmp(now->records[j].bytes, before->records[i].bytes, now->records[j].length) != 0)
			put(saved, &now->records[j]);
		i++;
		j++;
	}
}

static void put_head(struct alerts_saved *saved, const struct policy *policy)
{
	u8 bytes[(size_t)2 * VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	state_put_number(&writer, policy_judged_ns(policy));
	state_put_number(&writer, policy_next_number(policy));
	state_put(saved->state, &saved->head, STATE_RULES, 0, bytes, (size_t)(writer.to - bytes));
}

int alerts_saved_write(struct alerts_saved *saved, const struct policy *policy)
{
	struct saved_list now = {0};
	int r;

	forget_before(saved);
	if (!state_saves(saved->state))
		return 0;
	r = make_list(policy, &now);
	if (r < 0) {
		list_free(&now);
		return r;
	}
	put_changes(saved, &now);
	list_free(&saved->list);
	saved->list = now;
	put_head(saved, policy);
	return state_commit(saved->state);
}
