// SPDX-License-Identifier: GPL-2.0
/* The module's parameters; what each is for stands in main.c. */
#ifndef PEBS_MACHINE_PARAMETERS_H
#define PEBS_MACHINE_PARAMETERS_H

#include <linux/types.h>

struct parameters {
	char *cpu;
	unsigned long loads_per_second;
	bool paused;
	bool time_samples;
	unsigned int books;
	unsigned int together;
};

extern struct parameters parameters;

#endif
