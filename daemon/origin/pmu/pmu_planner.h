// SPDX-License-Identifier: GPL-2.0
/* What the parts of the planning share: pmu.c walks the PMUs, one file a role plans it on one of them. */
#ifndef PEBSD_PMU_PLANNER_H
#define PEBSD_PMU_PLANNER_H

#include "origin/pmu/pmu.h"
#include "origin/pmu/pmu_quirks.h"
#include "origin/pmu/pmu_tree.h"

/* What the planning of one tree knows. */
struct planner {
	const struct pmu_tree *tree;
	const struct pmu_wish *wish;
	struct pmu_plan *plan;
};

/* A core PMU: `cpu`, or one of a hybrid CPU's. */
struct pmu_core {
	const char *pmu;
	char *name; /* caps/pmu_name; NULL where the tree has none that is safe to print */
	const struct pmu_quirk *quirk;
	u32 type;
};

bool planner_wants(const struct planner *planner, enum event_role role);

/*
 * Each plans a role on a core PMU, or refuses it there. Return 0 or -ENOMEM. The stores are planned after the
 * loads, which they may have to share a counter with.
 */
int pmu_plan_loads(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_stores(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_instructions(const struct planner *planner, const struct pmu_core *core);
int pmu_plan_offcore(const struct planner *planner, const struct pmu_core *core);

/* All roles on AMD's ibs_op. Returns 0 or -ENOMEM. */
int pmu_plan_ibs(const struct planner *planner, const char *pmu);

/*
 * An opening of the role on that PMU with the figures that most have in common: pinned, without guests, any
 * period, on its CPUs.
 */
void planner_opening(const struct planner *planner, const char *pmu, u32 type, enum event_role role,
		     struct pmu_opening *ret);

/* That of a core PMU, its config from `events/FILE`. Returns 1, 0 where it was refused, -ENOMEM. */
int planner_open(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		 const char *file, struct pmu_opening *ret);

/*
 * Puts the terms, one after another, where the PMU's formats say. Returns 1, 0 where the role was refused for
 * it (`what` is made of them), -ENOMEM.
 */
int planner_place(const struct planner *planner, const char *pmu, enum event_role role, const char *what,
		  const struct pmu_term *terms, size_t n, struct pmu_opening *opening);

/*
 * Sets the period: `wished`, or `usual` where that is 0, as a multiple of the opening's step that is not
 * below its least; a note tells of a change to a wish. Returns 0 or -ENOMEM.
 */
int planner_period(const struct planner *planner, u64 wished, u64 usual, struct pmu_opening *opening);

/* Marks those of the PMU that run beside one another on a core whose records collide. */
void planner_mark_collisions(const struct planner *planner, const struct pmu_core *core);

/* Puts a finished opening into the plan, or refuses it where that is full. Returns 0 or -ENOMEM. */
int planner_add(const struct planner *planner, const struct pmu_opening *opening);

/* The opening of a role on a PMU that is planned already; NULL where there is none. */
struct pmu_opening *planner_find(const struct planner *planner, const char *pmu, enum event_role role);

/* The PMU's own CPUs where it has a list of them, and those online as far as the tree tells. */
void planner_cpus(const struct planner *planner, const char *pmu, struct pmu_opening *opening);

/* 2 or 1: what the load and store events of this core are opened with. */
u8 planner_precise_ip(const struct planner *planner, const struct pmu_core *core);

/* Refuses an event whose text in the tree cannot be made one: `error` as of pmu_tree_event(). */
int planner_refuse_event(const struct planner *planner, const char *pmu, enum event_role role,
			 const char *file, const char *culprit, int error);

/* pmu_refusals.c: why a core PMU that lacks what the role needs cannot sample it. */
int pmu_refuse_core(const struct planner *planner, const struct pmu_core *core, enum event_role role);

/* Each role that is wished for on a PMU that samples none of them, with one reason. */
int pmu_refuse_all(const struct planner *planner, const char *pmu, const char *reason);

/* Whether that PMU is one of AMD's. */
bool pmu_is_amd(const struct planner *planner, const char *pmu);

/* A machine without any core PMU; `error`: -errno where its PMUs could not be listed, else 0. */
int pmu_refuse_machine(const struct planner *planner, int error);

#endif
