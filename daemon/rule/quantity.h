// SPDX-License-Identifier: GPL-2.0
/* Formats the values of metrics for people. Pure. */
#ifndef PEBSD_QUANTITY_H
#define PEBSD_QUANTITY_H

#include "base/text.h"
#include "rule/metric.h"

/* Round a lower bound down and an upper one up, so that the number shown is one that was proven. */
enum quantity_rounding { NEAREST, DOWN, UP };

/* Writes a number as "1,234.5", with at most `decimals` decimals and without zeros at the end. */
void quantity_number(double value, int decimals, enum quantity_rounding rounding, char ret[TEXT_NUMBER_MAX]);

/* Scales bytes a second to a unit that suits them, and returns the unit: "GB/s". A constant. */
const char *quantity_byte_rate(double value, double *ret);

/* Writes a finite value with its unit: "912.5 cycles", "12.5% of the samples", "3.2 cores", "5.2 GB/s". */
#define QUANTITY_MAX 80
void quantity(const struct metric *metric, double value, enum quantity_rounding rounding,
	      char ret[QUANTITY_MAX]);

#endif
