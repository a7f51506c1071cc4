// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_queue.h"

#include <errno.h>
#include <stdlib.h>

#define CAPACITY_MIN ((size_t)256)

void replay_queue_clear(struct replay_queue *queue)
{
	free(queue->heap);
	*queue = (struct replay_queue){};
}

static bool before(const struct replay_item *a, const struct replay_item *b)
{
	return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

int replay_queue_put(struct replay_queue *queue, const struct replay_item *item)
{
	struct replay_item entered = *item;
	size_t at = queue->n;

	if (queue->n >= REPLAY_QUEUE_MAX)
		return -ENOBUFS;
	if (queue->n == queue->capacity) {
		size_t capacity = queue->capacity ? 2 * queue->capacity : CAPACITY_MIN;
		struct replay_item *heap = reallocarray(queue->heap, capacity, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		queue->heap = heap;
		queue->capacity = capacity;
	}
	entered.sequence = queue->sequence++;
	if (entered.time > queue->newest)
		queue->newest = entered.time;

	queue->n++;
	for (; at && before(&entered, &queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
		queue->heap[at] = queue->heap[(at - 1) / 2];
	queue->heap[at] = entered;
	return 0;
}

void replay_queue_round(struct replay_queue *queue)
{
	queue->release_to = queue->round_end;
	queue->round_end = queue->newest;
}

bool replay_queue_take(struct replay_queue *queue, bool any, struct replay_item *ret)
{
	struct replay_item last;
	size_t at = 0;

	if (!queue->n || (!any && queue->heap[0].time > queue->release_to))
		return false;
	*ret = queue->heap[0];
	last = queue->heap[--queue->n];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= queue->n)
			break;
		if (child + 1 < queue->n && before(&queue->heap[child + 1], &queue->heap[child]))
			child++;
		if (!before(&queue->heap[child], &last))
			break;
		queue->heap[at] = queue->heap[child];
		at = child;
	}
	if (queue->n)
		queue->heap[at] = last;
	return true;
}
