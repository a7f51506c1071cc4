// SPDX-License-Identifier: GPL-2.0
/* pebsd's programs for a benchmark, without its daemon. */
#ifndef PEBSD_BENCH_PEBSD_H
#define PEBSD_BENCH_PEBSD_H

#include "kernel/kernel.h"

#define BENCH_PEBSD_SLOTS 4096

/* The events: loads have latency and data source, a count has neither. */
enum { BENCH_PEBSD_LOADS, BENCH_PEBSD_COUNT, BENCH_PEBSD_EVENTS };

/*
 * Loads pebsd's programs with its own loader, for the events above. Each cgroup of the machine gets a slot. If that
 * fails, prints why for `program`, and ends the process.
 */
struct kernel *bench_pebsd_open(const char *program, const struct stripes *stripes);

#endif
