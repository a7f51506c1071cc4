// SPDX-License-Identifier: GPL-2.0
/*
 * What decides whether this process may open events and load programs, and who else is there: read from the
 * system, for diagnosis.
 */
#ifndef PEBSD_PERF_FACTS_H
#define PEBSD_PERF_FACTS_H

#include <stdbool.h>

#include "base/cpu_list.h"
#include "origin/perf/perf_backend.h"
#include "pebsd/types.h"

/* What becomes of cgroups here. */
enum perf_cgroups {
	PERF_CGROUPS_UNKNOWN,
	PERF_CGROUPS_USED,     /* the default hierarchy is mounted, and has cgroups below its root */
	PERF_CGROUPS_NO_MOUNT, /* no cgroup2 file system is mounted */
	PERF_CGROUPS_NONE_YET, /* one is, and nobody has made a cgroup below its root */
	PERF_CGROUPS_V1_ONLY,  /* nobody has, and v1 hierarchies are in use */
};

struct perf_facts {
	u64 capabilities;     /* effective, a bit each */
	int paranoid;         /* kernel.perf_event_paranoid */
	unsigned max_precise; /* caps/max_precise of the core PMU */
	u32 microcode;        /* revision; 0: not known */
	u32 microcode_wanted; /* below this the kernel switches PEBS off; 0: not on this CPU */
	bool paranoid_known;  /* else: no CONFIG_PERF_EVENTS, or /proc is not readable */
	bool capabilities_known;
	bool user_namespace;        /* not the first one: capabilities do not reach the kernel's own things */
	bool seccomp_filter;        /* system calls of this process are filtered */
	bool lockdown_confidential; /* /sys/kernel/security/lockdown is [confidentiality] */
	bool has_btf;               /* /sys/kernel/btf/vmlinux */
	bool has_core_pmu;          /* /sys/bus/event_source/devices/cpu */
	bool max_precise_known;
	bool hypervisor;                       /* CPUID says that this is a guest */
	bool debian_kernel;                    /* carries the patch for kernel.perf_event_paranoid above 2 */
	bool ubuntu_kernel;                    /* carries the one for 4 and above */
	char opener[PERF_BACKEND_TROUBLE_MAX]; /* why the opener was of no help; "": nothing to say */

	/* From here on only perf_facts_gather_surroundings() fills in. */
	bool nmi_watchdog; /* kernel.nmi_watchdog is on */
	bool kvm_host;     /* KVM's part for this CPU is loaded */
	bool cpu_time_max_known;
	enum perf_cgroups cgroups;
	u64 cgroup_count;          /* of the default hierarchy; 0: not known */
	u64 descriptors_max;       /* hard limit of this process; 0: not known */
	u64 descriptors_used;      /* by it */
	u64 files_max;             /* fs.file-max; 0: not known. CAP_SYS_ADMIN may go above it */
	u64 files_used;            /* on the whole system */
	u64 max_sample_rate;       /* kernel.perf_event_max_sample_rate; 0: not known */
	u64 cpu_time_max_percent;  /* kernel.perf_cpu_time_max_percent */
	struct cpu_list isolated;  /* isolcpus= */
	struct cpu_list nohz_full; /* nohz_full= */
};

/* Reads them; what cannot be read stays 0. */
void perf_facts_gather(struct perf_facts *ret);

/* The rest: walks the tree of cgroups. */
void perf_facts_gather_surroundings(struct perf_facts *facts);

bool perf_facts_capable(const struct perf_facts *facts, unsigned capability);

/* The parts that are pure. */
bool perf_facts_debian_kernel(const char *proc_version);
bool perf_facts_ubuntu_kernel(const char *proc_version);
bool perf_facts_initial_namespace(const char *uid_map);

/*
 * The microcode revision from which the kernel lets a CPU use PEBS, 0 where it minds none: pebs_ucodes in
 * arch/x86/events/intel/core.c, Linux 6.1.
 */
u32 perf_facts_microcode_wanted(unsigned family, unsigned model, unsigned stepping);

/*
 * Value of a "Key:\tvalue" line of /proc/self/status, or of /proc/cpuinfo, in base 16, or 10 where `base`
 * says so. Returns whether it is there.
 */
bool perf_facts_status(const char *status, const char *key, int base, u64 *ret);

#endif
