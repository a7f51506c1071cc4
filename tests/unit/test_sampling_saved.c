// SPDX-License-Identifier: GPL-2.0
/* The state of the previous process is inherited, or stays in the store. The test plays the service manager. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child_expect.h"
#include "notify_socket.h"
#include "sampling/sampling_saved.h"
#include "scarce_memory.h"
#include "state/state_kinds.h"

#define STATE "state-1-1"
#define WORDS "counted"

TestSuite(sampling_saved, .init = manager_start, .fini = manager_stop);

static int count(struct store *store, void *userdata)
{
	struct sampling_saved saved;
	struct state_ref ref = {0};

	(void)userdata;
	EXPECT(sampling_saved_open(store, &saved) == 0);
	state_put(saved.state, &ref, STATE_HEAD, 0, WORDS, sizeof(WORDS));
	EXPECT(state_commit(saved.state) == 0);
	return 0;
}

static bool has_words(const struct sampling_saved *saved)
{
	const struct state_record *record = state_find(saved->state, STATE_HEAD, 0);

	return record && record->length == sizeof(WORDS) && memcmp(record->bytes, WORDS, sizeof(WORDS)) == 0;
}

enum end { CONTINUES = 10, FAILED, CONTINUES_ANYWAY, WENT_WRONG };

/* Takes over the state while allocation `number` fails. */
static int continue_with(struct store *store, void *userdata)
{
	struct sampling_saved saved;
	bool scarce;
	int r;

	scarce_memory_after(*(const size_t *)userdata);
	r = sampling_saved_open(store, &saved);
	scarce = scarce_memory_end();
	if (scarce && r == -ENOMEM)
		return FAILED;
	if (r < 0 || !has_words(&saved))
		return WENT_WRONG;
	return scarce ? CONTINUES_ANYWAY : CONTINUES;
}

Test(sampling_saved, counts_are_handed_to_the_next_process)
{
	cr_assert_eq(manager_run(count, NULL), 0);
	cr_expect_eq(notify_socket_count(&manager, STATE), 1);
	cr_expect_eq(manager_run(continue_with, &(size_t){SIZE_MAX}), CONTINUES);
}

Test(sampling_saved, without_memory_the_state_is_kept_for_the_next_try)
{
	size_t failed = 0, number = 0;
	int end;

	cr_assert_eq(manager_run(count, NULL), 0);
	while ((end = manager_run(continue_with, &number)) != CONTINUES) {
		cr_assert_neq(end, WENT_WRONG, "without allocation %zu", number);
		failed += end == FAILED;
		cr_assert_eq(notify_socket_count(&manager, STATE), 1, "without allocation %zu", number);
		cr_assert_lt(number++, 1000);
	}
	cr_expect_gt(failed, 3);
}

static int find_nothing(struct store *store, void *userdata)
{
	struct sampling_saved saved;

	(void)userdata;
	EXPECT(sampling_saved_open(store, &saved) == 0);
	EXPECT(saved.state && !state_find(saved.state, STATE_HEAD, 0));
	return 0;
}

/* A state that has the version of the records, but not the layout of the counters in them. */
static int count_other(struct store *store, void *userdata)
{
	struct sampling_saved saved;
	struct state_ref ref = {0};
	struct state *other;

	(void)userdata;
	EXPECT(sampling_saved_open(store, &saved) == 0);
	EXPECT(state_new(STATE_RECORDS, &other) == 0);
	state_put(other, &ref, STATE_HEAD, 0, WORDS, sizeof(WORDS));
	EXPECT(state_commit(other) == 0);
	EXPECT(store_remove(store, STATE) == 0);
	EXPECT(store_put(store, STATE, state_fd(other)) == 0);
	return 0;
}

Test(sampling_saved, a_state_with_other_counters_is_not_continued)
{
	cr_assert_eq(manager_run(count_other, NULL), 0);
	cr_assert_eq(notify_socket_count(&manager, STATE), 1);
	cr_expect_eq(manager_run(find_nothing, NULL), 0);
	cr_expect_eq(notify_socket_count(&manager, STATE), 0);
}

Test(sampling_saved, an_unusable_state_is_removed_from_the_store)
{
	cr_assert_eq(manager_run(count, NULL), 0);
	cr_assert_eq(notify_socket_count(&manager, STATE), 1);
	(void)close(manager.stored[0].fd);
	manager.stored[0].fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	cr_expect_eq(manager_run(find_nothing, NULL), 0);
	cr_expect_eq(notify_socket_count(&manager, STATE), 0);
	cr_expect_eq(notify_socket_count(&manager, "state-1-2"), 1);
}
