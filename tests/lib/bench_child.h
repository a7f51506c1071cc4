// SPDX-License-Identifier: GPL-2.0
/* A program that runs during a measurement: another tool, or pebsd itself. */
#ifndef PEBSD_BENCH_CHILD_H
#define PEBSD_BENCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct bench_child {
	pid_t pid;
	int to;     /* pipe to the program's descriptor 3; -1: none */
	int answer; /* pipe from the program's descriptor 4; -1: none */
};

/* Returns whether `program` is found in PATH, or is the path of a program. */
bool bench_child_exists(const char *program);

/*
 * Starts arguments[0], found in PATH, on victim_other_cpu(). Its standard input is empty, and its output goes
 * to the file `output` (NULL: it is discarded). With `pipes`, its descriptors 3 and 4 are connected. Returns
 * 0 or -errno.
 */
int bench_child_start(char *const arguments[], const char *output, bool pipes, struct bench_child *ret);

/* Sends a signal and waits. After some seconds, the program is killed. Returns its wait status, or -errno. */
int bench_child_stop(struct bench_child *child, int number);

/* Returns whether the program is still running. */
bool bench_child_runs(const struct bench_child *child);

#endif
