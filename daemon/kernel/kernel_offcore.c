// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel_offcore.h"

#include <errno.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/kernel_blocks.h"

#include "pebsd.skel.h"

struct kernel_offcore {
	struct pebsd_bpf *skeleton;         /* owned by the kernel side */
	const struct kernel_blocks *blocks; /* owned by the kernel side */
	u32 cpus;
	u32 *pmus;             /* for each CPU: 1 + the number of its PMU; 0: none yet */
	struct mapping states; /* one struct offcore_cpu for each CPU */
};

static struct offcore_cpu *state_of(const struct kernel_offcore *offcore, u32 cpu)
{
	return (struct offcore_cpu *)offcore->states.memory + cpu;
}

static int leave_out(struct pebsd_bpf *skeleton)
{
	int r;

	bpf_program__set_autoload(skeleton->progs.offcore_switched, false);
	bpf_program__set_autoload(skeleton->progs.offcore_collect, false);
	if ((r = bpf_map__set_autocreate(skeleton->maps.offcore_events, false)) < 0 ||
	    (r = bpf_map__set_autocreate(skeleton->maps.offcore_cpus, false)) < 0)
		return r;
	return bpf_map__set_autocreate(skeleton->maps.offcore_blocks, false);
}

int kernel_offcore_prepare(struct pebsd_bpf *skeleton, const struct kernel_blocks *blocks, u32 cpus,
			   struct kernel_offcore **ret)
{
	_cleanup_(kernel_offcore_freep) struct kernel_offcore *offcore = NULL;
	int r;

	*ret = NULL;
	if (cpus == 0)
		return leave_out(skeleton);
	offcore = calloc(1, sizeof(*offcore));
	if (!offcore)
		return -ENOMEM;
	*offcore = (struct kernel_offcore){.skeleton = skeleton, .blocks = blocks, .cpus = cpus};
	offcore->pmus = calloc(cpus, sizeof(*offcore->pmus));
	if (!offcore->pmus)
		return -ENOMEM;
	skeleton->rodata->offcore_cpu_count = cpus;
	if ((r = bpf_map__set_max_entries(skeleton->maps.offcore_events, cpus * OFFCORE_COUNTERS)) < 0 ||
	    (r = bpf_map__set_max_entries(skeleton->maps.offcore_cpus, cpus)) < 0)
		return r;
	*ret = TAKE_PTR(offcore);
	return 0;
}

int kernel_offcore_start(struct kernel_offcore *offcore)
{
	if (!offcore)
		return 0;
	return kernel_map_memory(bpf_map__fd(offcore->skeleton->maps.offcore_cpus),
				 offcore->cpus * sizeof(struct offcore_cpu), PROT_READ | PROT_WRITE,
				 &offcore->states);
}

struct kernel_offcore *kernel_offcore_free(struct kernel_offcore *offcore)
{
	if (!offcore)
		return NULL;
	kernel_unmap(&offcore->states);
	free(offcore->pmus);
	free(offcore);
	return NULL;
}

/*
 * After this call no program reads counters on the CPU, and the counts so far belong to the cgroup of the
 * running task. A program that saw the previous generation runs with interrupts off, so it has ended once the
 * CPU takes the interrupt of the last kernel_offcore_collect(). No program runs on an offline CPU.
 */
static void hold(struct kernel_offcore *offcore, u32 cpu)
{
	struct offcore_cpu *state = state_of(offcore, cpu);

	if (!(state->generation & 1)) {
		(void)kernel_offcore_collect(offcore, cpu);
		__atomic_store_n(&state->generation, state->generation + 1, __ATOMIC_SEQ_CST);
	}
	(void)kernel_offcore_collect(offcore, cpu);
}

static void clear(struct kernel_offcore *offcore, u32 cpu)
{
	for (u32 counter = 0; counter < OFFCORE_COUNTERS; counter++) {
		u32 index = cpu * OFFCORE_COUNTERS + counter;

		(void)bpf_map_delete_elem(bpf_map__fd(offcore->skeleton->maps.offcore_events), &index);
	}
	state_of(offcore, cpu)->counters = 0;
}

int kernel_offcore_place(struct kernel_offcore *offcore, u32 cpu, u32 pmu, const int fds[OFFCORE_COUNTERS])
{
	struct offcore_cpu *state;
	u32 counters = 0;

	if (cpu >= offcore->cpus)
		return -ERANGE;
	state = state_of(offcore, cpu);
	hold(offcore, cpu);
	clear(offcore, cpu);
	for (u32 counter = 0; counter < OFFCORE_COUNTERS; counter++) {
		u32 index = cpu * OFFCORE_COUNTERS + counter;
		int r;

		if (fds[counter] < 0)
			continue;
		r = bpf_map_update_elem(bpf_map__fd(offcore->skeleton->maps.offcore_events), &index,
					&fds[counter], BPF_ANY);
		if (r < 0) {
			r = -errno;
			clear(offcore, cpu);
			return r;
		}
		counters |= 1U << counter;
	}
	offcore->pmus[cpu] = 1 + pmu;
	__atomic_store_n(&state->counters, counters, __ATOMIC_RELAXED);
	__atomic_store_n(&state->generation, state->generation + 1, __ATOMIC_RELEASE);
	(void)kernel_offcore_collect(offcore, cpu);
	return 0;
}

void kernel_offcore_know(struct kernel_offcore *offcore, u32 cpu, u32 pmu)
{
	if (cpu < offcore->cpus)
		offcore->pmus[cpu] = 1 + pmu;
}

bool kernel_offcore_reads(const struct kernel_offcore *offcore, u32 cpu)
{
	const struct offcore_cpu *state = cpu < offcore->cpus ? state_of(offcore, cpu) : NULL;

	return state && !(state->generation & 1) && state->counters;
}

void kernel_offcore_remove(struct kernel_offcore *offcore, u32 cpu)
{
	if (cpu >= offcore->cpus)
		return;
	hold(offcore, cpu);
	clear(offcore, cpu);
}

int kernel_offcore_collect(const struct kernel_offcore *offcore, u32 cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(offcore->skeleton->progs.offcore_collect), &options) < 0
		       ? -errno
		       : 0;
}

const struct offcore_record *kernel_offcore_record(const struct kernel_offcore *offcore, u32 cpu, u32 slot)
{
	const struct offcore_record *records = kernel_blocks_memory(offcore->blocks, BLOCK_OFFCORE, slot);

	return &records[(size_t)cpu * offcore->blocks->slots + kernel_slot_in_block(offcore->blocks, slot)];
}

const struct offcore_cpu *kernel_offcore_cpu(const struct kernel_offcore *offcore, u32 cpu)
{
	return state_of(offcore, cpu);
}

u32 kernel_offcore_cpus(const struct kernel_offcore *offcore)
{
	return offcore->cpus;
}

bool kernel_offcore_pmu(const struct kernel_offcore *offcore, u32 cpu, u32 *ret)
{
	if (offcore->pmus[cpu] == 0)
		return false;
	*ret = offcore->pmus[cpu] - 1;
	return true;
}
