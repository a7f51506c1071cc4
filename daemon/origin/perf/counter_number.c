// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/counter_number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static struct perf_event_attr attr_of(const char *pmu, u32 type, u64 event)
{
	/* On a hybrid CPU the upper half names the PMU (PERF_PMU_TYPE_SHIFT, Linux 5.13). */
	const u64 extended = strcmp(pmu, "cpu") == 0 ? 0 : (u64)type << 32;

	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = extended | event,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

int counter_number_by_group(const char *pmu, u32 type, counter_open open, counter_close close, void *userdata,
			    struct pmu_general *ret)
{
	struct perf_event_attr branches = attr_of(pmu, type, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	const struct perf_event_attr cycles = attr_of(pmu, type, PERF_COUNT_HW_CPU_CYCLES);
	const struct perf_event_attr instructions = attr_of(pmu, type, PERF_COUNT_HW_INSTRUCTIONS);
	int fds[COUNTER_NUMBER_MAX];
	unsigned n = 0;
	int fd = 0;

	ret->counters = 0;
	ret->fixed_cycles = ret->fixed_instructions = false;
	while (n < COUNTER_NUMBER_MAX) {
		/* The kernel leaves disabled members of a group out of its check. A disabled leader stops all. */
		branches.disabled = n == 0;
		fd = open(&branches, n ? fds[0] : -1, userdata);
		if (fd < 0)
			break;
		fds[n++] = fd;
	}
	if (n > 0 && fd == -EINVAL) {
		ret->counters = n;
		fd = open(&cycles, fds[0], userdata);
		ret->fixed_cycles = fd >= 0;
		if (fd >= 0)
			close(fd, userdata);
		fd = open(&instructions, fds[0], userdata);
		ret->fixed_instructions = fd >= 0;
		if (fd >= 0)
			close(fd, userdata);
	}
	for (unsigned i = n; i-- > 0;)
		close(fds[i], userdata);
	return n > 0 ? 0 : fd;
}

/*
 * The kernel takes the numbers from these fields: intel_pmu_init(), arch/x86/events/intel/core.c, and
 * amd_core_pmu_init(), arch/x86/events/amd/core.c, Linux 6.12. Version 2 of Intel's may leave out the number of
 * fixed counters. They are not used then, which is on the safe side.
 */
void counter_number_by_cpuid(const struct counter_cpuid *cpuid, struct pmu_general *ret)
{
	const unsigned version = cpuid->perfmon_eax & 0xff;
	const unsigned fixed = cpuid->perfmon_edx & 0x1f;

	ret->counters = 0;
	ret->fixed_cycles = ret->fixed_instructions = false;
	if (cpuid->amd) {
		if (cpuid->amd_perfmon_eax & 1)
			ret->counters = cpuid->amd_perfmon_ebx & 0xf;
		else
			ret->counters = cpuid->amd_features_ecx >> 23 & 1 ? 6 : 4;
		return;
	}
	if (version == 0)
		return;
	ret->counters = cpuid->perfmon_eax >> 8 & 0xff;
	if (version < 2)
		return;
	/* Fixed counter 0 counts instructions, and 1 cycles. From version 5 on, ecx lists further ones. */
	ret->fixed_instructions = fixed > 0 || (version >= 5 && (cpuid->perfmon_ecx & 1));
	ret->fixed_cycles = fixed > 1 || (version >= 5 && (cpuid->perfmon_ecx & 2));
}

#if defined(__x86_64__)
/* "HygonGenuine", which older versions of cpuid.h lack. */
#define HYGON_EBX 0x6f677948

static bool read_cpuid(struct counter_cpuid *ret)
{
	u32 eax, ebx, ecx, edx;

	*ret = (struct counter_cpuid){0};
	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
		return false;
	ret->amd = ebx == signature_AMD_ebx || ebx == HYGON_EBX;
	if (!ret->amd && ebx != signature_INTEL_ebx)
		return false;
	if (__get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx)) {
		ret->perfmon_eax = eax;
		ret->perfmon_ecx = ecx;
		ret->perfmon_edx = edx;
	}
	if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
		ret->amd_features_ecx = ecx;
	if (__get_cpuid(0x80000022, &eax, &ebx, &ecx, &edx)) {
		ret->amd_perfmon_eax = eax;
		ret->amd_perfmon_ebx = ebx;
	}
	return true;
}
#else
static bool read_cpuid(struct counter_cpuid *ret)
{
	*ret = (struct counter_cpuid){0};
	return false;
}
#endif

/* Not through perf_backend.h: pebsd-opener opens only events that sample. */
static int open_for_thread(const struct perf_event_attr *attr, int group_fd, void *userdata)
{
	long fd = syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	(void)userdata;
	return fd < 0 ? -errno : (int)fd;
}

static void close_for_thread(int fd, void *userdata)
{
	(void)userdata;
	(void)close(fd);
}

static int find_one(const char *pmu, u32 type, struct pmu_general *ret,
		    char reason[COUNTER_NUMBER_REASON_MAX])
{
	const bool hybrid = strcmp(pmu, "cpu") != 0;
	struct counter_cpuid cpuid;
	int r;

	(void)snprintf(ret->pmu, sizeof(ret->pmu), "%s", pmu);
	r = counter_number_by_group(pmu, type, open_for_thread, close_for_thread, NULL, ret);
	if ((r == -EACCES || r == -EPERM) && !hybrid && read_cpuid(&cpuid))
		counter_number_by_cpuid(&cpuid, ret);
	if (ret->counters > 0)
		return 0;
	(void)snprintf(
		reason, COUNTER_NUMBER_REASON_MAX, "the counters of PMU %s cannot be counted: %s%s", pmu,
		r < 0 ? strerror(-r) : "the kernel never refused a group of events for lack of counters",
		hybrid && (r == -EACCES || r == -EPERM) ? " (kernel.perf_event_paranoid is too high for that)"
							: "");
	return -EINVAL;
}

/* Adds a PMU that is not in the list yet. Returns the new number of PMUs, or -EINVAL. */
static int add_pmu(const char *pmu, u32 type, enum counter_watchdog watchdog, int n,
		   struct pmu_general ret[EVENTS_MAX], char reason[COUNTER_NUMBER_REASON_MAX])
{
	int r;

	for (int i = 0; i < n; i++)
		if (strcmp(ret[i].pmu, pmu) == 0)
			return n;
	if (n == EVENTS_MAX)
		return n;
	r = find_one(pmu, type, &ret[n], reason);
	if (watchdog == COUNTER_WATCHDOG_CYCLES || watchdog == COUNTER_WATCHDOG_MAYBE)
		ret[n].fixed_cycles = false;
	return r < 0 ? r : n + 1;
}

int counter_number_find(const struct pmu_plan *plan, unsigned roles, enum counter_watchdog watchdog,
			struct pmu_general ret[EVENTS_MAX], char ret_reason[COUNTER_NUMBER_REASON_MAX])
{
	int n = 0;

	for (size_t i = 0; n >= 0 && i < plan->n_specs; i++) {
		const struct event_spec *spec = &plan->specs[i];

		if (pmu_leave_concerns(plan, roles, spec->event.pmu))
			n = add_pmu(spec->event.pmu, spec->type, watchdog, n, ret, ret_reason);
	}
	for (size_t i = 0; n >= 0 && i < plan->n_counters; i++)
		if (pmu_leave_concerns(plan, roles, plan->counters[i].pmu))
			n = add_pmu(plan->counters[i].pmu, plan->counters[i].type, watchdog, n, ret,
				    ret_reason);
	return n;
}
