// SPDX-License-Identifier: GPL-2.0
/*
 * yardstick: measures the present speed of this machine with work that never changes, and prints lines for
 * bench_report. bench-compare corrects times by the change of the integer loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "bench_line.h"
#include "bench_victim.h"

#define TRIES 5
#define STEPS 2000000
#define BYTES (32UL << 20)
#define CALLS 100000
#define KIBS  (BYTES >> 10)

static double integer_loop(void)
{
	volatile u64 seed = 1;
	u64 begun = monotonic_ns(), value = seed;

	for (unsigned i = 0; i < STEPS; i++)
		value = (value ^ value >> 29) * 0x9e3779b97f4a7c15ULL;
	seed = value;
	return (double)(monotonic_ns() - begun) / STEPS;
}

static double memory_copy(char *to, const char *from)
{
	u64 begun = monotonic_ns();

	memcpy(to, from, BYTES);
	return (double)(monotonic_ns() - begun) / (double)KIBS;
}

static double system_call(void)
{
	u64 begun = monotonic_ns();

	for (unsigned i = 0; i < CALLS; i++)
		(void)syscall(SYS_getppid);
	return (double)(monotonic_ns() - begun) / CALLS;
}

int main(void)
{
	_cleanup_free_ char *from = malloc(BYTES), *to = malloc(BYTES);
	double loops[TRIES], copies[TRIES], calls[TRIES];

	if (!from || !to || victim_pin(VICTIM_CPU) < 0) {
		(void)fprintf(stderr, "yardstick: no memory, or no CPU\n");
		return 1;
	}
	memset(from, 1, BYTES);
	memset(to, 2, BYTES);
	for (unsigned i = 0; i < TRIES; i++) {
		loops[i] = integer_loop();
		copies[i] = memory_copy(to, from);
		calls[i] = system_call();
	}
	bench_line_better("machine", "integer loop", "ns", victim_median(loops, TRIES), BENCH_NEITHER);
	bench_line_better("machine", "memory copy, a KiB", "ns", victim_median(copies, TRIES), BENCH_NEITHER);
	bench_line_better("machine", "system call", "ns", victim_median(calls, TRIES), BENCH_NEITHER);
	return 0;
}
