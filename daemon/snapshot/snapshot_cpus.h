// SPDX-License-Identifier: GPL-2.0
/* What a snapshot says of an event by CPU. Pure. */
#ifndef PEBSD_SNAPSHOT_CPUS_H
#define PEBSD_SNAPSHOT_CPUS_H

#include "kernel/stripes.h"
#include "origin/cpu_counts.h"
#include "pebsd/records.h"
#include "snapshot/snapshot.h"

/*
 * Fills in `ret`, room for `n`, from an event's counts on its CPUs (every one that it was ever open on) and
 * the samples that came in each stripe: those seen, and those filtered (NULL: the event filters none). A
 * stripe's samples are a CPU's where that is the only one of them that writes to it.
 */
void snapshot_cpus(const struct cpu_counts *counts, size_t n, const u64 seen_by_stripe[STRIPES_MAX],
		   const u64 filtered_by_stripe[STRIPES_MAX], const struct stripes *stripes,
		   struct snapshot_cpu *ret);

#endif
