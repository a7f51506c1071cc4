/* SPDX-License-Identifier: GPL-2.0 */
/* Page faults as an event that any machine has: a program that does nothing, and faults for it to run at. */
#ifndef PEBSD_TESTS_PAGE_FAULTS_H
#define PEBSD_TESTS_PAGE_FAULTS_H

#include <stddef.h>

#include "pebsd/types.h"

/* Loads `return 0;` for perf events. Returns its descriptor or -errno. */
int page_faults_program(void);

/* The same, but the program counts its runs in memory that is mapped at *ret_runs. */
int page_faults_counting_program(const u64 **ret_runs);

/* How often the program ran; only while statistics are switched on (BPF_STATS_RUN_TIME). */
u64 page_faults_runs(int program_fd);

/* Touches `n` fresh pages in a child on `cpu`, and waits for it. */
void page_faults_on(int cpu, size_t n);

/* Has a child on `cpu` touch fresh pages until page_faults_end(). Returns its id. */
int page_faults_begin(int cpu);
void page_faults_end(int child);

#endif
