// SPDX-License-Identifier: GPL-2.0
/*
 * Imitates the notification socket of a service manager ($NOTIFY_SOCKET of the test's process). A thread
 * reads the messages, stores descriptors as a manager does, answers barriers, and records everything.
 */
#ifndef PEBSD_TESTS_NOTIFY_SOCKET_H
#define PEBSD_TESTS_NOTIFY_SOCKET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

struct notify_stored {
	char name[256];
	int fd;
};

struct notify_socket {
	char *root;
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* protects all members below */
	bool silent;          /* does not answer barriers */
	struct notify_stored *stored;
	size_t n;
	size_t messages; /* messages that stored something */
	size_t barriers;
	size_t longest; /* most messages that stored something between two barriers */
	size_t since;
	bool polled; /* a descriptor without FDPOLL=0, which a manager drops on EPOLLHUP */
};

/* Starts the thread. `ret` must be all zero. Fails the test on error. */
void notify_socket_start(struct notify_socket *ret);
void notify_socket_stop(struct notify_socket *socket);

/* Returns how many descriptors are stored under `name`, after every sent message was read. */
size_t notify_socket_count(struct notify_socket *socket, const char *name);

/*
 * Passes the stored descriptors to a new program, from descriptor 3 on, and sets LISTEN_FDS, LISTEN_FDNAMES
 * and LISTEN_PID (the caller's). The caller must not use these descriptor numbers for anything else. Call it
 * in a child process.
 */
void notify_socket_pass(const struct notify_socket *socket);

/* Same as notify_socket_pass(), but for descriptors that the caller gives. */
void notify_socket_pass_these(const struct notify_stored *stored, size_t n);

/* The socket of a test suite, which manager_start() and manager_stop() start and stop as .init and .fini. */
extern struct notify_socket manager;
void manager_start(void);
void manager_stop(void);

/*
 * Runs another process, which gets the descriptors that the processes before it stored. Returns the result of
 * `run`, its exit code. Fails the test if the process is killed.
 */
int manager_run(int (*run)(struct store *store, void *userdata), void *userdata);

#endif
