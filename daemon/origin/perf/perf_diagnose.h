// SPDX-License-Identifier: GPL-2.0
/* From an error number and the state of the system to words that let the reader act. Pure. */
#ifndef PEBSD_PERF_DIAGNOSE_H
#define PEBSD_PERF_DIAGNOSE_H

#include "origin/perf/perf_facts.h"
#include "origin/pmu/pmu.h"

/*
 * Why perf_event_open(2) of `opening` on `cpu` failed with `error` (-errno): what failed, on what, why, and
 * what to do. The caller's to free; NULL when out of memory.
 */
char *perf_diagnose_open(int error, const struct pmu_opening *opening, int cpu,
			 const struct perf_facts *facts);

/* The same for attaching a BPF program to the opened event. */
char *perf_diagnose_attach(int error, const struct pmu_opening *opening, int cpu,
			   const struct perf_facts *facts);

/*
 * What keeps BPF programs from being loaded here, in the same way; `ret` is NULL where nothing is known to.
 * Returns 0 or -ENOMEM.
 */
int perf_diagnose_bpf(const struct perf_facts *facts, char **ret);

/*
 * Why this process may open no CPU-wide event at all, after perf_trial_permission() returned `error`; `ret`
 * is NULL where the error has nothing to do with rights. Returns 0 or -ENOMEM.
 */
int perf_diagnose_permission(int error, const struct perf_facts *facts, char **ret);

/* What is about to be opened: on so many CPUs, with room for so many descriptors, beside those opened before.
 */
struct perf_wanted {
	u32 cpus;
	u64 descriptors;
	u64 before;
	u64 blocks; /* descriptors of the table of slots, beyond those that are among DESCRIPTORS_SPARE */
};

/* That there are too few descriptors for it, before anything is opened; else as perf_diagnose_bpf(). */
int perf_diagnose_descriptors(const struct perf_facts *facts, const struct perf_wanted *wanted, char **ret);

/* That cgroups cannot be told apart here, which pebsd refuses to run with; else as perf_diagnose_bpf(). */
int perf_diagnose_cgroups(const struct perf_facts *facts, char **ret);

/* A remark on what may come out wrong although nothing has failed yet; else as perf_diagnose_bpf(). */
int perf_diagnose_remark(const struct perf_facts *facts, char **ret);

#endif
