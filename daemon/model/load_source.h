// SPDX-License-Identifier: GPL-2.0
/*
 * The data source field of a PEBS record (bits 3:0 source, 4 STLB miss, 5 locked, 6 data blocked, 7 address
 * blocked, from Golden Cove on; manual 18.8.1.2, 18.9.4 and 18.13.1.3, tables of each generation; E-cores
 * have the flags elsewhere: Linux 6.12, union intel_x86_pebs_dse in ds.c) and what Linux's driver makes of it
 * (pebs_data_source in arch/x86/events/intel/ds.c, Linux 6.1, 6.12, 7.3). One table each generation.
 */
#ifndef PEBSD_MODEL_LOAD_SOURCE_H
#define PEBSD_MODEL_LOAD_SOURCE_H

#include "machine.h"
#include "pebsd/data_source.h"
#include "retired.h"

/* What the hardware writes for a load. 0 for ENCODING_NONE (reserved there). */
u64 load_source_encode(const struct machine *machine, const struct retired *load);

/* What the driver hands on for it: the value of a union perf_mem_data_src. */
u64 load_source_data_src(const struct machine *machine, u64 encoded);

/*
 * The same in pebsd's words, from the tables alone and not by way of union perf_mem_data_src: what the books
 * of a test may be compared with.
 */
struct load_source {
	enum source source;
	enum snoop snoop;
	enum tlb tlb;
	bool locked;
	bool blocked;
};
void load_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret);

/* A precise store's status (18.9.4.3, A0H: bit 0 L1D hit, 4 STLB miss, 5 locked), and its union
 * perf_mem_data_src. */
u64 store_status_encode(const struct retired *store);
u64 store_status_data_src(u64 encoded);

/*
 * A store as the machine tells it: a precise store's status; with store latency the data source as of a load;
 * else (Haswell to Ice Lake, MEM_UOPS_RETIRED.ALL_STORES and its successors) bit 0, L1D hit, alone. 0 for a
 * machine without store events.
 */
u64 store_source_encode(const struct machine *machine, const struct retired *store);
u64 store_source_data_src(const struct machine *machine, u64 encoded);
void store_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret);

#endif
