// SPDX-License-Identifier: GPL-2.0
#include "workload_fixture.h"

#include <stdlib.h>

int workload_fixture_open(const struct machine *machine, enum workload_kind kind, u64 seed,
			  struct workload_fixture *ret)
{
	void *storage = aligned_alloc(64, memory_size(&machine->memory));

	*ret = (struct workload_fixture){.machine = machine};
	if (!storage)
		return -ENOMEM;
	ret->memory = memory_open(storage, &machine->memory, seed);
	workload_open(&ret->workload, kind, &machine->memory, ret->memory, seed);
	return 0;
}

void workload_fixture_close(const struct workload_fixture *fixture)
{
	free(fixture->memory);
}

u32 truth_threshold_latency(const struct machine *machine, const struct retired *load)
{
	return machine->mechanisms & MECHANISM_LATENCY_SPLIT ? load->instruction_latency : load->latency;
}

void truth_add(struct workload_fixture *fixture, u32 threshold, u64 loads, struct truth *truth)
{
	for (u64 i = 0; i < loads; i++) {
		struct load_source words;
		struct retired load;

		workload_next_load(&fixture->workload, &load);
		truth->loads++;
		if (truth_threshold_latency(fixture->machine, &load) <= threshold)
			continue;
		load_source_decode(fixture->machine, load_source_encode(fixture->machine, &load), &words);
		truth->above++;
		truth->latency += load.latency;
		truth->latency_squares += (u64)load.latency * load.latency;
		if (truth->latency_max < load.latency)
			truth->latency_max = load.latency;
		truth->sources[words.source]++;
		truth->snoops[words.snoop]++;
		truth->tlbs[words.tlb]++;
		truth->walks += load.translated == TRANSLATED_WALK;
		truth->locked += load.locked;
	}
}
