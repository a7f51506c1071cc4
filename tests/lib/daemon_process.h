// SPDX-License-Identifier: GPL-2.0
/*
 * A daemon as a process of a test (pebsd itself, or a fake), and a directory for its files. A test has one daemon at a
 * time. All functions fail the test on error.
 */
#ifndef PEBSD_TESTS_DAEMON_PROCESS_H
#define PEBSD_TESTS_DAEMON_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct daemon_process {
	char *directory;      /* a tree (tree.h) */
	char socket_path[64]; /* for the control socket, in the directory */
	pid_t pid;            /* 0: none runs */
};

/*
 * Returns the path of a program: the value of `variable` (PEBSD or PEBSCTL) or, without the variable, the program in
 * build/. TOOLS is the directory of the tests' tools.
 */
const char *program_path(const char *variable);

/* Makes the directory. daemon_process_done() kills the daemon if it runs, and removes the directory. */
void daemon_process_init(struct daemon_process *daemon);
void daemon_process_done(struct daemon_process *daemon);

/* Returns the path of a file in the directory. The caller frees it. */
char *daemon_process_file(const struct daemon_process *daemon, const char *name);

/*
 * Starts the program, with `log` as its standard output and standard error (-1: those of the test). `program` is a
 * path, or a name to be found in PATH.
 */
void daemon_process_start(struct daemon_process *daemon, const char *program, char *const *arguments,
			  int log);

/* Waits for the end of the daemon. Returns the status of waitpid(). */
int daemon_process_wait(struct daemon_process *daemon);

/* Sends SIGTERM, and waits for the end. Returns the status of waitpid(). */
int daemon_process_stop(struct daemon_process *daemon);

/* Returns whether the daemon still runs. Prints its status if it has ended. */
bool daemon_process_alive(struct daemon_process *daemon);

#endif
