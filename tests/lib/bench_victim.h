// SPDX-License-Identifier: GPL-2.0
/*
 * The victim of the benchmarks: page faults on one CPU, each an event. Of a million a second and more, they
 * pass through the kernel's bpf_overflow_handler as samples of a PMU do and have an address, but come by no
 * non-maskable interrupt, and no hardware record is read.
 */
#ifndef PEBSD_BENCH_VICTIM_H
#define PEBSD_BENCH_VICTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define VICTIM_CPU 0

/* Where what is not the victim runs: another CPU, where there is one. */
unsigned victim_other_cpu(void);

/* Pins the calling thread. 0 or -errno. */
int victim_pin(unsigned cpu);

/* Maps, touches and unmaps so many pages. Processor time of that, in nanoseconds a page; a negative value
 * without memory. */
double victim_run(size_t pages);

/* An event at each page fault of a CPU, of whatever task, disabled; with a program unless it is -1. The
 * descriptor or -errno. */
int victim_event_open(unsigned cpu, int program_fd);

int victim_event_switch(int event_fd, bool on);
u64 victim_event_count(int event_fd);

/* What the kernel timed of a program; only while statistics are on (BPF_ENABLE_STATS). */
struct victim_runs {
	u64 ns;
	u64 runs;
};

struct victim_runs victim_program_runs(int program_fd);

/* The middle one; sorts. */
double victim_median(double *values, size_t n);

u64 victim_now_ns(void);

/* Processor time of a process, all its threads, also those that have ended; 0 where it is gone. */
u64 victim_process_cpu_ns(pid_t pid);

/* A figure of /proc/PID/status, such as "RssAnon", in bytes; 0 where there is none. */
u64 victim_process_memory(pid_t pid, const char *key);

#endif
