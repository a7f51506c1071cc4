// SPDX-License-Identifier: GPL-2.0
/*
 * Of the tasks that told what their code does (places.h): how many samples were handed over of which
 * instruction and which data, by cgroup and event, on each CPU for itself. Counts only grow until they are
 * reset.
 */
#ifndef PEBS_MACHINE_TOUCHED_H
#define PEBS_MACHINE_TOUCHED_H

#include <linux/perf_event.h>
#include <linux/types.h>

#define TOUCHED_MAX 4096 /* a power of two */

struct dentry;
struct sample_figures;

struct touched {
	bool used;
	u32 event; /* books_event_code() */
	u32 tid;
	u64 cgroup;
	u64 ip, address;
	u64 samples;
	u64 guarded; /* of them, those that no BPF program saw */
	u64 latency; /* of those that one saw */
	u64 hitm;    /* of those that one saw */
};

struct core_touched {
	struct touched *table;
	u64 full; /* samples that found no room */
};

/* -ENOMEM. */
int touched_open(struct core_touched *touched);
void touched_close(struct core_touched *touched);
void touched_reset(struct core_touched *touched);

/* A sample is handed to perf_event_overflow(); left out where the task told nothing. */
void touched_sample(struct core_touched *touched, const struct perf_event *event, u64 ip, u64 address,
		    const struct sample_figures *figures);

/* pebs_machine/touched: an object a line. */
void touched_file_open(struct dentry *directory);

#endif
