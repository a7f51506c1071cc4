// SPDX-License-Identifier: GPL-2.0
/*
 * A report of a profile for people: the most expensive functions, the objects that were accessed, cache lines
 * that several CPUs contend for, and pages by NUMA node. Pure.
 */
#ifndef PEBSD_PROFILE_REPORT_H
#define PEBSD_PROFILE_REPORT_H

#include "machine/memory_nodes.h"
#include "profile/profile.h"

/*
 * A row by code: a function in a module, or a place without a name. Inlined functions have rows of their own.
 */
struct report_function {
	char *name;   /* function's name; of a place without a name: symbol_text() */
	char *module; /* NULL: no module */
	char *file;   /* source file of its hottest line; NULL: not known */
	u32 line;
	u64 samples, latency;             /* of the function itself */
	u64 total_samples, total_latency; /* including callees: each sample once */
	u64 sources[SOURCE_SLOTS];        /* samples of the function itself, by source */
};

/* A row by data: heap, stack, a named variable or a mapping. */
struct report_object {
	char *name; /* "[heap]", "counters (in /usr/bin/x)", "[anon]", "/dev/shm/q" */
	enum symbol_region region;
	u64 samples, latency, hitm;
	u64 sources[SOURCE_SLOTS];
};

/* Accesses to one line: from which code, at which offset, and with `by_cpu` of the settings from which CPU. */
struct report_access {
	u32 offset; /* in the line */
	char *function, *file;
	u32 line;
	u64 samples, hitm, latency, stores;
	u32 cpus; /* number of CPUs */
	u32 cpu;  /* one of them */
};

struct report_line {
	u64 address;  /* of the line in the process */
	u32 pid;      /* 0: several processes share the line, or the kernel owns it */
	char *object; /* same as report_object's name, with "+0xOFFSET" */
	u64 samples, latency, hitm;
	u32 cpus, hitm_cpus; /* CPUs that accessed it, and CPUs with HITM on it */
	bool false_sharing;  /* a candidate: HITM on 2 or more CPUs, and CPUs at different offsets */
	size_t n_accesses;
	struct report_access *accesses; /* sorted by HITM, then latency, descending */
};

struct report_node {
	int node; /* of the data's physical address; -1: in no known node */
	u64 samples, latency;
	u64 remote; /* samples from CPUs of other nodes */
	u64 pages;  /* distinct 4 KiB pages */
};

struct report_settings {
	size_t functions, objects, lines, accesses; /* maximum rows */
	bool by_cpu;                                /* accesses of different CPUs are different rows */
	const struct node_range *ranges;            /* memory of the nodes; none: nodes are not known */
	size_t n_ranges;
	const int *node_of_cpu; /* by CPU number; -1: not known */
	size_t n_cpus;
};

struct profile_report {
	struct profile_totals totals;
	size_t n_functions, n_objects, n_lines, n_nodes;
	struct report_function
		*functions; /* sorted by own latency (own samples if there is none), descending */
	struct report_object *objects;
	struct report_line *lines; /* false sharing first, then by HITM, then by latency */
	struct report_node *nodes; /* by number; none if physical addresses are not known */
	size_t unnamed;            /* addresses without an answer yet */
};

/* Returns 0 or -ENOMEM. The caller frees `ret` with profile_report_done(). */
int profile_report(const struct profile *profile, const struct profile_names *names,
		   const struct report_settings *settings, struct profile_report *ret);
void profile_report_done(struct profile_report *report);

#endif
