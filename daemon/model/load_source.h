// SPDX-License-Identifier: GPL-2.0
/*
 * The data source field of a PEBS record, and its translation by Linux's driver. Bits 3:0 are the source, 4
 * STLB miss, 5 locked, and since Golden Cove 6 data blocked and 7 address blocked (manual 18.8.1.2, 18.9.4
 * and 18.13.1.3, with tables for each generation). E-cores have the flags in other bits (Linux 6.12, union
 * intel_x86_pebs_dse in ds.c). The driver's tables are pebs_data_source in arch/x86/events/intel/ds.c (Linux
 * 6.1, 6.12, 7.3), one for each generation.
 */
#ifndef PEBSD_MODEL_LOAD_SOURCE_H
#define PEBSD_MODEL_LOAD_SOURCE_H

#include "machine.h"
#include "pebsd/data_source.h"
#include "retired.h"

/*
 * Returns the value that the hardware writes for a load. Returns 0 for ENCODING_NONE, whose field is
 * reserved.
 */
u64 load_source_encode(const struct machine *machine, const struct retired *load);

/* Returns the union perf_mem_data_src that the driver reports for this value. */
u64 load_source_data_src(const struct machine *machine, u64 encoded);

/* The access flags of data_source.h that the model decodes. The books of the emulated PMU count these. */
#define LOAD_SOURCE_FLAGS(X)    X(locked) X(blocked)
#define LOAD_SOURCE_FLAG_(name) bool name;

/*
 * Decodes the field into pebsd's classes, directly from the tables and not through union perf_mem_data_src. A
 * test can therefore compare pebsd's totals with the result.
 */
struct load_source {
	enum source source;
	enum snoop snoop;
	enum tlb tlb;
	LOAD_SOURCE_FLAGS(LOAD_SOURCE_FLAG_)
};
void load_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret);

/*
 * The status of a precise store (18.9.4.3, A0H: bit 0 L1D hit, 4 STLB miss, 5 locked), and its union
 * perf_mem_data_src.
 */
u64 store_status_encode(const struct retired *store);
u64 store_status_data_src(u64 encoded);

/*
 * The source field of a store on this machine. With precise store, it is the store's status. With store
 * latency, it is a data source as for a load. Otherwise only bit 0 is used: L1D hit (Haswell to Ice Lake,
 * MEM_UOPS_RETIRED.ALL_STORES and its successors). A machine without store events has 0.
 */
u64 store_source_encode(const struct machine *machine, const struct retired *store);
u64 store_source_data_src(const struct machine *machine, u64 encoded);
void store_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret);

#endif
