// SPDX-License-Identifier: GPL-2.0
/*
 * Programs for tests of the symbolizer. They are built from one source with different flags. A running
 * program reports the addresses of its parts.
 */
#ifndef TEST_SUBJECT_H
#define TEST_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* Line numbers in the source, which the tests expect. */
#define SUBJECT_INLINED_LINE 10
#define SUBJECT_CALL_LINE    14

struct subject {
	pid_t pid; /* in the namespace of this process */
	int to, from;
	/*
	 * Addresses in the program: a function; an instruction at which another function was inlined; an
	 * initialized and an uninitialized variable; a page of executable memory (0: none).
	 */
	u64 function, inlined, data, bss, jit;
};

/* Creates a directory, and removes it with its content. The caller frees the path with subject_remove(). */
char *subject_directory(void);
void subject_remove(char *directory);

/* Runs a shell command, given in printf() format, which must succeed. */
void subject_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compiles the program to `path` with `flags`. */
void subject_build(const char *path, const char *flags);

/*
 * Starts the program. `prepare` is called with `argument` in the child before it executes `path`; NULL:
 * nothing to prepare. It returns false on an error.
 */
struct subject subject_start(const char *path, bool (*prepare)(const char *), const char *argument);
void subject_stop(struct subject *subject);

#endif
