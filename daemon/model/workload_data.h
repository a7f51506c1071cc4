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
};

/* Fills the caches with the data as after a long run. */
void workload_data_warm(struct workload *workload);

/* Same as workload_name_of(), for an address in WORKLOAD_DATA. */
bool workload_data_name(u64 address, struct workload_name *ret);

/* Chooses the next access to `data`: sets `address`, `remote` and `large_page`. */
void workload_data_locate(struct workload *workload, enum data data, struct access *access);

#endif
