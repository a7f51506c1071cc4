// SPDX-License-Identifier: GPL-2.0
/*
 * The nominal frequency of CPUs: the one that the vendor guarantees, without turbo. Latencies in cycles are
 * converted to nanoseconds at this frequency, because the running one is not known for a single access.
 *
 * The first source that has it decides:
 * 1. `cpufreq/base_frequency` of the CPU in sysfs, from intel_pstate (Documentation/admin-guide/pm/intel_pstate.rst).
 * 2. `acpi_cppc/nominal_freq` of the CPU in sysfs (Documentation/admin-guide/acpi/cppc_sysfs.rst), as on AMD.
 * 3. CPUID, leaf 16H, EAX: the base frequency (Intel SDM, volume 2A, CPUID).
 * 4. The brand string of CPUID, as in "@ 2.60GHz" (same place, "Extracting the Processor Frequencies from Brand
 *    Strings").
 * 5. The frequency of the TSC. It is the nominal one rounded to the crystal on Intel, and that of P0 on AMD:
 *    CPUID, leaf 15H; leaf 40000010H of a hypervisor (arch/x86/kernel/cpu/vmware.c); in a guest that does not see
 *    how fast its CPUs run, "cpu MHz" in /proc/cpuinfo (arch_freq_get_on_cpu(), arch/x86/kernel/cpu/aperfmperf.c);
 *    or the page of a perf event (arch_perf_update_userpage(), arch/x86/events/core.c).
 *
 * Kinds of cores differ in the frequency, and only the files in sysfs are about a given CPU. On hybrid CPUs,
 * sources 3 and 4 are not used, and source 5 is used by nominal_of_machine() only.
 */
#ifndef PEBSD_NOMINAL_H
#define PEBSD_NOMINAL_H

#include <stdbool.h>

#include "pebsd/types.h"

/* Every value is in Hz, rounded to 1 MHz, so that it is the same after each boot. 0: not known. */

/* The registers that CPUID returns for a leaf. Leaves that the CPU does not have are zero. */
struct nominal_leaf {
	u32 eax, ebx, ecx, edx;
};

struct nominal_leaves {
	struct nominal_leaf features;          /* 1 */
	struct nominal_leaf power;             /* 6 */
	struct nominal_leaf tsc;               /* 15H */
	struct nominal_leaf base;              /* 16H */
	struct nominal_leaf hypervisor_timing; /* 40000010H */
	struct nominal_leaf brand[3];          /* 80000002H to 80000004H */
};

/* Returns the frequency that a file in sysfs has, in units of `unit` Hz. `text` may be NULL. */
double nominal_of_text(const char *text, double unit);

/* Sources 3 and 4. */
double nominal_of_leaves(const struct nominal_leaves *leaves);

/* Source 5: from the leaves, from the text of /proc/cpuinfo, or from the members of the perf event's page. */
double nominal_tsc_of_leaves(const struct nominal_leaves *leaves);
double nominal_tsc_of_cpuinfo(const struct nominal_leaves *leaves, const char *cpuinfo);
double nominal_tsc_of_page(bool has_time, u32 mult, u32 shift);

/*
 * Returns the nominal frequency of the machine; with several kinds of cores, that of the fastest kind. All
 * sources but sysfs are used only if `sysfs_root` is "/sys", because a copy is from another machine. A perf event
 * is opened only if `may_open` and if no other source has the frequency.
 */
double nominal_of_machine(const char *sysfs_root, bool may_open);

/* Returns the nominal frequency of the CPU. May open a perf event. */
double nominal_of_cpu(const char *sysfs_root, int cpu);

#endif
