// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/event_turn.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "http/server/http_receive.h"
#include "http/server/http_requests.h"
#include "http/server/http_server_internal.h"
#include "http/server/http_target.h"
#include "http/shared/http_channel.h"
#include "http/shared/http_owner.h"
#include "http/shared/http_wire.h"

#define USEC_PER_MSEC     1000
#define TIMER_ACCURACY_US 50000 /* good enough for deadlines of slow clients */
#define ACCEPTED_AT_ONCE  16

/* Time between checks for slow clients while there are many clients, or lingering connections. */
#define LOOK_NS (100 * NSEC_PER_MSEC)

/* After many clients, free memory is returned to the kernel when at most this many connections are left. */
#define FEW 8

static void log_library(void *userdata, const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	(void)userdata;
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	/* The library reports mistakes of clients, which do not concern the administrator. */
	log_debug("HTTP endpoint: %s", text);
}

/* Finds the owner from the peer's address, which the library keeps. */
static struct http_owner find_owner(const struct http_server *server, struct MHD_Connection *library, int fd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (!info || !info->client_addr)
		return (struct http_owner){.kind = HTTP_OWNER_UNKNOWN};
	return http_owner_of(fd, info->client_addr, server->settings.users);
}

/* Frees the connection and its place. `connection` is NULL if there was no memory for it. */
static void forget(struct http_server *server, struct http_connection *connection)
{
	server->n_connections--;
	if (server->crowded && server->configured)
		http_server_let_in(server, true);
	server->crowded = false;
	if (!connection)
		return;
	TAILQ_REMOVE(&server->connections, connection, entry);
	if (connection->lingers) {
		(void)close(connection->fd);
		server->n_lingering--;
	}
	free(connection);
}

/*
 * The library closes its descriptor of the connection after this call. A client that has not received
 * everything keeps its place until it has, or until its deadline. Otherwise each client would leave a buffer
 * in the kernel, without a limit. Returns whether the client keeps its place.
 */
static bool linger(struct http_server *server, struct http_connection *connection)
{
	int fd;

	if (connection->hung_up || !http_connection_is_untaken(connection))
		return false;
	fd = fcntl(connection->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return false;
	(void)shutdown(fd, SHUT_WR);
	connection->library = NULL;
	connection->fd = fd;
	connection->lingers = true;
	server->n_lingering++;
	return true;
}

/*
 * An MHD_NotifyConnectionCallback. The server has its own deadlines, because the library's timeout starts
 * again with each byte. A client that sends a byte now and then could keep its connection forever, and many
 * such clients could keep all connections.
 */
static void on_connection(void *userdata, struct MHD_Connection *library, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_connection *connection = *place;
	struct http_server *server = userdata;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		*place = NULL;
		if (connection) {
			http_pending_closed(&connection->waiting);
			if (connection->asks)
				http_questions_drop(&server->questions, &connection->requester);
			connection->asks = false;
		}
		if (!connection || !linger(server, connection))
			forget(server, connection);
		return;
	}
	server->n_connections++;
	connection = calloc(1, sizeof(*connection));
	if (!connection || !info) {
		/* No memory for the deadline: refuse the connection. */
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		free(connection);
		return;
	}
	connection->library = library;
	connection->fd = info->connect_fd;
	connection->owner = find_owner(server, library, connection->fd);
	http_server_begin(connection);
	TAILQ_INSERT_TAIL(&server->connections, connection, entry);
	*place = connection;
}

/*
 * The library sees the end of the stream and closes the connection. The kernel then discards the bytes that
 * the client has not received.
 */
static void hang_up(struct http_connection *connection)
{
	const struct linger at_once = {.l_onoff = 1};

	if (connection->hung_up)
		return;
	(void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	(void)shutdown(connection->fd, SHUT_RDWR);
	connection->hung_up = true;
}

static bool waits_for_pebsd(const struct http_connection *connection)
{
	return connection->waiting || connection->asks;
}

static u64 sooner(u64 a, u64 b)
{
	return a && b ? MIN(a, b) : a ? a : b;
}

/* Hangs up on clients past their deadline. Returns the next deadline, or 0 if there is none. */
static u64 hang_up_on_the_late(struct http_server *server, u64 now)
{
	struct http_connection *connection;

	TAILQ_FOREACH (connection, &server->connections, entry) {
		if (waits_for_pebsd(connection))
			continue;
		if (connection->deadline_ns > now)
			return connection->deadline_ns;
		hang_up(connection);
	}
	return 0;
}

/*
 * The clients that have a place. Excludes connections that were hung up on, which the library still has to
 * close.
 */
struct crowd {
	struct http_place places[HTTP_PLACES_ROOM];
	struct http_connection *connections[HTTP_PLACES_ROOM];
	size_t n;
};

static void list_crowd(const struct http_server *server, u64 now, struct crowd *ret)
{
	struct http_connection *connection;

	ret->n = 0;
	TAILQ_FOREACH (connection, &server->connections, entry) {
		if (connection->hung_up)
			continue;
		ret->connections[ret->n] = connection;
		ret->places[ret->n++] = (struct http_place){.owner = connection->owner,
							    .late_ns = http_pace_late(&connection->pace, now),
							    .waits = waits_for_pebsd(connection)};
	}
}

/*
 * Updates the lateness of a client from the kernel's count of received bytes. Before the update, the lateness
 * is an upper bound. Returns whether it became smaller.
 */
static bool look_again(struct crowd *crowd, size_t at, u64 now)
{
	struct http_connection *connection = crowd->connections[at];
	struct http_place *place = &crowd->places[at];
	s64 before = place->late_ns;

	http_pace_advance(&connection->pace, now, http_connection_taken(connection));
	place->late_ns = connection->pace.late_ns;
	return place->late_ns < before;
}

/* Closes lingering connections that were hung up on. The library no longer knows them. */
static void forget_lingering(struct http_server *server)
{
	struct http_connection *connection, *next;

	for (connection = TAILQ_FIRST(&server->connections); connection && server->n_lingering > 0;
	     connection = next) {
		next = TAILQ_NEXT(connection, entry);
		if (connection->lingers && connection->hung_up)
			forget(server, connection);
	}
}

/* Closes lingering connections whose clients have received everything. */
static void look_after_lingering(struct http_server *server)
{
	struct http_connection *connection, *next;

	for (connection = TAILQ_FIRST(&server->connections); connection && server->n_lingering > 0;
	     connection = next) {
		next = TAILQ_NEXT(connection, entry);
		if (connection->lingers && !connection->hung_up && !http_connection_is_untaken(connection))
			forget(server, connection);
	}
}

/*
 * Returns free memory to the kernel after many clients. Otherwise malloc() would keep about 8 KiB per client.
 */
static void trim_heap(struct http_server *server)
{
	if (!server->was_crowd || server->n_connections > FEW)
		return;
	heap_trim();
	server->was_crowd = false;
}

/*
 * Hangs up on slow clients. The more clients an owner has, the less time each of them gets. Returns the time
 * of the next check, or 0 if there are few clients and no lingering connections.
 */
static u64 hang_up_on_the_slow(struct http_server *server, u64 now)
{
	size_t has[HTTP_PLACES_ROOM];
	struct crowd crowd;

	if (server->n_connections <= HTTP_PLACES_MAX / 2 && server->n_lingering == 0) {
		trim_heap(server);
		return 0;
	}
	server->was_crowd = true;
	if (now < server->look_ns)
		return server->look_ns;
	look_after_lingering(server);
	list_crowd(server, now, &crowd);
	http_places_count(crowd.places, crowd.n, has);
	for (size_t i = 0; i < crowd.n; i++) {
		s64 patience_ns = http_places_patience(has[i], HTTP_TIMEOUT_SECONDS * (s64)NSEC_PER_SEC);

		if (crowd.places[i].waits || crowd.places[i].late_ns <= patience_ns)
			continue;
		(void)look_again(&crowd, i, now);
		if (crowd.places[i].late_ns > patience_ns)
			hang_up(crowd.connections[i]);
	}
	forget_lingering(server);
	return server->look_ns = now + LOOK_NS;
}

/* Hangs up on clients if more were accepted than there are places. Returns whether it hung up on any. */
static bool hang_up_on_surplus(struct http_server *server)
{
	u64 now = monotonic_ns();
	struct crowd crowd;
	bool any = false;
	int found;

	if (server->n_connections <= HTTP_PLACES_MAX)
		return false;
	list_crowd(server, now, &crowd);
	while (crowd.n > HTTP_PLACES_MAX && (found = http_places_yield(crowd.places, crowd.n)) >= 0) {
		if (look_again(&crowd, (size_t)found, now))
			continue;
		hang_up(crowd.connections[found]);
		any = true;
		crowd.n--;
		crowd.places[found] = crowd.places[crowd.n];
		crowd.connections[found] = crowd.connections[crowd.n];
	}
	forget_lingering(server);
	return any;
}

/*
 * Answers requests for which pebsd took too long. Returns the deadline of the next request, or 0 if none
 * waits.
 */
static u64 give_up_on_late_answers(struct http_server *server, u64 now)
{
	struct http_requester *requester;

	while ((requester = TAILQ_FIRST(&server->questions.requesters))) {
		u64 deadline_ns = requester->since_ns + HTTP_ANSWER_SECONDS * NSEC_PER_SEC;

		if (deadline_ns > now)
			return deadline_ns;
		http_questions_drop(&server->questions, requester);
		http_server_resume(requester, ETIMEDOUT);
	}
	return 0;
}

/*
 * Hangs up on late and on slow clients, and answers requests for which pebsd took too long. Then sets the timer
 * for the next deadline or check, or for the time at which the library wants to run again.
 */
static int arm_timer(struct http_server *server)
{
	u64 now = monotonic_ns();
	u64 next = sooner(hang_up_on_the_late(server, now), give_up_on_late_answers(server, now));
	MHD_UNSIGNED_LONG_LONG wait_ms;
	u64 wait_us;
	int r;

	forget_lingering(server);
	next = sooner(next, hang_up_on_the_slow(server, now));
	wait_us = next == 0 ? UINT64_MAX : next > now ? (next - now) / NSEC_PER_USEC + 1 : 0;
	if (MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES)
		wait_us = MIN(wait_us, wait_ms * USEC_PER_MSEC);
	if (wait_us == 0)
		return sd_event_source_set_enabled(server->again, SD_EVENT_ONESHOT);
	if (wait_us == UINT64_MAX)
		return sd_event_source_set_enabled(server->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(server->timer, wait_us);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(server->timer, SD_EVENT_ONESHOT);
}

/* Clients that wait for a profile or a view do not count: their wait may exceed the time that the daemon has to end. */
static bool somebody_waits(const struct http_server *server)
{
	const struct http_connection *connection;

	TAILQ_FOREACH (connection, &server->connections, entry)
		if (!connection->hung_up && !connection->waiting && !connection->lingers)
			return true;
	return false;
}

static int run(struct http_server *server)
{
	int r;

	(void)MHD_run(server->daemon);
	/* Call hang_up_on_surplus() only after MHD_run(): a client whose request has arrived by now was in time. */
	if (hang_up_on_surplus(server))
		(void)MHD_run(server->daemon);
	r = arm_timer(server);
	if (r < 0)
		http_server_end(server, r);
	if (server->last && !somebody_waits(server))
		http_server_end(server, 0);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	return run(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	return run(userdata);
}

static int on_again(sd_event_source *source, uint64_t now, void *userdata)
{
	(void)source;
	(void)now;
	return run(userdata);
}

/*
 * Accepts a few more clients than there are places. hang_up_on_surplus() then chooses the clients to hang up on. If it
 * cannot choose any, new clients wait in the queue of the listening socket.
 */
static int on_accept(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	const int sending = HTTP_SOCKETS_SENDING;
	struct http_server *server = userdata;

	(void)source;
	(void)events;
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		struct sockaddr_storage address = {0};
		socklen_t length = sizeof(address);
		int accepted;

		if (server->n_connections >= HTTP_PLACES_ROOM) {
			server->crowded = true;
			http_server_let_in(server, false);
			break;
		}
		accepted = accept4(fd, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted < 0)
			break;
		/* TCP connections inherit this limit from their listener. */
		if (address.ss_family == AF_UNIX)
			(void)setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &sending, sizeof(sending));
		/* The library closes a connection that it does not accept. */
		(void)MHD_add_connection(server->daemon, accepted, (struct sockaddr *)&address, length);
	}
	return run(server);
}

static int on_channel(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_server *server = userdata;
	u8 packet[HTTP_WIRE_MAX];

	(void)source;
	(void)events;
	while (!server->ended) {
		struct http_message message;
		int passed = -1;
		int r = http_channel_receive(fd, packet, &message, &passed);

		if (r == -EAGAIN)
			break;
		if (r == 1)
			r = http_receive(server, &message, passed);
		else if (r == 0)
			http_server_end(server, 0);
		if (r < 0)
			http_server_end(server, r);
	}
	return run(server);
}

/* An MHD_UnescapeCallback. */
static size_t decode(void *userdata, struct MHD_Connection *connection, char *text)
{
	(void)userdata;
	(void)connection;
	return http_target_decode(text);
}

static int start_library(struct http_server *server)
{
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0,
		NULL, NULL, http_requests_answer, server, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_PLACES_ROOM, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, http_requests_completed, NULL,
		MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_CONNECTION_BYTES,
		/* Otherwise the library does not use sendfile(), which has no flag to suppress SIGPIPE. */
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!server->daemon)
		return errno > 0 ? -errno : -ENOMEM;
	return 0;
}

static int attach(struct http_server *server)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	const struct http_server_settings *settings = &server->settings;
	int r;

	if (!info || info->epoll_fd < 0)
		return -ENOTSUP;
	if ((r = sd_event_add_io(settings->event, &server->io, info->epoll_fd, EPOLLIN, on_io, server)) < 0 ||
	    (r = sd_event_add_io(settings->event, &server->channel, settings->channel, EPOLLIN, on_channel,
				 server)) < 0 ||
	    (r = sd_event_add_time_relative(settings->event, &server->timer, CLOCK_MONOTONIC, 0,
					    TIMER_ACCURACY_US, on_timer, server)) < 0 ||
	    (r = event_turn_add(settings->event, on_again, server, &server->again)) < 0)
		return r;
	for (size_t i = 0; i < settings->n_listeners; i++) {
		r = sd_event_add_io(settings->event, &server->accepting[i], settings->listeners[i], EPOLLIN,
				    on_accept, server);
		if (r >= 0)
			r = sd_event_source_set_enabled(server->accepting[i], SD_EVENT_OFF);
		if (r < 0)
			return r;
	}
	return 0;
}

int http_server_new(const struct http_server_settings *settings, struct http_server **ret)
{
	struct http_server *server;
	int r;

	if (settings->n_listeners > HTTP_LISTENERS_MAX)
		return -E2BIG;
	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->settings = *settings;
	TAILQ_INIT(&server->connections);
	http_questions_init(&server->questions, settings->channel);
	r = http_pending_new(settings->event, settings->channel, &server->pending);
	if (r == 0)
		r = start_library(server);
	if (r == 0)
		r = attach(server);
	if (r < 0) {
		http_server_free(server);
		return r;
	}
	*ret = server;
	return 0;
}

struct http_server *http_server_free(struct http_server *server)
{
	struct http_connection *connection;
	struct http_requester *requester;

	if (!server)
		return NULL;
	server->ended = true;
	for (size_t i = 0; i < server->settings.n_listeners; i++)
		sd_event_source_disable_unref(server->accepting[i]);
	sd_event_source_disable_unref(server->io);
	sd_event_source_disable_unref(server->channel);
	sd_event_source_disable_unref(server->timer);
	sd_event_source_disable_unref(server->again);
	server->settings.n_listeners = 0;
	/* The library cannot stop while it has suspended connections. */
	http_pending_resume_all(server->pending);
	while ((requester = TAILQ_FIRST(&server->questions.requesters))) {
		http_questions_drop(&server->questions, requester);
		http_server_resume(requester, ESHUTDOWN);
	}
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	/* Only lingering connections are left. The kernel continues to send the rest of their answers. */
	while ((connection = TAILQ_FIRST(&server->connections)))
		forget(server, connection);
	http_pending_free(server->pending);
	http_cache_done(&server->cache);
	free(server->origin);
	free(server->hosts);
	free(server->reason);
	free(server);
	return NULL;
}
