// SPDX-License-Identifier: GPL-2.0
/* The output of a measurement: one line of JSON per value, see bench_results.h. */
#ifndef PEBSD_BENCH_LINE_H
#define PEBSD_BENCH_LINE_H

#include "bench_spread.h"

void bench_line(const char *group, const char *name, const char *unit, double value);
void bench_line_better(const char *group, const char *name, const char *unit, double value,
		       enum bench_better better);

/* Reports that a result was not measured, and why. */
void bench_line_left_out(const char *group, const char *name, const char *why);

void bench_line_fact(const char *name, const char *value);

#endif
