// SPDX-License-Identifier: GPL-2.0
/* A process of pebsd's own, which does with fewer rights what others' data is read for: the symbolizer, and
 * the one that speaks HTTP. As pebsd sees it. */
#ifndef PEBSD_CHILD_H
#define PEBSD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* Descriptors that the child is given beside its socket, standard input: these numbers and the next. */
#define CHILD_PASSED_FIRST 3
#define CHILD_PASSED_MAX   16

struct child {
	pid_t pid;  /* 0: not known, as of another unit's before its first answer */
	int pidfd;  /* readable once it has ended; -1: there is none, or it is another unit's */
	int socket; /* does not block; -1: closed */
};

#define CHILD_NONE ((struct child){.pidfd = -1, .socket = -1})

struct child_wish {
	const char *program;      /* NULL: this one */
	const char *argument;     /* its only one */
	char *const *environment; /* all of it, to a NULL; NULL: none */
	const int *passed;        /* the caller's; their copies are the child's */
	size_t n_passed;          /* CHILD_PASSED_MAX at most */
};

/*
 * Runs the program with a socket that keeps the bounds of messages (SOCK_SEQPACKET) as standard input,
 * standard error, what is passed, and no other descriptor; with no signal blocked or handled. 0 or -errno.
 */
int child_start(const struct child_wish *wish, struct child *ret);

/* The same with a socket that is there: `socket` stays the caller's, and that of `ret` is closed. */
int child_run(const struct child_wish *wish, int socket, struct child *ret);

/* In the child: whether a descriptor is such a socket, as nobody's standard input is who starts it by hand.
 */
bool child_is_ours(int fd);

/*
 * Whether it runs or waits for a CPU, and in `cpu_ns` the CPU time that it has taken so far; else it sleeps,
 * or is gone. (State R of /proc/PID/stat, proc(5).) Where that is hidden, as another user's is from a unit
 * with ProtectProc=invisible: whether it has taken more CPU time than `cpu_ns` said before.
 */
bool child_is_busy(const struct child *child, u64 *cpu_ns);

/* Kills it and closes the socket. It has not ended before its pidfd is readable. Where there is no pidfd the
 * socket is closed alone. */
void child_kill(struct child *child);

/* Takes note of its end: 1 with how it ended in words, 0 where it has not, -errno. Closes the pidfd where it
 * has ended or can't be waited for. */
#define CHILD_END_MAX 64
int child_reap(struct child *child, char ret_how[static CHILD_END_MAX]);

/* The same for a killed one, which is given a second to end. */
int child_wait(struct child *child, char ret_how[static CHILD_END_MAX]);

#endif
