// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <asm/apic.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ibs_pmu.h"
#include "pmu.h"
#include "world.h"

/* Where the kernel has the areas, in the CPU entry areas: not where the module's memory is, whose addresses
 * are no 48-bit ones where the CPU has five levels of page tables. */
#define AREA_BASE   0xfffffe0000000000ULL
#define AREA_STRIDE (1ULL << 20)

DEFINE_PER_CPU(struct core *, cores);

static void core_free(struct core *core)
{
	if (!core)
		return;
	for (int i = 0; i < WORKLOAD_COUNT; i++)
		vfree(core->memories[i]);
	books_close(&core->books);
	touched_close(&core->touched);
	vfree(core->memory);
	vfree(core);
}

/* alloc_pebs_buffer() in arch/x86/events/intel/ds.c: as many records as fit, of the machine's smallest. */
static int core_lay_out_buffer(struct core *core)
{
	const struct machine *machine = core->machine;
	struct ds_area area = {.base = core->area + PAGE_SIZE, .index = core->area + PAGE_SIZE};

	core->record_bytes = record_size(machine->format, 0);
	area.maximum = area.base + BUFFER_BYTES / core->record_bytes * core->record_bytes;
	area.threshold = area.base + core->record_bytes;
	return ds_area_write(machine, &core->unit.memory, core->area, &area);
}

static int core_open_workloads(struct core *core, const struct memory_shape *shape)
{
	for (int i = 0; i < WORKLOAD_COUNT; i++) {
		u64 seed = (u64)core->cpu * WORKLOAD_COUNT + (u64)i + 1;

		core->memories[i] = vzalloc_node(memory_size(shape), cpu_to_node(core->cpu));
		if (!core->memories[i])
			return -ENOMEM;
		workload_open(&core->workloads[i], i, shape, memory_open(core->memories[i], shape, seed),
			      seed);
	}
	return 0;
}

static int core_open_pebs(struct core *core, const struct machine *machine)
{
	struct linear_memory memory;

	core->machine = machine;
	core->area = AREA_BASE + (u64)core->cpu * AREA_STRIDE;
	core->memory = vzalloc_node(PAGE_SIZE + BUFFER_BYTES, cpu_to_node(core->cpu));
	if (!core->memory)
		return -ENOMEM;
	memory = (struct linear_memory){
		.base = core->area, .size = PAGE_SIZE + BUFFER_BYTES, .bytes = core->memory};
	pebs_open(&core->unit, machine, memory, (u64)core->cpu + 1);
	/* Each load over the threshold counts: the world is told how many those are. */
	core->unit.tag_interval = 1;
	core->full_width = pebs_write(&core->unit, COUNTER_FULL_WIDTH, 0) == 0;
	if (core_lay_out_buffer(core) < 0)
		return -EINVAL;
	core_write(core, MSR_IA32_DS_AREA, core->area);
	return core_open_workloads(core, &machine->memory);
}

static int core_open_ibs(struct core *core, const struct ibs_machine *machine)
{
	core->ibs.machine = machine;
	ibs_open(&core->ibs.unit, machine, (u64)core->cpu + 1);
	random_seed(&core->ibs.pace, (u64)core->cpu + 1, 0);
	return core_open_workloads(core, &machine->memory);
}

static struct core *core_new(int cpu)
{
	const struct ibs_machine *ibs = ibs_pmu_machine();
	struct core *core = vzalloc(sizeof(*core));

	if (!core)
		return NULL;
	core->cpu = cpu;
	if (books_open(&core->books) < 0 || touched_open(&core->touched) < 0)
		goto fail;
	if ((ibs ? core_open_ibs(core, ibs) : core_open_pebs(core, pmu_of_cpu(cpu)->machine)) < 0)
		goto fail;
	world_setup(core);
	return core;
fail:
	core_free(core);
	return NULL;
}

int cores_open(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
	{
		struct core *core = core_new(cpu);

		if (!core) {
			cores_close();
			return -ENOMEM;
		}
		per_cpu(cores, cpu) = core;
	}
	return 0;
}

void cores_close(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
	{
		if (per_cpu(cores, cpu))
			hrtimer_cancel(&per_cpu(cores, cpu)->timer);
		core_free(per_cpu(cores, cpu));
		per_cpu(cores, cpu) = NULL;
	}
}

void core_enter(struct core *core)
{
	WRITE_ONCE(core->busy, core->busy + 1);
	barrier();
}

void core_leave(struct core *core)
{
	barrier();
	WRITE_ONCE(core->busy, core->busy - 1);
	barrier();
	if (core->busy || !READ_ONCE(core->deferred))
		return;
	WRITE_ONCE(core->deferred, false);
	core_signal(core);
}

void core_signal(struct core *core)
{
	if (READ_ONCE(core->signalled))
		return;
	WRITE_ONCE(core->signalled, true);
	apic->send_IPI(core->cpu, NMI_VECTOR);
}

void core_write(struct core *core, u32 msr, u64 value)
{
	int r = pebs_write(&core->unit, msr, value);

	WARN_ONCE(r < 0, "pebs_machine: the model of %s refuses %#llx in register %#x\n",
		  core->machine->title, value, msr);
}

u64 core_read(struct core *core, u32 msr)
{
	u64 value = 0;
	int r = pebs_read(&core->unit, msr, &value);

	WARN_ONCE(r < 0, "pebs_machine: the model of %s does not know register %#x\n", core->machine->title,
		  msr);
	return value;
}
