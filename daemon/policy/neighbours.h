// SPDX-License-Identifier: GPL-2.0
/*
 * Who rose when this one slowed: the latency of one cgroup against the traffic of others from levels that
 * they share, over aligned bins of time. Pure; deterministic.
 */
#ifndef PEBSD_NEIGHBOURS_H
#define PEBSD_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* One cgroup over `n` bins. */
struct neighbour_series {
	const char *cgroup;
	const double *traffic; /* weighted samples a second from L3, DRAM and remote; NAN: not known */
	const double *latency; /* mean cycles; NAN where too few samples; only the victim's is read */
};

enum neighbours_verdict {
	NEIGHBOURS_NAMED,  /* at least one culprit is named */
	NEIGHBOURS_SELF,   /* the victim's own traffic explains its latency better than anyone's */
	NEIGHBOURS_NOBODY, /* enough evidence, and nobody stands out */
	NEIGHBOURS_THIN,   /* too few bins with a latency */
	NEIGHBOURS_STEADY, /* the latency did not change enough to be explained */
};

struct neighbour {
	size_t index;    /* in the candidates */
	double strength; /* correlation with the victim's latency at `lag`, its own traffic taken out; -1 to 1
			  */
	int lag;         /* bins by which the traffic went ahead of the latency; 0 or more */
	size_t n;        /* bins that it rests on */
	double needed;   /* the strength that chance reaches among these candidates in one of 100 cases */
	double traffic_slow; /* mean traffic in the slowest quarter of the bins */
	double traffic_fast; /* and in the fastest half */
	bool named;
};

struct neighbours {
	enum neighbours_verdict verdict;
	size_t bins;          /* with a latency */
	double self_strength; /* of the victim's own traffic, at lag 0 */
	double latency_slow;  /* mean cycles in the slowest quarter of the bins */
	double latency_fast;  /* and in the fastest half */
	size_t n;
	struct neighbour *list; /* all candidates that could be judged, strongest first */
};

#define NEIGHBOURS_BINS_MIN 24
#define NEIGHBOURS_LAG_MAX  2

/* 0 or -ENOMEM; free ret->list. */
int neighbours_rank(const struct neighbour_series *victim, const struct neighbour_series *candidates,
		    size_t n, size_t bins, struct neighbours *ret);

#endif
