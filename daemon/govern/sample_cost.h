// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample of an event costs by how often samples come. An interrupt that comes often finds its code and
 * data in the caches; one that comes rarely takes them from memory, and takes several times as long. Two rates
 * were timed (govern/calibrate.h). Between them the interrupt follows the power law through both, above and
 * below them it takes what it takes there. So a higher rate never makes one sample cost more, nor all samples
 * together cost less. Pure.
 *
 * The program's time needs no such curve: it is timed in runs that really happen, at the rate of now.
 */
#ifndef PEBSD_GOVERN_SAMPLE_COST_H
#define PEBSD_GOVERN_SAMPLE_COST_H

#include <stdbool.h>

struct sample_cost {
	double program_ns;       /* 0: not known */
	double dense_ns;         /* the interrupt, above 0 */
	double dense_per_second; /* rate of the samples that it was timed at */
	double sparse_ns;        /* the same where samples are rare; 0: not known, all are taken for dense */
	double sparse_per_second;
};

/* Whether the numbers are numbers, and the cost is above 0. The other functions want such a cost. */
bool sample_cost_usable(const struct sample_cost *cost);

/* What the interrupt of one sample takes at a rate of samples a second. */
double sample_cost_interrupt_ns(const struct sample_cost *cost, double per_second);

/* The share of a CPU's time that samples at this rate take: 1 is all of it. */
double sample_cost_share(const struct sample_cost *cost, double per_second);

/* How many samples a second take that share, above 0. */
double sample_cost_rate(const struct sample_cost *cost, double share);

#endif
