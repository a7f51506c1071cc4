// SPDX-License-Identifier: GPL-2.0
/*
 * Plans the sampling of a machine from its sysfs tree: the events to open on each PMU with their attributes,
 * and the reasons for events that cannot be sampled. Reads files and opens no event, so a copy of a tree
 * serves as well as /sys.
 */
#ifndef PEBSD_PMU_H
#define PEBSD_PMU_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/cpu_list.h"
#include "origin/event.h"
#include "pebsd/offcore.h"

struct pmu_request {
	unsigned roles; /* 1 << enum event_role */
	/*
	 * Nobody named the roles: `events = auto`. Instructions are then only counted, and no event is planned
	 * that would make a core lose records of loads.
	 */
	bool automatic;
	struct event_periods periods;
	u32 ldlat; /* cycles, 3 to 65535 */
};

#define PMU_MEMBERS_PATH_MAX 128

/*
 * How a list of members is updated when CPUs come online (perf_selection_update_members()). A hybrid PMU lists a CPU
 * while it is online: init_hybrid_pmu() adds it before that, and intel_pmu_cpu_dead() removes it
 * (arch/x86/events/intel/core.c, Linux 6.12).
 */
struct pmu_members_source {
	/* The PMU's list; "": it has none that changes, or the path is too long. */
	char path[PMU_MEMBERS_PATH_MAX];
	struct cpu_list unselected; /* CPUs that the configuration leaves out */
};

/* The spec of an event: how it is to be opened on each CPU of its list. */
struct event_spec {
	struct event event; /* its settings say which fields each sample has */
	u64 config;
	u64 config1;
	u64 config2;
	u64 leader_config;
	u32 type;        /* perf_event_attr.type; assigned dynamically, never a constant */
	u32 period_min;  /* the kernel accepts no smaller period */
	u32 period_step; /* a period must be a multiple of this: 16 for IBS, otherwise mostly 1 */
	u8 precise_ip;
	u8 only_counter;    /* 1 + the only counter that can run it; 0: several can, or not known */
	bool pinned;        /* if false, the kernel multiplexes it with another spec on the same counter */
	bool exclude_guest; /* false for IBS, which refuses true (PERF_PMU_CAP_NO_EXCLUDE, amd/ibs.c, 6.1) */
	/*
	 * Collides with other specs of its PMU: its record is dropped if another event with records overflows
	 * together with it, or if the interrupt of an event that only counts comes before the record.
	 */
	bool collides;
	bool may_count;  /* if the kernel has no PEBS for it, it may be opened as an event that only counts */
	bool has_leader; /* needs a counting event as leader of its group: mem-loads-aux */
	bool has_members; /* the event can run only on the CPUs in `members`; false: on all */
	bool cpus_known;  /* `cpus` is known: those of these CPUs that are online */
	struct cpu_list members;
	struct pmu_members_source members_source;
	struct cpu_list cpus;
};

/*
 * A counter that runs on each CPU of its list and is read at task switches. All kinds count demand reads of
 * data. A PMU may lack some kinds. There are two registers (one on Nehalem) for up to four values, so the
 * kernel multiplexes the counters. Scale each count by its enabled and running time. The values are in
 * pmu_offcore_values.c.
 */
struct pmu_counter {
	char pmu[EVENT_PMU_MAX];
	enum offcore_kind kind;
	u32 type;
	u64 config;
	u64 config1;      /* the value of the MSR, placed by format/offcore_rsp */
	bool has_members; /* as in struct event_spec */
	struct cpu_list members;
	struct pmu_members_source members_source;
	bool cpus_known;
	struct cpu_list cpus; /* CPUs of this PMU that are online, according to the tree */
};

#define PMU_COUNTERS_MAX ((size_t)OFFCORE_PMUS_MAX * OFFCORE_KINDS)

struct pmu_refusal {
	char pmu[EVENT_PMU_MAX];
	enum event_role role;
	char *reason;
};

struct pmu_plan {
	bool automatic; /* copied from the request */
	size_t n_specs;
	struct event_spec specs[EVENTS_MAX];
	size_t n_counters;
	struct pmu_counter counters[PMU_COUNTERS_MAX];
	size_t n_refusals;
	struct pmu_refusal *refusals;
	size_t n_notes;
	char **notes;
};

/*
 * Plans the events to open, from the tree below `sysfs_root` ("/sys", or the root of a copy). Events that only
 * count come last: the next process continues the sums of the other events even if counts were added. Otherwise
 * the order is that of the PMUs' names, then of the roles. For each requested role there is a spec (for
 * EVENT_OFFCORE: counters) or a refusal on each PMU that could be expected to support it. A period that a PMU does not
 * support is replaced by the nearest one below it, or by the PMU's minimum, with a note. For a machine that
 * can sample nothing, the plan has no specs, and refusals give the reasons.
 *
 * Returns 0, -EINVAL if `request` is out of range, or -ENOMEM. pmu_plan_done() frees the contents of a plan.
 */
int pmu_plan(const char *sysfs_root, const struct pmu_request *request, struct pmu_plan *ret);
void pmu_plan_done(struct pmu_plan *plan);

/* These functions add a refusal or a note that came up when events were opened. They return 0 or -ENOMEM. */
int pmu_plan_refuse(struct pmu_plan *plan, const char *pmu, enum event_role role, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int pmu_plan_note(struct pmu_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns the refusals of these roles as text: "cpu: WHY. ibs_op: WHY". Roles that a PMU refuses for the same
 * reason are named together, "loads and stores on cpu: WHY", unless they are all of `roles`. Returns "" if there is
 * none. The caller frees it. NULL: no memory.
 */
char *pmu_plan_refusals(const struct pmu_plan *plan, unsigned roles);

/* Adds a spec to the plan, or refuses it if the plan is full. Returns 0 or -ENOMEM. */
int pmu_plan_add(struct pmu_plan *plan, const struct event_spec *spec);

/* Remove the spec or the counter at `index` from the plan. */
void pmu_plan_drop(struct pmu_plan *plan, size_t index);
void pmu_plan_drop_counter(struct pmu_plan *plan, size_t index);

#endif
