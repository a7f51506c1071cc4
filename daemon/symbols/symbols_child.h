// SPDX-License-Identifier: GPL-2.0
/* The symboliser's process, as pebsd sees it. */
#ifndef PEBSD_SYMBOLS_CHILD_H
#define PEBSD_SYMBOLS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

struct symbols_child {
	pid_t pid;
	int pidfd;  /* readable once it has ended; -1: there is none */
	int socket; /* does not block; -1: closed */
};

#define SYMBOLS_CHILD_NONE ((struct symbols_child){.pidfd = -1, .socket = -1})

/*
 * Runs `program` (NULL: this one) with --symbolizer: a socket as standard input, standard error, and no other
 * descriptor; of the environment nothing but what debuginfod takes, where URLs are given. 0 or -errno.
 */
int symbols_child_start(const char *program, const char *debuginfod, struct symbols_child *ret);

/* Whether it runs or waits for a CPU, and in `ret_cpu_ns` the CPU time that it has taken so far; else it
 * sleeps, or is gone. (State R of /proc/PID/stat, proc(5).) */
bool symbols_child_is_busy(const struct symbols_child *child, u64 *ret_cpu_ns);

/* Kills it and closes the socket. It has not ended before its pidfd is readable. */
void symbols_child_kill(struct symbols_child *child);

/* Takes note of its end: 1 with how it ended in words, 0 where it has not, -errno. Closes the pidfd where it
 * has ended or can't be waited for. */
#define SYMBOLS_CHILD_END_MAX 64
int symbols_child_reap(struct symbols_child *child, char ret_how[static SYMBOLS_CHILD_END_MAX]);

/* The same for a killed one, which is given a second to end. */
int symbols_child_wait(struct symbols_child *child, char ret_how[static SYMBOLS_CHILD_END_MAX]);

#endif
