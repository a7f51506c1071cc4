// SPDX-License-Identifier: GPL-2.0
/* Rules and alerts that exporters are tested with. */
#ifndef PEBSD_EXAMPLE_RULES_H
#define PEBSD_EXAMPLE_RULES_H

#include "policy/policy.h"

/*
 * [0] slow-db: p99 of loads above 900 cycles, clear at 700, for a minute in a window of half of one, of
 *     /system.slice/db*.service and /kubepods.slice/\*; logged, and starts a unit.
 * [1] remote: share:remote_dram above 5 %, clear at 3 %, of each cgroup below a root; dry run.
 * [2] worse: ratio:mean of loads above 1.5, clear at 1.2, with a baseline of an hour.
 * [3] starved: rate of loads below 1000, clear at 1500, min-samples 0.
 * They live as long as the process and are nobody's to change.
 */
const struct rule *example_rules(size_t *ret_n);

/* Of one of them on a cgroup, event "loads", with the rule's limits, inactive, nothing known. */
struct alert example_alert(size_t rule, const char *cgroup);

/* The same, with 2,000 samples in a window that is covered, and `value` between the bounds. */
struct alert example_measured(size_t rule, const char *cgroup, double low, double value, double high);

#endif
