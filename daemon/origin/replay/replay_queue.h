// SPDX-License-Identifier: GPL-2.0
/*
 * Puts what a recording holds into the order of time. perf writes one CPU's buffer after the other, so that a
 * task's comm may stand behind its first sample. The order is that of perf
 * (tools/perf/util/ordered-events.c): what was written before the last but one FINISHED_ROUND has no older
 * record behind it.
 */
#ifndef PEBSD_REPLAY_QUEUE_H
#define PEBSD_REPLAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"

enum replay_item_kind { REPLAY_SAMPLE, REPLAY_COMM, REPLAY_FORK, REPLAY_CGROUP };

/* Something that happened. */
struct replay_item {
	u64 time;
	u64 sequence; /* of its entry: keeps apart what has one time */
	enum replay_item_kind kind;
	u32 tid;
	union {
		struct {
			struct sample sample;
			bool has_cgroup; /* `sample.cgroup_id` is the recorded one, else its task decides */
			bool timed;      /* `time` is known */
		};
		u32 parent_tid; /* FORK */
		u32 name;       /* COMM: index of "comm:NAME" */
		struct {
			u64 cgroup_id;
			u32 path; /* index of the name */
		};
	};
};

/* A file without rounds is sorted within this many: 12 MiB. */
#define REPLAY_QUEUE_MAX ((size_t)1 << 17)

/* All zero is an empty one. */
struct replay_queue {
	struct replay_item *heap;
	size_t n;
	size_t capacity;
	u64 sequence;
	u64 newest;     /* latest time that was entered */
	u64 round_end;  /* `newest` at the last round */
	u64 release_to; /* no older record can come; what is not newer may go */
};

void replay_queue_clear(struct replay_queue *queue);

/* Enters an item. Returns 0; -ENOBUFS where REPLAY_QUEUE_MAX are in it, and one must be taken out; -ENOMEM.
 */
int replay_queue_put(struct replay_queue *queue, const struct replay_item *item);

/* perf has read each CPU's buffer once more. */
void replay_queue_round(struct replay_queue *queue);

/* Takes out the oldest item, if it may go or if `any` is set; false where there is none. */
bool replay_queue_take(struct replay_queue *queue, bool any, struct replay_item *ret);

#endif
