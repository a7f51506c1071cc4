// SPDX-License-Identifier: GPL-2.0
#include "contention.h"

#define WHOLE 1000ULL

u32 contention_wait(u64 lines, u64 cycles, u32 service)
{
	u64 utilization;

	if (!cycles)
		return 0;
	utilization = lines * service * WHOLE / cycles;
	if (utilization > CONTENTION_UTILIZATION_MAX)
		utilization = CONTENTION_UTILIZATION_MAX;
	return (u32)(service * utilization / (2 * (WHOLE - utilization)));
}
