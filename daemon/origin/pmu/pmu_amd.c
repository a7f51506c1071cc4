// SPDX-License-Identifier: GPL-2.0
/*
 * Sources:
 * - The text of modalias: print_cpu_modalias() in drivers/base/cpu.c, and CPU_FEATURE_TYPEFMT in
 *   arch/x86/include/asm/cpufeature.h (Linux 6.12). All numbers are hexadecimal and have four digits.
 * - The models of each generation: tools/perf/pmu-events/arch/x86/mapfile.csv (Linux 6.12). Its families are
 *   decimal: 23 is 17h, 25 is 19h, and 26 is 1ah.
 * - The events: the folders amdzen1 to amdzen5 beside that file (Linux 6.12), and amdzen6 (Linux 7.0), which has
 *   the events of amdzen5. The comment beside each event names its file.
 * - Cycles and instructions are the same in every family: amd_perfmon_event_map and the maps of Zen in
 *   arch/x86/events/amd/core.c (Linux 6.12).
 */
#include "origin/pmu/pmu_amd.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

enum generation { OTHER, ZEN_1, ZEN_2, ZEN_3, ZEN_4, ZEN_5 };

#define DIGITS 4

/* Parses `prefix` and a number of four hexadecimal digits, and moves `text` past them. */
static bool take(const char **text, const char *prefix, u32 *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = *text;
	u32 value = 0;

	if (strncmp(at, prefix, strlen(prefix)) != 0)
		return false;
	at += strlen(prefix);
	for (int i = 0; i < DIGITS; i++, at++) {
		const char *digit = *at ? strchr(digits, tolower((unsigned char)*at)) : NULL;

		if (!digit)
			return false;
		value = value * 16 + (u32)(digit - digits);
	}
	*text = at;
	*ret = value;
	return true;
}

int pmu_cpu_parse(const char *modalias, struct pmu_cpu *ret)
{
	struct pmu_cpu cpu;

	if (!take(&modalias, "cpu:type:x86,ven", &cpu.vendor) || !take(&modalias, "fam", &cpu.family) ||
	    !take(&modalias, "mod", &cpu.model) || *modalias != ':')
		return -EINVAL;
	*ret = cpu;
	return 0;
}

static enum generation generation_of(const struct pmu_cpu *cpu)
{
	const u32 model_block = cpu->model >> 4; /* AMD assigns models in blocks of 16 */

	if (cpu->vendor != PMU_VENDOR_AMD)
		return OTHER;
	switch (cpu->family) {
	case 0x17:
		return model_block <= 2 ? ZEN_1 : ZEN_2;
	case 0x19:
		return model_block == 0 || model_block == 2 || model_block == 4 || model_block == 5 ? ZEN_3
												    : ZEN_4;
	case 0x1a:
		return ZEN_5; /* and Zen 6 */
	default:
		return OTHER;
	}
}

static struct pmu_count_event stalls_of(const struct pmu_cpu *cpu)
{
	/* amdzen4/core.json, amdzen5/execution.json: ex_no_retire.load_not_complete */
	static const struct pmu_count_event load_not_complete = {COUNT_STALLS_RETIRE, 0xd6, 0xa2, 0, 0};
	const enum generation generation = generation_of(cpu);

	return generation >= ZEN_4 ? load_not_complete : (struct pmu_count_event){0};
}

static struct pmu_count_event misses_of(const struct pmu_cpu *cpu)
{
	/*
	 * amdzen2/memory.json: ls_refills_from_sys.ls_mabresp_lcl_dram and .ls_mabresp_rmt_dram, umasks 0x08 and
	 * 0x40. Zen 2 counts the fills of hardware prefetches by another event (0x5a).
	 */
	static const struct pmu_count_event refills = {COUNT_MISSES_DEMAND_FILLS, 0x43, 0x48, 0, 0};
	/*
	 * amdzen3/memory.json: ls_any_fills_from_sys.mem_io_local and .mem_io_remote, umasks 0x08 and 0x40.
	 * amdzen4/cache.json, amdzen5/load-store.json: ls_any_fills_from_sys.dram_io_all
	 */
	static const struct pmu_count_event any_fills = {COUNT_MISSES_FILLS, 0x44, 0x48, 0, 0};

	switch (generation_of(cpu)) {
	case ZEN_2:
		return refills;
	case ZEN_3:
	case ZEN_4:
	case ZEN_5:
		return any_fills;
	case ZEN_1:
	case OTHER:
		break;
	}
	return (struct pmu_count_event){0};
}

struct pmu_count_event pmu_amd_count(const struct pmu_cpu *cpu, enum event_role role)
{
	switch (role) {
	case EVENT_CYCLES:
		return (struct pmu_count_event){COUNT_NONE, 0x76, 0x00, 0, 0};
	case EVENT_STALLS:
		return stalls_of(cpu);
	case EVENT_MISSES:
		return misses_of(cpu);
	case EVENT_INSTRUCTIONS:
		return (struct pmu_count_event){COUNT_NONE, 0xc0, 0x00, 0, 0};
	default:
		return (struct pmu_count_event){0};
	}
}
