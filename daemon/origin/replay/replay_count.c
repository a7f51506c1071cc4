// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_count.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_amd.h"
#include "origin/pmu/pmu_intel.h"

/*
 * The config of a core PMU, in the same bits on Intel and AMD: event 0-7, umask 8-15, cmask 24-31
 * (arch/x86/include/asm/perf_event.h, Linux 6.12). The kernel itself sets the bits of modes, interrupts and enabling.
 * Any other bit makes the event a different one.
 */
#define CONFIG_KERNELS ((1ULL << 16) | (1ULL << 17) | (1ULL << 20) | (1ULL << 22))

/* The low half of the config of a generic event; the high half may be the type of a hybrid CPU's PMU. */
#define GENERIC_MASK 0xffffffffULL

/*
 * Names of events in perf's tables, in the folders that pmu_quirks.c, pmu_intel.c and pmu_amd.c name for the same
 * events. Other generations that count something else under such a name are not known.
 */
static const struct count_name {
	const char *name;
	enum event_role role;
	enum count_kind kind;
} names[] = {
	{"cpu_clk_unhalted.thread", EVENT_CYCLES, COUNT_NONE},
	{"cpu_clk_unhalted.thread_p", EVENT_CYCLES, COUNT_NONE},
	{"cpu_clk_unhalted.core", EVENT_CYCLES, COUNT_NONE},
	{"ls_not_halted_cyc", EVENT_CYCLES, COUNT_NONE},
	{"inst_retired.any", EVENT_INSTRUCTIONS, COUNT_NONE},
	{"inst_retired.any_p", EVENT_INSTRUCTIONS, COUNT_NONE},
	{"inst_retired.prec_dist", EVENT_INSTRUCTIONS, COUNT_NONE},
	{"ex_ret_instr", EVENT_INSTRUCTIONS, COUNT_NONE},
	{"cycle_activity.stalls_mem_any", EVENT_STALLS, COUNT_STALLS_LOAD},
	{"cycle_activity.stalls_ldm_pending", EVENT_STALLS, COUNT_STALLS_LOAD},
	{"exe_activity.bound_on_loads", EVENT_STALLS, COUNT_STALLS_LOAD},
	{"cycle_activity.stalls_l1d_pending", EVENT_STALLS, COUNT_STALLS_L1_MISS},
	{"cycle_activity.stalls_l1d_miss", EVENT_STALLS, COUNT_STALLS_L1_MISS},
	{"memory_activity.stalls_l1d_miss", EVENT_STALLS, COUNT_STALLS_L1_MISS},
	{"mem_bound_stalls.load", EVENT_STALLS, COUNT_STALLS_L1_MISS},
	{"mem_bound_stalls_load.all", EVENT_STALLS, COUNT_STALLS_L1_MISS},
	{"ex_no_retire.load_not_complete", EVENT_STALLS, COUNT_STALLS_RETIRE},
	{"ls_any_fills_from_sys.dram_io_all", EVENT_MISSES, COUNT_MISSES_FILLS},
};

/* Terms that make an event of a table a different one: the edge, any and inv bits, and cmask. */
#define CONFIG_CHANGES ((1ULL << 18) | (1ULL << 21) | (1ULL << 23))
#define CONFIG_CMASK   (0xffULL << 24)

/* The CPU of a recording. */
struct cpu {
	const struct pmu_quirk *intel; /* NULL: not a CPU of Intel that is known */
	bool is_amd;
	struct pmu_cpu amd;
};

static struct cpu parse_cpuid(const char *cpuid, const char *pmu)
{
	struct cpu cpu = {0};
	unsigned int family, model;

	if (!cpuid)
		return cpu;
	if (sscanf(cpuid, "GenuineIntel,%u,%u,", &family, &model) == 2) {
		cpu.intel = pmu_intel_quirk(family, model, pmu);
	} else if (sscanf(cpuid, "AuthenticAMD,%u,%u,", &family, &model) == 2) {
		cpu.is_amd = true;
		cpu.amd = (struct pmu_cpu){PMU_VENDOR_AMD, family, model};
	}
	return cpu;
}

/* cpu_core, cpu_atom and cpu_lowpower are those of hybrid CPUs (origin/pmu/pmu.c). */
static bool is_core(const char *pmu)
{
	return strcmp(pmu, "cpu") == 0 || strncmp(pmu, "cpu_", 4) == 0;
}

/* Sets the role and kind of the event that a core counts for `role`. Returns false if it counts none. */
static bool event_of(const struct cpu *cpu, enum event_role role, struct pmu_count_event *ret)
{
	if (cpu->intel)
		*ret = pmu_intel_count(cpu->intel, role);
	else if (cpu->is_amd)
		*ret = pmu_amd_count(&cpu->amd, role);
	else
		return false;
	return ret->event != 0;
}

static bool recognize_code(u64 config, const struct cpu *cpu, struct event *ret)
{
	static const enum event_role roles[] = {EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_STALLS, EVENT_MISSES};

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		struct pmu_count_event event;

		if (!event_of(cpu, roles[i], &event) ||
		    (config & ~CONFIG_KERNELS) !=
			    (event.event | (u64)event.umask << 8 | (u64)event.cmask << 24))
			continue;
		ret->role = roles[i];
		ret->count_kind = event.kind;
		return true;
	}
	return false;
}

static const struct count_name *find_name(const char *text)
{
	const size_t length = strcspn(text, "/:,");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && strncasecmp(names[i].name, text, length) == 0)
			return &names[i];
	return NULL;
}

/*
 * perf's name may have the PMU before it, and terms and modifiers behind it: "cpu_core/inst_retired.any,period=1009/u",
 * or "inst_retired.any/period=1009/u". Of the events in the table, only stalls have a cmask.
 */
static bool recognize_name(const char *text, u64 config, struct event *ret)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	const struct count_name *name;

	if (!text || config & CONFIG_CHANGES)
		return false;
	name = find_name(text);
	if (!name && slash)
		name = find_name(slash + 1);
	if (!name || (name->role != EVENT_STALLS && config & CONFIG_CMASK))
		return false;
	ret->role = name->role;
	ret->count_kind = name->kind;
	return true;
}

/*
 * The kernel's generic cache misses are those of the last level on Intel (intel_perfmon_event_map in
 * arch/x86/events/intel/core.c), but those of L2 on AMD from Zen on (amd_zen_perfmon_event_map and later ones in
 * arch/x86/events/amd/core.c, Linux 6.12), which are not traffic of the memory.
 */
static bool recognize_generic(u64 config, const struct cpu *cpu, struct event *ret)
{
	switch (config & GENERIC_MASK) {
	case PERF_COUNT_HW_CPU_CYCLES:
		ret->role = EVENT_CYCLES;
		return true;
	case PERF_COUNT_HW_INSTRUCTIONS:
		ret->role = EVENT_INSTRUCTIONS;
		return true;
	case PERF_COUNT_HW_CACHE_MISSES:
		if (!cpu->intel)
			return false;
		ret->role = EVENT_MISSES;
		ret->count_kind = pmu_intel_count(cpu->intel, EVENT_MISSES).kind;
		return true;
	default:
		return false;
	}
}

bool replay_count_describe(const struct perf_event_attr *attr, const char *name, const char *pmu,
			   const char *cpuid, struct event *ret)
{
	const bool generic = attr->type == PERF_TYPE_HARDWARE;
	struct cpu cpu;

	*ret = (struct event){.period = attr->freq ? 0 : attr->sample_period};
	/*
	 * Of a group with the modifier S, only the leader has samples (evsel__config_leader_sampling(),
	 * tools/perf/util/record.c). The others have no period. They would look as if they never happened.
	 */
	if (attr->sample_period == 0)
		return false;
	if (!pmu)
		pmu = generic || attr->type == PERF_TYPE_RAW ? "cpu" : "";
	if (!is_core(pmu))
		return false;
	(void)snprintf(ret->pmu, sizeof(ret->pmu), "%s", pmu);
	cpu = parse_cpuid(cpuid, pmu);
	if (generic)
		return recognize_generic(attr->config, &cpu, ret);
	return recognize_code(attr->config, &cpu, ret) || recognize_name(name, attr->config, ret);
}

u8 replay_count_modes(const struct perf_event_attr *attr)
{
	return (u8)(attr->exclude_user | attr->exclude_kernel << 1);
}
