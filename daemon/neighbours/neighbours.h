// SPDX-License-Identifier: GPL-2.0
/*
 * Who rose when this one slowed: the latency of one cgroup against the traffic of others from levels that
 * they share, over aligned bins of time. Pure; deterministic.
 *
 * A strength is a correlation of the latency's logarithm with traffic, of what is left of both when the
 * victim's own traffic and the traffic of all others together are taken out (where they rose with the
 * latency): load that all have in common names nobody. The series are made robust first (pairing.h). One is
 * named whose strength exceeds each of
 * - NEIGHBOURS_STRENGTH_MIN;
 * - what the best of all candidates and lags reaches with the victim's time turned against theirs, by any
 *   number of bins from an eighth of all up (91 turns of 120 bins);
 * - what theory gives for 1 case in 500 of so many tries and independent bins;
 * and whose traffic was more, where the victim was slow, by NEIGHBOURS_RISE_MIN of everyone's mean together.
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
	const double *error;   /* standard errors of `latency`, of the victim; NULL: it has none */
};

enum neighbours_verdict {
	NEIGHBOURS_NAMED,  /* at least one culprit is named */
	NEIGHBOURS_SELF,   /* the victim's own traffic explains its latency better than anyone's; nobody is
			    * named
			    */
	NEIGHBOURS_NOBODY, /* enough evidence, and nobody stands out */
	NEIGHBOURS_THIN,   /* too few bins with a latency */
	NEIGHBOURS_STEADY, /* the latency did not change enough to be explained */
};

struct neighbour {
	size_t index;        /* in the candidates */
	double strength;     /* at `lag`, the one where it is most; -1 to 1 */
	int lag;             /* bins by which the traffic went ahead of the latency; 0 or more */
	size_t n;            /* bins that it rests on */
	double needed;       /* the strength that it would have to exceed to be named; at most 1 */
	double traffic_slow; /* mean traffic in the slowest quarter of the bins */
	double traffic_fast; /* and in the fastest half */
	bool named;
};

struct neighbours {
	enum neighbours_verdict verdict;
	size_t bins;          /* with a latency */
	double self_strength; /* of the victim's own traffic, at lag 0, everyone else's taken out */
	double latency_slow;  /* mean cycles in the slowest quarter of the bins */
	double latency_fast;  /* and in the fastest half */
	size_t n;
	struct neighbour
		*list; /* all candidates that could be judged, strongest first; none if thin or steady */
};

#define NEIGHBOURS_BINS_MIN     24
#define NEIGHBOURS_LAG_MAX      2
#define NEIGHBOURS_STRENGTH_MIN 0.5
#define NEIGHBOURS_RISE_MIN     0.005
/* Below that ratio of the slowest quarter to the fastest half a latency is steady. */
#define NEIGHBOURS_SLOWER_MIN 1.1

/*
 * Candidates that were in too few bins, or whose traffic is the same in all but a few, can't be judged. 0 or
 * -ENOMEM; free ret->list.
 */
int neighbours_rank(const struct neighbour_series *victim, const struct neighbour_series *candidates,
		    size_t n, size_t bins, struct neighbours *ret);

#endif
