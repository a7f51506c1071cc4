// SPDX-License-Identifier: GPL-2.0
/*
 * Facts of the system that decide whether this process may open events and load programs, and who else uses
 * the PMU. They are gathered for diagnosis.
 */
#ifndef PEBSD_PERF_FACTS_H
#define PEBSD_PERF_FACTS_H

#include <stdbool.h>

#include "machine/cpu_list.h"
#include "origin/perf/counter_users.h"
#include "origin/perf/perf_backend.h"
#include "pebsd/types.h"

/* The cgroups of this system that samples can be attributed to. */
enum perf_cgroups {
	PERF_CGROUPS_UNKNOWN,
	PERF_CGROUPS_USED,     /* the default hierarchy is mounted and has cgroups below its root */
	PERF_CGROUPS_NO_MOUNT, /* no cgroup2 file system is mounted */
	PERF_CGROUPS_NONE_YET, /* the default hierarchy is mounted, but has no cgroup below its root */
	PERF_CGROUPS_V1_ONLY,  /* like PERF_CGROUPS_NONE_YET, but v1 hierarchies are in use */
};

struct perf_facts {
	u64 capabilities;     /* effective capabilities, one bit each */
	int paranoid;         /* kernel.perf_event_paranoid */
	unsigned max_precise; /* caps/max_precise of the core PMU */
	u32 microcode;        /* revision; 0: not known */
	u32 microcode_wanted; /* the kernel disables PEBS below this revision; 0: this CPU needs no minimum */
	bool paranoid_known;  /* false: no CONFIG_PERF_EVENTS, or /proc is not readable */
	bool capabilities_known;
	bool user_namespace;        /* not the initial one: capabilities do not apply to CPU-wide events */
	bool seccomp_filter;        /* a seccomp filter applies to this process */
	bool lockdown_confidential; /* /sys/kernel/security/lockdown is [confidentiality] */
	bool has_btf;               /* /sys/kernel/btf/vmlinux is readable */
	bool has_core_pmu;          /* /sys/bus/event_source/devices has cpu, cpu_core or cpu_atom */
	bool max_precise_known;
	bool hypervisor;                       /* CPUID says that this is a virtual machine */
	bool debian_kernel;                    /* has Debian's patch for kernel.perf_event_paranoid above 2 */
	bool ubuntu_kernel;                    /* has Ubuntu's patch for values of 4 and above */
	char opener[PERF_BACKEND_TROUBLE_MAX]; /* why pebsd-opener did not help; "": nothing to say */

	/* Only perf_facts_gather_surroundings() fills in the following members. */
	struct counter_users users;
	bool kvm_host; /* /dev/kvm exists, and KVM for Intel or AMD is loaded or built in */
	bool cpu_time_max_known;
	enum perf_cgroups cgroups;
	u64 cgroup_count;          /* cgroups in the default hierarchy; 0: not known */
	u64 descriptors_max;       /* hard limit of descriptors of this process; 0: not known */
	u64 descriptors_used;      /* descriptors that this process has open */
	u64 files_max;             /* fs.file-max; 0: not known; CAP_SYS_ADMIN may exceed it */
	u64 files_used;            /* open files of the whole system */
	u64 max_sample_rate;       /* kernel.perf_event_max_sample_rate; 0: not known */
	u64 cpu_time_max_percent;  /* kernel.perf_cpu_time_max_percent */
	struct cpu_list isolated;  /* isolcpus= */
	struct cpu_list nohz_full; /* nohz_full= */
};

/* Reads the facts from the system. A fact that cannot be read stays 0. */
void perf_facts_gather(struct perf_facts *ret);

/* Reads the remaining facts, which includes a walk over the tree of cgroups. */
void perf_facts_gather_surroundings(struct perf_facts *facts);

bool perf_facts_capable(const struct perf_facts *facts, unsigned capability);

/* Pure functions. */
bool perf_facts_debian_kernel(const char *proc_version);
bool perf_facts_ubuntu_kernel(const char *proc_version);
bool perf_facts_initial_namespace(const char *uid_map);

/*
 * Returns the microcode revision from which the kernel lets this CPU use PEBS, or 0 if it demands none:
 * pebs_ucodes in arch/x86/events/intel/core.c, Linux 6.1.
 */
u32 perf_facts_microcode_wanted(unsigned family, unsigned model, unsigned stepping);

/*
 * Finds a "Key:\tvalue" line in the text of /proc/self/status or /proc/cpuinfo and parses its value in
 * `base`, 10 or 16. Returns false if there is no such line.
 */
bool perf_facts_status(const char *status, const char *key, int base, u64 *ret);

#endif
