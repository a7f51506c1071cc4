// SPDX-License-Identifier: GPL-2.0
#include "history/keeper_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <time.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "child/child.h"

/* Messages that are read before others get their turn. */
#define READ_MAX 64

/* Something to send. Panes and alerts stay until they are acknowledged, questions until they are answered. */
struct item {
	TAILQ_ENTRY(item) list;
	enum history_message_type type;
	u32 number;
	int fd;      /* with the block of a pane, or of an alert that could not be sent yet; -1: none */
	u8 *block;   /* of an alert, because thousands may wait, and each descriptor counts; otherwise NULL */
	size_t size; /* of the block; a question: 0 */
	bool sent;   /* to the present process */
	unsigned tries; /* processes that got it and ended */
	u64 asked_ns;
	struct history_query query[]; /* of a question */
};

TAILQ_HEAD(items, item);

struct keeper_channel {
	struct keeper_channel_settings settings;
	char *environment;
	struct child child;
	sd_event_source *on_message;
	sd_event_source *on_end;
	sd_event_source *timer; /* to start again, or the end of the oldest question */
	struct items items;     /* in the order in which they are sent */
	size_t panes, alerts, questions;
	size_t waiting; /* bytes of the blocks */
	bool asking;    /* the present process has a question, which may have been given up */
	u32 number;
	bool limits_sent;
	bool ends_sent;    /* the present process has `alerts_ended` */
	bool gone;         /* the socket is closed; the process has not ended yet */
	int unlogged;      /* the failure to store a pane or an alert, until the status that says why */
	bool failed;       /* a failure to store was logged, and nothing was stored since */
	u64 failed_lost;   /* panes that were lost since then */
	u64 failed_alerts; /* changes of alerts that were lost since then */
	u64 rests_ns;      /* earliest time of the next start */
	struct keeper_channel_state state;
};

static void pump(struct keeper_channel *channel);

/* ---- what waits ---- */

static size_t *count_of(struct keeper_channel *channel, enum history_message_type type)
{
	return type == HISTORY_STORE   ? &channel->panes
	       : type == HISTORY_ALERT ? &channel->alerts
				       : &channel->questions;
}

static void item_free(struct keeper_channel *channel, struct item *item)
{
	TAILQ_REMOVE(&channel->items, item, list);
	(*count_of(channel, item->type))--;
	channel->waiting -= item->size;
	cleanup_close(&item->fd);
	free(item->block);
	free(item);
}

static struct item *item_new(struct keeper_channel *channel, enum history_message_type type, size_t more)
{
	struct item *item = calloc(1, sizeof(*item) + more);

	if (!item)
		return NULL;
	item->type = type;
	item->number = ++channel->number;
	item->fd = -1;
	TAILQ_INSERT_TAIL(&channel->items, item, list);
	(*count_of(channel, type))++;
	return item;
}

static struct item *find(const struct keeper_channel *channel, bool question, u32 number)
{
	struct item *item;

	TAILQ_FOREACH (item, &channel->items, list)
		if (item->number == number && (item->type == HISTORY_ASK) == question)
			return item;
	return NULL;
}

/* Logs the first of several failures in a row. `what` NULL: `error` says it all. */
static void log_failure(struct keeper_channel *channel, int error, const char *what)
{
	if (!channel->failed)
		(void)log_warning(
			0, "history: %s; sampling continues, but nothing is stored until this works again",
			what && *what ? what : strerror(error < 0 ? -error : error));
	channel->failed = true;
}

/* A pane or an alert is done. */
static void stored(struct keeper_channel *channel, enum history_message_type type, int error)
{
	if (error == 0 && channel->failed) {
		if (channel->failed_lost || channel->failed_alerts)
			log_notice(
				"history: storing works again; %llu s and %llu changes of alerts are missing",
				(unsigned long long)channel->failed_lost * HISTORY_PANE_SECONDS,
				(unsigned long long)channel->failed_alerts);
		else
			log_notice("history: storing works again; nothing is missing");
		channel->failed = false;
		channel->failed_lost = channel->failed_alerts = 0;
	}
	if (type != HISTORY_STORE) {
		channel->failed_alerts += error != 0;
		return;
	}
	channel->state.stored += error == 0;
	channel->state.lost += error != 0;
	channel->failed_lost += error != 0;
	channel->settings.stored(channel->settings.userdata, error);
}

static void answer(struct keeper_channel *channel, struct item *item, int error, int passed)
{
	u32 number = item->number;

	item_free(channel, item);
	channel->settings.answered(channel->settings.userdata, number, error, passed);
}

/* ---- the process ---- */

static void close_process(struct keeper_channel *channel)
{
	channel->on_message = sd_event_source_disable_unref(channel->on_message);
	child_kill(&channel->child);
	channel->gone = true;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	pump(userdata);
	return 0;
}

/* Wakes up when a process may be started, or when the oldest question has waited for too long. */
static void set_timer(struct keeper_channel *channel)
{
	u64 at_ns = channel->child.pidfd < 0 ? channel->rests_ns : UINT64_MAX;
	const struct item *item;

	TAILQ_FOREACH (item, &channel->items, list)
		if (item->type == HISTORY_ASK) {
			u64 end_ns = item->asked_ns + KEEPER_ANSWER_SECONDS * NSEC_PER_SEC;

			at_ns = end_ns < at_ns ? end_ns : at_ns;
			break;
		}
	if (at_ns == UINT64_MAX) {
		(void)sd_event_source_set_enabled(channel->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(channel->timer, at_ns / NSEC_PER_USEC + 1);
	(void)sd_event_source_set_enabled(channel->timer, SD_EVENT_ONESHOT);
}

/* Sends messages again that the ended process had received, but each one at most KEEPER_TRIES times. */
static void send_again(struct keeper_channel *channel)
{
	struct item *item, *next;

	for (item = TAILQ_FIRST(&channel->items); item; item = next) {
		next = TAILQ_NEXT(item, list);
		if (!item->sent)
			continue;
		item->sent = false;
		/* The process takes one message after the other, so only the first one can have ended it. */
		if (++item->tries >= KEEPER_TRIES) {
			enum history_message_type type = item->type;

			if (type == HISTORY_ASK) {
				answer(channel, item, -EIO, -1);
			} else {
				item_free(channel, item);
				stored(channel, type, -EIO);
			}
		}
		for (struct item *after = next; after; after = TAILQ_NEXT(after, list))
			after->sent = false;
		return;
	}
}

static void ended(struct keeper_channel *channel, const char *how)
{
	_cleanup_free_ char *what = NULL;

	child_kill(&channel->child);
	channel->child = CHILD_NONE;
	channel->on_end = sd_event_source_disable_unref(channel->on_end);
	channel->on_message = sd_event_source_disable_unref(channel->on_message);
	channel->gone = false;
	channel->limits_sent = false;
	channel->ends_sent = false;
	channel->asking = false;
	channel->state.running = false;
	channel->state.restarts++;
	channel->rests_ns = monotonic_ns() + KEEPER_REST_SECONDS * NSEC_PER_SEC;
	if (asprintf(&what, "the process that keeps it %s, and pebsd starts it again in %d s", how,
		     KEEPER_REST_SECONDS) < 0)
		what = NULL;
	log_failure(channel, -ENOMEM, what);
	send_again(channel);
	set_timer(channel);
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct keeper_channel *channel = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	if (child_reap(&channel->child, how) == 0) {
		(void)close(channel->child.pidfd);
		(void)snprintf(how, sizeof(how), "has ended");
	}
	ended(channel, how);
	return 0;
}

/* Returns false if the message is not one that this process may send now. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written */
static bool take_message(struct keeper_channel *channel, const struct history_message *message, int *passed)
{
	struct item *item;
	enum history_message_type type;

	channel->state.running = true;
	switch (message->type) {
	case HISTORY_STORED:
		item = find(channel, false, message->number);
		if (!item || !item->sent)
			return false;
		type = item->type;
		item_free(channel, item);
		/* The process takes messages in order, so it has ended the alerts. */
		channel->settings.alerts_ended = false;
		/* The status that follows says why. */
		channel->unlogged = message->error ? message->error : channel->unlogged;
		stored(channel, type, -message->error);
		return true;
	case HISTORY_ANSWER:
		channel->settings.alerts_ended = false;
		channel->asking = false;
		item = find(channel, true, message->number);
		/* A question may have been given up. */
		if (item)
			answer(channel, item, -message->error, message->error ? -1 : TAKE_FD(*passed));
		return true;
	case HISTORY_STATUS:
		channel->state.status = message->status;
		channel->state.status.what[sizeof(channel->state.status.what) - 1] = 0;
		if (message->status.error || channel->unlogged)
			log_failure(channel,
				    message->status.error ? message->status.error : channel->unlogged,
				    channel->state.status.what);
		channel->unlogged = 0;
		return true;
	case HISTORY_SETTINGS:
	case HISTORY_STORE:
	case HISTORY_ALERT:
	case HISTORY_ASK:
	case HISTORY_STOP:
	case HISTORY_MESSAGE_TYPES:
		break;
	}
	return false;
}

/* Reads what is there. Returns false if the process is gone or sends nonsense. */
static bool read_messages(struct keeper_channel *channel)
{
	/* A message is too large for the stack of a callback. */
	_cleanup_free_ struct history_message *message = malloc(sizeof(*message));

	for (unsigned i = 0; message && i < READ_MAX && channel->child.socket >= 0; i++) {
		_cleanup_close_ int passed = -1;
		int r = history_receive(channel->child.socket, message, &passed);

		if (r == -EAGAIN)
			return true;
		if (r <= 0 || !take_message(channel, message, &passed))
			return false;
	}
	return true;
}

static int on_message(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct keeper_channel *channel = userdata;

	(void)source;
	(void)fd;
	(void)events;
	if (!read_messages(channel))
		close_process(channel);
	pump(channel);
	return 0;
}

static int start(struct keeper_channel *channel)
{
	char *const environment[] = {
		channel->environment,
#ifdef __SANITIZE_ADDRESS__
		/* The leak checker attaches to the process, which the confinement forbids. */
		(char *)"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
#endif
		NULL};
	const struct child_request request = {
		.program = channel->settings.program, .argument = "--keeper", .environment = environment};
	char how[CHILD_END_MAX];
	int r = child_start(&request, &channel->child);

	if (r < 0)
		return r;
	r = sd_event_add_io(channel->settings.event, &channel->on_message, channel->child.socket, EPOLLIN,
			    on_message, channel);
	if (r >= 0)
		r = sd_event_add_io(channel->settings.event, &channel->on_end, channel->child.pidfd, EPOLLIN,
				    on_end, channel);
	if (r >= 0)
		return 0;
	channel->on_message = sd_event_source_disable_unref(channel->on_message);
	child_kill(&channel->child);
	if (child_wait(&channel->child, how) == 0)
		(void)close(channel->child.pidfd);
	channel->child = CHILD_NONE;
	return r;
}

/* ---- sending ---- */

static int send_item(const struct keeper_channel *channel, struct item *item, struct history_message *message)
{
	int r = 0;

	*message = (struct history_message){.type = item->type, .number = item->number};
	if (item->type == HISTORY_ASK)
		message->query = *item->query;
	if (item->block && item->fd < 0)
		r = history_block_new(item->block, item->size, &item->fd);
	if (r == 0)
		r = history_send(channel->child.socket, message, item->fd);
	if (item->block && r != -EAGAIN) {
		cleanup_close(&item->fd);
		item->fd = -1;
	}
	return r;
}

/* Sends in order, until the socket is full. Returns 0, -EAGAIN or another -errno. */
static int send_all(struct keeper_channel *channel)
{
	_cleanup_free_ struct history_message *message = calloc(1, sizeof(*message));
	struct item *item, *next;

	if (!message)
		return -ENOMEM;
	if (!channel->limits_sent) {
		int r;

		message->type = HISTORY_SETTINGS;
		message->bytes_max = channel->settings.bytes_max;
		message->age_max_s = channel->settings.age_max_s;
		message->alerts_ended = channel->settings.alerts_ended && !channel->ends_sent;
		r = history_send(channel->child.socket, message, -1);
		if (r < 0)
			return r;
		channel->ends_sent = true;
		channel->limits_sent = true;
	}
	for (item = TAILQ_FIRST(&channel->items); item; item = next) {
		int r;

		next = TAILQ_NEXT(item, list);
		/* A pane is never behind more than one question, which may take seconds. */
		if (item->sent || (item->type == HISTORY_ASK && channel->asking))
			continue;
		r = send_item(channel, item, message);
		if (r == -EAGAIN || r == -EPIPE || r == -ECONNRESET)
			return r;
		if (r == 0) {
			item->sent = true;
			channel->asking = channel->asking || item->type == HISTORY_ASK;
		} else if (item->type == HISTORY_ASK) {
			answer(channel, item, r, -1);
		} else {
			enum history_message_type type = item->type;

			item_free(channel, item);
			log_failure(channel, r, NULL);
			stored(channel, type, r);
		}
	}
	return 0;
}

static void give_up_questions(struct keeper_channel *channel)
{
	const u64 now = monotonic_ns();
	struct item *item, *next;

	for (item = TAILQ_FIRST(&channel->items); item; item = next) {
		next = TAILQ_NEXT(item, list);
		if (item->type == HISTORY_ASK &&
		    now - item->asked_ns >= KEEPER_ANSWER_SECONDS * NSEC_PER_SEC) {
			answer(channel, item, -ETIMEDOUT, -1);
			/* The callback may have asked again, or not: begin again. */
			next = TAILQ_FIRST(&channel->items);
		}
	}
}

static void pump(struct keeper_channel *channel)
{
	int r = 0;

	give_up_questions(channel);
	if (channel->child.pidfd < 0 && monotonic_ns() >= channel->rests_ns) {
		r = start(channel);
		if (r < 0) {
			channel->rests_ns = monotonic_ns() + KEEPER_REST_SECONDS * NSEC_PER_SEC;
			log_failure(channel, r, "the process that keeps it cannot be started");
		}
	}
	if (channel->child.pidfd >= 0 && !channel->gone) {
		r = send_all(channel);
		(void)sd_event_source_set_io_events(channel->on_message,
						    EPOLLIN | (r == -EAGAIN ? EPOLLOUT : 0));
		if (r == -EPIPE || r == -ECONNRESET)
			close_process(channel);
	}
	set_timer(channel);
}

static bool has_room(struct keeper_channel *channel, enum history_message_type type, size_t size)
{
	const size_t most = type == HISTORY_STORE ? KEEPER_PANES_MAX : KEEPER_ALERTS_MAX;

	if (*count_of(channel, type) < most && channel->waiting + size <= KEEPER_WAITING_BYTES_MAX)
		return true;
	log_failure(channel, 0,
		    "the process that keeps it does not store fast enough, perhaps because the disk hangs");
	stored(channel, type, -ENOBUFS);
	return false;
}

/* Adds an item with a copy of the block. Returns 0 or -errno. */
static int add_block(struct keeper_channel *channel, enum history_message_type type, const u8 *block,
		     size_t size)
{
	_cleanup_free_ u8 *copy = NULL;
	_cleanup_close_ int fd = -1;
	struct item *item;
	int r = 0;

	if (type == HISTORY_STORE)
		r = history_block_new(block, size, &fd);
	else if (!(copy = malloc(size)))
		r = -ENOMEM;
	if (r < 0)
		return r;
	item = item_new(channel, type, 0);
	if (!item)
		return -ENOMEM;
	if (copy)
		memcpy(copy, block, size);
	item->block = TAKE_PTR(copy);
	item->fd = TAKE_FD(fd);
	item->size = size;
	channel->waiting += size;
	return 0;
}

static void take_block(struct keeper_channel *channel, enum history_message_type type, const u8 *block,
		       size_t size)
{
	int r;

	if (!has_room(channel, type, size))
		return;
	r = add_block(channel, type, block, size);
	if (r < 0) {
		log_failure(channel, r, NULL);
		stored(channel, type, r);
		return;
	}
	pump(channel);
}

void keeper_channel_store(struct keeper_channel *channel, const u8 *block, size_t size)
{
	take_block(channel, HISTORY_STORE, block, size);
}

void keeper_channel_alert(struct keeper_channel *channel, const u8 *block, size_t size)
{
	take_block(channel, HISTORY_ALERT, block, size);
}

int keeper_channel_ask(struct keeper_channel *channel, const struct history_query *query, u32 *ret_number)
{
	struct item *item;

	if (channel->questions >= KEEPER_QUESTIONS_MAX)
		return -EUSERS;
	item = item_new(channel, HISTORY_ASK, sizeof(*query));
	if (!item)
		return -ENOMEM;
	*item->query = *query;
	item->asked_ns = monotonic_ns();
	*ret_number = item->number;
	/* Send from the event loop, so that `answered` is never called before the caller knows the number. */
	(void)sd_event_source_set_time(channel->timer, 0);
	(void)sd_event_source_set_enabled(channel->timer, SD_EVENT_ONESHOT);
	return 0;
}

void keeper_channel_limit(struct keeper_channel *channel, u64 bytes_max, u64 age_max_s)
{
	channel->settings.bytes_max = bytes_max;
	channel->settings.age_max_s = age_max_s;
	channel->limits_sent = false;
	pump(channel);
}

void keeper_channel_describe(const struct keeper_channel *channel, struct keeper_channel_state *ret)
{
	*ret = channel->state;
	ret->waiting = channel->panes;
}

pid_t keeper_channel_pid(const struct keeper_channel *channel)
{
	return channel->child.pidfd >= 0 ? channel->child.pid : -1;
}

/* ---- begin and end ---- */

int keeper_channel_new(const struct keeper_channel_settings *settings, struct keeper_channel **ret)
{
	struct keeper_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return -ENOMEM;
	TAILQ_INIT(&channel->items);
	channel->settings = *settings;
	channel->settings.directory = NULL;
	channel->child = CHILD_NONE;
	if (asprintf(&channel->environment, "%s=%s", KEEPER_CHANNEL_DIRECTORY, settings->directory) < 0 ||
	    sd_event_add_time(settings->event, &channel->timer, CLOCK_MONOTONIC, 0, 0, on_timer, channel) <
		    0) {
		keeper_channel_free(channel);
		return -ENOMEM;
	}
	pump(channel);
	*ret = channel;
	return 0;
}

/* Waits until the process sends a message or can take one. Returns false when the time is over. */
static bool wait_more(const struct keeper_channel *channel, u64 until_ns, short what)
{
	struct pollfd polled[2] = {{.fd = channel->child.socket, .events = what},
				   {.fd = channel->child.pidfd, .events = POLLIN}};
	const u64 now = monotonic_ns();

	return now < until_ns && poll(polled, 2, (int)((until_ns - now) / NSEC_PER_MSEC) + 1) > 0 &&
	       !(polled[1].revents & POLLIN);
}

/* Lets the process store what waits, and then end. */
static void finish(struct keeper_channel *channel)
{
	const u64 until_ns = monotonic_ns() + KEEPER_STOP_SECONDS * NSEC_PER_SEC;
	_cleanup_free_ struct history_message *stop = calloc(1, sizeof(*stop));
	bool more = stop != NULL;
	int r = -EAGAIN;

	while (more && r == -EAGAIN) {
		r = send_all(channel);
		if (r == 0) {
			stop->type = HISTORY_STOP;
			r = history_send(channel->child.socket, stop, -1);
		}
		if (r == -EAGAIN)
			more = wait_more(channel, until_ns, POLLIN | POLLOUT) && read_messages(channel);
	}
	/* The process may have stored the last messages and ended already. */
	while (r == 0 && wait_more(channel, until_ns, POLLIN) && read_messages(channel))
		;
	(void)read_messages(channel);
}

struct keeper_channel *keeper_channel_free(struct keeper_channel *channel)
{
	char how[CHILD_END_MAX];

	if (!channel)
		return NULL;
	if (channel->child.pidfd >= 0 && !channel->gone)
		finish(channel);
	if (channel->panes || channel->alerts)
		(void)log_warning(
			0,
			"history: the process that keeps it did not confirm in time that it stored everything; the last %zu s and %zu changes of alerts may be missing",
			channel->panes * HISTORY_PANE_SECONDS, channel->alerts);
	channel->on_message = sd_event_source_disable_unref(channel->on_message);
	channel->on_end = sd_event_source_disable_unref(channel->on_end);
	channel->timer = sd_event_source_disable_unref(channel->timer);
	/*
	 * Close the socket without killing the process: it stores what it has received, then it ends. SQLite
	 * makes the keeper of the next pebsd wait until this one has ended.
	 */
	if (channel->child.socket >= 0)
		(void)close(channel->child.socket);
	if (channel->child.pidfd >= 0 && child_reap(&channel->child, how) == 0)
		(void)close(channel->child.pidfd);
	while (!TAILQ_EMPTY(&channel->items))
		item_free(channel, TAILQ_FIRST(&channel->items));
	free(channel->environment);
	free(channel);
	return NULL;
}
