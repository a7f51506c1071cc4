// SPDX-License-Identifier: GPL-2.0
/* What a rule measures, as people write it. Pure. */
#ifndef PEBSD_QUANTITY_H
#define PEBSD_QUANTITY_H

#include "base/text.h"
#include "policy/metric.h"

/* A lower bound is to be rounded down and an upper one up: what is shown was proven. */
enum quantity_rounding { NEAREST, DOWN, UP };

/* "1,234.5": not more decimals than there are. */
void quantity_number(double value, int decimals, enum quantity_rounding rounding, char ret[TEXT_NUMBER_MAX]);

/* With its unit: "912.5 cycles", "12.5 % of the samples". Finite. */
#define QUANTITY_MAX 80
void quantity(const struct metric *metric, double value, enum quantity_rounding rounding,
	      char ret[QUANTITY_MAX]);

#endif
