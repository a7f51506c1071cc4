// SPDX-License-Identifier: GPL-2.0
/* A server that plays its part in a child process. */
#ifndef PEBSD_TESTS_CHILD_SERVER_H
#define PEBSD_TESTS_CHILD_SERVER_H

#include <sys/types.h>

/* One at a time. Without a server, the directory and the path exist only if child_server_prepare() made them. */
struct child_server {
	char directory[64];
	char path[80]; /* of the socket, in the directory */
	pid_t pid;
};

extern struct child_server child_server;

/* Makes the directory and the path. */
void child_server_prepare(void);

/* Also listens at the path, and starts a child. It accepts the first connection, and plays its part on it. */
void child_server_start(void (*play)(int fd, const void *part), const void *part);

/* Kills the child and removes the directory. It is the .fini of test suites. */
void child_server_stop(void);

#endif
