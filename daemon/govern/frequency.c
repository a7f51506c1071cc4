// SPDX-License-Identifier: GPL-2.0
#include "govern/frequency.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Ticks of 10 ms make each end of a CPU's span uncertain. In this much busy time they hardly matter. */
#define BUSY_LEAST_SECONDS 0.5

/*
 * The page of a running event has its count as of the last sample, so each end of a CPU's span lacks a part of a
 * period. These parts are random, and the difference of two has a standard deviation of 0.41 periods. With this
 * many periods for each root of the number of CPUs, the error is 5 % at most in two of three spans.
 */
#define PERIODS_LEAST 8

/* No CPU with perf events runs slower or faster than this. */
#define HZ_LEAST 50e6
#define HZ_MOST  10e9

/* A CPU whose times cover less of the span was offline for a part of it. */
#define COVERED_LEAST 0.8

/* The CPU's event had a counter for too little of the time to be scaled. */
#define RUNNING_LEAST 0.01

/* The fields of a CPU's line (show_stat(), fs/proc/stat.c). User time includes guest, nice includes guest_nice. */
enum field { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, FIELDS };

/* Returns false if the line is not that of one CPU. */
static bool parse_line(const char *line, struct frequency_times *ret)
{
	unsigned long long fields[FIELDS];
	int cpu, length;

	if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu%n", &cpu, &fields[USER],
		   &fields[NICE], &fields[SYSTEM], &fields[IDLE], &fields[IOWAIT], &fields[IRQ],
		   &fields[SOFTIRQ], &fields[STEAL], &fields[GUEST], &fields[GUEST_NICE],
		   &length) != 1 + FIELDS ||
	    cpu < 0)
		return false;
	*ret = (struct frequency_times){
		.cpu = cpu,
		.idle = fields[IDLE] + fields[IOWAIT] + fields[STEAL] + fields[GUEST] + fields[GUEST_NICE],
	};
	for (int i = USER; i <= STEAL; i++)
		ret->all += fields[i];
	return true;
}

int frequency_times_parse(const char *stat, struct frequency_times **ret, size_t *ret_n)
{
	_cleanup_free_ struct frequency_times *list = NULL;
	size_t n = 0, room = 0;

	/* The first line has the sum over all CPUs. The lines of the CPUs follow it. */
	for (const char *line = strchr(stat, '\n'); line && strncmp(line + 1, "cpu", 3) == 0;
	     line = strchr(line + 1, '\n')) {
		struct frequency_times times;

		if (!parse_line(line + 1, &times) || (n > 0 && times.cpu <= list[n - 1].cpu))
			return -EINVAL;
		if (n == room) {
			struct frequency_times *more;

			room = room ? 2 * room : 16;
			more = reallocarray(list, room, sizeof(*list));
			if (!more)
				return -ENOMEM;
			list = more;
		}
		list[n++] = times;
	}
	if (n == 0)
		return -EINVAL;
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

static int compare_times(const void *key, const void *member)
{
	return *(const int *)key - ((const struct frequency_times *)member)->cpu;
}

static int compare_counts(const void *key, const void *member)
{
	return *(const int *)key - ((const struct cpu_counts *)member)->cpu;
}

static const struct frequency_times *times_of(const struct frequency_look *look, int cpu)
{
	return look->n_times ? bsearch(&cpu, look->times, look->n_times, sizeof(*look->times), compare_times)
			     : NULL;
}

static const struct cpu_counts *counts_of(const struct frequency_look *look, int cpu)
{
	return look->n_counts
		       ? bsearch(&cpu, look->counts, look->n_counts, sizeof(*look->counts), compare_counts)
		       : NULL;
}

/* Returns whether the CPU was online all the time. If so, `*ret_seconds` is the time in which it was busy. */
static bool busy_of(const struct frequency_times *before, const struct frequency_times *now, double seconds,
		    long ticks, double *ret_seconds)
{
	if (!before || !now || now->all < before->all || now->idle < before->idle ||
	    (double)(now->all - before->all) < COVERED_LEAST * seconds * (double)ticks)
		return false;
	*ret_seconds = fmax(0, seconds - (double)(now->idle - before->idle) / (double)ticks);
	return true;
}

/* Returns whether the event was open on the CPU and never stopped. If so, `*ret` is the number of cycles. */
static bool cycles_of(const struct cpu_counts *before, const struct cpu_counts *now, double *ret)
{
	double enabled, running;

	if (!before || !before->open || !now->open || before->in_error || now->in_error ||
	    now->count < before->count || now->enabled_ns < before->enabled_ns ||
	    now->running_ns < before->running_ns || now->throttled_ns != before->throttled_ns ||
	    now->paused_ns != before->paused_ns || now->rearmed != before->rearmed)
		return false;
	*ret = (double)(now->count - before->count);
	enabled = (double)(now->enabled_ns - before->enabled_ns);
	running = (double)(now->running_ns - before->running_ns);
	/* Without a sample since the first look, the page has not changed. */
	if (enabled <= 0)
		return true;
	if (running < RUNNING_LEAST * enabled)
		return false;
	*ret *= enabled / running;
	return true;
}

enum frequency_result frequency_of(const struct frequency_look *before, const struct frequency_look *now,
				   u64 period, long ticks, double *ret_hz)
{
	double all_cycles = 0, all_busy = 0, seconds;
	size_t cpus = 0;

	if (now->at_ns <= before->at_ns || ticks <= 0)
		return FREQUENCY_NOTHING;
	seconds = (double)(now->at_ns - before->at_ns) / (double)NSEC_PER_SEC;
	for (size_t i = 0; i < now->n_counts; i++) {
		const int cpu = now->counts[i].cpu;
		double cycles, busy;

		if (!cycles_of(counts_of(before, cpu), &now->counts[i], &cycles) ||
		    !busy_of(times_of(before, cpu), times_of(now, cpu), seconds, ticks, &busy))
			continue;
		all_cycles += cycles;
		all_busy += busy;
		cpus++;
	}
	if (cpus == 0)
		return FREQUENCY_NOTHING;
	if (all_busy < BUSY_LEAST_SECONDS || all_cycles < PERIODS_LEAST * (double)period * sqrt((double)cpus))
		return FREQUENCY_TOO_LITTLE;
	if (all_cycles < HZ_LEAST * all_busy || all_cycles > HZ_MOST * all_busy)
		return FREQUENCY_NOTHING;
	*ret_hz = all_cycles / all_busy;
	return FREQUENCY_KNOWN;
}
