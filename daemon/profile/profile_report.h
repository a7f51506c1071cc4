// SPDX-License-Identifier: GPL-2.0
/*
 * A profile for people: the functions that cost most, what they accessed, cache lines that CPUs fight over,
 * pages by NUMA node. Pure.
 */
#ifndef PEBSD_PROFILE_REPORT_H
#define PEBSD_PROFILE_REPORT_H

#include "base/memory_nodes.h"
#include "profile/profile.h"

/* By code: a function in a module (innermost, inlined ones by themselves), or an unnamed place. */
struct report_function {
	char *name;   /* symbol_text() */
	char *module; /* NULL: none */
	char *file;   /* source of its hottest line; NULL */
	u32 line;
	u64 samples, latency;             /* itself */
	u64 total_samples, total_latency; /* with what it called: each sample once */
	u64 sources[SOURCE_SLOTS];        /* samples by source, itself */
};

/* By data: heap, stack, a named variable, a mapping. */
struct report_object {
	char *name; /* "[heap]", "counters (in /usr/bin/x)", "[anon]", "/dev/shm/q" */
	enum symbol_region region;
	u64 samples, latency, hitm;
	u64 sources[SOURCE_SLOTS];
};

/* An access to a line: from where, at which offset. */
struct report_access {
	u32 offset; /* in the line */
	char *function, *file;
	u32 line;
	u64 samples, hitm, latency, stores;
	u32 cpus; /* how many */
};

struct report_line {
	u64 address;  /* of the line in the process */
	u32 pid;      /* the process it is of; 0: several share it */
	char *object; /* as report_object's name, with "+0xOFFSET" */
	u64 samples, latency, hitm;
	u32 cpus, hitm_cpus; /* CPUs that accessed it, and that met HITM on it */
	bool false_sharing;  /* HITM from two or more CPUs, and CPUs at different offsets: a candidate */
	size_t n_accesses;
	struct report_access *accesses; /* most HITM first, then latency */
};

struct report_node {
	int node; /* of the data's physical address; -1: not in any that is known */
	u64 samples, latency;
	u64 remote; /* samples from CPUs of other nodes */
	u64 pages;  /* distinct 4 KiB pages */
};

struct report_settings {
	size_t functions, objects, lines, accesses; /* at most so many */
	const struct node_range *ranges;            /* none: nodes are not known */
	size_t n_ranges;
	const int *node_of_cpu; /* by CPU number, -1 unknown */
	size_t n_cpus;
};

struct profile_report {
	struct profile_totals totals;
	size_t n_functions, n_objects, n_lines, n_nodes;
	struct report_function
		*functions; /* by latency of their own (samples where there is none), descending */
	struct report_object *objects;
	struct report_line *lines; /* false sharing first, by HITM, then by latency */
	struct report_node *nodes; /* by number; none where physical addresses are not known */
	size_t unnamed;            /* addresses without an answer yet */
};

/* The caller frees with profile_report_done(). 0 or -ENOMEM. */
int profile_report(const struct profile *profile, const struct profile_names *names,
		   const struct report_settings *settings, struct profile_report *ret);
void profile_report_done(struct profile_report *report);

#endif
