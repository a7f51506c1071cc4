/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults as an event that every machine has: a program that does nothing, and page faults that trigger
 * it.
 */
#ifndef PEBSD_TESTS_PAGE_FAULTS_H
#define PEBSD_TESTS_PAGE_FAULTS_H

#include <stddef.h>

#include "pebsd/types.h"

/* Loads `return 0;` as a perf_event program. Returns its descriptor or -errno. */
int page_faults_program(void);

/* Same as page_faults_program(), but the program counts its runs in memory mapped at `*ret_runs`. */
int page_faults_counting_program(const u64 **ret_runs);

/*
 * Returns the number of times that the program ran. The kernel counts only while statistics are enabled
 * (BPF_STATS_RUN_TIME).
 */
u64 page_faults_runs(int program_fd);

/* Touches `n` fresh pages in a child on `cpu`, and waits for the child. */
void page_faults_on(int cpu, size_t n);

/* Starts a child on `cpu` that touches fresh pages until page_faults_end(). Returns its process id. */
int page_faults_begin(int cpu);
void page_faults_end(int child);

#endif
