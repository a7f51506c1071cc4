// SPDX-License-Identifier: GPL-2.0
/*
 * Turns an error number and the state of the system into a message that the reader can act on. Pure
 * functions.
 */
#ifndef PEBSD_PERF_DIAGNOSE_H
#define PEBSD_PERF_DIAGNOSE_H

#include "origin/perf/perf_facts.h"
#include "origin/pmu/pmu.h"

/*
 * Returns a message for perf_event_open(2) of `spec` on `cpu` that failed with `error` (-errno): what
 * failed, on what, why, and what to do. The caller frees it. NULL when out of memory.
 */
char *perf_diagnose_open(int error, const struct event_spec *spec, int cpu, const struct perf_facts *facts);

/* Same as perf_diagnose_open(), for attaching a BPF program to the opened event. */
char *perf_diagnose_attach(int error, const struct event_spec *spec, int cpu, const struct perf_facts *facts);

/*
 * Sets `ret` to a message of the same form about the obstacle to loading BPF programs here, or to NULL if no
 * obstacle is known. Returns 0 or -ENOMEM.
 */
int perf_diagnose_bpf(const struct perf_facts *facts, char **ret);

/*
 * Sets `ret` to the reason why this process may not open any CPU-wide event, after perf_trial_permission()
 * returned `error`. Sets it to NULL if the error has nothing to do with rights. Returns 0 or -ENOMEM.
 */
int perf_diagnose_permission(int error, const struct perf_facts *facts, char **ret);

/*
 * Descriptors that will be needed: `descriptors` on `cpus` CPUs, in addition to `before`, which the events
 * opened earlier take.
 */
struct perf_wanted {
	u32 cpus;
	u64 descriptors;
	u64 before;
	u64 blocks; /* descriptors of the table of slots, except those that DESCRIPTORS_SPARE contains */
};

/*
 * Sets `ret` to a message if there are too few descriptors for `wanted`. Call this before anything is opened.
 * Returns like perf_diagnose_bpf().
 */
int perf_diagnose_descriptors(const struct perf_facts *facts, const struct perf_wanted *wanted, char **ret);

/*
 * Sets `ret` to a message if cgroups cannot be distinguished here. pebsd then refuses to run. Returns like
 * perf_diagnose_bpf().
 */
int perf_diagnose_cgroups(const struct perf_facts *facts, char **ret);

/*
 * Sets `ret` to a remark about a possible problem, although nothing has failed yet. Returns like
 * perf_diagnose_bpf().
 */
int perf_diagnose_remark(const struct perf_facts *facts, char **ret);

#endif
