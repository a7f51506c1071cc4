// SPDX-License-Identifier: GPL-2.0
/*
 * What the symbolizer was asked and has not answered, in order, and of that what has not been sent: bounded.
 * Pure.
 */
#ifndef PEBSD_SYMBOLS_QUEUE_H
#define PEBSD_SYMBOLS_QUEUE_H

#include "base/cleanup.h"
#include "symbols/symbols_cache.h"

/* Requests that are under way at most, and bytes of them that wait to be sent. */
#define SYMBOLS_QUEUE_MAX       65536UL
#define SYMBOLS_QUEUE_BYTES_MAX (8ULL << 20)

struct symbols_asked {
	u64 number;
	u32 pid;
	struct symbols_entry *entry; /* of a question; NULL: of something else */
};

/* All zero: empty. */
struct symbols_queue {
	struct symbols_asked *ring; /* SYMBOLS_QUEUE_MAX at most, a power of two */
	size_t size, first, n, questions;
	u64 numbers; /* given so far */
	u8 *unsent;
	size_t unsent_size, unsent_begin, unsent_end;
};

void symbols_queue_clear(struct symbols_queue *queue);

/*
 * Gives the request a number and appends it. 0; -ENOBUFS where too much is under way, -ENOMEM, the queue then
 * as it was. `pid`: which process it is about; 0: none.
 */
int symbols_queue_add(struct symbols_queue *queue, struct symbols_wire_request *request, u32 pid,
		      struct symbols_entry *entry);

/* The oldest, or NULL. */
const struct symbols_asked *symbols_queue_first(const struct symbols_queue *queue);
void symbols_queue_remove_first(struct symbols_queue *queue);

/* Whole requests that make a packet; 0 bytes: nothing waits. */
size_t symbols_queue_packet(const struct symbols_queue *queue, const u8 **ret);
void symbols_queue_sent(struct symbols_queue *queue, size_t bytes);

/* For another symbolizer: only the questions remain, with new numbers, none of them sent. */
void symbols_queue_begin_anew(struct symbols_queue *queue);

u64 symbols_queue_bytes(const struct symbols_queue *queue);

#endif
