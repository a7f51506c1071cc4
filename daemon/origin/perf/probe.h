// SPDX-License-Identifier: GPL-2.0
/* `pebsd --probe`: what this machine can sample, what it cannot, and why. */
#ifndef PEBSD_PROBE_H
#define PEBSD_PROBE_H

#include <stdio.h>

#include "origin/perf/pmu.h"

#define PROBE_USABLE   0
#define PROBE_UNUSABLE 3

/*
 * Plans for `sysfs_root`; where that is "/sys" also opens each event once and asks what stands in the way of
 * the BPF programs, so that refusals carry the kernel's own reason. Prints to `out` in every case, as text or
 * as JSON. Returns the exit code: PROBE_USABLE where an event is, else PROBE_UNUSABLE; -errno where it cannot
 * print or `wish` is out of range.
 */
int probe_run(const char *sysfs_root, const struct pmu_wish *wish, bool json, FILE *out);

/*
 * The live part: moves what the kernel refuses from the openings to the refusals, and sets the rest to how it
 * took them. Returns 0 or -ENOMEM.
 */
int probe_try(struct pmu_plan *plan);

/* The printing alone. Return 0 or -errno. */
int probe_print_text(const struct pmu_plan *plan, FILE *out);
int probe_print_json(const struct pmu_plan *plan, FILE *out);

#endif
