// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a sample of an event, depending on how often samples come. A frequent interrupt finds its code
 * and data in the caches. A rare one fetches them from memory and takes several times as long. Two rates were
 * timed (govern/calibrate.h). Between them the cost of an interrupt follows the power law through both; above
 * and below them it is constant. So at a higher rate a single sample never costs more, and all samples
 * together never cost less. Pure functions.
 *
 * The time of the program needs no such curve: it is timed in real runs, at the present rate.
 */
#ifndef PEBSD_GOVERN_SAMPLE_COST_H
#define PEBSD_GOVERN_SAMPLE_COST_H

#include <stdbool.h>

struct sample_cost {
	double program_ns;       /* 0: unknown */
	double dense_ns;         /* cost of the interrupt, above 0 */
	double dense_per_second; /* rate at which it was timed */
	double sparse_ns; /* cost of a rare interrupt; 0: unknown, then `dense_ns` applies at every rate */
	double sparse_per_second;
};

/* Returns whether all numbers are valid and the cost is above 0. The other functions need such a cost. */
bool sample_cost_usable(const struct sample_cost *cost);

/* Returns the time that the interrupt of one sample takes at this rate. */
double sample_cost_interrupt_ns(const struct sample_cost *cost, double per_second);

/* Returns the share of a CPU's time that samples at this rate take; 1 is all of it. */
double sample_cost_share(const struct sample_cost *cost, double per_second);

/* Returns how many samples a second take this share, which is above 0. */
double sample_cost_rate(const struct sample_cost *cost, double share);

#endif
