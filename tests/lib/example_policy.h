// SPDX-License-Identifier: GPL-2.0
/* A small policy at work, and the neighbours of a cgroup: for tests of what shows them. */
#ifndef PEBSD_EXAMPLE_POLICY_H
#define PEBSD_EXAMPLE_POLICY_H

#include "neighbours/neighbours_report.h"
#include "policy/policy.h"

/*
 * The rules of example_rules() after two minutes, a collection a second, in which each second
 * /system.slice/db.service had 100 loads of 1000 cycles from remote memory and / 100 of 20 cycles from the
 * first level: slow-db fires on the former as number 17. NULL: no memory; free with policy_free().
 */
struct policy *example_policy(void);

/* /batch is named, / is not. NULL: no memory; free with neighbours_report_free(). */
struct neighbours_report *example_neighbours(void);

#endif
