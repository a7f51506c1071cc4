// SPDX-License-Identifier: GPL-2.0
/*
 * Converts the registers of an IBS operation like Linux's driver, perf_ibs_get_data_src() and its helpers in
 * arch/x86/events/amd/ibs.c. Linux 6.1 and 6.12 differ, and 7.3 is like 6.12. Also decodes these registers
 * into pebsd's classes.
 */
#ifndef PEBSD_MODEL_IBS_SOURCE_H
#define PEBSD_MODEL_IBS_SOURCE_H

#include "ibs.h"
#include "load_source.h"

enum ibs_driver {
	IBS_DRIVER_6_1,  /* sets level bits; level numbers only for I/O and memories without a level bit */
	IBS_DRIVER_6_12, /* sets level numbers for all levels, and the level bits that exist */
	IBS_DRIVERS,
};

/*
 * The kind of the operation, PERF_MEM_OP_* (include/uapi/linux/perf_event.h). A locked operation counts as a
 * load.
 */
enum ibs_operation { IBS_OPERATION_OTHER = 1, IBS_OPERATION_LOAD = 2, IBS_OPERATION_STORE = 4 };

enum ibs_operation ibs_operation(u64 data3);

/*
 * Returns the value of a union perf_mem_data_src. For an operation without an access, the value is the
 * PERF_MEM_NA of that kernel version.
 */
u64 ibs_data_src(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver);

/*
 * Decodes the registers into pebsd's classes, without using ibs_data_src(). The driver of 6.1 does not
 * distinguish caches of other core complexes in this node (Zen 4 and later) from those of another node: both
 * are remote_cache.
 */
void ibs_source_decode(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver,
		       struct load_source *ret);

/*
 * Gets the cycles from a load's miss in L1 to its data, IbsDcMissLat. Returns false if the operation has
 * none.
 */
bool ibs_miss_latency(u64 data3, u32 *ret);

#endif
