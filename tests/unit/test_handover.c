// SPDX-License-Identifier: GPL-2.0
/*
 * The state that one process leaves to the next, in memory that both map. The test plays the service manager.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "child_expect.h"
#include "notify_socket.h"
#include "store/handover.h"

TestSuite(handover, .init = manager_start, .fini = manager_stop);

struct pair {
	u64 a, b;
};

struct part {
	u32 current;
	u32 reserved;
	struct pair copies[2];
};

struct life {
	void (*run)(struct store *store, struct handover *handover);
};

static int life_of(struct store *store, void *userdata)
{
	const struct life *life = userdata;
	struct handover *handover;

	EXPECT(handover_open(store, &handover) == 0);
	life->run(store, handover);
	return 0;
}

static void live(void (*run)(struct store *store, struct handover *handover))
{
	cr_assert_eq(manager_run(life_of, &(struct life){run}), 0);
}

static void begin_with(struct handover *handover, u64 a, u64 b)
{
	const struct pair pair = {a, b};
	struct part *part;
	void *memory;

	EXPECT(handover_begin(handover) == 0);
	EXPECT(handover_part(handover, HANDOVER_EVENTS, sizeof(*part), &memory) == 0);
	part = memory;
	handover_commit_copy(&part->current, part->copies, &pair, sizeof(pair));
}

static void first(struct store *store, struct handover *handover)
{
	void *memory;

	(void)store;
	EXPECT(!handover_before(handover, HANDOVER_EVENTS, sizeof(struct part)));
	/* Nothing was begun, and there is no earlier state to continue. */
	EXPECT(handover_part(handover, HANDOVER_EVENTS, sizeof(struct part), &memory) == -EBADMSG);
	begin_with(handover, 1, 2);
	EXPECT(handover_commit(handover) == 0);
}

static struct part *found(struct handover *handover)
{
	void *memory;

	EXPECT(handover_part(handover, HANDOVER_EVENTS, sizeof(struct part), &memory) == 0);
	return memory;
}

static void continues(struct store *store, struct handover *handover)
{
	const struct pair next = {3, 4};
	struct part *part = found(handover);
	void *memory;

	EXPECT(handover_before(handover, HANDOVER_EVENTS, sizeof(*part)) == part);
	EXPECT(!handover_before(handover, HANDOVER_EVENTS, sizeof(*part) - 1));
	EXPECT(!handover_before(handover, HANDOVER_OFFCORE, sizeof(*part)));
	EXPECT(handover_part(handover, HANDOVER_EVENTS, sizeof(*part) + 1, &memory) == -EBADMSG);
	EXPECT(part->copies[part->current].a == 1 && part->copies[part->current].b == 2);
	handover_commit_copy(&part->current, part->copies, &next, sizeof(next));
	/* A new part is added with all bytes 0. */
	EXPECT(handover_part(handover, HANDOVER_PAUSE, 8192, &memory) == 0);
	EXPECT(*(u64 *)memory == 0);
	*(u64 *)memory = 5;
	/* An unfinished change does not count: the earlier copy stays valid. */
	part->copies[!part->current].a = 99;
	EXPECT(handover_commit(handover) == 0);
	store_drop_rest(store);
}

static void sees_what_was_done(struct store *store, struct handover *handover)
{
	struct part *part = found(handover);
	const u64 *pause = handover_before(handover, HANDOVER_PAUSE, 8192);

	(void)store;
	EXPECT(part->copies[part->current].a == 3 && part->copies[part->current].b == 4);
	EXPECT(pause && *pause == 5);
}

Test(handover, memory_is_handed_to_the_next_process)
{
	live(first);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 1);
	live(continues);
	live(sees_what_was_done);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 1);
	cr_expect_eq(manager.n, 1);
}

static void begins_anew_and_is_killed(struct store *store, struct handover *handover)
{
	char name[STORED_NAME_MAX];
	const u32 number = 2;

	begin_with(handover, 7, 8);
	/* The process is killed just before it marks the memory as committed. */
	handover_name(STORED_HANDOVER, "", 1, &number, name);
	EXPECT(store_put(store, name, memfd_create("not yet", MFD_CLOEXEC | MFD_ALLOW_SEALING)) == 0);
	EXPECT(store_settle(store) == 0);
}

static void is_the_first(struct store *store, struct handover *handover)
{
	struct part *part = found(handover);

	(void)store;
	EXPECT(part->copies[part->current].a == 1);
}

Test(handover, uncommitted_memory_is_ignored)
{
	live(first);
	live(begins_anew_and_is_killed);
	live(is_the_first);
}

static void begins_anew(struct store *store, struct handover *handover)
{
	(void)store;
	begin_with(handover, 7, 8);
	/* The old memory has the number 1 and the new one 2, so the next free number is 3. */
	EXPECT(handover_number(handover) == 3);
	EXPECT(handover_commit(handover) == 0);
}

static void is_the_second(struct store *store, struct handover *handover)
{
	struct part *part = found(handover);

	(void)store;
	EXPECT(part->copies[part->current].a == 7);
}

Test(handover, a_committed_memory_replaces_the_previous_one)
{
	live(first);
	live(begins_anew);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 0);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-2"), 1);
	live(is_the_second);
}

static void continues_well(struct store *store, struct handover *handover)
{
	is_the_first(store, handover);
	handover_confirm(handover);
}

static void gives_up(struct store *store, struct handover *handover)
{
	EXPECT(handover_gave_up(handover));
	EXPECT(!handover_before(handover, HANDOVER_EVENTS, sizeof(struct part)));
	begins_anew(store, handover);
}

/*
 * HANDOVER_STARTS_MAX limits the starts that may fail. Without the limit, a state that kills each process
 * that adopts it would kill processes until a user stops the unit.
 */
Test(handover, after_several_failed_starts_the_state_starts_empty)
{
	live(first);
	for (unsigned i = 0; i < HANDOVER_STARTS_MAX - 1; i++)
		live(is_the_first);
	live(continues_well);
	for (unsigned i = 0; i < HANDOVER_STARTS_MAX; i++)
		live(is_the_first);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 1);
	live(gives_up);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 0);
	live(is_the_second);
}

static void continues_nothing(struct store *store, struct handover *handover)
{
	(void)store;
	EXPECT(handover_gave_up(handover));
	EXPECT(!handover_has_before(handover));
}

/* A process that is killed right after its commit leaves two committed memories. */
Test(handover, no_older_memory_replaces_one_that_is_given_up)
{
	_cleanup_(store_freep) struct store *store = NULL;
	_cleanup_close_ int older = -1;

	live(first);
	older = fcntl(manager.stored[0].fd, F_DUPFD_CLOEXEC, 3);
	cr_assert_geq(older, 0);
	live(begins_anew);
	cr_assert_eq(store_open(&store), 0);
	cr_assert_eq(store_put(store, "handover-1-1", older), 0);
	cr_assert_eq(notify_socket_count(&manager, "handover-1-1"), 1);
	for (unsigned i = 0; i < HANDOVER_STARTS_MAX; i++)
		live(is_the_second);
	live(continues_nothing);
	cr_expect_eq(notify_socket_count(&manager, "handover-1-1"), 0);
	cr_expect_eq(manager.n, 0);
}

/* Other memory under the stored name is not trusted. */
Test(handover, foreign_memory_is_refused)
{
	int cut = memfd_create("cut", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int zeros = memfd_create("zeros", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int fds[] = {open("/dev/null", O_RDWR | O_CLOEXEC), cut, zeros, unsealed};
	char bytes[4096];

	live(first);
	cr_assert_eq(ftruncate(cut, 100), 0);
	cr_assert_eq(ftruncate(zeros, 4096), 0);
	cr_assert_eq(fcntl(cut, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	cr_assert_eq(fcntl(zeros, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	/* The bytes of a valid memory, but without the seal: the memory could shrink while it is mapped. */
	cr_assert_eq(pread(manager.stored[0].fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
	cr_assert_eq(pwrite(unsealed, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		(void)close(manager.stored[0].fd);
		manager.stored[0].fd = fds[i];
		live(first);
		cr_assert_eq(notify_socket_count(&manager, manager.stored[0].name), 1);
		cr_expect_eq(manager.n, 1, "case %zu", i);
	}
}
