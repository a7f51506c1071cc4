// SPDX-License-Identifier: GPL-2.0
/* Rules and alerts for tests of exporters. */
#ifndef PEBSD_EXAMPLE_RULES_H
#define PEBSD_EXAMPLE_RULES_H

#include "policy/policy.h"

/*
 * Returns these rules:
 * [0] slow-db: p99 of loads above 900 cycles, clear at 700, for a minute, in a window of half a minute, of
 *     /system.slice/db*.service and /kubepods.slice/\*; it is logged, and starts a unit.
 * [1] remote: share:remote_dram above 5 %, clear at 3 %, of each cgroup directly below the root with its
 *     descendants; dry run.
 * [2] worse: ratio:mean of loads above 1.5, clear at 1.2, with a baseline of an hour.
 * [3] starved: rate of loads below 1000, clear at 1500, min-samples 0.
 *
 * The rules are constant and live as long as the process.
 */
const struct rule *example_rules(size_t *ret_n);

/*
 * Makes an inactive alert for a rule and a cgroup, with the event "loads", the rule's limits, and no
 * measurement.
 */
struct alert example_alert(size_t rule, const char *cgroup);

/* Same as example_alert(), but measured: 2,000 samples, a covered window, and `value` between the bounds. */
struct alert example_measured(size_t rule, const char *cgroup, double low, double value, double high);

#endif
