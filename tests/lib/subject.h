// SPDX-License-Identifier: GPL-2.0
/* Programs to look at: built from one source with other flags, run, and asked where their parts are. */
#ifndef TEST_SUBJECT_H
#define TEST_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* Lines of the source, which the tests expect to see. */
#define SUBJECT_INLINED_LINE 10
#define SUBJECT_CALL_LINE    14

struct subject {
	pid_t pid; /* in this process' namespace */
	int to, from;
	/* Where they are in it: a function; an instruction that another function was inlined at; variables
	 * with and without a value; memory that can be executed, a page of it, 0: none. */
	u64 function, inlined, data, bss, jit;
};

/* A new directory, and what removes it with all that is in it. The caller frees. */
char *subject_directory(void);
void subject_remove(char *directory);

/* Runs a shell command as printf() writes it, which has to succeed. */
void subject_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compiles the subject to `path` with `flags`. */
void subject_build(const char *path, const char *flags);

/* `prepare` is called with `argument` in the child before it executes `path`; NULL: nothing to do. False: it
 * fails. */
struct subject subject_start(const char *path, bool (*prepare)(const char *), const char *argument);
void subject_stop(struct subject *subject);

#endif
