// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#define RING_MIN   256
#define UNSENT_MIN 16384
#define UNSENT_MAX ((size_t)SYMBOLS_QUEUE_BYTES_MAX - SYMBOLS_QUEUE_MAX * sizeof(struct symbols_request))

/* write_request() needs this much free space for a request without a path. */
#define REQUEST_ROOM 512

/* Bytes of a query in a packet. */
#define QUERY_BYTES 32

/* The buffer can hold all queries in flight, so symbols_queue_restart() can send all of them again. */
_Static_assert(REQUEST_ROOM + SYMBOLS_QUEUE_MAX * QUERY_BYTES <= UNSENT_MAX, "all queries fit");
_Static_assert(REQUEST_ROOM + SYMBOLS_WIRE_PATH_MAX <= UNSENT_MAX / 8,
	       "the largest request fits after a move");

void symbols_queue_clear(struct symbols_queue *queue)
{
	free(queue->ring);
	free(queue->unsent);
	*queue = (struct symbols_queue){0};
}

static int grow_ring(struct symbols_queue *queue)
{
	size_t size = queue->size ? queue->size * 2 : RING_MIN;
	struct symbols_request *ring;

	if (size > SYMBOLS_QUEUE_MAX)
		return -ENOBUFS;
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < queue->n; i++)
		ring[i] = queue->ring[(queue->first + i) & (queue->size - 1)];
	free(queue->ring);
	queue->ring = ring;
	queue->size = size;
	queue->first = 0;
	return 0;
}

/*
 * Returns whether the space of sent bytes is large enough to be used again: half of the buffer, or an eighth of a
 * buffer that cannot grow. This bounds how often bytes are moved.
 */
static bool may_move(const struct symbols_queue *queue, size_t needed)
{
	return queue->unsent_begin >= (queue->unsent_size == UNSENT_MAX ? UNSENT_MAX / 8 : needed);
}

static int grow_unsent(struct symbols_queue *queue, size_t room)
{
	size_t waiting = queue->unsent_end - queue->unsent_begin;
	size_t size = queue->unsent_size ? queue->unsent_size : UNSENT_MIN;
	u8 *unsent;

	if (queue->unsent_end + room <= queue->unsent_size)
		return 0;
	if (may_move(queue, waiting + room)) {
		memmove(queue->unsent, queue->unsent + queue->unsent_begin, waiting);
		queue->unsent_begin = 0;
		queue->unsent_end = waiting;
		return 0;
	}
	if (queue->unsent_size == UNSENT_MAX)
		return -ENOBUFS;
	while (size < queue->unsent_end + room)
		size = MIN(2 * size, UNSENT_MAX);
	unsent = reallocarray(queue->unsent, size, sizeof(*unsent));
	if (!unsent)
		return -ENOMEM;
	queue->unsent = unsent;
	queue->unsent_size = size;
	return 0;
}

static int write_request(struct symbols_queue *queue, struct symbols_wire_request *request)
{
	size_t room = REQUEST_ROOM + (request->type == SYMBOLS_WIRE_MAPPED ? SYMBOLS_WIRE_PATH_MAX : 0);
	int r = grow_unsent(queue, room);

	if (r < 0)
		return r;
	request->number = queue->numbers + 1;
	queue->unsent_end += symbols_wire_write_request(request, queue->unsent + queue->unsent_end, room);
	queue->numbers++;
	return 0;
}

int symbols_queue_add(struct symbols_queue *queue, struct symbols_wire_request *request, u32 pid,
		      struct symbols_entry *entry)
{
	int r = queue->n == queue->size ? grow_ring(queue) : 0;

	if (r >= 0)
		r = write_request(queue, request);
	if (r < 0)
		return r;
	queue->ring[(queue->first + queue->n) & (queue->size - 1)] =
		(struct symbols_request){request->number, pid, entry};
	queue->n++;
	queue->queries += entry != NULL;
	return 0;
}

const struct symbols_request *symbols_queue_first(const struct symbols_queue *queue)
{
	return queue->n ? &queue->ring[queue->first] : NULL;
}

void symbols_queue_remove_first(struct symbols_queue *queue)
{
	queue->queries -= queue->ring[queue->first].entry != NULL;
	queue->first = (queue->first + 1) & (queue->size - 1);
	queue->n--;
}

size_t symbols_queue_packet(const struct symbols_queue *queue, const u8 **ret)
{
	const u8 *begin = queue->unsent + queue->unsent_begin;
	size_t waiting = queue->unsent_end - queue->unsent_begin;
	struct symbols_wire_request request;
	size_t size = 0;

	while (size < waiting) {
		ssize_t n = symbols_wire_read_request(begin + size, waiting - size, &request);

		if (n <= 0 || size + (size_t)n > SYMBOLS_WIRE_PACKET)
			break;
		size += (size_t)n;
	}
	*ret = begin;
	return size;
}

void symbols_queue_sent(struct symbols_queue *queue, size_t bytes)
{
	queue->unsent_begin += bytes;
	if (queue->unsent_begin == queue->unsent_end)
		queue->unsent_begin = queue->unsent_end = 0;
}

int symbols_queue_restart(struct symbols_queue *queue)
{
	size_t n = queue->n;
	int r;

	queue->unsent_begin = queue->unsent_end = 0;
	r = grow_unsent(queue, queue->queries * QUERY_BYTES + REQUEST_ROOM);
	if (r < 0)
		return r;
	queue->n = queue->queries = 0;
	/* The ring never holds more than before, so no entry that is still to be read is overwritten. */
	for (size_t i = 0; i < n; i++) {
		struct symbols_request pending = queue->ring[(queue->first + i) & (queue->size - 1)];
		struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FIND};

		if (!pending.entry)
			continue;
		request.query = pending.entry->query;
		/* There is room for it. */
		(void)symbols_queue_add(queue, &request, pending.pid, pending.entry);
	}
	return 0;
}

u64 symbols_queue_bytes(const struct symbols_queue *queue)
{
	return queue->size * sizeof(*queue->ring) + queue->unsent_size;
}
