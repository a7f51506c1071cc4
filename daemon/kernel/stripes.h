// SPDX-License-Identifier: GPL-2.0
/*
 * Which stripe of a slot each CPU writes to. Up to STRIPES_MAX CPUs have one each, and then nobody else
 * writes to it. More CPUs share: CPUs of one last-level cache rather than of two, the threads of a core
 * before others, as evenly as that allows. Pure; tested with topologies of machines.
 */
#ifndef PEBSD_STRIPES_H
#define PEBSD_STRIPES_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/records.h"

/* One possible CPU. */
struct stripes_cpu {
	u32 cache;   /* its last-level cache: equal numbers share one; any number */
	u32 core;    /* equal numbers, within a cache, are threads of one core; any number */
	bool absent; /* it is offline: those that are here keep theirs to themselves while they can */
};

struct stripes {
	u32 n;      /* 1 to STRIPES_MAX */
	u32 cpus;   /* possible ones, as the kernel numbers them: 0 to cpus - 1 */
	u32 caches; /* last-level ones, where CPUs share stripes; 0: none needs to */
	bool alone; /* each CPU has a stripe of its own: nobody else writes to it */
	u8 *of_cpu; /* `cpus` of them; malloc'ed */
};

/* `cpus` entries, at least one. 0, -EINVAL or -ENOMEM. The caller frees with stripes_done(). */
int stripes_assign(const struct stripes_cpu *topology, u32 cpus, struct stripes *ret);

/*
 * The same for this machine, as /sys tells (below `sysfs`; NULL: /sys). `cpus` 0: those that are possible
 * (-ENODATA where it does not tell those). CPUs whose caches it does not tell, as in a container, are taken
 * for cores of one; who is offline is absent. 0, -errno.
 */
int stripes_of_machine(const char *sysfs, u32 cpus, struct stripes *ret);

/* Samples of one writer, whatever CPU it runs on: a replay, the model. 0 or -ENOMEM. */
int stripes_single(struct stripes *ret);

void stripes_done(struct stripes *stripes);

#endif
