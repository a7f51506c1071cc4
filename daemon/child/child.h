// SPDX-License-Identifier: GPL-2.0
/*
 * A child process with fewer privileges, in which pebsd reads data of others: the symbolizer, the reader of
 * container names, the HTTP server, and the process that keeps the history. This is pebsd's side of it.
 */
#ifndef PEBSD_CHILD_H
#define PEBSD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/*
 * Passed descriptors get the numbers from CHILD_PASSED_FIRST on in the child. Its socket is standard input.
 */
#define CHILD_PASSED_FIRST 3
#define CHILD_PASSED_MAX   16

struct child {
	pid_t pid;  /* 0: not known (process of another unit before its first answer) */
	int pidfd;  /* readable when the child has ended; -1: no child, or a unit's process */
	int socket; /* non-blocking; -1: closed */
};

#define CHILD_NONE ((struct child){.pidfd = -1, .socket = -1})

struct child_request {
	const char *program;      /* NULL: this program */
	const char *argument;     /* the only argument */
	char *const *environment; /* complete, terminated by NULL; NULL: empty */
	const int *passed;        /* owned by the caller; the child gets copies */
	size_t n_passed;          /* at most CHILD_PASSED_MAX */
};

/*
 * Runs the program with a SOCK_SEQPACKET socket as standard input. The child also gets standard error,
 * standard output to /dev/null, the passed descriptors, and no others. No signal is blocked or handled in it.
 * Returns 0 or -errno.
 */
int child_start(const struct child_request *request, struct child *ret);

/* Same as child_start(), but with an existing socket, which the caller keeps. `ret->socket` is -1. */
int child_run(const struct child_request *request, int socket, struct child *ret);

/*
 * For the child: returns whether the descriptor is a socket from child_start() or child_run(). It is not if
 * somebody starts the program by hand.
 */
bool child_is_ours(int fd);

/*
 * Returns whether the child runs or waits for a CPU (state R in /proc/PID/stat, proc(5)). Otherwise it sleeps
 * or has ended. Sets `cpu_ns` to its CPU time so far. A unit with ProtectProc=invisible cannot read the state
 * of another unit's process. In that case, returns whether the CPU time is higher than the previous value in
 * `cpu_ns`.
 */
bool child_is_busy(const struct child *child, u64 *cpu_ns);

/*
 * Kills the child and closes the socket. The child has ended when its pidfd is readable. Without a pidfd,
 * only closes the socket.
 */
void child_kill(struct child *child);

/*
 * Collects the child's exit status. Returns 1 and a text that says how it ended, 0 if it has not ended, or
 * -errno. Closes the pidfd unless it returns 0.
 */
#define CHILD_END_MAX 64
int child_reap(struct child *child, char ret_how[static CHILD_END_MAX]);

/* Same as child_reap(), for a child that was killed, but first waits for its end, at most a second. */
int child_wait(struct child *child, char ret_how[static CHILD_END_MAX]);

#endif
