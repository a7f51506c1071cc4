// SPDX-License-Identifier: GPL-2.0
/*
 * What Linux's driver makes of the registers of an IBS operation: perf_ibs_get_data_src() and its helpers in
 * arch/x86/events/amd/ibs.c, of which 6.1 and 6.12 differ (7.3 is as 6.12); and the same in pebsd's words.
 */
#ifndef PEBSD_MODEL_IBS_SOURCE_H
#define PEBSD_MODEL_IBS_SOURCE_H

#include "ibs.h"
#include "load_source.h"

enum ibs_driver {
	IBS_DRIVER_6_1,  /* has level bits, and level numbers of memories that these cannot name */
	IBS_DRIVER_6_12, /* has both of all levels */
	IBS_DRIVERS,
};

/* What kind the operation was, PERF_MEM_OP_* (include/uapi/linux/perf_event.h): a locked one is a load. */
enum ibs_operation { IBS_OPERATION_OTHER = 1, IBS_OPERATION_LOAD = 2, IBS_OPERATION_STORE = 4 };

enum ibs_operation ibs_operation(u64 data3);

/* The value of a union perf_mem_data_src; of an operation that is no access, PERF_MEM_NA of that kernel. */
u64 ibs_data_src(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver);

/*
 * In pebsd's words, from the registers alone. The driver of 6.1 has the same words for a cache of this node's
 * other core complexes (Zen 4 and later) as for another node's: remote_cache.
 */
void ibs_source_decode(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver,
		       struct load_source *ret);

/* Cycles from a load's miss in L1 to its data: IbsDcMissLat. False: the operation has none. */
bool ibs_miss_latency(u64 data3, u32 *ret);

#endif
