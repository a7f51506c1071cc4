// SPDX-License-Identifier: GPL-2.0
#include "caches.h"

#include <stdlib.h>
#include <string.h>

/* Lines whose holders are known. If two lines collide, the older one is forgotten. */
#define DIRECTORY 65536U
#define NOBODY    255U

/*
 * The kernel maps all memory in this range with large pages, so the model gets accesses to it as accesses to large
 * pages. The range goes from page_offset_base without address randomization to the end of the direct mapping
 * (Documentation/arch/x86/x86_64/mm.rst).
 */
#define DIRECT_MAP_START 0xffff888000000000ULL
#define DIRECT_MAP_END   0xffffc88000000000ULL

/* The holders of a physical line. */
struct holder {
	u64 line;
	u64 cpus;              /* CPUs that have the line in their recent lines or their caches */
	u8 writer;             /* CPU that may write the line without asking others; NOBODY: none */
	u16 slot[CACHES_CPUS]; /* index of the line in each CPU's recent lines */
};

struct caches {
	unsigned int cpus;
	u64 node_bytes;
	struct memory *memory[CACHES_CPUS];
	struct recent_lines recent[CACHES_CPUS];
	struct holder *directory;
};

struct caches *caches_open(unsigned int cpus, u64 node_bytes)
{
	struct caches *caches = cpus <= CACHES_CPUS ? calloc(1, sizeof(*caches)) : NULL;

	if (!caches)
		return NULL;
	caches->directory = calloc(DIRECTORY, sizeof(*caches->directory));
	if (!caches->directory)
		return NULL;
	for (unsigned int i = 0; i < DIRECTORY; i++)
		caches->directory[i].writer = NOBODY;
	caches->cpus = cpus;
	caches->node_bytes = node_bytes;
	return caches;
}

int caches_add_cpu(struct caches *caches, unsigned int cpu, const struct memory_shape *shape)
{
	void *storage = aligned_alloc(64, (memory_size(shape) + 63) & ~(size_t)63);

	if (!storage)
		return -ENOMEM;
	caches->memory[cpu] = memory_open(storage, shape, cpu + 1);
	return 0;
}

struct recent_lines *caches_recent(struct caches *caches, unsigned int cpu)
{
	return &caches->recent[cpu];
}

static unsigned int node_of_cpu(const struct caches *caches, unsigned int cpu)
{
	return caches->node_bytes && cpu >= (caches->cpus + 1) / 2;
}

/*
 * The memory of a guest is contiguous: it ends far below 4 GiB. A device has an address above it, and thus the
 * latency of the second node.
 */
static unsigned int node_of_page(const struct caches *caches, u64 physical)
{
	return caches->node_bytes && physical >= caches->node_bytes;
}

static void set_recent(struct caches *caches, unsigned int cpu, u16 slot, u64 entry)
{
	caches->recent[cpu].lines[slot] = entry;
}

/*
 * Informs the other CPUs about the access. A store takes the line from them. A load ends the right of the
 * writer to write the line without asking.
 */
static void inform_others(struct caches *caches, unsigned int cpu, struct holder *holder,
			  const struct caches_access *access)
{
	for (unsigned int other = 0; other < caches->cpus; other++) {
		bool has_it = holder->cpus >> other & 1;
		bool far = node_of_cpu(caches, other) != node_of_cpu(caches, cpu);

		if (other == cpu || !caches->memory[other])
			continue;
		if (access->store) {
			if (has_it)
				set_recent(caches, other, holder->slot[other], 0);
			memory_other_writes(caches->memory[other], access->physical, far);
		} else if (holder->writer == other) {
			set_recent(caches, other, holder->slot[other], 0);
			memory_other_reads(caches->memory[other], access->physical, far);
		}
	}
}

/* Enters an access in the directory, and in the recent lines of the CPU. */
static void enter(struct caches *caches, unsigned int cpu, const struct caches_access *access)
{
	u64 line = access->physical >> 6;
	u16 slot = (u16)((access->linear >> 6) % CACHES_RECENT);
	struct holder *holder = &caches->directory[line * 0x9e3779b97f4a7c15ULL >> 48];

	if (holder->line != line) {
		/* Otherwise a CPU with the forgotten line would not learn of stores by others. */
		for (unsigned int other = 0; other < caches->cpus; other++)
			if (holder->cpus >> other & 1)
				set_recent(caches, other, holder->slot[other], 0);
		*holder = (struct holder){.line = line, .writer = NOBODY};
	}
	if (access->store ? holder->cpus != 1ULL << cpu || holder->writer != cpu
			  : holder->writer != NOBODY && holder->writer != cpu)
		inform_others(caches, cpu, holder, access);
	/*
	 * The line has one slot per CPU. If the CPU uses the same memory at another linear address, the slot
	 * of the old address is cleared. This happens with the kernel's direct mapping of a program's page.
	 */
	/* NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult): no CPU has NOBODY's number */
	if (holder->cpus >> cpu & 1 && holder->slot[cpu] != slot)
		set_recent(caches, cpu, holder->slot[cpu], 0);
	if (access->store) {
		holder->cpus = 0;
		holder->writer = (u8)cpu;
	} else if (holder->writer != cpu) {
		holder->writer = NOBODY;
	}
	holder->cpus |= 1ULL << cpu;
	/* NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	holder->slot[cpu] = slot;
	set_recent(caches, cpu, slot, (access->linear >> 6) << 1 | (holder->writer == cpu));
}

_Static_assert(DIRECTORY == 1U << 16, "the hash has 16 bits");

void caches_access(struct caches *caches, unsigned int cpu, const struct caches_access *access,
		   struct retired *ret)
{
	struct access done = {
		.address = access->physical,
		.tsc = access->now,
		.kind = access->store ? ACCESS_STORE : ACCESS_LOAD,
		.remote = node_of_page(caches, access->physical) != node_of_cpu(caches, cpu),
		.locked = access->locked,
		.large_page = access->linear >= DIRECT_MAP_START && access->linear < DIRECT_MAP_END,
		.uncached = access->io,
		.io = access->io,
	};

	memory_access(caches->memory[cpu], &done, ret);
	if (!access->io)
		enter(caches, cpu, access);
	ret->address = access->linear;
	ret->physical = access->physical;
}

void caches_forget(struct caches *caches, unsigned int cpu)
{
	memset(&caches->recent[cpu], 0, sizeof(caches->recent[cpu]));
}
