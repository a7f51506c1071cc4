// SPDX-License-Identifier: GPL-2.0
/*
 * Requests in flight: sent to the symbolizer or waiting to be sent, and not answered, in order. Bounded.
 * Pure.
 */
#ifndef PEBSD_SYMBOLS_QUEUE_H
#define PEBSD_SYMBOLS_QUEUE_H

#include "base/cleanup.h"
#include "symbols/symbols_cache.h"

/* Maximum requests in flight, and maximum memory of the queue: the ring and the requests that wait to be sent. */
#define SYMBOLS_QUEUE_MAX       65536UL
#define SYMBOLS_QUEUE_BYTES_MAX (8ULL << 20)

struct symbols_request {
	u64 number;
	u32 pid;
	struct symbols_entry *entry; /* of a query; NULL: another request */
};

/* All zero is an empty queue. */
struct symbols_queue {
	struct symbols_request *ring; /* at most SYMBOLS_QUEUE_MAX entries, a power of two */
	size_t size, first, n, queries;
	u64 numbers; /* request numbers assigned so far */
	u8 *unsent;  /* at most SYMBOLS_QUEUE_BYTES_MAX minus the largest ring */
	size_t unsent_size, unsent_begin, unsent_end;
};

void symbols_queue_clear(struct symbols_queue *queue);

/*
 * Numbers and appends the request. `pid` is the process that it is about; 0: none. Returns 0, -ENOBUFS (too
 * many in flight) or -ENOMEM. On failure the queue is unchanged.
 */
int symbols_queue_add(struct symbols_queue *queue, struct symbols_wire_request *request, u32 pid,
		      struct symbols_entry *entry);

/* Returns the oldest request, or NULL. */
const struct symbols_request *symbols_queue_first(const struct symbols_queue *queue);
void symbols_queue_remove_first(struct symbols_queue *queue);

/* Returns the bytes of the complete requests that fit into one packet. 0: nothing waits. */
size_t symbols_queue_packet(const struct symbols_queue *queue, const u8 **ret);
void symbols_queue_sent(struct symbols_queue *queue, size_t bytes);

/*
 * Prepares the queue for a new symbolizer: keeps only the queries, with new numbers and unsent. Returns 0 or -ENOMEM.
 * On failure no request will be sent, and the caller must remove all of them.
 */
int symbols_queue_restart(struct symbols_queue *queue);

/* Returns the memory of the queue, at most SYMBOLS_QUEUE_BYTES_MAX. */
u64 symbols_queue_bytes(const struct symbols_queue *queue);

#endif
