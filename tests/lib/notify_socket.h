// SPDX-License-Identifier: GPL-2.0
/*
 * A service manager's notification socket, $NOTIFY_SOCKET of the test's process: a thread reads what comes,
 * keeps descriptors as a manager does, answers barriers, and writes it all down.
 */
#ifndef PEBSD_TESTS_NOTIFY_SOCKET_H
#define PEBSD_TESTS_NOTIFY_SOCKET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct notify_stored {
	char name[256];
	int fd;
};

struct notify_socket {
	char *root;
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	bool silent;          /* it answers no barrier */
	struct notify_stored *stored;
	size_t n;
	size_t messages; /* that stored something */
	size_t barriers;
	size_t longest; /* messages that stored something between two barriers, at most */
	size_t since;
	bool polled; /* one was to be dropped on EPOLLHUP: without FDPOLL=0 */
};

/* Fails the test on error. `ret` is all zero. */
void notify_socket_start(struct notify_socket *ret);
void notify_socket_stop(struct notify_socket *socket);

/* How many are stored under the name, after all that was sent is read. */
size_t notify_socket_count(struct notify_socket *socket, const char *name);

/*
 * Passes what is stored to a process that begins: from descriptor 3 on, with LISTEN_PID of the caller and the
 * names, whose room descriptors of other uses must have left. Call in a child process.
 */
void notify_socket_pass(const struct notify_socket *socket);

/* The same for descriptors of the caller's. */
void notify_socket_pass_these(const struct notify_stored *stored, size_t n);

#endif
