// SPDX-License-Identifier: GPL-2.0
/*
 * Functions shared by the planning code. pmu.c walks the PMUs. One file for each role plans that role on a core
 * PMU, and pmu_ibs.c plans all roles on ibs_op.
 */
#ifndef PEBSD_PMU_PLANNER_H
#define PEBSD_PMU_PLANNER_H

#include "origin/pmu/pmu.h"
#include "origin/pmu/pmu_quirks.h"
#include "origin/pmu/pmu_tree.h"

/* The context for planning one tree. */
struct planner {
	const struct pmu_tree *tree;
	const struct pmu_request *request;
	struct pmu_plan *plan;
};

/* A core PMU: `cpu`, or one of the PMUs of a hybrid CPU. */
struct pmu_core {
	const char *pmu;
	char *name; /* caps/pmu_name; NULL if the tree has no name that is safe to print */
	const struct pmu_quirk *quirk;
	u32 type;
};

bool planner_wants(const struct planner *planner, enum event_role role);

/*
 * Each function plans a role on a core PMU, or refuses the role there, and returns 0 or -ENOMEM. Call the
 * function for stores after the one for loads, because both may have to share a counter.
 */
int pmu_plan_loads(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_stores(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_instructions(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_offcore(const struct planner *planner, const struct pmu_core *core);

/*
 * Plans cycles, stalls or misses on a core PMU, or instructions without PEBS, or refuses the role there. Returns 0
 * or -ENOMEM. In pmu_counts.c.
 */
int pmu_plan_count(const struct planner *planner, const struct pmu_core *core, enum event_role role);

/* Plans all roles on AMD's ibs_op. Returns 0 or -ENOMEM. */
int pmu_plan_ibs(const struct planner *planner, const char *pmu);

/*
 * Fills in a spec of the role on a PMU with the values that most specs have: pinned, guests excluded,
 * any period, and the PMU's CPUs.
 */
void planner_spec(const struct planner *planner, const char *pmu, u32 type, enum event_role role,
		  struct event_spec *ret);

/*
 * Fills in a spec on a core PMU, with the config from the sysfs file `file` ("events/NAME"). Returns 1, 0
 * if the role was refused, or -ENOMEM.
 */
int planner_open(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		 const char *file, struct event_spec *ret);

/*
 * Places the terms into the spec's config words, as the PMU's formats say. `what` names the event that the
 * terms make, for messages. Returns 1, 0 if the role was refused because that failed, or -ENOMEM.
 */
int planner_place(const struct planner *planner, const char *pmu, enum event_role role, const char *what,
		  const struct pmu_term *terms, size_t n, struct event_spec *spec);

/*
 * Sets the period to the one that is requested for the role, or to `usual` if that is 0. Rounds it down to a multiple
 * of the spec's step, but not below the minimum. Adds a note if a requested period was changed. Returns 0 or
 * -ENOMEM.
 */
int planner_period(const struct planner *planner, u64 usual, struct event_spec *spec);

/* Marks the specs of the PMU whose records are dropped because of other specs that run at the same time. */
void planner_mark_collisions(const struct planner *planner, const struct pmu_core *core);

/* Returns the planned spec of a role on a PMU, or NULL. */
struct event_spec *planner_find(const struct planner *planner, const char *pmu, enum event_role role);

/*
 * Fills in the CPUs of the PMU, if the PMU has a list of them, and the online ones among them, if the tree has
 * the list of online CPUs.
 */
void planner_cpus(const struct planner *planner, const char *pmu, struct event_spec *spec);

/*
 * Refuses a role whose event cannot be built. `error` is that of pmu_tree_event() or pmu_tree_place(). Returns 0
 * or -ENOMEM. If `error` is -ENOMEM, only returns it.
 */
int planner_refuse_event(const struct planner *planner, const char *pmu, enum event_role role,
			 const char *file, const char *culprit, int error);

/* Refuses a role on a core PMU that lacks what the role needs, and says why. In pmu_refusals.c. */
int pmu_refuse_core(const struct planner *planner, const struct pmu_core *core, enum event_role role);

/*
 * Returns true if the counters of this core, recognized by its formats, are of no use to any role (NetBurst,
 * Zhaoxin). pmu_refuse_core() then says why. In pmu_refusals.c.
 */
bool pmu_core_fault(const struct planner *planner, const struct pmu_core *core);

/* Refuses the counts that are requested on a core where `events = auto` samples loads alone. In pmu_refusals.c. */
int pmu_refuse_colliding(const struct planner *planner, const struct pmu_core *core);

/* Refuses a role because the tree lacks events/ of the PMU. Returns 0 or -ENOMEM. In pmu_refusals.c. */
int pmu_refuse_copy(const struct planner *planner, const char *pmu, enum event_role role);

/* Refuses each requested role on a PMU that supports none of them, all for the same reason. */
int pmu_refuse_all(const struct planner *planner, const char *pmu, const char *reason);

/* The same for those of `roles` that are requested. */
int pmu_refuse_roles(const struct planner *planner, const char *pmu, unsigned roles, const char *reason);

/* Refuses those of `roles` that are requested, on a PMU whose type number cannot be read. `error` is -errno. */
int pmu_refuse_type(const struct planner *planner, const char *pmu, unsigned roles, int error);

/* Returns true if the PMU is that of an AMD CPU. */
bool pmu_is_amd(const struct planner *planner, const char *pmu);

/* Refuses each requested role on a machine without a PMU for them. `error`: -errno of listing the PMUs, or 0. */
int pmu_refuse_machine(const struct planner *planner, int error);

#endif
