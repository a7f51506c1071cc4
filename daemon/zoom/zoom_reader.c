// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct look {
	struct look *next;
	u64 zoom;
	struct zoom_process process; /* `pid` is the requested process */
};

/* First in, first out. */
struct queue {
	struct look *first, *last;
};

struct zoom_reader {
	pthread_mutex_t lock;
	pthread_cond_t requested;
	struct queue requests, results;
	size_t n;                          /* requested and not fetched */
	struct zoom_process_socket socket; /* used by the thread only */
	unsigned int references;           /* the owner's and the thread's; the last one frees this */
	bool closing;
};

static void enqueue(struct queue *queue, struct look *look)
{
	look->next = NULL;
	if (queue->last)
		queue->last->next = look;
	else
		queue->first = look;
	queue->last = look;
}

static struct look *dequeue(struct queue *queue)
{
	struct look *look = queue->first;

	if (look && !(queue->first = look->next))
		queue->last = NULL;
	return look;
}

static void clear(struct queue *queue)
{
	struct look *look;

	while ((look = dequeue(queue))) {
		zoom_process_done(&look->process);
		free(look);
	}
}

/* Drops a reference. The caller holds the lock, and this function unlocks it. */
static void drop_reference(struct zoom_reader *reader)
{
	bool last = --reader->references == 0;

	(void)pthread_mutex_unlock(&reader->lock);
	if (!last)
		return;
	clear(&reader->requests);
	clear(&reader->results);
	child_kill(&reader->socket.connection);
	(void)pthread_cond_destroy(&reader->requested);
	(void)pthread_mutex_destroy(&reader->lock);
	free(reader);
}

static void *read_processes(void *argument)
{
	struct zoom_reader *reader = argument;

	(void)pthread_mutex_lock(&reader->lock);
	while (!reader->closing) {
		struct look *look = dequeue(&reader->requests);

		if (!look) {
			child_kill(&reader->socket.connection);
			reader->socket.failed = false;
			(void)pthread_cond_wait(&reader->requested, &reader->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&reader->lock);
		zoom_process_read(look->process.pid, &reader->socket, &look->process);
		(void)pthread_mutex_lock(&reader->lock);
		enqueue(&reader->results, look);
	}
	drop_reference(reader);
	return NULL;
}

/* Starts the thread with all signals blocked: the event loop handles them. */
static int start(struct zoom_reader *reader)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	r = pthread_attr_init(&attributes);
	if (r != 0)
		return -r;
	(void)sigfillset(&all);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attributes, read_processes, reader);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return -r;
}

int zoom_reader_new(const char *socket, struct zoom_reader **ret)
{
	struct zoom_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	(void)pthread_mutex_init(&reader->lock, NULL);
	(void)pthread_cond_init(&reader->requested, NULL);
	reader->socket = (struct zoom_process_socket){.path = socket, .connection = CHILD_NONE};
	reader->references = 2;
	r = start(reader);
	if (r < 0) {
		reader->references = 1;
		zoom_reader_free(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

struct zoom_reader *zoom_reader_free(struct zoom_reader *reader)
{
	if (!reader)
		return NULL;
	(void)pthread_mutex_lock(&reader->lock);
	reader->closing = true;
	(void)pthread_cond_signal(&reader->requested);
	drop_reference(reader);
	return NULL;
}

int zoom_reader_ask(struct zoom_reader *reader, u64 zoom, u32 pid)
{
	_cleanup_free_ struct look *look = calloc(1, sizeof(*look));
	int r = 0;

	if (!look)
		return -ENOMEM;
	look->zoom = zoom;
	look->process.pid = pid;
	(void)pthread_mutex_lock(&reader->lock);
	if (reader->n >= ZOOM_READER_MAX) {
		r = -ENOSPC;
	} else {
		reader->n++;
		enqueue(&reader->requests, TAKE_PTR(look));
		(void)pthread_cond_signal(&reader->requested);
	}
	(void)pthread_mutex_unlock(&reader->lock);
	return r;
}

bool zoom_reader_fetch(struct zoom_reader *reader, u64 *ret_zoom, struct zoom_process *ret)
{
	struct look *look;

	(void)pthread_mutex_lock(&reader->lock);
	look = dequeue(&reader->results);
	if (look)
		reader->n--;
	(void)pthread_mutex_unlock(&reader->lock);
	if (!look)
		return false;
	*ret_zoom = look->zoom;
	*ret = look->process;
	free(look);
	return true;
}
