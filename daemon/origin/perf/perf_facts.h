// SPDX-License-Identifier: GPL-2.0
/* What decides whether this process may open events and load programs: read from the system, for diagnosis.
 */
#ifndef PEBSD_PERF_FACTS_H
#define PEBSD_PERF_FACTS_H

#include <stdbool.h>

#include "pebsd/types.h"

struct perf_facts {
	bool paranoid_known; /* else: no CONFIG_PERF_EVENTS, or /proc is not readable */
	int paranoid;        /* kernel.perf_event_paranoid */
	bool capabilities_known;
	u64 capabilities;           /* effective, a bit each */
	bool user_namespace;        /* not the first one: capabilities do not reach the kernel's own things */
	bool seccomp_filter;        /* system calls of this process are filtered */
	bool lockdown_confidential; /* /sys/kernel/security/lockdown is [confidentiality] */
	bool has_btf;               /* /sys/kernel/btf/vmlinux */
	bool has_core_pmu;          /* /sys/bus/event_source/devices/cpu */
	bool max_precise_known;
	unsigned max_precise; /* caps/max_precise of it */
	bool hypervisor;      /* CPUID says that this is a guest */
	bool debian_kernel;   /* carries the patch for kernel.perf_event_paranoid above 2 */
};

/* Reads them; what cannot be read stays 0. */
void perf_facts_gather(struct perf_facts *ret);

bool perf_facts_capable(const struct perf_facts *facts, unsigned capability);

/* The parts that are pure. */
bool perf_facts_debian_kernel(const char *proc_version);
bool perf_facts_initial_namespace(const char *uid_map);

/*
 * Value of a "Key:\tvalue" line of /proc/self/status in base 16, or 10 where `base` says so. Returns whether
 * it is there.
 */
bool perf_facts_status(const char *status, const char *key, int base, u64 *ret);

#endif
