// SPDX-License-Identifier: GPL-2.0
/* The part of a snapshot that describes an event by CPU. Pure. */
#ifndef PEBSD_SNAPSHOT_CPUS_H
#define PEBSD_SNAPSHOT_CPUS_H

#include "kernel/stripes.h"
#include "origin/event_counts.h"
#include "pebsd/records.h"
#include "snapshot/snapshot.h"

/*
 * Fills in `ret`, an array of `n`. `counts` has an event's counts on each CPU on which it was ever open. The
 * other arrays have the samples by stripe: those seen, and those filtered (NULL: the event filters none). The
 * samples of a stripe are attributed to a CPU if that CPU is the only one in `counts` that writes to it.
 */
void snapshot_cpus(const struct cpu_counts *counts, size_t n, const u64 seen_by_stripe[STRIPES_MAX],
		   const u64 filtered_by_stripe[STRIPES_MAX], const struct stripes *stripes,
		   struct snapshot_cpu *ret);

#endif
