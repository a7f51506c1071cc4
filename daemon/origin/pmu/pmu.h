// SPDX-License-Identifier: GPL-2.0
/*
 * What a machine can sample, read from its sysfs tree alone: which events to open on which PMU, how, and what
 * cannot be had and why. Reads files, opens no event; a copy of a tree is as good as /sys.
 */
#ifndef PEBSD_PMU_H
#define PEBSD_PMU_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu_list.h"
#include "origin/event.h"
#include "pebsd/offcore.h"

struct pmu_wish {
	unsigned roles;          /* 1 << enum event_role */
	u64 period;              /* loads, stores or IBS operations a sample; 0: the PMU's own default */
	u64 instructions_period; /* instructions a sample; 0: the default */
	u32 ldlat;               /* cycles, 3 to 65535 */
};

/* One event as it is to be opened, on each CPU of its list. */
struct pmu_opening {
	struct event event; /* settings say what is asked of each sample */
	u32 type;           /* perf_event_attr.type; dynamic, never a constant */
	u64 config;
	u64 config1;
	u64 config2;
	u8 precise_ip;
	u32 period_min;     /* the kernel takes no smaller one */
	u32 period_step;    /* and multiples of this alone: 16 for IBS, else mostly 1 */
	bool pinned;        /* else it takes turns with another opening that needs the same counter */
	bool exclude_guest; /* what IBS does not take (PERF_PMU_CAP_NO_EXCLUDE, amd/ibs.c, Linux 6.1) */
	u8 only_counter; /* one more than the only counter that can hold it; 0: several can, or not known */
	bool collides; /* with other openings of its PMU: records of those that overflow together are dropped
			*/
	bool has_leader; /* a counting event that must lead the group: mem-loads-aux */
	u64 leader_config;
	bool has_members; /* the PMU has CPUs of its own; else it has all */
	struct cpu_list members;
	bool cpus_known; /* the tree tells which of them are online */
	struct cpu_list cpus;
};

/*
 * A counter that runs on each CPU of its list and is read at task switches. The values are in
 * pmu_offcore_values.c. All count demand reads of data; a PMU may lack kinds. There are two registers (one on
 * Nehalem) for up to four values: the kernel lets the counters take turns, so each is to be scaled by its
 * times.
 */
struct pmu_counter {
	char pmu[EVENT_PMU_MAX];
	enum offcore_kind kind;
	u32 type;
	u64 config;
	u64 config1;      /* the MSR's value, by format/offcore_rsp */
	bool has_members; /* it may be on these CPUs alone, online or not; else on all */
	struct cpu_list members;
	bool cpus_known;
	struct cpu_list cpus; /* online as the tree has it */
};

#define PMU_COUNTERS_MAX ((size_t)OFFCORE_PMUS_MAX * OFFCORE_KINDS)

struct pmu_refusal {
	char pmu[EVENT_PMU_MAX];
	enum event_role role;
	char *reason;
};

struct pmu_plan {
	size_t n_openings;
	struct pmu_opening openings[EVENTS_MAX];
	size_t n_counters;
	struct pmu_counter counters[PMU_COUNTERS_MAX];
	size_t n_refusals;
	struct pmu_refusal *refusals;
	size_t n_notes;
	char **notes;
};

/*
 * Plans what to open below `sysfs_root` ("/sys", or a copy's root), in the order of the PMUs' names and of
 * the roles. For each role that is wished for there is an opening (counters for EVENT_OFFCORE) or a refusal
 * on each PMU that could be expected to have it. A period that a PMU does not take is replaced by the nearest
 * below, or its least, with a note. A machine that can sample nothing is a plan without openings, with the
 * reasons as refusals. Returns 0, -EINVAL for a wish out of range, -ENOMEM; pmu_plan_done() frees what a plan
 * holds.
 */
int pmu_plan(const char *sysfs_root, const struct pmu_wish *wish, struct pmu_plan *ret);
void pmu_plan_done(struct pmu_plan *plan);

/* Adds a refusal or a note; for those who find out by opening. Return 0 or -ENOMEM. */
int pmu_plan_refuse(struct pmu_plan *plan, const char *pmu, enum event_role role, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int pmu_plan_note(struct pmu_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * What the refusals of these roles say: "cpu: WHY. ibs_op: WHY", with several roles "loads on cpu: WHY"; ""
 * where there is none. The caller frees; NULL: no memory.
 */
char *pmu_plan_refusals(const struct pmu_plan *plan, unsigned roles);

/* Takes the opening at `index` out of the plan. */
void pmu_plan_drop(struct pmu_plan *plan, size_t index);

#endif
