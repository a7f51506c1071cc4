// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_cost.h"

#include "kernel/kernel.h"
#include "kernel/map_size.h"
#include "origin/perf/perf_mmap.h"
#include "pebsd/records.h"

/* The lowest result of perf_cost_slots(). */
#define SLOTS_AUTO_MIN 512

/* Returns the size of the maps if `hot_cgroups` cgroups have hot tables. */
static u64 map_bytes(const struct perf_cost_case *machine, const struct perf_cost_facts *facts,
		     u32 hot_cgroups)
{
	struct map_size_case maps = {
		.slots = facts->slots,
		.stripes = machine->stripes,
		.cpus = machine->cpus,
		.offcore_cpus = machine->counters ? machine->cpus : 0,
		.page_size = facts->page_size,
	};

	for (size_t i = 0; i < machine->n_events; i++) {
		(*(machine->events[i].has_latency ? &maps.with_latency : &maps.without))++;
		if (machine->events[i].has_code_address) {
			maps.hot_tables = (u64)machine->n_events * machine->cpus;
			maps.hot_cgroups = hot_cgroups;
		}
	}
	return map_size(&maps);
}

void perf_cost(const struct perf_cost_case *machine, const struct perf_cost_facts *facts,
	       struct perf_cost *ret)
{
	u64 opened = 0, mapped = 0, pages_max = 0;

	for (size_t i = 0; i < machine->n_events; i++) {
		const struct perf_cost_event *event = &machine->events[i];

		opened += event->cpus;
		mapped += (u64)event->cpus * (event->has_leader ? 2 : 1);
		pages_max += event->cpus * (1ULL + (event->only_counts ? PERF_MMAP_COUNT_PAGES_MAX
								       : PERF_MMAP_DATA_PAGES_MAX));
		if (event->has_leader)
			pages_max += event->cpus * (1ULL + PERF_MMAP_DATA_PAGES_MAX);
	}
	*ret = (struct perf_cost){
		.descriptors = mapped + machine->counters,
		.ring_bytes = mapped * 2 * facts->page_size,
		.ring_bytes_max = pages_max * facts->page_size,
		.map_bytes = map_bytes(machine, facts, 0),
		.hot_bytes = map_bytes(machine, facts, facts->hot_max) - map_bytes(machine, facts, 0),
		.event_bytes = (mapped + machine->counters) * facts->event_bytes,
	};
	/* Both must be known, because a partial sum would be taken for the whole. */
	if (facts->load_ns && facts->event_ns)
		ret->start_ns = facts->load_ns + opened * facts->event_ns;
}

static struct perf_cost_event event_of(const struct event_spec *spec, u32 cpus)
{
	return (struct perf_cost_event){
		.cpus = cpus,
		.has_leader = spec->has_leader,
		.has_latency = spec->event.settings.has_latency,
		.has_code_address = spec->event.settings.has_code_address,
		.only_counts = event_is_count(&spec->event),
	};
}

void perf_cost_planned(const struct pmu_plan *plan, unsigned roles, u32 possible_cpus, u32 stripes,
		       struct perf_cost_case *ret)
{
	*ret = (struct perf_cost_case){.cpus = possible_cpus, .stripes = stripes};
	for (size_t i = 0; i < plan->n_specs; i++) {
		const struct event_spec *spec = &plan->specs[i];

		if (roles & 1U << spec->event.role)
			ret->events[ret->n_events++] = event_of(spec, (u32)cpu_list_count(&spec->cpus));
	}
	for (size_t i = 0; i < plan->n_counters && (roles & 1U << EVENT_OFFCORE); i++)
		ret->counters += cpu_list_count(&plan->counters[i].cpus);
}

static void union_of(const struct pmu_plan *plan, struct cpu_list *ret)
{
	*ret = (struct cpu_list){0};
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].cpus_known)
			cpu_list_add_all(ret, &plan->specs[i].cpus);
	for (size_t i = 0; i < plan->n_counters; i++)
		if (plan->counters[i].cpus_known)
			cpu_list_add_all(ret, &plan->counters[i].cpus);
}

u32 perf_cost_cpus(const struct pmu_plan *plan)
{
	struct cpu_list all;

	union_of(plan, &all);
	return (u32)cpu_list_count(&all);
}

/* Rounds up, because a part of a CPU needs a whole event. */
static u32 share(bool known, const struct cpu_list *list, u32 all, u32 cpus)
{
	return known && all ? (u32)(((u64)cpus * cpu_list_count(list) + all - 1) / all) : cpus;
}

u32 perf_cost_stripes(u32 cpus)
{
	return cpus < STRIPES_MAX ? cpus : STRIPES_MAX;
}

void perf_cost_scaled(const struct pmu_plan *plan, unsigned roles, u32 cpus, struct perf_cost_case *ret)
{
	u32 all = perf_cost_cpus(plan);

	*ret = (struct perf_cost_case){.cpus = cpus, .stripes = perf_cost_stripes(cpus)};
	for (size_t i = 0; i < plan->n_specs; i++) {
		const struct event_spec *spec = &plan->specs[i];

		if (roles & 1U << spec->event.role)
			ret->events[ret->n_events++] =
				event_of(spec, share(spec->cpus_known, &spec->cpus, all, cpus));
	}
	for (size_t i = 0; i < plan->n_counters && (roles & 1U << EVENT_OFFCORE); i++)
		ret->counters += share(plan->counters[i].cpus_known, &plan->counters[i].cpus, all, cpus);
}

unsigned perf_cost_roles(const struct pmu_plan *plan)
{
	unsigned roles = plan->n_counters ? 1U << EVENT_OFFCORE : 0;

	for (size_t i = 0; i < plan->n_specs; i++)
		roles |= 1U << plan->specs[i].event.role;
	return roles;
}

size_t perf_cost_steps(const struct pmu_plan *plan, unsigned ret[PERF_COST_STEPS])
{
	unsigned all = perf_cost_roles(plan);
	unsigned roles = 0;
	size_t n = 0;

	for (unsigned role = 0; role < EVENT_ROLES && n < PERF_COST_STEPS - 1; role++)
		if (all & 1U << role)
			ret[n++] = roles |= 1U << role;
	if (n > 0 && ret[n - 1] != all)
		ret[n++] = all;
	return n;
}

u64 perf_cost_reserved(const struct event_spec *spec)
{
	return 2 * cpu_list_count(&spec->cpus);
}

u64 perf_cost_block_descriptors(u32 slots)
{
	return slots > SLOT_BLOCK ? (u64)BLOCK_KINDS * ((slots - 1) / SLOT_BLOCK) : 0;
}

u32 perf_cost_slots(size_t cgroups)
{
	if (cgroups > KERNEL_SLOTS_MAX / 2)
		return KERNEL_SLOTS_MAX;
	return 2 * cgroups < SLOTS_AUTO_MIN ? SLOTS_AUTO_MIN : (u32)(2 * cgroups);
}
