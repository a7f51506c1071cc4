// SPDX-License-Identifier: GPL-2.0
#include "http/http_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "http/http_answer.h"
#include "http/http_host.h"
#include "http/http_line.h"
#include "http/http_page.h"
#include "http/http_profile.h"
#include "http/http_questions.h"
#include "http/http_scrape.h"
#include "http/negotiate.h"

#define USEC_PER_MSEC     1000
#define TIMER_ACCURACY_US 50000 /* deadlines of slow clients need no better */
#define ACCEPTED_AT_ONCE  16

struct connection {
	TAILQ_ENTRY(connection) entry;
	struct MHD_Connection *library;
	int fd; /* the library's */
	u64 deadline_ns;
	bool hung_up;
	bool has_request;
	struct http_waiting *waiting; /* not NULL: for a profile, without a deadline */

	bool asks; /* it is among those who wait for an answer, and suspended */
	struct http_asker asker;
	bool answered; /* with `error`, an errno; 0: there is what it asked for */
	int error;
};

struct http_server {
	struct http_server_settings settings;
	TAILQ_HEAD(, connection) connections; /* the oldest first */
	unsigned int n_connections;
	bool crowded; /* somebody may wait for a place */
	struct MHD_Daemon *daemon;
	struct http_scrape scrape;
	struct http_questions questions;
	struct http_profile *profile;
	bool configured;
	bool last; /* who is in is answered, and nobody let in */
	bool ended;
	char *origin;
	char *hosts;
	int unhealthy; /* as pebsd said last: an errno, 0: healthy */
	char *health;
	sd_event_source *accepting[HTTP_LISTENERS_MAX];
	sd_event_source *io;
	sd_event_source *line;
	sd_event_source *timer;
	sd_event_source *again; /* at once, which no timer is */
};

static void log_library(void *userdata, const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	(void)userdata;
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	/* What the library reports is what clients do wrong: theirs to notice. */
	log_debug("HTTP endpoint: %s", text);
}

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void end(struct http_server *server, int error)
{
	if (server->ended)
		return;
	server->ended = true;
	server->settings.ended(server->settings.userdata, error);
}

static struct connection *connection_of(struct MHD_Connection *library)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void let_in(struct http_server *server, bool open)
{
	open = open && !server->last;
	for (size_t i = 0; i < server->settings.n_listeners; i++)
		if (server->accepting[i])
			(void)sd_event_source_set_enabled(server->accepting[i],
							  open ? SD_EVENT_ON : SD_EVENT_OFF);
}

/*
 * An MHD_NotifyConnectionCallback. The library's own timeout starts again with each byte: who sends one now
 * and then could keep a connection, and enough of them all connections, for good.
 */
static void on_connection(void *userdata, struct MHD_Connection *library, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *connection = *place;
	struct http_server *server = userdata;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		server->n_connections--;
		if (server->crowded && server->configured)
			let_in(server, true);
		server->crowded = false;
		if (connection) {
			http_profile_closed(&connection->waiting);
			if (connection->asks)
				http_questions_drop(&server->questions, &connection->asker);
			TAILQ_REMOVE(&server->connections, connection, entry);
		}
		free(connection);
		*place = NULL;
		return;
	}
	server->n_connections++;
	connection = calloc(1, sizeof(*connection));
	if (!connection || !info) {
		/* Without a deadline there is no connection. */
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		free(connection);
		return;
	}
	connection->library = library;
	connection->fd = info->connect_fd;
	connection->deadline_ns = now_ns() + HTTP_TIMEOUT_SECONDS * NSEC_PER_SEC;
	TAILQ_INSERT_TAIL(&server->connections, connection, entry);
	*place = connection;
}

/* The library sees the end of the stream and closes the connection. */
static void hang_up(struct connection *connection)
{
	if (!connection->hung_up)
		(void)shutdown(connection->fd, SHUT_RDWR);
	connection->hung_up = true;
}

/* Returns the next deadline, 0: there is none. */
static u64 hang_up_on_the_late(struct http_server *server, u64 now)
{
	struct connection *connection;

	TAILQ_FOREACH (connection, &server->connections, entry) {
		if (connection->waiting || connection->asks)
			continue;
		if (connection->deadline_ns > now)
			return connection->deadline_ns;
		hang_up(connection);
	}
	return 0;
}

/* In favour of somebody who waits: whoever has had HTTP_PATIENCE_SECONDS for a request and has sent none.
 * Returns when there will be one, 0: that cannot be told. */
static u64 hang_up_on_a_silent_one(struct http_server *server, u64 now)
{
	const u64 patience_ns = (HTTP_TIMEOUT_SECONDS - HTTP_PATIENCE_SECONDS) * NSEC_PER_SEC;
	struct connection *connection;

	TAILQ_FOREACH (connection, &server->connections, entry) {
		if (connection->has_request || connection->hung_up)
			continue;
		if (connection->deadline_ns - patience_ns > now)
			return connection->deadline_ns - patience_ns;
		hang_up(connection);
		return now;
	}
	return 0;
}

static void resume(struct connection *connection, int error)
{
	connection->asks = false;
	connection->answered = true;
	connection->error = error;
	MHD_resume_connection(connection->library);
}

static struct connection *connection_of_asker(struct http_asker *asker)
{
	return (struct connection *)(void *)((char *)asker - offsetof(struct connection, asker));
}

/* Returns the next one's time, 0: nobody waits. */
static u64 give_up_on_late_answers(struct http_server *server, u64 now)
{
	struct http_asker *asker;

	while ((asker = TAILQ_FIRST(&server->questions.askers))) {
		u64 deadline_ns = asker->since_ns + HTTP_ANSWER_SECONDS * NSEC_PER_SEC;

		if (deadline_ns > now)
			return deadline_ns;
		http_questions_drop(&server->questions, asker);
		resume(connection_of_asker(asker), ETIMEDOUT);
	}
	return 0;
}

/* An MHD_RequestCompletedCallback: `*state` is what was scraped, or nothing. */
static void on_completed(void *userdata, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	(void)userdata;
	(void)connection;
	(void)why;
	http_scrape_release(*state);
	*state = NULL;
}

static enum MHD_Result ask(struct http_server *server, struct connection *connection, u32 kind, u64 had)
{
	int r = http_questions_ask(&server->questions, &connection->asker, kind, had, now_ns());

	if (r < 0) {
		/* pebsd is gone, or is about to find this process useless. */
		end(server, r);
		return MHD_NO;
	}
	connection->asks = true;
	MHD_suspend_connection(connection->library);
	return MHD_YES;
}

static enum MHD_Result send_too_late(struct MHD_Connection *library)
{
	return http_send_later(library, HTTP_ANSWER_SECONDS,
			       "pebsd does not answer at present: it is stopped, or very busy.\n");
}

static enum MHD_Result send_failed(struct MHD_Connection *library, int error)
{
	_cleanup_free_ char *text = NULL;

	if (error == ETIMEDOUT)
		return send_too_late(library);
	if (asprintf(&text, "What is asked for could not be rendered: %s. The daemon's log says more.\n",
		     strerror(error)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(library, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
}

/* `*state` holds what is sent until the request is completed. */
static enum MHD_Result send_body(struct http_server *server, struct connection *connection,
				 enum http_document document, void **state)
{
	struct MHD_Connection *library = connection->library;
	u32 form = HTTP_FORM(document) | (negotiate_gzip(MHD_lookup_connection_value(
						  library, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING))
						  ? HTTP_FORM_GZIP
						  : 0);
	struct http_scrape_body *body = http_scrape_current(&server->scrape, form);

	if (!connection->answered && !http_scrape_full(&server->scrape, form))
		return ask(server, connection, form, body ? body->generation : 0);
	if (connection->error)
		return send_failed(library, connection->error);
	if (!body)
		return send_failed(library, EIO);
	http_scrape_hold(body);
	*state = body;
	return MHD_queue_response(library, MHD_HTTP_OK, body->response);
}

static enum MHD_Result send_metrics(struct http_server *server, struct connection *connection, void **state)
{
	bool openmetrics = negotiate_openmetrics(
		MHD_lookup_connection_value(connection->library, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));

	return send_body(server, connection, openmetrics ? HTTP_DOCUMENT_OPENMETRICS : HTTP_DOCUMENT_TEXT,
			 state);
}

static enum MHD_Result send_health(struct http_server *server, struct connection *connection)
{
	_cleanup_free_ char *text = NULL;

	if (!connection->answered)
		return ask(server, connection, HTTP_QUESTION_HEALTH, 0);
	if (connection->error)
		return send_too_late(connection->library);
	if (!server->unhealthy)
		return http_send_text(connection->library, MHD_HTTP_OK, "ok\n");
	if (asprintf(&text, "%s\n", server->health ? server->health : strerror(server->unhealthy)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(connection->library, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* Once it waits no longer its time begins anew, to send the answer in. */
static enum MHD_Result send_profile(struct http_server *server, struct connection *connection)
{
	enum MHD_Result result = http_profile_answer(server->profile, connection->library, connection->fd,
						     &connection->waiting);

	if (!connection->waiting) {
		connection->deadline_ns = now_ns() + HTTP_TIMEOUT_SECONDS * NSEC_PER_SEC;
		TAILQ_REMOVE(&server->connections, connection, entry);
		TAILQ_INSERT_TAIL(&server->connections, connection, entry);
	}
	return result;
}

/* An MHD_KeyValueIterator. */
static enum MHD_Result count_host(void *userdata, enum MHD_ValueKind kind, const char *key, const char *value)
{
	size_t *n = userdata;

	(void)kind;
	(void)value;
	*n += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

static enum http_host check_host(const struct http_server *server, const struct connection *connection,
				 const char *version)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
	} arrived = {0};
	socklen_t length = sizeof(arrived);
	struct http_host_asked asked = {
		.host = MHD_lookup_connection_value(connection->library, MHD_HEADER_KIND,
						    MHD_HTTP_HEADER_HOST),
		.may_be_absent = strcmp(version, MHD_HTTP_VERSION_1_0) == 0,
		.arrived = &arrived.any,
		.names = server->hosts,
	};

	if (getsockname(connection->fd, &arrived.any, &length) < 0)
		return HTTP_HOST_WRONG;
	(void)MHD_get_connection_values(connection->library, MHD_HEADER_KIND, count_host, &asked.n);
	return http_host_check(&asked);
}

/* An MHD_AccessHandlerCallback. NOLINTBEGIN(readability-non-const-parameter) */
static enum MHD_Result answer(void *userdata, struct MHD_Connection *library, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_length, void **state)
/* NOLINTEND(readability-non-const-parameter) */
{
	struct connection *connection = connection_of(library);
	struct http_server *server = userdata;

	(void)upload;
	(void)upload_length;
	if (!connection)
		return MHD_NO;
	connection->has_request = true;
	switch (check_host(server, connection, version)) {
	case HTTP_HOST_RIGHT:
		break;
	case HTTP_HOST_MALFORMED:
		return http_send_text(library, MHD_HTTP_BAD_REQUEST,
				      "One Host is needed: that of the address that is asked.\n");
	case HTTP_HOST_WRONG:
		return http_send_text(
			library, MHD_HTTP_MISDIRECTED_REQUEST,
			"Nothing is served under that Host: give the address, or have `hosts` in "
			"[export] of pebsd.conf name it.\n");
	}
	/* Answered before a body is read: nothing here has use for one. */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return http_send_not_allowed(library, "GET, HEAD");
	if (strcmp(path, "/metrics") == 0)
		return send_metrics(server, connection, state);
	if (strcmp(path, "/healthz") == 0)
		return send_health(server, connection);
	if (strcmp(path, HTTP_PROFILE_PATH) == 0)
		return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ? send_profile(server, connection)
								: http_send_not_allowed(library, "GET");
	if (strcmp(path, "/top.json") == 0)
		return send_body(server, connection, HTTP_DOCUMENT_TOP, state);
	if (strcmp(path, "/alerts.json") == 0)
		return send_body(server, connection, HTTP_DOCUMENT_ALERTS, state);
	if (strcmp(path, "/") == 0)
		return http_page_send(library, server->origin, http_profile_enabled(server->profile));
	return http_send_text(
		library, MHD_HTTP_NOT_FOUND,
		"There is no such page. There are /, /metrics, /top.json, /alerts.json and /healthz.\n");
}

static u64 sooner(u64 a, u64 b)
{
	return a && b ? MIN(a, b) : a ? a : b;
}

/* For the library, which tells when it wants to run again without a socket's becoming ready, and for
 * deadlines. */
static int arm_timer(struct http_server *server)
{
	u64 now = now_ns();
	u64 next = sooner(hang_up_on_the_late(server, now), give_up_on_late_answers(server, now));
	MHD_UNSIGNED_LONG_LONG wait_ms;
	u64 wait_us;
	int r;

	if (server->crowded)
		next = sooner(next, hang_up_on_a_silent_one(server, now));
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

/* A profile takes longer than anybody waits for an end. */
static bool somebody_waits(const struct http_server *server)
{
	const struct connection *connection;

	TAILQ_FOREACH (connection, &server->connections, entry)
		if (!connection->hung_up && !connection->waiting)
			return true;
	return false;
}

static int run(struct http_server *server)
{
	int r;

	(void)MHD_run(server->daemon);
	r = arm_timer(server);
	if (r < 0)
		end(server, r);
	if (server->last && !somebody_waits(server))
		end(server, 0);
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

static int on_again(sd_event_source *source, void *userdata)
{
	(void)source;
	return run(userdata);
}

/* The library refuses whoever comes while all places are taken: they are left where they wait. */
static int on_accept(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_server *server = userdata;

	(void)source;
	(void)events;
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		struct sockaddr_storage address = {0};
		socklen_t length = sizeof(address);
		int accepted;

		if (server->n_connections >= HTTP_CONNECTIONS_MAX) {
			server->crowded = true;
			let_in(server, false);
			break;
		}
		accepted = accept4(fd, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted < 0)
			break;
		/* It closes what it does not take. */
		(void)MHD_add_connection(server->daemon, accepted, (struct sockaddr *)&address, length);
	}
	return run(server);
}

static void answer_all(struct http_askers *askers, int error)
{
	struct http_asker *asker;

	while ((asker = TAILQ_FIRST(askers))) {
		TAILQ_REMOVE(askers, asker, entry);
		resume(connection_of_asker(asker), error);
	}
}

static int told_metrics(struct http_server *server, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;
	const struct http_scrape_body *body;
	struct http_askers askers;
	int r = 0, error = (int)message->error;

	if (message->type == HTTP_TELL_FAILED && !error)
		error = EIO;
	if (message->type == HTTP_TELL_BODY && passed < 0)
		return -EBADMSG;
	/* -ENOSPC: the one that is served will do. */
	if (message->type == HTTP_TELL_BODY)
		r = http_scrape_put(&server->scrape, message->form, message->value, TAKE_FD(passed),
				    message->size);
	if (r < 0 && r != -ENOSPC)
		error = -r;
	body = http_scrape_current(&server->scrape, message->form);
	r = http_questions_answered(&server->questions, message->form, body ? body->generation : 0, &askers);
	answer_all(&askers, error);
	return r;
}

static int told_health(struct http_server *server, const struct http_message *message)
{
	struct http_askers askers;
	int r = http_questions_answered(&server->questions, HTTP_QUESTION_HEALTH, 0, &askers);

	free(server->health);
	server->health = strdup(message->text);
	server->unhealthy = (int)message->error;
	answer_all(&askers, 0);
	return r;
}

static int told_settings(struct http_server *server, const struct http_message *message)
{
	size_t length = strcspn(message->text, "\n");
	char *origin = strndup(message->text, length);
	char *hosts = strdup(message->text + length + (message->text[length] != '\0'));

	if (!origin || !hosts) {
		free(origin);
		free(hosts);
		return -ENOMEM;
	}
	free(server->origin);
	free(server->hosts);
	server->origin = origin;
	server->hosts = hosts;
	http_profile_enable(server->profile, message->value & HTTP_SETTING_PROFILES);
	if (!server->configured)
		let_in(server, true);
	server->configured = true;
	return 0;
}

/* Takes the descriptor over. */
static int told(struct http_server *server, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;

	switch (message->type) {
	case HTTP_TELL_SAME:
	case HTTP_TELL_BODY:
	case HTTP_TELL_FAILED:
		return told_metrics(server, message, TAKE_FD(passed));
	case HTTP_TELL_HEALTH:
		return told_health(server, message);
	case HTTP_TELL_PROFILE:
	case HTTP_TELL_REFUSED:
		http_profile_told(server->profile, message, TAKE_FD(passed));
		return 0;
	case HTTP_TELL_SETTINGS:
		return told_settings(server, message);
	case HTTP_TELL_LAST:
		server->last = true;
		let_in(server, false);
		return 0;
	default:
		return -EBADMSG;
	}
}

static int on_line(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_server *server = userdata;
	u8 packet[HTTP_WIRE_MAX];

	(void)source;
	(void)events;
	while (!server->ended) {
		struct http_message message;
		int passed = -1;
		int r = http_line_receive(fd, packet, &message, &passed);

		if (r == -EAGAIN)
			break;
		if (r == 1)
			r = told(server, &message, passed);
		else if (r == 0)
			end(server, 0);
		if (r < 0)
			end(server, r);
	}
	return run(server);
}

static int start_library(struct http_server *server)
{
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0,
		NULL, NULL, answer, server, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS_MAX, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_BYTES,
		/* Else it does not take sendfile(), which cannot be told to raise no SIGPIPE. */
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
	    (r = sd_event_add_io(settings->event, &server->line, settings->line, EPOLLIN, on_line, server)) <
		    0 ||
	    (r = sd_event_add_time_relative(settings->event, &server->timer, CLOCK_MONOTONIC, 0,
					    TIMER_ACCURACY_US, on_timer, server)) < 0 ||
	    (r = sd_event_add_defer(settings->event, &server->again, on_again, server)) < 0)
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
	http_questions_init(&server->questions, settings->line);
	r = http_profile_new(settings->event, settings->line, &server->profile);
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
	struct http_asker *asker;

	if (!server)
		return NULL;
	server->ended = true;
	for (size_t i = 0; i < server->settings.n_listeners; i++)
		sd_event_source_disable_unref(server->accepting[i]);
	sd_event_source_disable_unref(server->io);
	sd_event_source_disable_unref(server->line);
	sd_event_source_disable_unref(server->timer);
	sd_event_source_disable_unref(server->again);
	server->settings.n_listeners = 0;
	/* The library cannot stop while it has suspended connections. */
	http_profile_resume_all(server->profile);
	while ((asker = TAILQ_FIRST(&server->questions.askers))) {
		http_questions_drop(&server->questions, asker);
		resume(connection_of_asker(asker), ESHUTDOWN);
	}
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	http_profile_free(server->profile);
	http_scrape_done(&server->scrape);
	free(server->origin);
	free(server->hosts);
	free(server->health);
	free(server);
	return NULL;
}
