// SPDX-License-Identifier: GPL-2.0
/* The data that a workload's loads and stores access, and the accesses of other cores to that data. */
#ifndef PEBSD_MODEL_WORKLOAD_DATA_H
#define PEBSD_MODEL_WORKLOAD_DATA_H

#include "workload.h"

enum data {
	DATA_NONE,
	DATA_STACK,
	DATA_ARRAY,       /* the next word of a large array; its prefetcher runs ahead */
	DATA_NODE,        /* a random place, as if from a pointer */
	DATA_REMOTE_NODE, /* a random place in memory of the other socket, whose cores also use it */
	DATA_PAYLOAD,     /* in the current node */
	DATA_SHARED,      /* in a line that another core writes */
	DATA_SHARED_AGAIN,
	DATA_PAGE, /* one line in one of many pages */
	DATA_OWN_COUNTER,
	DATA_SHARED_COUNTER,
	DATA_HOT, /* fits into the first-level cache */
	DATA_ANY, /* a mix of these */
	/* Of the programs of the scenario. */
	DATA_INDEX,  /* a quarter of L2 mostly, and a quarter of L3 */
	DATA_RECORD, /* in L2, or in more memory than the caches hold, some of it of the other socket */
	DATA_FIELD,  /* in the current record */
	DATA_LOG,    /* one line after the other, of few */
	DATA_FILE,   /* the next vector of a block, in memory of the other socket; the blocks are scattered */
	DATA_ROWS,   /* as DATA_ARRAY, two words at a time */
	DATA_SESSION, /* half of L2 mostly, and half of L3 */
	DATA_TALLY,   /* in a line of its own, or in one that another core writes */
	DATA_TALLY_AGAIN,
	DATA_HOT_AWAY, /* as DATA_HOT, but not in the range of DATA_PAGE */
};

/* Fills the caches with the data as after a long run. */
void workload_data_warm(struct workload *workload);

/* Same as workload_name_of(), for an address in WORKLOAD_DATA. */
bool workload_data_name(u64 address, struct workload_name *ret);

/* Chooses the next access to `data`: sets `address`, `remote` and `large_page`. */
void workload_data_locate(struct workload *workload, enum data data, struct access *access);

#endif
