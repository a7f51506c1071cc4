// SPDX-License-Identifier: GPL-2.0
/* Builds the sysfs trees of CPU generations as the kernel makes them, and plans events from such a tree. */
#ifndef PEBSD_TESTS_MACHINE_TREE_H
#define PEBSD_TESTS_MACHINE_TREE_H

#include "origin/pmu/pmu.h"

#define ROLE(name)      (1U << EVENT_##name)
#define ALL_ROLES       (ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS) | ROLE(OFFCORE))
#define COUNT_ROLES     (ROLE(CYCLES) | ROLE(STALLS) | ROLE(MISSES))
#define LOADS_NEHALEM   "event=0x0b,umask=0x10,ldlat=3"
#define LOADS_CORE      "event=0xcd,umask=0x1,ldlat=3"
#define LOADS_ATOM      "event=0xd0,umask=0x5,ldlat=3"
#define STORES_CD       "event=0xcd,umask=0x2"
#define STORES_ALL      "event=0xd0,umask=0x82"
#define STORES_ATOM     "event=0xd0,umask=0x6"
#define LOADS_AUXILIARY "event=0x03,umask=0x82"

/* A core PMU. A member that is NULL means that the file does not exist, unless noted otherwise. */
struct machine_core {
	const char *pmu;  /* NULL: "cpu" */
	const char *name; /* caps/pmu_name */
	const char *loads, *stores, *auxiliary;
	const char *precise; /* caps/max_precise; NULL: "3" */
	const char *cpus;
	const char *type; /* NULL: "4" */
	bool no_offcore;
	bool no_ldlat; /* no format/ldlat, which otherwise exists if `loads` does */
};

/* Writes the files of the PMU below `root`: format/, events/, and caps/. CPUs 0 to 3 are online on one node. */
void machine_tree(const char *root, const struct machine_core *core);

/*
 * Writes the core PMUs of a hybrid CPU in the kernel's order: cpu_atom, cpu_core, cpu_lowpower. Their
 * mem-loads and mem-stores have no line end, but NULs after the text, as events_hybrid_sysfs_show() returns
 * them.
 */
void machine_tree_hybrid(const char *root, const struct machine_core *cores, size_t n);

/* Writes ibs_op with cnt_ctl, and the core PMU. With `ldlat`, it is like Zen 5 with Linux 6.15. */
void machine_tree_amd(const char *root, bool ldlat);

/* Replaces the single node by two. */
void machine_tree_two_nodes(const char *root);

/*
 * Plans the roles with ldlat 30 and default periods. The previous content of `plan` is freed. Fails the test
 * on error.
 */
void machine_plan(const char *root, unsigned roles, struct pmu_plan *plan);

/* The same for `events = auto`. */
void machine_plan_auto(const char *root, struct pmu_plan *plan);

/* Return NULL if there is none. */
const struct event_spec *machine_spec(const struct pmu_plan *plan, const char *pmu, enum event_role role);
const char *machine_tree_refusal(const struct pmu_plan *plan, const char *pmu, enum event_role role);
const struct pmu_counter *machine_counter(const struct pmu_plan *plan, const char *pmu,
					  enum offcore_kind kind);

/* Returns a note that contains `words`, or NULL if there is none. */
const char *machine_note(const struct pmu_plan *plan, const char *words);

#endif
