// SPDX-License-Identifier: GPL-2.0
/*
 * Sources:
 * - The models of each name: the cases of intel_pmu_init() in arch/x86/events/intel/core.c, with the numbers in
 *   arch/x86/include/asm/intel-family.h (Linux 6.12).
 * - Cycles, instructions and misses are architectural events, which every model has (manual 18.2.1.2).
 */
#include "origin/pmu/pmu_intel.h"

#include <string.h>

#include "base/cleanup.h"

#define FAMILY 6

#define MODELS_MAX 6
static const struct {
	const char *name; /* caps/pmu_name */
	u8 models[MODELS_MAX];
} generations[] = {
	{"core", {0x0e}},
	{"core2", {0x0f, 0x16, 0x17, 0x1d}},
	{"bonnell", {0x1c, 0x26, 0x27, 0x35, 0x36}},
	{"nehalem", {0x1a, 0x1e, 0x2e}},
	{"westmere", {0x25, 0x2c, 0x2f}},
	{"sandybridge", {0x2a, 0x2d}},
	{"ivybridge", {0x3a, 0x3e}},
	{"haswell", {0x3c, 0x3f, 0x45, 0x46}},
	{"broadwell", {0x3d, 0x47, 0x4f, 0x56}},
	{"skylake", {0x4e, 0x55, 0x5e, 0x8e, 0x9e, 0xa5}},
	{"skylake", {0xa6}},
	{"icelake", {0x6a, 0x6c, 0x7d, 0x7e, 0x9d}},
	{"icelake", {0x8c, 0x8d, 0xa7}}, /* Tiger Lake, Rocket Lake */
	{"sapphire_rapids", {0x8f, 0xcf}},
	{"granite_rapids", {0xad, 0xae}},
	{"alderlake_hybrid", {0x97, 0x9a, 0xb7, 0xba, 0xbf}}, /* and Raptor Lake */
	{"meteorlake_hybrid", {0xaa, 0xac, 0xb5}},
	{"silvermont", {0x37, 0x4a, 0x4c, 0x4d, 0x5a}},
	{"knights-landing", {0x57, 0x85}},
	{"goldmont", {0x5c, 0x5f}},
	{"goldmont_plus", {0x7a}},
	{"Tremont", {0x86, 0x96, 0x9c}},
	{"gracemont", {0xbe}},
	{"crestmont", {0xaf, 0xb6}},
	{"darkmont", {0xdd}},
};

const struct pmu_quirk *pmu_intel_quirk(u32 family, u32 model, const char *pmu)
{
	for (size_t i = 0; family == FAMILY && model && i < ARRAY_SIZE(generations); i++)
		for (size_t j = 0; j < MODELS_MAX; j++)
			if (generations[i].models[j] == model)
				return pmu_quirk_find(generations[i].name, pmu);
	return NULL;
}

struct pmu_count_event pmu_intel_count(const struct pmu_quirk *quirk, enum event_role role)
{
	switch (role) {
	case EVENT_CYCLES:
		return (struct pmu_count_event){COUNT_NONE, 0x3c, 0x00, 0, 0};
	case EVENT_STALLS:
		return quirk->stalls;
	case EVENT_MISSES:
		return (struct pmu_count_event){quirk->last_level_l2 ? COUNT_MISSES_L2 : COUNT_MISSES_L3,
						0x2e, 0x41, 0, 0};
	default:
		return (struct pmu_count_event){COUNT_NONE, 0xc0, 0x00, 0, 0};
	}
}
