// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/param.h>

#include "base/event_turn.h"
#include "base/json_get.h"
#include "base/log.h"
#include "pebsd/types.h"
#include "varlink/varlink_budget.h"
#include "varlink/varlink_call.h"
#include "varlink/varlink_limits.h"

/* Limits the rate of new connections, so that a flood of them does not occupy the loop. */
#define ACCEPT_INTERVAL_US 1000000
#define ACCEPT_BURST       256

/*
 * If there is no descriptor or memory for a connection, it stays in the listen queue and the socket stays
 * readable. The socket is therefore ignored for this long.
 */
#define ACCEPT_AGAIN_US 1000000

/*
 * The kernel doubles this value (socket(7)). It accepts a send(2) while less than that is queued, so the last one
 * may exceed it. VARLINK_KERNEL_BYTES bounds the sum.
 */
#define SENDING_BYTES (64 * 1024)

/*
 * Maximum number of bytes of one send(2). The kernel frees its memory in units of this size as the client
 * reads.
 */
#define SENDING_PIECE 16384U

/* Interval of checks for free memory while a call waits for it. */
#define ROOM_AGAIN_US 100000

/* Largest possible memory of one reply. */
#define REPLY_BYTES ((size_t)VARLINK_REPLY_MAX + VARLINK_BUFFER_STEP)

struct connection {
	struct varlink_server *server;
	struct connection *next, *previous;
	int fd;
	struct ucred peer;
	gid_t *groups; /* supplementary groups of the peer */
	size_t n_groups;
	sd_event_source *io;
	sd_event_source *stall; /* ends a period; enabled while something waits to be sent */
	struct varlink_buffer in, out;
	bool sending;    /* something waits to be sent */
	u64 since_us;    /* time at which `sending` began */
	u64 taken;       /* bytes that the kernel accepted since `since_us` */
	u64 period_sent; /* bytes that the kernel accepted in this period */
	u64 queued;      /* bytes that the kernel held when the period began */
	bool waits;      /* the client has a call that is not answered yet */
	bool needs_room; /* the unanswered call waits for memory */
	bool waiting;    /* the unanswered call waits for varlink_server_retry() */
	u64 waiting_us;  /* time at which the unanswered call first waited; 0: it did not */
	u64 turn;        /* the server's `turns` when the connection was made or last answered */
	bool input_ended;
	bool hung_up; /* the client can receive nothing any more */
	bool closing; /* close the connection when the output has been sent */
	bool subscribed;
	u64 moved_us; /* time at which a byte was last sent or received */
};

struct varlink_server {
	sd_event *event;
	sd_event_source *listening;
	sd_event_source *again; /* resumes accepting connections */
	sd_event_source *work;  /* answers the next call; enabled while one can be answered */
	sd_event_source *room;  /* enabled while a call waits for memory */
	sd_event_source *wait;  /* enabled while a call waits for varlink_server_retry() */
	u64 accept_failed_us;   /* time of the last failure to accept a connection; 0: accepting works */
	int fd;
	const struct varlink_service *service;
	struct connection *connections;
	size_t n_connections;
	u64 turns; /* calls answered so far */
};

static void connection_free(struct connection *connection)
{
	struct varlink_server *server = connection->server;

	if (connection->previous)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	server->n_connections--;

	sd_event_source_disable_unref(connection->io);
	sd_event_source_disable_unref(connection->stall);
	varlink_buffer_done(&connection->in);
	varlink_buffer_done(&connection->out);
	free(connection->groups);
	(void)close(connection->fd);
	free(connection);
}

/*
 * Messages have no length field, so nothing after an unreadable message can be trusted. Sends an error, after
 * which the connection is closed.
 */
static int refuse(struct connection *connection, const char *what)
{
	struct varlink_call call = {.peer = &connection->peer, .out = &connection->out};

	log_debug("control socket: closing the connection of pid %d: its message %s", connection->peer.pid,
		  what);
	connection->closing = true;
	return varlink_invalid_parameter(&call, "message");
}

static u64 event_now(sd_event *event)
{
	u64 now;

	return sd_event_now(event, CLOCK_MONOTONIC, &now) < 0 ? 0 : now;
}

static u64 wait_end_us(const struct connection *connection)
{
	return connection->waiting_us + VARLINK_WAIT_SECONDS * 1000000ULL;
}

/* The call waits: starts the clock of the call, and sets the timer to the earliest end of a wait. */
static int begin_waiting(struct connection *connection)
{
	struct varlink_server *server = connection->server;
	u64 set_us = UINT64_MAX;
	int r;

	connection->waiting = true;
	if (connection->waiting_us == 0)
		connection->waiting_us = event_now(server->event);
	if (sd_event_source_get_enabled(server->wait, NULL) != 0)
		(void)sd_event_source_get_time(server->wait, &set_us);
	r = sd_event_source_set_time(server->wait, MIN(set_us, wait_end_us(connection)));
	return r < 0 ? r : sd_event_source_set_enabled(server->wait, SD_EVENT_ONESHOT);
}

/* The first call of the input has been answered. */
static void end_call(struct connection *connection, size_t length)
{
	connection->waiting = false;
	connection->waiting_us = 0;
	varlink_buffer_consume(&connection->in, length + 1);
}

/* Returns 0, or -errno if the connection must be closed immediately. */
static int answer(struct connection *connection, size_t length)
{
	struct varlink_message message = {0};
	struct varlink_call call = {
		.message = &message,
		.peer = &connection->peer,
		.groups = connection->groups,
		.n_groups = connection->n_groups,
		.out = &connection->out,
		.waited_enough = connection->waiting_us &&
				 event_now(connection->server->event) >= wait_end_us(connection),
	};
	int r;

	r = varlink_message_parse(varlink_buffer_data(&connection->in), length, &message);
	if (r < 0)
		end_call(connection, length);
	if (r == -EBADMSG)
		return refuse(connection, "is not JSON");
	if (r == -EPROTO)
		return refuse(connection, "is not a Varlink call");
	if (r < 0)
		return r;

	r = varlink_call_dispatch(&call, connection->server->service);
	if (call.waiting && r >= 0 && !connection->hung_up)
		r = begin_waiting(connection);
	else
		end_call(connection, length);
	connection->subscribed = call.subscribed;
	if (r >= 0 && !call.answered) {
		(void)log_error(
			0,
			"control socket: method %s sent no reply, so its connection is closed; please report this",
			message.method);
		r = -ENOMSG;
	}
	varlink_message_done(&message);
	return r;
}

static bool has_call(const struct connection *connection, size_t *ret_length)
{
	const char *data, *end;

	if (connection->closing || connection->subscribed || connection->out.length > 0 ||
	    connection->in.length == 0)
		return false;
	data = varlink_buffer_data(&connection->in);
	end = memchr(data, '\0', connection->in.length);
	if (!end)
		return false;
	*ret_length = (size_t)(end - data);
	return true;
}

static size_t list_loads(const struct varlink_server *server,
			 struct varlink_load loads[static VARLINK_CONNECTIONS_MAX],
			 struct connection *connections[static VARLINK_CONNECTIONS_MAX])
{
	size_t n = 0;

	for (struct connection *connection = server->connections; connection && n < VARLINK_CONNECTIONS_MAX;
	     connection = connection->next) {
		connections[n] = connection;
		loads[n++] = (struct varlink_load){.user = connection->peer.uid,
						   .held = connection->out.capacity,
						   .since_us = connection->since_us,
						   .taken = connection->taken};
	}
	return n;
}

static bool has_room(const struct connection *connection, size_t bytes)
{
	struct varlink_load loads[VARLINK_CONNECTIONS_MAX];
	struct connection *connections[VARLINK_CONNECTIONS_MAX];
	size_t n = list_loads(connection->server, loads, connections);

	return varlink_budget_for(loads, n, connection->peer.uid, bytes);
}

/* Returns the connection to close so that `connection` gets memory; NULL: none yet. */
static struct connection *who_yields(const struct connection *connection, size_t bytes, u64 patience_us)
{
	struct varlink_load loads[VARLINK_CONNECTIONS_MAX];
	struct connection *connections[VARLINK_CONNECTIONS_MAX];
	size_t n = list_loads(connection->server, loads, connections);
	int found = varlink_budget_yield(loads, n, connection->peer.uid, bytes,
					 event_now(connection->server->event), patience_us);

	return found < 0 ? NULL : connections[found];
}

static void log_yield(const struct connection *connection)
{
	log_debug(
		"control socket: closing the connection of pid %d: it reads too slowly, and others need its memory",
		connection->peer.pid);
}

static int restart_room(struct varlink_server *server, u64 wait_us)
{
	int r = sd_event_source_set_time_relative(server->room, wait_us);

	return r < 0 ? r : sd_event_source_set_enabled(server->room, SD_EVENT_ONESHOT);
}

/* Bytes that the kernel holds for the client, including its bookkeeping (unix(7), SIOCOUTQ). */
static u64 count_queued(const struct connection *connection)
{
	int queued = 0;

	return ioctl(connection->fd, SIOCOUTQ, &queued) < 0 || queued < 0 ? 0 : (u64)queued;
}

static int restart_stall(struct connection *connection)
{
	connection->period_sent = 0;
	connection->queued = count_queued(connection);
	return sd_event_source_set_time_relative(connection->stall, VARLINK_PERIOD_SECONDS * 1000000ULL);
}

/* Sends as much output as possible without blocking. Returns 0, or -errno if the connection is broken. */
static int flush(struct connection *connection)
{
	struct varlink_buffer *out = &connection->out;

	while (out->length > 0) {
		ssize_t sent = send(connection->fd, varlink_buffer_data(out), MIN(out->length, SENDING_PIECE),
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? 0 : -errno;
		varlink_buffer_consume(out, (size_t)sent);
		connection->moved_us = event_now(connection->server->event);
		connection->taken += (u64)sent;
		connection->period_sent += (u64)sent;
	}
	return 0;
}

/* Something waits to be sent: starts the clock of the connection unless it runs already. */
static int begin_sending(struct connection *connection)
{
	if (connection->sending)
		return 0;
	connection->sending = true;
	connection->since_us = event_now(connection->server->event);
	connection->taken = 0;
	return restart_stall(connection);
}

/*
 * Updates the event sources of a connection after any event, and frees the connection if it is finished or on
 * `error`. Always returns 0, so that the event source of one client never stops the loop.
 */
static int settle(struct connection *connection, int error)
{
	bool input_full = connection->in.length > VARLINK_MESSAGE_MAX;
	bool waiting, call;
	size_t length;
	u32 events = 0;

	if (error >= 0)
		error = flush(connection);
	waiting = connection->out.length > 0;
	call = has_call(connection, &length);
	if (error < 0 || (!waiting && !call &&
			  (connection->closing || (connection->input_ended && !connection->subscribed)))) {
		connection_free(connection);
		return 0;
	}

	if (!connection->input_ended && !connection->closing && !input_full)
		events |= EPOLLIN;
	if (waiting)
		events |= EPOLLOUT;
	error = sd_event_source_set_io_events(connection->io, events);
	/* A hang-up cannot be masked: it would be reported in each turn while a call waits for memory. */
	if (error >= 0 && connection->hung_up && connection->input_ended)
		error = sd_event_source_set_enabled(connection->io, SD_EVENT_OFF);
	connection->waits = call && !connection->waiting;
	connection->needs_room = connection->waits && !has_room(connection, REPLY_BYTES);
	if (error >= 0 && connection->waits && !connection->needs_room)
		error = sd_event_source_set_enabled(connection->server->work, SD_EVENT_ONESHOT);
	if (error >= 0 && connection->needs_room &&
	    sd_event_source_get_enabled(connection->server->room, NULL) == 0)
		error = restart_room(connection->server, 0);
	if (error >= 0 && waiting)
		error = begin_sending(connection);
	connection->sending = waiting;
	if (error >= 0)
		error = sd_event_source_set_enabled(connection->stall,
						    waiting ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	if (error < 0)
		connection_free(connection);
	return 0;
}

/*
 * Returns the connection that has waited longest of those whose call can be answered now, or NULL. The list
 * begins with the newest connection, so the last one of several with the same turn is the oldest.
 */
static struct connection *who_is_next(const struct varlink_server *server)
{
	struct connection *found = NULL;

	for (struct connection *connection = server->connections; connection; connection = connection->next)
		if (connection->waits && (!found || connection->turn <= found->turn) &&
		    has_room(connection, REPLY_BYTES))
			found = connection;
	return found;
}

/* No call can be answered now: marks every connection with a call as waiting for memory. */
static void wait_for_room(struct varlink_server *server)
{
	bool any = false;

	for (struct connection *connection = server->connections; connection; connection = connection->next)
		any |= connection->needs_room = connection->waits;
	if (any && sd_event_source_get_enabled(server->room, NULL) == 0)
		(void)restart_room(server, 0);
}

static int on_work(sd_event_source *source, u64 now, void *userdata)
{
	struct varlink_server *server = userdata;
	struct connection *connection = who_is_next(server);
	size_t length;

	(void)now;
	if (!connection || !has_call(connection, &length)) {
		wait_for_room(server);
		return 0;
	}
	/* Run again, because other calls may wait. */
	(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	connection->turn = ++server->turns;
	return settle(connection, answer(connection, length));
}

/*
 * Schedules the calls for which there is memory now. If a call still waits, closes one connection to free its
 * memory, if one qualifies.
 */
static int on_room(sd_event_source *source, u64 now, void *userdata)
{
	struct varlink_server *server = userdata;
	struct connection *waits = NULL, *yields;

	(void)source;
	(void)now;
	for (struct connection *connection = server->connections, *next; connection; connection = next) {
		next = connection->next;
		if (connection->needs_room && has_room(connection, REPLY_BYTES))
			(void)settle(connection, 0);
		else if (connection->needs_room)
			waits = connection;
	}
	if (!waits)
		return 0;
	yields = who_yields(waits, REPLY_BYTES, VARLINK_BUDGET_US);
	if (yields) {
		log_yield(yields);
		connection_free(yields);
	}
	(void)restart_room(server, yields ? 0 : ROOM_AGAIN_US);
	return 0;
}

/* Runs the handlers of the waiting calls again: of all, or of those whose time is over. */
static void retry(struct varlink_server *server, bool all)
{
	u64 now = event_now(server->event), next_us = UINT64_MAX;

	for (struct connection *connection = server->connections, *next; connection; connection = next) {
		next = connection->next;
		if (!connection->waiting)
			continue;
		if (all || now >= wait_end_us(connection)) {
			connection->waiting = false;
			(void)settle(connection, 0);
		} else {
			next_us = MIN(next_us, wait_end_us(connection));
		}
	}
	if (next_us == UINT64_MAX || sd_event_source_set_time(server->wait, next_us) < 0)
		(void)sd_event_source_set_enabled(server->wait, SD_EVENT_OFF);
	else
		(void)sd_event_source_set_enabled(server->wait, SD_EVENT_ONESHOT);
}

void varlink_server_retry(struct varlink_server *server)
{
	retry(server, true);
}

static int on_wait(sd_event_source *source, u64 now, void *userdata)
{
	(void)source;
	(void)now;
	retry(userdata, false);
	return 0;
}

static int on_stall(sd_event_source *source, u64 now, void *userdata)
{
	struct connection *connection = userdata;
	u64 had = connection->queued + connection->period_sent, has = count_queued(connection);
	/*
	 * The kernel reports free space only when there is much of it (EPOLLOUT). So bytes that the client
	 * has read from the kernel's buffer count as well.
	 */
	u64 taken = had - MIN(had, has);

	(void)source;
	(void)now;
	/*
	 * The kernel still counts the piece of which the client has read only a part, so allow for one piece.
	 */
	if (taken + SENDING_PIECE >= VARLINK_PERIOD_BYTES)
		return settle(connection, restart_stall(connection));
	log_debug("control socket: closing the connection of pid %d: it read only %llu bytes in %d s",
		  connection->peer.pid, (unsigned long long)taken, VARLINK_PERIOD_SECONDS);
	connection_free(connection);
	return 0;
}

/* Returns 0, or -errno if the connection must be closed immediately. */
static int receive(struct connection *connection)
{
	struct varlink_buffer *in = &connection->in;
	ssize_t got;
	int r;

	r = varlink_buffer_reserve(in, VARLINK_MESSAGE_MAX + 1 - in->length);
	if (r < 0)
		return r;
	got = recv(connection->fd, varlink_buffer_end(in), VARLINK_MESSAGE_MAX + 1 - in->length,
		   MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (got == 0) {
		connection->input_ended = true;
		return 0;
	}
	in->length += (size_t)got;
	connection->moved_us = event_now(connection->server->event);
	if (in->length > VARLINK_MESSAGE_MAX && !connection->subscribed &&
	    !memchr(varlink_buffer_data(in), '\0', in->length))
		return refuse(connection, "is longer than 64 KiB");
	return 0;
}

static int on_io(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct connection *connection = userdata;
	bool room = connection->in.length <= VARLINK_MESSAGE_MAX;
	size_t length;
	int r = 0;

	(void)source;
	(void)fd;
	connection->hung_up = connection->hung_up || (events & (EPOLLHUP | EPOLLERR));
	/* Nobody can receive the reply. Calls behind this one, if they are oneway, still run. */
	if ((events & (EPOLLHUP | EPOLLERR)) && connection->waiting && has_call(connection, &length))
		end_call(connection, length);
	if ((events & (EPOLLHUP | EPOLLERR)) && (connection->subscribed || connection->closing || !room))
		r = -ECONNRESET;
	else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !connection->input_ended && room)
		r = receive(connection);
	return settle(connection, r);
}

/* If this fails (Linux before 4.13, no memory), only the peer's primary group is known. */
static void read_groups(struct connection *connection)
{
	socklen_t bytes = 0;

	/* With a buffer that is too small, the kernel sets `bytes` to the size needed. */
	if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE)
		return;
	connection->groups = malloc(bytes);
	if (!connection->groups ||
	    getsockopt(connection->fd, SOL_SOCKET, SO_PEERGROUPS, connection->groups, &bytes) < 0)
		return;
	connection->n_groups = bytes / sizeof(gid_t);
}

static int connection_new(struct varlink_server *server, int fd, const struct ucred *peer)
{
	struct connection *connection;
	int r;

	connection = calloc(1, sizeof(*connection));
	if (!connection) {
		(void)close(fd);
		return -ENOMEM;
	}
	connection->server = server;
	connection->fd = fd;
	connection->peer = *peer;
	connection->moved_us = event_now(server->event);
	connection->turn = server->turns;
	connection->next = server->connections;
	if (connection->next)
		connection->next->previous = connection;
	server->connections = connection;
	server->n_connections++;

	read_groups(connection);
	r = sd_event_add_io(server->event, &connection->io, fd, EPOLLIN, on_io, connection);
	if (r >= 0)
		r = sd_event_add_time_relative(server->event, &connection->stall, CLOCK_MONOTONIC,
					       VARLINK_PERIOD_SECONDS * 1000000ULL, 1000000, on_stall,
					       connection);
	if (r >= 0)
		r = sd_event_source_set_enabled(connection->stall, SD_EVENT_OFF);
	if (r < 0)
		connection_free(connection);
	return r;
}

/* Returns true if there is room for another connection of this user; may close a connection to make it. */
static bool make_place(struct varlink_server *server, uid_t user)
{
	struct varlink_limited_connection limited[VARLINK_CONNECTIONS_MAX];
	struct connection *connections[VARLINK_CONNECTIONS_MAX];
	size_t n = 0;
	int yields;

	if (server->n_connections < VARLINK_CONNECTIONS_MAX)
		return true;
	for (struct connection *connection = server->connections; connection && n < VARLINK_CONNECTIONS_MAX;
	     connection = connection->next) {
		connections[n] = connection;
		limited[n++] = (struct varlink_limited_connection){.user = connection->peer.uid,
								   .moved_us = connection->moved_us,
								   .subscribed = connection->subscribed};
	}
	yields = varlink_limits_yield(limited, n, user, event_now(server->event));
	if (yields < 0)
		return false;
	log_debug("control socket: closing the connection of pid %d to accept another: the limit is %d",
		  connections[yields]->peer.pid, VARLINK_CONNECTIONS_MAX);
	connection_free(connections[yields]);
	return true;
}

/*
 * Logs a failure once, and logs the recovery only after accepting has worked for two seconds. If descriptors
 * are only sometimes free, accepting alternates between failure and success, which would fill the log.
 * `closed`: the connection was accepted, but had to be closed.
 */
static void log_accept(struct varlink_server *server, int error, bool closed)
{
	u64 now = event_now(server->event);

	if (error < 0) {
		if (!server->accept_failed_us)
			(void)log_warning(0, "control socket: cannot accept a connection: %s; %s%s",
					  strerror(-error),
					  closed ? "it was closed, and the client must connect again"
						 : "clients wait, and pebsd tries again every second",
					  error == -EMFILE   ? "; raise LimitNOFILE= of the unit"
					  : error == -ENFILE ? "; raise fs.file-max with sysctl"
							     : "");
		server->accept_failed_us = now;
	} else if (server->accept_failed_us && now - server->accept_failed_us > 2ULL * ACCEPT_AGAIN_US) {
		log_notice("control socket: connections are accepted again");
		server->accept_failed_us = 0;
	}
}

/* If the timer cannot be set, the socket stays enabled, and its rate limit keeps the loop from spinning. */
static void listen_later(struct varlink_server *server)
{
	if (sd_event_source_set_time_relative(server->again, ACCEPT_AGAIN_US) < 0 ||
	    sd_event_source_set_enabled(server->again, SD_EVENT_ONESHOT) < 0)
		return;
	(void)sd_event_source_set_enabled(server->listening, SD_EVENT_OFF);
}

static int on_again(sd_event_source *source, u64 now, void *userdata)
{
	struct varlink_server *server = userdata;

	(void)now;
	if (sd_event_source_set_enabled(server->listening, SD_EVENT_ON) < 0 &&
	    sd_event_source_set_time_relative(source, ACCEPT_AGAIN_US) >= 0)
		(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static int on_connection(sd_event_source *source, int listening, u32 events, void *userdata)
{
	struct varlink_server *server = userdata;
	int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	const int sending = SENDING_BYTES;
	struct ucred peer;
	socklen_t length = sizeof(peer);
	int r;

	(void)source;
	(void)events;
	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return 0;
		log_accept(server, -errno, false);
		listen_later(server);
		return 0;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sending, sizeof(sending));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) {
		log_accept(server, -errno, true);
		(void)close(fd);
		return 0;
	}
	if (!make_place(server, peer.uid)) {
		log_debug("control socket: refusing a connection of pid %d: the limit is %d", peer.pid,
			  VARLINK_CONNECTIONS_MAX);
		(void)close(fd);
		return 0;
	}
	r = connection_new(server, fd, &peer);
	log_accept(server, r < 0 ? r : 0, true);
	return 0;
}

int varlink_server_new(sd_event *event, int fd, const struct varlink_service *service,
		       struct varlink_server **ret)
{
	struct varlink_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return -ENOMEM;
	server->fd = -1;
	server->service = service;
	server->event = sd_event_ref(event);
	r = sd_event_add_io(event, &server->listening, fd, EPOLLIN, on_connection, server);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(server->listening, ACCEPT_INTERVAL_US, ACCEPT_BURST);
	if (r >= 0)
		r = event_turn_add(event, on_work, server, &server->work);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &server->again, CLOCK_MONOTONIC, ACCEPT_AGAIN_US, 0,
					       on_again, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->again, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &server->room, CLOCK_MONOTONIC, ROOM_AGAIN_US, 10000,
					       on_room, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->room, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &server->wait, CLOCK_MONOTONIC,
					       VARLINK_WAIT_SECONDS * 1000000ULL, 10000, on_wait, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->wait, SD_EVENT_OFF);
	if (r < 0) {
		varlink_server_free(server);
		return r;
	}
	server->fd = fd;
	*ret = server;
	return 0;
}

struct varlink_server *varlink_server_free(struct varlink_server *server)
{
	if (!server)
		return NULL;
	while (server->connections)
		connection_free(server->connections);
	sd_event_source_disable_unref(server->listening);
	sd_event_source_disable_unref(server->again);
	sd_event_source_disable_unref(server->work);
	sd_event_source_disable_unref(server->room);
	sd_event_source_disable_unref(server->wait);
	sd_event_unref(server->event);
	if (server->fd >= 0)
		(void)close(server->fd);
	free(server);
	return NULL;
}

void varlink_server_publish(struct varlink_server *server, json_object *parameters)
{
	struct varlink_buffer item = {0};
	int encoded = varlink_encode_item(parameters, &item);

	for (struct connection *connection = server->connections, *next; connection; connection = next) {
		int r = encoded;

		next = connection->next;
		if (!connection->subscribed)
			continue;
		/* A client must notice that it missed an item, so its stream ends. */
		if (connection->out.length > VARLINK_QUEUE_MAX) {
			log_debug("control socket: closing the connection of pid %d: it does not read",
				  connection->peer.pid);
			r = -ENOBUFS;
		}
		while (r >= 0 && !has_room(connection, item.length + VARLINK_BUFFER_STEP)) {
			struct connection *yields =
				who_yields(connection, item.length + VARLINK_BUFFER_STEP, 0);

			log_yield(yields ? yields : connection);
			if (!yields || yields == connection) {
				r = -ENOBUFS;
				break;
			}
			if (yields == next)
				next = next->next;
			connection_free(yields);
		}
		if (r >= 0) {
			r = varlink_buffer_append(&connection->out, varlink_buffer_data(&item), item.length);
		}
		(void)settle(connection, r);
	}
	varlink_buffer_done(&item);
}

size_t varlink_server_subscribers(const struct varlink_server *server)
{
	size_t n = 0;

	for (const struct connection *connection = server ? server->connections : NULL; connection;
	     connection = connection->next)
		n += connection->subscribed;
	return n;
}

size_t varlink_server_held(const struct varlink_server *server)
{
	size_t held = 0;

	for (const struct connection *connection = server->connections; connection;
	     connection = connection->next)
		held += connection->out.capacity;
	return held;
}
