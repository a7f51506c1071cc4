// SPDX-License-Identifier: GPL-2.0
/* The largest of what was seen of late, in parts of a span that are forgotten one after the other. Pure. */
#ifndef PEBSD_GOVERN_PEAK_H
#define PEBSD_GOVERN_PEAK_H

#define PEAK_PARTS 10

/* {.part_seconds = ...}: nothing was seen. It remembers for PEAK_PARTS to PEAK_PARTS + 1 of them. */
struct peak {
	double part_seconds;
	double spent; /* of the newest part */
	unsigned newest;
	double most[PEAK_PARTS + 1];
};

/* `seconds` went by, in which there was `value`, at least 0. */
void peak_add(struct peak *peak, double seconds, double value);

/* 0 where nothing was seen. */
double peak_get(const struct peak *peak);

#endif
