// SPDX-License-Identifier: GPL-2.0
/* The stacks of a profile as one tree of functions, pruned to its costliest nodes. Pure. */
#ifndef PEBSD_FLAME_H
#define PEBSD_FLAME_H

#include "profile/profile.h"

#define FLAME_NONE 0xffffffffU

/* Node 0 is the root: all samples of the tables. Numbers include those of the callees. */
struct flame_node {
	u32 parent;       /* FLAME_NONE: the root */
	const char *name; /* from the profile; NULL: the root, or the nodes left out below `parent` */
	const char *file; /* of the code in the function that has most of the cost; NULL: not known */
	u32 line;
	u64 samples, latency;
	u64 sources[SOURCE_SLOTS];          /* samples */
	u64 source_latencies[SOURCE_SLOTS]; /* the parts of `latency` */
};

/*
 * By cost, which is the latency or without it the samples, descending: a parent comes before its children, and the
 * costliest child first. Nodes for what is left out are last.
 */
struct flame {
	struct flame_node *nodes;
	size_t n;
};

/*
 * Makes a tree of at most `max` nodes, at least 2. Its strings belong to the profile, and are valid until it changes.
 * Returns 0, -E2BIG if the unpruned tree is too large, or -ENOMEM. Free it with flame_done().
 */
int flame_make(const struct profile *profile, const struct profile_names *names, size_t max,
	       struct flame *ret);

/*
 * Prunes a tree whose parents have smaller numbers than their children: sorts it as above, keeps about half of `max`
 * nodes, and adds for each of them one node for its children that were left out. Returns 0 or -ENOMEM.
 */
int flame_prune(struct flame *flame, bool by_latency, size_t max);

void flame_done(struct flame *flame);

#endif
