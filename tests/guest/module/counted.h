// SPDX-License-Identifier: GPL-2.0
/*
 * What events that count, and take no samples, counted while each cgroup's tasks ran: the truth for what a
 * profiler tells by reading the counters when tasks switch. Taken where time passes on the counters, so that
 * it depends on no switch. Counts only grow.
 */
#ifndef PEBS_MACHINE_COUNTED_H
#define PEBS_MACHINE_COUNTED_H

#include <linux/types.h>

#define COUNTED_MAX 256

struct core;
struct dentry;

struct counted_book {
	bool used;
	u64 cgroup; /* id in the default hierarchy */
	u64 extra;  /* value of the event's extra register; 0: it has none */
	u16 event;  /* event select | unit mask << 8 */
	u64 count;
};

struct counted {
	struct counted_book books[COUNTED_MAX];
	u64 full; /* events that found no place */
	u64 before[36];
};

/* Around what moves the counters of this CPU, for the task that it interrupted; interrupts are off. */
void counted_begin(struct core *core);
void counted_end(struct core *core);

/* pebs_machine/counted: an object a line. */
void counted_file_open(struct dentry *directory);

#endif
