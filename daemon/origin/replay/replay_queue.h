// SPDX-License-Identifier: GPL-2.0
/*
 * Sorts the contents of a recording by time. perf writes the buffers of the CPUs one after the other, so a
 * task's comm may come after its first sample. The order is that of perf (tools/perf/util/ordered-events.c):
 * no record after the last FINISHED_ROUND is older than those written before the previous FINISHED_ROUND.
 */
#ifndef PEBSD_REPLAY_QUEUE_H
#define PEBSD_REPLAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"

enum replay_item_kind { REPLAY_SAMPLE, REPLAY_COMM, REPLAY_FORK, REPLAY_CGROUP };

/* A record of the recording that waits for its turn. */
struct replay_item {
	u64 time;
	u64 sequence; /* order of entry, for items with the same time */
	enum replay_item_kind kind;
	u32 tid;
	union {
		struct {
			struct sample sample;
			bool has_cgroup; /* `sample.cgroup_id` is recorded; if false, the task decides */
			bool timed;      /* `time` is known */
		};
		u32 parent_tid; /* FORK */
		u32 name;       /* COMM: index of the name "comm:NAME" */
		struct {
			u64 cgroup_id;
			u32 path; /* index of the path */
		};
	};
};

/* Maximum number of items in the queue: 11 MiB. A file without rounds is sorted within this many items. */
#define REPLAY_QUEUE_MAX ((size_t)1 << 17)

/* All zero is an empty queue. */
struct replay_queue {
	struct replay_item *heap;
	size_t n;
	size_t capacity;
	u64 sequence;
	u64 newest;     /* latest time in the queue so far */
	u64 round_end;  /* `newest` at the last round */
	u64 release_to; /* no record older than this can follow, so items up to this time can be taken */
};

void replay_queue_clear(struct replay_queue *queue);

/*
 * Adds an item. Returns 0, -ENOBUFS if REPLAY_QUEUE_MAX items are in the queue and one must be taken first,
 * or -ENOMEM.
 */
int replay_queue_put(struct replay_queue *queue, const struct replay_item *item);

/* Notes that perf has read the buffer of each CPU once more. */
void replay_queue_round(struct replay_queue *queue);

/*
 * Takes out the oldest item, if no older record can follow or if `any` is set. Returns false if there is no
 * such item.
 */
bool replay_queue_take(struct replay_queue *queue, bool any, struct replay_item *ret);

#endif
