// SPDX-License-Identifier: GPL-2.0
#include "pmu_quirks.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * use_latency: up to Ice Lake; all later cores have PMU_FL_INSTR_LATENCY (arch/x86/events/intel/core.c, Linux
 * 6.1 to 7.3), E-cores included.
 * costly_ip: x86_pmu_hw_config in arch/x86/events/core.c, Linux 6.1.
 * precise_store: intel_snb_pebs_event_constraints and intel_ivb_pebs_event_constraints in
 * arch/x86/events/intel/ds.c, Linux 6.1: it runs on counter 3 alone, as the load latency does.
 */
static const struct pmu_quirk quirks[] = {
	{.name = "nehalem", .use_latency = true, .costly_ip = true, .no_stores = true},
	{.name = "westmere", .use_latency = true, .costly_ip = true, .no_stores = true},
	{.name = "sandybridge", .use_latency = true, .costly_ip = true, .precise_store = true},
	{.name = "ivybridge", .use_latency = true, .costly_ip = true, .precise_store = true},
	{.name = "haswell", .use_latency = true},
	{.name = "broadwell", .use_latency = true},
	{.name = "skylake", .use_latency = true},
	{.name = "icelake", .use_latency = true},
};

/* A kernel from before caps/pmu_name (4.14) knows no part after Skylake. Its 0xcd stores are precise ones. */
static const struct pmu_quirk nameless = {.use_latency = true, .precise_store = true};

static const struct pmu_quirk later = {.use_latency = false};

const struct pmu_quirk *pmu_quirk_find(const char *name, const char *pmu)
{
	for (size_t i = 0; i < ARRAY_SIZE(quirks); i++) {
		const struct pmu_quirk *quirk = &quirks[i];

		if (quirk->name && (!name || strcmp(quirk->name, name) != 0))
			continue;
		if (quirk->pmu && strcmp(quirk->pmu, pmu) != 0)
			continue;
		return quirk;
	}
	return name ? &later : &nameless;
}
