// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the cgroups whose traffic rose when one cgroup, the victim, became slower. It compares the victim's
 * latency with the traffic of the others from the levels that they share, over aligned bins of time. Pure and
 * deterministic.
 *
 * A strength is the partial correlation of the logarithm of the latency with the traffic of one candidate.
 * The victim's own traffic, and the traffic of all others together, are taken out if they rose with the
 * latency. Therefore load that all cgroups have in common names no candidate. The series are made robust
 * first (pairing.h).
 *
 * A candidate is named if its strength exceeds each of
 * - NEIGHBOURS_STRENGTH_MIN;
 * - the strength that the best candidate and lag reach by chance: the victim's series is rotated against the
 *   candidates' series by each number of bins that is at least an eighth of all (91 rotations of 120 bins);
 * - the strength that theory gives for 1 case in 500, for the number of pairs of candidate and lag, and for
 *   the number of independent bins.
 *
 * The candidate's mean traffic must also be higher in the bins in which the victim was slow. The difference
 * must be at least NEIGHBOURS_RISE_MIN of the mean traffic of all cgroups together.
 */
#ifndef PEBSD_NEIGHBOURS_H
#define PEBSD_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* One cgroup over `n` bins. */
struct neighbour_series {
	const char *cgroup;
	const double *traffic; /* in any unit, the same for all cgroups; NAN: not known */
	const double *latency; /* mean cycles; NAN: too few samples; only read for the victim */
	const double *error;   /* standard errors of `latency`, only read for the victim; may be NULL */
};

enum neighbours_verdict {
	NEIGHBOURS_NAMED,  /* at least one culprit is named */
	NEIGHBOURS_SELF,   /* the victim's own traffic explains its latency best; no candidate is named */
	NEIGHBOURS_NOBODY, /* there is enough evidence, and no candidate stands out */
	NEIGHBOURS_THIN,   /* too few bins with a latency */
	NEIGHBOURS_STEADY, /* the latency did not change enough to be explained */
	/*
	 * The strongest candidate and the latency changed together in so few long periods that chance cannot be
	 * excluded: its `needed` is 1.
	 */
	NEIGHBOURS_EPISODE,
};

struct neighbour {
	size_t index;        /* index in the candidates */
	double strength;     /* at the lag with the highest strength; -1 to 1 */
	int lag;             /* bins by which the traffic precedes the latency; 0 or more */
	size_t n;            /* number of bins that the strength is computed from */
	double needed;       /* the strength that a neighbour must exceed to be named; 1: none is enough */
	double traffic_slow; /* mean traffic, `lag` bins before each bin of the slowest quarter */
	double traffic_fast; /* the same for the fastest half */
	bool named;
};

struct neighbours {
	enum neighbours_verdict verdict;
	size_t bins;          /* number of bins with a latency */
	double self_strength; /* of the victim's own traffic at lag 0, with that of all others taken out */
	double latency_slow;  /* mean cycles in the slowest quarter of the bins */
	double latency_fast;  /* mean cycles in the fastest half */
	size_t n;
	struct neighbour
		*list; /* all candidates that could be judged, strongest first; empty if thin or steady */
};

#define NEIGHBOURS_BINS_MIN     24
#define NEIGHBOURS_LAG_MAX      2
#define NEIGHBOURS_STRENGTH_MIN 0.5
#define NEIGHBOURS_RISE_MIN     0.005
/*
 * A latency is steady if its mean in the slowest quarter is less than this many times that in the fastest
 * half.
 */
#define NEIGHBOURS_SLOWER_MIN 1.1

/*
 * Ranks the candidates. A candidate cannot be judged if its traffic is known in too few bins, or is the same
 * in all but a few. Returns 0 or -ENOMEM. The caller frees ret->list.
 */
int neighbours_rank(const struct neighbour_series *victim, const struct neighbour_series *candidates,
		    size_t n, size_t bins, struct neighbours *ret);

#endif
