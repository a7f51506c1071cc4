// SPDX-License-Identifier: GPL-2.0
/* The descriptor store, with a notification socket of the test instead of the manager's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "child_expect.h"
#include "notify_socket.h"
#include "store/store.h"

TestSuite(store, .init = manager_start, .fini = manager_stop);

static struct store *open_store(void)
{
	struct store *store;

	cr_assert_eq(store_open(&store), 0);
	return store;
}

static int null_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(store, a_stored_descriptor_is_kept_until_removed)
{
	_cleanup_(store_freep) struct store *store = open_store();
	_cleanup_close_ int fd = null_fd();

	cr_assert(store_has_manager(store));
	cr_expect_eq(store_put(store, "map-1-a", fd), 0);
	cr_expect_eq(store_put(store, "map-1-b", fd), 0);
	cr_expect_eq(notify_socket_count(&manager, "map-1-a"), 1);
	cr_expect_not(manager.polled, "the manager would drop what polls as hung up");
	cr_expect_eq(store_remove(store, "map-1-a"), 0);
	cr_expect_eq(notify_socket_count(&manager, "map-1-a"), 0);
	cr_expect_eq(notify_socket_count(&manager, "map-1-b"), 1);
	cr_expect(is_open(fd));
}

#define MANY (2 * 256 + 100)

/* The kernel limits the number of descriptors that are sent and not received yet. */
Test(store, many_descriptors_are_sent_with_barriers_between_them)
{
	_cleanup_(store_freep) struct store *store = open_store();
	_cleanup_close_ int fd = null_fd();
	char name[32];

	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "event-1-0-%zu-1", i);
		cr_assert_eq(store_put(store, name, fd), 0);
	}
	cr_expect_eq(store_settle(store), 0);
	cr_expect_eq(manager.n, MANY);
	cr_expect_leq(manager.longest, 200);
	cr_expect_eq(manager.barriers, MANY / 200 + 1);
	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "event-1-0-%zu-1", i);
		cr_expect_str_eq(manager.stored[i].name, name);
	}
}

/* With more names, exec would refuse the environment of the next process. */
Test(store, names_fit_into_the_environment_of_the_next_process)
{
	_cleanup_(store_freep) struct store *store = open_store();
	_cleanup_close_ int fd = null_fd();
	size_t bytes = 0, n = 0;
	char name[64];
	int r;

	for (;; n++) {
		(void)snprintf(name, sizeof(name), "map-1-%.24s-%zu", "aaaaaaaaaaaaaaaaaaaaaaaa", n);
		r = store_put(store, name, fd);
		if (r < 0)
			break;
		bytes += strlen(name) + 1;
	}
	cr_expect_eq(r, -E2BIG);
	cr_expect_gt(bytes, 120000);
	cr_expect_lt(bytes + sizeof("LISTEN_FDNAMES="), 32UL * 4096);
	cr_expect_eq(store_remove(store, name), 0);
	cr_expect_eq(store_put(store, name, fd), -E2BIG, "it was never stored, so removing it makes no room");
	cr_expect_eq(store_remove(store, "map-1-aaaaaaaaaaaaaaaaaaaaaaaa-0"), 0);
	cr_expect_eq(store_put(store, "map-1-aaaaaaaaaaaaaaaaaaaaaaaa-0", fd), 0);
}

static void in_child(void (*run)(void))
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0) {
		run();
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x",
		  (unsigned)status);
}

static bool is_inode(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_rdev == b.st_rdev;
}

static void take_what_was_passed(void)
{
	const struct notify_stored stored[] = {
		{"map-1-b", open("/dev/zero", O_RDONLY)},   {"http", open("/dev/null", O_RDONLY)},
		{"map-1-a", open("/dev/null", O_RDONLY)},   {"map-1-twice", open("/dev/null", O_RDONLY)},
		{"map-2-old", open("/dev/null", O_RDONLY)}, {"map-1-twice", open("/dev/zero", O_RDONLY)},
	};
	struct store *store;
	int a, b, http;

	notify_socket_pass_these(stored, ARRAY_SIZE(stored));
	EXPECT(store_open(&store) == 0);
	EXPECT(!getenv("LISTEN_FDS"));
	EXPECT(strcmp(store_nth(store, 0), "http") == 0);
	EXPECT(strcmp(store_nth(store, 5), "map-2-old") == 0);
	EXPECT(!store_nth(store, 6));
	EXPECT(store_take(store, "map-1-c") == -ENOENT);
	EXPECT(store_take(store, "map-1") == -ENOENT);
	EXPECT(store_take(store, "map-1-twice") == -ENOTUNIQ);
	a = store_take(store, "map-1-a");
	EXPECT(is_inode(a, "/dev/null") && (fcntl(a, F_GETFD) & FD_CLOEXEC));
	b = store_take(store, "map-1-b");
	EXPECT(is_inode(b, "/dev/zero"));
	EXPECT(store_take(store, "map-1-a") == -ENOENT);
	EXPECT(strcmp(store_nth(store, 1), "map-1-twice") == 0);
	/*
	 * store_drop_rest() drops two descriptors with the same name and one of another layout. A socket
	 * stays for the code that takes it.
	 */
	store_drop_rest(store);
	EXPECT(strcmp(store_nth(store, 0), "http") == 0 && !store_nth(store, 1));
	http = store_take(store, "http");
	EXPECT(is_inode(http, "/dev/null"));
	store_free(store);
	EXPECT(is_open(a) && is_open(b) && is_open(http));
}

Test(store, passed_descriptors_are_taken_by_name_and_others_closed)
{
	_cleanup_(store_freep) struct store *store = open_store();
	_cleanup_close_ int fd = null_fd();

	cr_assert_eq(store_put(store, "map-1-a", fd), 0);
	cr_assert_eq(store_put(store, "map-1-twice", fd), 0);
	cr_assert_eq(store_put(store, "map-1-twice", fd), 0);
	cr_assert_eq(store_put(store, "map-2-old", fd), 0);
	in_child(take_what_was_passed);
	cr_expect_eq(notify_socket_count(&manager, "map-1-twice"), 0);
	cr_expect_eq(notify_socket_count(&manager, "map-2-old"), 0);
	cr_expect_eq(notify_socket_count(&manager, "map-1-a"), 1);
}

static void another_is_meant(void)
{
	const struct notify_stored stored[] = {{"map-1-a", open("/dev/null", O_RDONLY)}};
	_cleanup_(store_freep) struct store *store = NULL;

	notify_socket_pass_these(stored, 1);
	(void)setenv("LISTEN_PID", "1", 1);
	EXPECT(store_open(&store) == 0);
	EXPECT(!store_nth(store, 0));
	EXPECT(store_take(store, "map-1-a") == -ENOENT);
}

Test(store, descriptors_passed_to_another_process_are_not_taken)
{
	in_child(another_is_meant);
}

Test(store_without_a_manager, without_a_manager_nothing_is_kept_and_nothing_fails)
{
	_cleanup_close_ int fd = null_fd();
	_cleanup_(store_freep) struct store *store = NULL;

	(void)unsetenv("NOTIFY_SOCKET");
	cr_assert_eq(store_open(&store), 0);
	cr_expect_not(store_has_manager(store));
	cr_expect_not(store_has_manager(NULL));
	cr_expect_eq(store_put(store, "map-1-a", fd), 0);
	cr_expect_eq(store_put(NULL, "map-1-a", fd), 0);
	cr_expect_eq(store_remove(store, "map-1-a"), 0);
	cr_expect_eq(store_settle(NULL), 0);
	cr_expect_eq(store_take(NULL, "map-1-a"), -ENOENT);
	cr_expect_null(store_nth(NULL, 0));
	store_drop_rest(NULL);
}
