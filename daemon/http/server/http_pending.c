// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_pending.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "http/server/http_answer.h"
#include "http/shared/http_channel.h"

/* Bytes per call of read_answer(): as many as the send buffer is set to. */
#define PIECE_BYTES HTTP_SOCKETS_SENDING

/* The limits of a kind: clients that wait, and clients that wait or are being sent an answer. */
static const struct limits {
	size_t waiting, held;             /* of all owners */
	size_t owner_waiting, owner_held; /* of one owner */
	size_t asked, owner_asked;  /* of `waiting`: what pebsd is asked at a time. The others queue here. */
	unsigned int retry_seconds; /* Retry-After */
	const char *what;
} limits[HTTP_PENDING_KINDS] = {
	[HTTP_PENDING_PROFILE] = {HTTP_PROFILES_MAX, HTTP_PROFILES_HELD_MAX, HTTP_PROFILES_OWNER_WAITING_MAX,
				  HTTP_PROFILES_OWNER_MAX, HTTP_PROFILES_MAX, HTTP_PROFILES_OWNER_WAITING_MAX,
				  30, "profiles"},
	[HTTP_PENDING_VIEW] = {HTTP_VIEWS_HELD_MAX, HTTP_VIEWS_HELD_MAX, HTTP_VIEWS_OWNER_MAX,
			       HTTP_VIEWS_OWNER_MAX, HTTP_VIEWS_ASKED_MAX, HTTP_VIEWS_OWNER_ASKED_MAX, 1,
			       "views"},
};

struct http_pending_request {
	TAILQ_ENTRY(http_pending_request) entry;
	struct http_pending *pending;
	const struct http_pending_type *type;
	struct http_owner owner;
	struct MHD_Connection *connection;
	sd_event_source *hangup;
	struct http_message question;
	char *question_text;
	bool asked;
	bool resumed;
	bool gone;  /* the client no longer waits: pebsd knows it, or need not know */
	int fd;     /* the answer; -1: not received */
	u64 size;   /* size of the answer, in bytes */
	u32 error;  /* an errno: why the answer failed; EALREADY: it is being sent; 0: neither */
	char *text; /* the reason as a text */
};

/* A view that was asked for a client that has left, and that still takes one of the places of its owner at pebsd. */
struct abandoned {
	u32 number;
	struct http_owner owner;
};

struct http_pending {
	sd_event *event; /* not owned */
	int channel;     /* not owned */
	u32 last_number;
	bool stopping;
	TAILQ_HEAD(, http_pending_request) waiting; /* oldest first */
	struct abandoned abandoned[HTTP_VIEWS_ASKED_MAX];
	size_t n_abandoned;
	LIST_HEAD(, sent) sent;
};

/* An answer that is being sent to a client. */
struct sent {
	LIST_ENTRY(sent) entry;
	enum http_pending_kind kind;
	struct http_owner owner;
	int fd;
};

/* The number of requests of a kind, of all owners and of one. */
struct counts {
	size_t waiting, asked, sent;
	size_t owner_waiting, owner_asked, owner_sent;
};

static bool is_pending(const struct http_pending_request *waiting)
{
	return waiting->asked && !waiting->gone && waiting->fd < 0 && !waiting->error;
}

static struct counts count(const struct http_pending *pending, enum http_pending_kind kind,
			   struct http_owner owner)
{
	const struct http_pending_request *waiting;
	struct counts counts = {0};
	const struct sent *sent;

	TAILQ_FOREACH (waiting, &pending->waiting, entry) {
		bool same = http_owner_is_same(&waiting->owner, &owner);

		if (waiting->type->kind != kind)
			continue;
		counts.waiting++;
		counts.asked += is_pending(waiting);
		counts.owner_waiting += same;
		counts.owner_asked += same && is_pending(waiting);
	}
	for (size_t i = 0; i < pending->n_abandoned && kind == HTTP_PENDING_VIEW; i++) {
		counts.asked++;
		counts.owner_asked += http_owner_is_same(&pending->abandoned[i].owner, &owner);
	}
	LIST_FOREACH (sent, &pending->sent, entry) {
		counts.sent += sent->kind == kind;
		counts.owner_sent += sent->kind == kind && http_owner_is_same(&sent->owner, &owner);
	}
	return counts;
}

/* The library wakes itself up and answers the request in its next run. */
static void resume(struct http_pending_request *waiting)
{
	if (waiting->resumed)
		return;
	waiting->resumed = true;
	MHD_resume_connection(waiting->connection);
}

static int send_question(struct http_pending_request *waiting)
{
	int r;

	waiting->question.text = waiting->question_text;
	r = http_channel_send(waiting->pending->channel, &waiting->question, -1);
	waiting->asked = r >= 0;
	return r;
}

/* Asks pebsd the questions that queue here and may be asked now. */
static void ask_next(struct http_pending *pending)
{
	struct http_pending_request *waiting;

	if (pending->stopping)
		return;
	TAILQ_FOREACH (waiting, &pending->waiting, entry) {
		const struct limits *limit = &limits[waiting->type->kind];
		struct counts counts;
		int r;

		if (waiting->asked || waiting->gone || waiting->error)
			continue;
		counts = count(pending, waiting->type->kind, waiting->owner);
		if (counts.asked >= limit->asked || counts.owner_asked >= limit->owner_asked)
			continue;
		r = send_question(waiting);
		if (r < 0) {
			waiting->error = (u32)-r;
			resume(waiting);
		}
	}
}

/* Tells pebsd that the client has left, unless the answer has come. */
static void leave(struct http_pending_request *waiting)
{
	struct http_pending *pending = waiting->pending;
	bool asked = is_pending(waiting);

	waiting->gone = true;
	if (!asked)
		return;
	(void)http_channel_send(
		pending->channel,
		&(struct http_message){.type = HTTP_LEAVE, .number = waiting->question.number}, -1);
	/* There is room: pebsd is asked for at most as many views, and these count. */
	if (waiting->type->kind == HTTP_PENDING_VIEW && pending->n_abandoned < HTTP_VIEWS_ASKED_MAX)
		pending->abandoned[pending->n_abandoned++] =
			(struct abandoned){waiting->question.number, waiting->owner};
}

/* pebsd has answered for a view whose client has left. */
static void free_abandoned(struct http_pending *pending, u32 number)
{
	for (size_t i = 0; i < pending->n_abandoned; i++)
		if (pending->abandoned[i].number == number) {
			pending->abandoned[i] = pending->abandoned[--pending->n_abandoned];
			return;
		}
}

/* Removes a waiting request. Call this before its connection is freed. */
static void forget(struct http_pending_request *waiting)
{
	struct http_pending *pending = waiting->pending;

	leave(waiting);
	TAILQ_REMOVE(&pending->waiting, waiting, entry);
	sd_event_source_disable_unref(waiting->hangup);
	if (waiting->fd >= 0)
		(void)close(waiting->fd);
	free(waiting->question_text);
	free(waiting->text);
	free(waiting);
	ask_next(pending);
}

void http_pending_closed(struct http_pending_request **waiting)
{
	if (*waiting)
		forget(*waiting);
	*waiting = NULL;
}

/*
 * The library ignores suspended connections, so this callback detects clients that hung up. A client that
 * only shut down its sending side counts as gone: until pebsd sends something, it looks the same as one that
 * closed its socket.
 */
static int on_hangup(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_pending_request *waiting = userdata;

	(void)source;
	(void)fd;
	(void)events;
	waiting->hangup = sd_event_source_disable_unref(waiting->hangup);
	leave(waiting);
	resume(waiting);
	return 0;
}

void http_pending_receive(struct http_pending *pending, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;
	struct http_pending_request *waiting;

	TAILQ_FOREACH (waiting, &pending->waiting, entry) {
		if (waiting->question.number != message->number || !is_pending(waiting))
			continue;
		waiting->size = message->size;
		if (message->type == HTTP_TELL_READY && passed >= 0)
			waiting->fd = TAKE_FD(passed);
		else
			waiting->error = message->error ? message->error : EIO;
		waiting->text = strdup(message->text);
		resume(waiting);
		break;
	}
	free_abandoned(pending, message->number);
	ask_next(pending);
}

int http_pending_new(sd_event *event, int channel, struct http_pending **ret)
{
	struct http_pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return -ENOMEM;
	TAILQ_INIT(&pending->waiting);
	pending->event = event;
	pending->channel = channel;
	*ret = pending;
	return 0;
}

void http_pending_resume_all(struct http_pending *pending)
{
	struct http_pending_request *waiting;

	if (!pending)
		return;
	pending->stopping = true;
	TAILQ_FOREACH (waiting, &pending->waiting, entry)
		resume(waiting);
}

struct http_pending *http_pending_free(struct http_pending *pending)
{
	free(pending);
	return NULL;
}

static int wait_for(struct http_pending *pending, const struct http_pending_type *type,
		    struct MHD_Connection *connection, int fd, struct http_owner owner,
		    const struct http_message *question, bool now, struct http_pending_request **ret)
{
	struct http_pending_request *waiting = calloc(1, sizeof(*waiting));
	int r;

	if (!waiting)
		return -ENOMEM;
	*waiting = (struct http_pending_request){.pending = pending,
						 .type = type,
						 .owner = owner,
						 .connection = connection,
						 .question = *question,
						 .question_text = strdup(question->text),
						 .fd = -1};
	waiting->question.number = ++pending->last_number;
	r = waiting->question_text ? 0 : -ENOMEM;
	if (r == 0)
		r = sd_event_add_io(pending->event, &waiting->hangup, fd, EPOLLRDHUP, on_hangup, waiting);
	if (r >= 0 && now)
		r = send_question(waiting);
	if (r < 0) {
		sd_event_source_disable_unref(waiting->hangup);
		free(waiting->question_text);
		free(waiting);
		return r;
	}
	TAILQ_INSERT_TAIL(&pending->waiting, waiting, entry);
	*ret = waiting;
	return 0;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const struct http_pending_type *type,
			      int error, const char *message)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s\n", message && *message ? message : strerror(-error)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	switch (error) {
	case -ENOENT:
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, text);
	case -EACCES:
		return http_send_text(connection, MHD_HTTP_FORBIDDEN, text);
	case -EINVAL:
		return http_send_text(connection, MHD_HTTP_BAD_REQUEST, text);
	case -EIO:
		return http_send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
	default:
		return http_send_later(connection, limits[type->kind].retry_seconds, text);
	}
}

static enum MHD_Result refuse_full(struct MHD_Connection *connection, const struct http_pending_type *type,
				   const char *who, const char *how)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "The maximum number of clients%s is waiting for %s%s. Try again later.", who,
		     limits[type->kind].what, how) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return refuse(connection, type, -EBUSY, text);
}

enum MHD_Result http_pending_begin(struct http_pending *pending, const struct http_pending_type *type,
				   struct MHD_Connection *connection, int fd, struct http_owner owner,
				   const struct http_message *question, struct http_pending_request **ret)
{
	const struct limits *limit = &limits[type->kind];
	struct counts counts = count(pending, type->kind, owner);
	bool now = counts.asked < limit->asked && counts.owner_asked < limit->owner_asked;
	int r;

	if (counts.waiting >= limit->waiting)
		return refuse_full(connection, type, "", "");
	if (counts.owner_waiting >= limit->owner_waiting ||
	    counts.owner_waiting + counts.owner_sent >= limit->owner_held)
		return refuse_full(connection, type, " of this user or address", " or receiving them");
	if (counts.waiting + counts.sent >= limit->held)
		return refuse_full(connection, type, "", " or receiving them");
	r = wait_for(pending, type, connection, fd, owner, question, now, ret);
	if (r < 0)
		return refuse(connection, type, r, NULL);
	MHD_suspend_connection(connection);
	return MHD_YES;
}

/* An MHD_ContentReaderCallback. */
static ssize_t read_answer(void *userdata, uint64_t at, char *to, size_t size)
{
	const struct sent *sent = userdata;
	ssize_t n = pread(sent->fd, to, size, (off_t)at);

	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* An MHD_ContentReaderFreeCallback: the answer is sent, or the connection has ended. */
static void free_sent(void *userdata)
{
	struct sent *sent = userdata;

	LIST_REMOVE(sent, entry);
	(void)close(sent->fd);
	free(sent);
}

static struct MHD_Response *respond(struct http_pending_request *waiting)
{
	struct sent *sent = calloc(1, sizeof(*sent));
	struct MHD_Response *response;

	if (!sent)
		return NULL;
	response =
		MHD_create_response_from_callback(waiting->size, PIECE_BYTES, read_answer, sent, free_sent);
	if (!response) {
		free(sent);
		return NULL;
	}
	*sent = (struct sent){
		.kind = waiting->type->kind, .owner = waiting->owner, .fd = TAKE_FD(waiting->fd)};
	LIST_INSERT_HEAD(&waiting->pending->sent, sent, entry);
	waiting->error = EALREADY;
	return response;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_pending_request *waiting)
{
	const char *disposition = waiting->type->disposition;
	struct MHD_Response *response = respond(waiting);

	if (!response)
		return MHD_NO;
	if (http_describe(response, waiting->type->content_type, NULL) < 0 ||
	    (disposition && MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
						    disposition) != MHD_YES)) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	return http_send(connection, MHD_HTTP_OK, response);
}

enum MHD_Result http_pending_answer(struct MHD_Connection *connection, struct http_pending_request **waiting)
{
	enum MHD_Result result = MHD_NO;

	if ((*waiting)->fd >= 0)
		result = send_answer(connection, *waiting);
	else if ((*waiting)->error)
		result = refuse(connection, (*waiting)->type, -(int)(*waiting)->error, (*waiting)->text);
	http_pending_closed(waiting);
	return result;
}
