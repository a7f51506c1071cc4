// SPDX-License-Identifier: GPL-2.0
/* A program that runs beside a measurement: another tool, or pebsd itself. */
#ifndef PEBSD_BENCH_CHILD_H
#define PEBSD_BENCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct bench_child {
	pid_t pid;
	int to;     /* a pipe to its descriptor 3; -1: none */
	int answer; /* of its descriptor 4; -1: none */
};

/* Whether a program of that name is to be found in PATH, or as a path. */
bool bench_child_exists(const char *program);

/*
 * Starts arguments[0], found in PATH, on victim_other_cpu() with nothing to read and what it says in a file
 * (NULL: nowhere). With `pipes` its descriptors 3 and 4 are connected. 0 or -errno.
 */
int bench_child_start(char *const arguments[], const char *output, bool pipes, struct bench_child *ret);

/* Sends a signal and waits; after some seconds it is killed. Returns its wait status, or -errno. */
int bench_child_stop(struct bench_child *child, int number);

/* Whether it still runs. */
bool bench_child_runs(const struct bench_child *child);

#endif
