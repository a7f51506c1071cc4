// SPDX-License-Identifier: GPL-2.0
/* A sysfs tree and the plan for it. A test has one at a time. */
#ifndef PEBSD_TESTS_MACHINE_FIXTURE_H
#define PEBSD_TESTS_MACHINE_FIXTURE_H

#include "machine_tree.h"
#include "origin/pmu/pmu.h"

extern char *root;
extern struct pmu_plan plan;

/* The .init and .fini of test suites: they make an empty tree, and free both. */
void machine_fixture_start(void);
void machine_fixture_stop(void);

/* Replaces the tree by one with only this PMU. */
void machine_fixture_tree(const struct machine_core *core);

#endif
