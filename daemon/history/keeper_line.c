// SPDX-License-Identifier: GPL-2.0
#include "history/keeper_line.h"

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

struct keeper_line {
	struct keeper_line_settings settings;
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
	struct keeper_line_state state;
};

static void pump(struct keeper_line *line);

/* ---- what waits ---- */

static size_t *count_of(struct keeper_line *line, enum history_message_type type)
{
	return type == HISTORY_STORE   ? &line->panes
	       : type == HISTORY_ALERT ? &line->alerts
				       : &line->questions;
}

static void item_free(struct keeper_line *line, struct item *item)
{
	TAILQ_REMOVE(&line->items, item, list);
	(*count_of(line, item->type))--;
	line->waiting -= item->size;
	cleanup_close(&item->fd);
	free(item->block);
	free(item);
}

static struct item *item_new(struct keeper_line *line, enum history_message_type type, size_t more)
{
	struct item *item = calloc(1, sizeof(*item) + more);

	if (!item)
		return NULL;
	item->type = type;
	item->number = ++line->number;
	item->fd = -1;
	TAILQ_INSERT_TAIL(&line->items, item, list);
	(*count_of(line, type))++;
	return item;
}

static struct item *find(const struct keeper_line *line, bool question, u32 number)
{
	struct item *item;

	TAILQ_FOREACH (item, &line->items, list)
		if (item->number == number && (item->type == HISTORY_ASK) == question)
			return item;
	return NULL;
}

/* Logs the first of several failures in a row. `what` NULL: `error` says it all. */
static void log_failure(struct keeper_line *line, int error, const char *what)
{
	if (!line->failed)
		(void)log_warning(
			0, "history: %s; sampling continues, but nothing is stored until this works again",
			what && *what ? what : strerror(error < 0 ? -error : error));
	line->failed = true;
}

/* A pane or an alert is done. */
static void stored(struct keeper_line *line, enum history_message_type type, int error)
{
	if (error == 0 && line->failed) {
		if (line->failed_lost || line->failed_alerts)
			log_notice(
				"history: storing works again; %llu s and %llu changes of alerts are missing",
				(unsigned long long)line->failed_lost * HISTORY_PANE_SECONDS,
				(unsigned long long)line->failed_alerts);
		else
			log_notice("history: storing works again; nothing is missing");
		line->failed = false;
		line->failed_lost = line->failed_alerts = 0;
	}
	if (type != HISTORY_STORE) {
		line->failed_alerts += error != 0;
		return;
	}
	line->state.stored += error == 0;
	line->state.lost += error != 0;
	line->failed_lost += error != 0;
	line->settings.stored(line->settings.userdata, error);
}

static void answer(struct keeper_line *line, struct item *item, int error, int passed)
{
	u32 number = item->number;

	item_free(line, item);
	line->settings.answered(line->settings.userdata, number, error, passed);
}

/* ---- the process ---- */

static void close_process(struct keeper_line *line)
{
	line->on_message = sd_event_source_disable_unref(line->on_message);
	child_kill(&line->child);
	line->gone = true;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	pump(userdata);
	return 0;
}

/* Wakes up when a process may be started, or when the oldest question has waited for too long. */
static void set_timer(struct keeper_line *line)
{
	u64 at_ns = line->child.pidfd < 0 ? line->rests_ns : UINT64_MAX;
	const struct item *item;

	TAILQ_FOREACH (item, &line->items, list)
		if (item->type == HISTORY_ASK) {
			u64 end_ns = item->asked_ns + KEEPER_ANSWER_SECONDS * NSEC_PER_SEC;

			at_ns = end_ns < at_ns ? end_ns : at_ns;
			break;
		}
	if (at_ns == UINT64_MAX) {
		(void)sd_event_source_set_enabled(line->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(line->timer, at_ns / NSEC_PER_USEC + 1);
	(void)sd_event_source_set_enabled(line->timer, SD_EVENT_ONESHOT);
}

/* Sends messages again that the ended process had received, but each one at most KEEPER_TRIES times. */
static void send_again(struct keeper_line *line)
{
	struct item *item, *next;

	for (item = TAILQ_FIRST(&line->items); item; item = next) {
		next = TAILQ_NEXT(item, list);
		if (!item->sent)
			continue;
		item->sent = false;
		/* The process takes one message after the other, so only the first one can have ended it. */
		if (++item->tries >= KEEPER_TRIES) {
			enum history_message_type type = item->type;

			if (type == HISTORY_ASK) {
				answer(line, item, -EIO, -1);
			} else {
				item_free(line, item);
				stored(line, type, -EIO);
			}
		}
		for (struct item *after = next; after; after = TAILQ_NEXT(after, list))
			after->sent = false;
		return;
	}
}

static void ended(struct keeper_line *line, const char *how)
{
	_cleanup_free_ char *what = NULL;

	child_kill(&line->child);
	line->child = CHILD_NONE;
	line->on_end = sd_event_source_disable_unref(line->on_end);
	line->on_message = sd_event_source_disable_unref(line->on_message);
	line->gone = false;
	line->limits_sent = false;
	line->ends_sent = false;
	line->asking = false;
	line->state.running = false;
	line->state.restarts++;
	line->rests_ns = monotonic_ns() + KEEPER_REST_SECONDS * NSEC_PER_SEC;
	if (asprintf(&what, "the process that keeps it %s, and pebsd starts it again in %d s", how,
		     KEEPER_REST_SECONDS) < 0)
		what = NULL;
	log_failure(line, -ENOMEM, what);
	send_again(line);
	set_timer(line);
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct keeper_line *line = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	if (child_reap(&line->child, how) == 0) {
		(void)close(line->child.pidfd);
		(void)snprintf(how, sizeof(how), "has ended");
	}
	ended(line, how);
	return 0;
}

/* Returns false if the message is not one that this process may send now. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written */
static bool take_message(struct keeper_line *line, const struct history_message *message, int *passed)
{
	struct item *item;
	enum history_message_type type;

	line->state.running = true;
	switch (message->type) {
	case HISTORY_STORED:
		item = find(line, false, message->number);
		if (!item || !item->sent)
			return false;
		type = item->type;
		item_free(line, item);
		/* The process takes messages in order, so it has ended the alerts. */
		line->settings.alerts_ended = false;
		/* The status that follows says why. */
		line->unlogged = message->error ? message->error : line->unlogged;
		stored(line, type, -message->error);
		return true;
	case HISTORY_ANSWER:
		line->settings.alerts_ended = false;
		line->asking = false;
		item = find(line, true, message->number);
		/* A question may have been given up. */
		if (item)
			answer(line, item, -message->error, message->error ? -1 : TAKE_FD(*passed));
		return true;
	case HISTORY_STATUS:
		line->state.status = message->status;
		line->state.status.what[sizeof(line->state.status.what) - 1] = 0;
		if (message->status.error || line->unlogged)
			log_failure(line, message->status.error ? message->status.error : line->unlogged,
				    line->state.status.what);
		line->unlogged = 0;
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
static bool read_messages(struct keeper_line *line)
{
	/* A message is too large for the stack of a callback. */
	_cleanup_free_ struct history_message *message = malloc(sizeof(*message));

	for (unsigned i = 0; message && i < READ_MAX && line->child.socket >= 0; i++) {
		_cleanup_close_ int passed = -1;
		int r = history_receive(line->child.socket, message, &passed);

		if (r == -EAGAIN)
			return true;
		if (r <= 0 || !take_message(line, message, &passed))
			return false;
	}
	return true;
}

static int on_message(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct keeper_line *line = userdata;

	(void)source;
	(void)fd;
	(void)events;
	if (!read_messages(line))
		close_process(line);
	pump(line);
	return 0;
}

static int start(struct keeper_line *line)
{
	char *const environment[] = {
		line->environment,
#ifdef __SANITIZE_ADDRESS__
		/* The leak checker attaches to the process, which the confinement forbids. */
		(char *)"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
#endif
		NULL};
	const struct child_request request = {
		.program = line->settings.program, .argument = "--keeper", .environment = environment};
	char how[CHILD_END_MAX];
	int r = child_start(&request, &line->child);

	if (r < 0)
		return r;
	r = sd_event_add_io(line->settings.event, &line->on_message, line->child.socket, EPOLLIN, on_message,
			    line);
	if (r >= 0)
		r = sd_event_add_io(line->settings.event, &line->on_end, line->child.pidfd, EPOLLIN, on_end,
				    line);
	if (r >= 0)
		return 0;
	line->on_message = sd_event_source_disable_unref(line->on_message);
	child_kill(&line->child);
	if (child_wait(&line->child, how) == 0)
		(void)close(line->child.pidfd);
	line->child = CHILD_NONE;
	return r;
}

/* ---- sending ---- */

static int send_item(const struct keeper_line *line, struct item *item, struct history_message *message)
{
	int r = 0;

	*message = (struct history_message){.type = item->type, .number = item->number};
	if (item->type == HISTORY_ASK)
		message->query = *item->query;
	if (item->block && item->fd < 0)
		r = history_block_new(item->block, item->size, &item->fd);
	if (r == 0)
		r = history_send(line->child.socket, message, item->fd);
	if (item->block && r != -EAGAIN) {
		cleanup_close(&item->fd);
		item->fd = -1;
	}
	return r;
}

/* Sends in order, until the socket is full. Returns 0, -EAGAIN or another -errno. */
static int send_all(struct keeper_line *line)
{
	_cleanup_free_ struct history_message *message = calloc(1, sizeof(*message));
	struct item *item, *next;

	if (!message)
		return -ENOMEM;
	if (!line->limits_sent) {
		int r;

		message->type = HISTORY_SETTINGS;
		message->bytes_max = line->settings.bytes_max;
		message->age_max_s = line->settings.age_max_s;
		message->alerts_ended = line->settings.alerts_ended && !line->ends_sent;
		r = history_send(line->child.socket, message, -1);
		if (r < 0)
			return r;
		line->ends_sent = true;
		line->limits_sent = true;
	}
	for (item = TAILQ_FIRST(&line->items); item; item = next) {
		int r;

		next = TAILQ_NEXT(item, list);
		/* A pane is never behind more than one question, which may take seconds. */
		if (item->sent || (item->type == HISTORY_ASK && line->asking))
			continue;
		r = send_item(line, item, message);
		if (r == -EAGAIN || r == -EPIPE || r == -ECONNRESET)
			return r;
		if (r == 0) {
			item->sent = true;
			line->asking = line->asking || item->type == HISTORY_ASK;
		} else if (item->type == HISTORY_ASK) {
			answer(line, item, r, -1);
		} else {
			enum history_message_type type = item->type;

			item_free(line, item);
			log_failure(line, r, NULL);
			stored(line, type, r);
		}
	}
	return 0;
}

static void give_up_questions(struct keeper_line *line)
{
	const u64 now = monotonic_ns();
	struct item *item, *next;

	for (item = TAILQ_FIRST(&line->items); item; item = next) {
		next = TAILQ_NEXT(item, list);
		if (item->type == HISTORY_ASK &&
		    now - item->asked_ns >= KEEPER_ANSWER_SECONDS * NSEC_PER_SEC) {
			answer(line, item, -ETIMEDOUT, -1);
			/* The callback may have asked again, or not: begin again. */
			next = TAILQ_FIRST(&line->items);
		}
	}
}

static void pump(struct keeper_line *line)
{
	int r = 0;

	give_up_questions(line);
	if (line->child.pidfd < 0 && monotonic_ns() >= line->rests_ns) {
		r = start(line);
		if (r < 0) {
			line->rests_ns = monotonic_ns() + KEEPER_REST_SECONDS * NSEC_PER_SEC;
			log_failure(line, r, "the process that keeps it cannot be started");
		}
	}
	if (line->child.pidfd >= 0 && !line->gone) {
		r = send_all(line);
		(void)sd_event_source_set_io_events(line->on_message,
						    EPOLLIN | (r == -EAGAIN ? EPOLLOUT : 0));
		if (r == -EPIPE || r == -ECONNRESET)
			close_process(line);
	}
	set_timer(line);
}

static bool has_room(struct keeper_line *line, enum history_message_type type, size_t size)
{
	const size_t most = type == HISTORY_STORE ? KEEPER_PANES_MAX : KEEPER_ALERTS_MAX;

	if (*count_of(line, type) < most && line->waiting + size <= KEEPER_WAITING_BYTES_MAX)
		return true;
	log_failure(line, 0,
		    "the process that keeps it does not store fast enough, perhaps because the disk hangs");
	stored(line, type, -ENOBUFS);
	return false;
}

/* Adds an item with a copy of the block. Returns 0 or -errno. */
static int add_block(struct keeper_line *line, enum history_message_type type, const u8 *block, size_t size)
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
	item = item_new(line, type, 0);
	if (!item)
		return -ENOMEM;
	if (copy)
		memcpy(copy, block, size);
	item->block = TAKE_PTR(copy);
	item->fd = TAKE_FD(fd);
	item->size = size;
	line->waiting += size;
	return 0;
}

static void take_block(struct keeper_line *line, enum history_message_type type, const u8 *block, size_t size)
{
	int r;

	if (!has_room(line, type, size))
		return;
	r = add_block(line, type, block, size);
	if (r < 0) {
		log_failure(line, r, NULL);
		stored(line, type, r);
		return;
	}
	pump(line);
}

void keeper_line_store(struct keeper_line *line, const u8 *block, size_t size)
{
	take_block(line, HISTORY_STORE, block, size);
}

void keeper_line_alert(struct keeper_line *line, const u8 *block, size_t size)
{
	take_block(line, HISTORY_ALERT, block, size);
}

int keeper_line_ask(struct keeper_line *line, const struct history_query *query, u32 *ret_number)
{
	struct item *item;

	if (line->questions >= KEEPER_QUESTIONS_MAX)
		return -EUSERS;
	item = item_new(line, HISTORY_ASK, sizeof(*query));
	if (!item)
		return -ENOMEM;
	*item->query = *query;
	item->asked_ns = monotonic_ns();
	*ret_number = item->number;
	/* Send from the event loop, so that `answered` is never called before the caller knows the number. */
	(void)sd_event_source_set_time(line->timer, 0);
	(void)sd_event_source_set_enabled(line->timer, SD_EVENT_ONESHOT);
	return 0;
}

void keeper_line_limit(struct keeper_line *line, u64 bytes_max, u64 age_max_s)
{
	line->settings.bytes_max = bytes_max;
	line->settings.age_max_s = age_max_s;
	line->limits_sent = false;
	pump(line);
}

void keeper_line_describe(const struct keeper_line *line, struct keeper_line_state *ret)
{
	*ret = line->state;
	ret->waiting = line->panes;
}

pid_t keeper_line_pid(const struct keeper_line *line)
{
	return line->child.pidfd >= 0 ? line->child.pid : -1;
}

/* ---- begin and end ---- */

int keeper_line_new(const struct keeper_line_settings *settings, struct keeper_line **ret)
{
	struct keeper_line *line = calloc(1, sizeof(*line));

	if (!line)
		return -ENOMEM;
	TAILQ_INIT(&line->items);
	line->settings = *settings;
	line->settings.directory = NULL;
	line->child = CHILD_NONE;
	if (asprintf(&line->environment, "%s=%s", KEEPER_LINE_DIRECTORY, settings->directory) < 0 ||
	    sd_event_add_time(settings->event, &line->timer, CLOCK_MONOTONIC, 0, 0, on_timer, line) < 0) {
		keeper_line_free(line);
		return -ENOMEM;
	}
	pump(line);
	*ret = line;
	return 0;
}

/* Waits until the process sends a message or can take one. Returns false when the time is over. */
static bool wait_more(const struct keeper_line *line, u64 until_ns, short what)
{
	struct pollfd polled[2] = {{.fd = line->child.socket, .events = what},
				   {.fd = line->child.pidfd, .events = POLLIN}};
	const u64 now = monotonic_ns();

	return now < until_ns && poll(polled, 2, (int)((until_ns - now) / NSEC_PER_MSEC) + 1) > 0 &&
	       !(polled[1].revents & POLLIN);
}

/* Lets the process store what waits, and then end. */
static void finish(struct keeper_line *line)
{
	const u64 until_ns = monotonic_ns() + KEEPER_STOP_SECONDS * NSEC_PER_SEC;
	_cleanup_free_ struct history_message *stop = calloc(1, sizeof(*stop));
	bool more = stop != NULL;
	int r = -EAGAIN;

	while (more && r == -EAGAIN) {
		r = send_all(line);
		if (r == 0) {
			stop->type = HISTORY_STOP;
			r = history_send(line->child.socket, stop, -1);
		}
		if (r == -EAGAIN)
			more = wait_more(line, until_ns, POLLIN | POLLOUT) && read_messages(line);
	}
	/* The process may have stored the last messages and ended already. */
	while (r == 0 && wait_more(line, until_ns, POLLIN) && read_messages(line))
		;
	(void)read_messages(line);
}

struct keeper_line *keeper_line_free(struct keeper_line *line)
{
	char how[CHILD_END_MAX];

	if (!line)
		return NULL;
	if (line->child.pidfd >= 0 && !line->gone)
		finish(line);
	if (line->panes || line->alerts)
		(void)log_warning(
			0,
			"history: the process that keeps it did not confirm in time that it stored everything; the last %zu s and %zu changes of alerts may be missing",
			line->panes * HISTORY_PANE_SECONDS, line->alerts);
	line->on_message = sd_event_source_disable_unref(line->on_message);
	line->on_end = sd_event_source_disable_unref(line->on_end);
	line->timer = sd_event_source_disable_unref(line->timer);
	/*
	 * Close the socket without killing the process: it stores what it has received, then it ends. SQLite
	 * makes the keeper of the next pebsd wait until this one has ended.
	 */
	if (line->child.socket >= 0)
		(void)close(line->child.socket);
	if (line->child.pidfd >= 0 && child_reap(&line->child, how) == 0)
		(void)close(line->child.pidfd);
	while (!TAILQ_EMPTY(&line->items))
		item_free(line, TAILQ_FIRST(&line->items));
	free(line->environment);
	free(line);
	return NULL;
}
