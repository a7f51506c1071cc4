// SPDX-License-Identifier: GPL-2.0
/*
 * The maximum over a recent span of time. The span has parts, of which the oldest is forgotten first. Pure:
 * no clock.
 */
#ifndef PEBSD_GOVERN_PEAK_H
#define PEBSD_GOVERN_PEAK_H

#define PEAK_PARTS 10

/* Initialize with {.part_seconds = ...}. A peak remembers the last PEAK_PARTS to PEAK_PARTS + 1 parts. */
struct peak {
	double part_seconds;
	double spent; /* seconds of the newest part so far */
	unsigned newest;
	double most[PEAK_PARTS + 1];
};

/* Adds `value`, at least 0, for the `seconds` that passed. */
void peak_add(struct peak *peak, double seconds, double value);

/* Returns 0 if nothing was added. */
double peak_get(const struct peak *peak);

#endif
