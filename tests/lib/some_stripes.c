// SPDX-License-Identifier: GPL-2.0
#include "some_stripes.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine/cpu_list.h"

static u32 possible_cpus(void)
{
	struct cpu_list possible;
	u32 cpus = 1;

	if (cpu_list_read("/sys/devices/system/cpu/possible", &possible) == 0)
		for (int cpu = -1; (cpu = cpu_list_next(&possible, cpu)) >= 0;)
			cpus = (u32)cpu + 1;
	return cpus;
}

static void checked(int r)
{
	if (r == 0)
		return;
	(void)fprintf(stderr, "no stripes: %d\n", r);
	abort();
}

const struct stripes *machine_stripes(void)
{
	static struct stripes stripes;

	if (!stripes.of_cpu)
		checked(stripes_of_machine(NULL, possible_cpus(), &stripes));
	return &stripes;
}

const struct stripes *one_stripe(void)
{
	static struct stripes stripes;

	if (!stripes.of_cpu)
		checked(stripes_single(&stripes));
	return &stripes;
}
