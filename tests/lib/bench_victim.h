// SPDX-License-Identifier: GPL-2.0
/*
 * The victim of the benchmarks: page faults on one CPU, each of which is an event. More than a million per
 * second pass through the kernel's bpf_overflow_handler, as samples of a PMU do, and have an address. Unlike
 * samples of a PMU, they cause no NMI, and no hardware record is read.
 */
#ifndef PEBSD_BENCH_VICTIM_H
#define PEBSD_BENCH_VICTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define VICTIM_CPU 0

/* Returns the CPU for everything but the victim: another CPU, if there is one. */
unsigned victim_other_cpu(void);

/* Pins the calling thread to `cpu`. Returns 0 or -errno. */
int victim_pin(unsigned cpu);

/*
 * Maps, touches and unmaps `pages` pages. Returns the CPU time in nanoseconds per page, or a negative value
 * if memory runs out.
 */
double victim_run(size_t pages);

/*
 * Opens an event for each page fault of any task on `cpu`. It is disabled. A program is attached unless
 * `program_fd` is -1. Returns the descriptor or -errno.
 */
int victim_event_open(unsigned cpu, int program_fd);

/* Same as victim_event_open(), for page faults of the calling thread only, on any CPU. */
int victim_event_open_own(int program_fd);

int victim_event_switch(int event_fd, bool on);
u64 victim_event_count(int event_fd);

/*
 * The kernel's run time statistics of a program. They are kept only while statistics are enabled
 * (BPF_ENABLE_STATS).
 */
struct victim_runs {
	u64 ns;
	u64 runs;
};

struct victim_runs victim_program_runs(int program_fd);

/* Returns the median, and sorts `values`. */
double victim_median(double *values, size_t n);

/* Returns the CPU time of a process with all its threads, ended ones included; 0 if the process is gone. */
u64 victim_process_cpu_ns(pid_t pid);

/* Returns a value of /proc/PID/status, such as "RssAnon", in bytes; 0 if there is none. */
u64 victim_process_memory(pid_t pid, const char *key);

#endif
