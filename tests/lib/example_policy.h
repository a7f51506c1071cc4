// SPDX-License-Identifier: GPL-2.0
/* A small policy with alerts, and the neighbours of a cgroup, for tests of their output. */
#ifndef PEBSD_EXAMPLE_POLICY_H
#define PEBSD_EXAMPLE_POLICY_H

#include "neighbours/neighbours_report.h"
#include "policy/policy.h"

/*
 * Returns a policy with example_rules() after two minutes, with one collection per second. In each second,
 * /system.slice/db.service had 100 loads of 1000 cycles from remote memory, and / had 100 loads of 20 cycles
 * from L1. slow-db fires on the former as number 17. Returns NULL if memory runs out. Free it with
 * policy_free().
 */
struct policy *example_policy(void);

/*
 * Returns a report of neighbours that names /batch and does not name /. Returns NULL if memory runs out. Free
 * it with neighbours_report_free().
 */
struct neighbours_report *example_neighbours(void);

#endif
