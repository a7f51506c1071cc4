// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which stripe of a slot each CPU writes to. Up to STRIPES_MAX CPUs have one stripe each, which no
 * other CPU writes to. If there are more CPUs, they share stripes as evenly as possible. CPUs with the same
 * last-level cache share rather than CPUs with different ones, and threads of the same core rather than
 * threads of different cores. Pure functions, except for stripes_of_machine(); tested with topologies of real
 * machines.
 */
#ifndef PEBSD_STRIPES_H
#define PEBSD_STRIPES_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/records.h"

/* One possible CPU. */
struct stripes_cpu {
	u32 cache;   /* any number for its last-level cache, the same for all CPUs that share it */
	u32 core;    /* any number for its core within the cache, the same for all its threads */
	bool absent; /* offline: gets a stripe only after the CPUs that are online */
};

struct stripes {
	u32 n;      /* 1 to STRIPES_MAX */
	u32 cpus;   /* possible CPUs, with the kernel's numbers 0 to cpus - 1 */
	u32 caches; /* number of last-level caches if present CPUs share stripes, else 0 */
	bool alone; /* each CPU has a stripe that no other CPU writes to */
	u8 *of_cpu; /* the stripe of each of the `cpus` CPUs; malloc'ed */
};

/*
 * `topology` has `cpus` entries, at least one. Returns 0, -EINVAL or -ENOMEM. The caller frees with
 * stripes_done().
 */
int stripes_assign(const struct stripes_cpu *topology, u32 cpus, struct stripes *ret);

/*
 * Assigns the stripes of this machine, from the files below `sysfs`; NULL stands for /sys. If `cpus` is 0,
 * uses all possible CPUs, and returns -ENODATA if sysfs does not list them. CPUs whose caches sysfs does not
 * describe, as in a container, count as sharing one cache. A CPU whose sibling threads sysfs does not list
 * counts as a core of its own. Offline CPUs are absent. Returns 0 or -errno.
 */
int stripes_of_machine(const char *sysfs, u32 cpus, struct stripes *ret);

/* One stripe for a single writer that may run on any CPU: a replay or the model. Returns 0 or -ENOMEM. */
int stripes_single(struct stripes *ret);

void stripes_done(struct stripes *stripes);

#endif
