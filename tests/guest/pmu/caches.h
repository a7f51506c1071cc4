/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caches of all emulated CPUs. Each CPU has an instance of pebsd's model (daemon/model/memory.h), which
 * gets the guest's real reads and writes by physical address. A line that another CPU wrote is modified
 * there, so false sharing in a guest program is HITM here. A page that belongs to the other node is remote.
 *
 * Most accesses go to lines that the CPU used a moment ago. For these, each CPU has a small table of lines,
 * looked up by linear address at the cost of some instructions. Only accesses outside this table, and those that
 * go to core_access(), go through the model. So the model's first level does not see every use of a line, and
 * sometimes evicts a line that is in constant use.
 */
#ifndef PMU_CACHES_H
#define PMU_CACHES_H

#include "model/memory.h"

#define CACHES_CPUS 64
/* The number of lines in a first level of 32 KiB. */
#define CACHES_RECENT 512

/* An entry is the linear line << 1, plus 1 if the CPU may write it without asking other CPUs. 0: unused. */
struct recent_lines {
	u64 lines[CACHES_RECENT];
};

struct caches;

/*
 * `node_bytes`: physical memory of each of two nodes. The first node has the first half of the CPUs. 0: one
 * node. Returns NULL if memory runs out or `cpus` is above CACHES_CPUS. The result is never freed: it lives as
 * long as QEMU.
 */
struct caches *caches_open(unsigned int cpus, u64 node_bytes);

/* Creates the caches of a CPU. Returns 0 or -ENOMEM. */
int caches_add_cpu(struct caches *caches, unsigned int cpu, const struct memory_shape *shape);

struct recent_lines *caches_recent(struct caches *caches, unsigned int cpu);

static inline bool caches_is_recent(const struct recent_lines *recent, u64 linear, bool store)
{
	u64 line = linear >> 6, entry = recent->lines[line % CACHES_RECENT];

	return store ? entry == (line << 1 | 1) : entry >> 1 == line && entry;
}

struct caches_access {
	u64 linear, physical;
	u64 now; /* the CPU's core clock */
	bool store, locked, io;
};

/* Makes an access in the model, and sets the same results as memory_access(). */
void caches_access(struct caches *caches, unsigned int cpu, const struct caches_access *access,
		   struct retired *ret);

/* The CPU changed its address space, so linear addresses now mean other lines. */
void caches_forget(struct caches *caches, unsigned int cpu);

#endif
