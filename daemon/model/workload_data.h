// SPDX-License-Identifier: GPL-2.0
/* What a workload's loads and stores access, and what other cores do to it meanwhile. */
#ifndef PEBSD_MODEL_WORKLOAD_DATA_H
#define PEBSD_MODEL_WORKLOAD_DATA_H

#include "workload.h"

enum data {
	DATA_NONE,
	DATA_STACK,
	DATA_ARRAY,       /* the next word of a large array; its prefetcher runs ahead */
	DATA_NODE,        /* anywhere: where the pointer says */
	DATA_REMOTE_NODE, /* in memory of the other socket, whose cores use it too */
	DATA_PAYLOAD,     /* of the node */
	DATA_SHARED,      /* in a line that another core writes */
	DATA_SHARED_AGAIN,
	DATA_PAGE, /* one line in one of many pages */
	DATA_OWN_COUNTER,
	DATA_SHARED_COUNTER,
	DATA_HOT, /* what the first level cache holds */
	DATA_ANY, /* of each a bit */
};

/* The data is in the caches as after a long run. */
void workload_data_warm(struct workload *workload);

/* As workload_name_of(), of an address in WORKLOAD_DATA. */
bool workload_data_name(u64 address, struct workload_name *ret);

/* The next access to it: sets `address`, `remote` and `large_page`. */
void workload_data_locate(struct workload *workload, enum data data, struct access *access);

#endif
