// SPDX-License-Identifier: GPL-2.0
/* Events in the descriptor store, with a notification socket of the test instead of the manager's. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "notify_socket.h"
#include "origin/perf/perf_internal.h"
#include "store/store.h"

/* As store.c limits them. */
#define NAMES_BYTES_MAX (31UL * 4096)

TestSuite(perf_save, .init = manager_start, .fini = manager_stop);

/* Stores descriptors until only names of `left` more bytes fit. */
static void fill(struct store *store, int fd, size_t left)
{
	size_t used = 0;

	for (size_t i = 0; used + 41 + left + 2 <= NAMES_BYTES_MAX; i++, used += 41) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%040zu", i);
		cr_assert_eq(store_put(store, name, fd), 0);
	}
	{
		char name[64];

		(void)snprintf(name, sizeof(name), "%0*d", (int)(NAMES_BYTES_MAX - used - left - 1), 1);
		cr_assert_eq(store_put(store, name, fd), 0);
	}
}

/* A leader alone would hold its counter, although nothing samples, and even in a pause. */
Test(perf_save, a_leader_is_not_stored_without_its_event)
{
	_cleanup_(store_freep) struct store *store = NULL;
	_cleanup_(handover_freep) struct handover *handover = NULL;
	_cleanup_(perf_save_freep) struct perf_save *save = NULL;
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct perf_cpu event = {.cpu = 0, .fd = fd, .leader_fd = fd, .period = 1};
	struct perf_saved_cpu saved;

	cr_assert_eq(store_open(&store), 0);
	cr_assert_eq(handover_open(store, &handover), 0);
	cr_assert_eq(handover_begin(handover), 0);
	cr_assert_eq(perf_save_new(&(struct perf_save_settings){.handover = handover, .n_sets = 1}, &save),
		     0);
	fill(store, fd, sizeof("leader-1-0-0-2"));
	cr_expect_eq(perf_save_put(save, 0, &event, &saved), -E2BIG);
	cr_expect_eq(notify_socket_count(&manager, "leader-1-0-0-2"), 0);
}

/* Without a descriptor in the store, the event ends with its process. What it counted until the last save stays. */
Test(perf_save, counts_of_an_event_that_could_not_be_stored_are_inherited)
{
	_cleanup_(store_freep) struct store *store = NULL;
	_cleanup_(handover_freep) struct handover *handover = NULL;
	_cleanup_(perf_save_freep) struct perf_save *save = NULL;
	_cleanup_(perf_set_freep) struct perf_event_set *before = calloc(1, sizeof(*before));
	_cleanup_(perf_set_freep) struct perf_event_set *next = calloc(1, sizeof(*next));
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct perf_cpu event = {.cpu = 0, .fd = fd, .leader_fd = -1, .period = 10};
	_cleanup_free_ char *message = NULL;
	struct perf_counts counts;

	cr_assert_eq(store_open(&store), 0);
	cr_assert_eq(handover_open(store, &handover), 0);
	cr_assert_eq(handover_begin(handover), 0);
	cr_assert_eq(perf_save_new(&(struct perf_save_settings){.handover = handover, .n_sets = 1}, &save),
		     0);
	fill(store, fd, 0);
	before->spec.event.period = next->spec.event.period = 10;
	cr_assert_eq(perf_start_restored(before, -1, save, 0, &message), 0);
	cr_assert_eq(perf_add_cpu(before, 0), 0);
	perf_set_save_new(before, &event);
	event.last.count = 1234;
	perf_set_save_counts(before, &event);

	cr_assert_eq(perf_start_restored(next, -1, save, 0, &message), 0);
	perf_count(next, &counts);
	cr_expect_eq(counts.count, 1234, "%llu", (unsigned long long)counts.count);
	cr_expect_eq(counts.expected, 123);
}
