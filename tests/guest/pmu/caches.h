/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caches of all emulated CPUs: each CPU's are pebsd's model (daemon/model/memory.h), fed by what the
 * guest really reads and writes, by physical address. A line that another CPU wrote is modified there, so
 * false sharing in a guest program is HITM here. A page that belongs to the other node is remote.
 *
 * Most accesses go to lines that the CPU used a moment ago. For these a CPU has a small table of lines,
 * looked up by linear address, which costs some instructions; only what is not in it goes through the model.
 * The model's first level thus does not see every use of a line, and drops a line that is in constant use now
 * and then.
 */
#ifndef PMU_CACHES_H
#define PMU_CACHES_H

#include "model/memory.h"

#define CACHES_CPUS 64
/* As many lines as a first level of 32 KiB has. */
#define CACHES_RECENT 512

/* Entries: linear line << 1 | 1 if the CPU may write it without asking; 0: none. */
struct recent_lines {
	u64 lines[CACHES_RECENT];
};

struct caches;

/* `node_bytes`: physical memory of each of two nodes, of which the first has the first half of the CPUs. 0:
 * one node. NULL: no memory. Never freed: it lives as long as QEMU. */
struct caches *caches_open(unsigned int cpus, u64 node_bytes);

/* Gives a CPU its caches. -ENOMEM. */
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

/* Does an access by the model: sets what memory_access() sets. */
void caches_access(struct caches *caches, unsigned int cpu, const struct caches_access *access,
		   struct retired *ret);

/* The CPU has another address space: linear addresses mean other lines. */
void caches_forget(struct caches *caches, unsigned int cpu);

#endif
