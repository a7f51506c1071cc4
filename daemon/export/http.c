// SPDX-License-Identifier: GPL-2.0
#include "export/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "export/http_answer.h"
#include "export/listen.h"
#include "export/negotiate.h"
#include "export/scrape.h"

#define USEC_PER_MSEC     1000
#define TIMER_ACCURACY_US 50000 /* deadlines of slow clients need no better */

struct connection {
	TAILQ_ENTRY(connection) entry;
	int fd; /* the library's */
	u64 deadline_ns;
	bool hung_up;
	struct http_waiting *waiting; /* not NULL: for a profile, without a deadline */
};

struct http {
	struct http_source source;
	TAILQ_HEAD(, connection) connections; /* the oldest first */
	unsigned int n_connections;
	bool was_full; /* and a connection was closed since */
	struct MHD_Daemon *daemon;
	struct scrape *scrape;
	struct http_profile *profile;
	sd_event_source *io;
	sd_event_source *timer;
	unsigned int port;
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
	struct http *http = userdata;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (http->n_connections-- == HTTP_CONNECTIONS_MAX)
			http->was_full = true;
		if (connection) {
			http_profile_closed(http->profile, &connection->waiting);
			TAILQ_REMOVE(&http->connections, connection, entry);
		}
		free(connection);
		*place = NULL;
		return;
	}
	http->n_connections++;
	connection = calloc(1, sizeof(*connection));
	if (!connection || !info) {
		/* Without a deadline there is no connection. */
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		free(connection);
		return;
	}
	connection->fd = info->connect_fd;
	connection->deadline_ns = now_ns() + HTTP_TIMEOUT_SECONDS * NSEC_PER_SEC;
	TAILQ_INSERT_TAIL(&http->connections, connection, entry);
	*place = connection;
}

/* The library sees the end of the stream and closes the connection. Returns the next deadline, 0: there is
 * none. */
static u64 hang_up_on_the_late(struct http *http, u64 now)
{
	struct connection *connection;

	TAILQ_FOREACH (connection, &http->connections, entry) {
		if (connection->waiting)
			continue;
		if (connection->deadline_ns > now)
			return connection->deadline_ns;
		if (!connection->hung_up)
			(void)shutdown(connection->fd, SHUT_RDWR);
		connection->hung_up = true;
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
	scrape_release(*state);
	*state = NULL;
}

/* `*state` holds what is sent until the request is completed. */
static enum MHD_Result send_metrics(struct http *http, struct MHD_Connection *connection, void **state)
{
	struct scrape_generation *held;
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const char *encoding =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	struct MHD_Response *response;
	_cleanup_free_ char *text = NULL;
	int r;

	r = scrape_get(http->scrape, http->source.sequence(http->source.userdata),
		       negotiate_openmetrics(accept), negotiate_gzip(encoding), &response, &held);
	if (r >= 0) {
		*state = held;
		return MHD_queue_response(connection, MHD_HTTP_OK, response);
	}
	log_warning(r, "Cannot render the metrics for a scrape; the next one is tried anew");
	if (asprintf(&text, "The metrics could not be rendered: %s. The daemon's log says more.\n",
		     strerror(-r)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
}

static enum MHD_Result send_health(struct http *http, struct MHD_Connection *connection)
{
	_cleanup_free_ char *text = NULL;
	const char *reason = NULL;
	int r;

	r = http->source.health(http->source.userdata, &reason);
	if (r >= 0)
		return http_send_text(connection, MHD_HTTP_OK, "ok\n");
	if (asprintf(&text, "%s\n", reason ? reason : strerror(-r)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result send_page(struct http *http, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	_cleanup_free_ char *page = NULL;

	if (asprintf(&page,
		     "<!DOCTYPE html>\n"
		     "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>pebsd</title></head><body>\n"
		     "<h1>pebsd %s</h1>\n"
		     "<p>Memory access latency of every cgroup. Origin of the samples: %s%s.</p>\n"
		     "<ul><li><a href=\"/metrics\">/metrics</a> for Prometheus</li>\n"
		     "<li><a href=\"/healthz\">/healthz</a></li>%s</ul>\n"
		     "</body></html>\n",
		     http->source.version, http->source.origin,
		     strcmp(http->source.origin, "model") == 0 ? ", which is no measurement" : "",
		     http_profile_enabled(http->profile) ? "\n<li>" HTTP_PROFILE_PATH
							   "?cgroup=/PATH&amp;seconds=30 for pprof</li>"
							 : "") < 0) {
		page = NULL;
		return MHD_NO;
	}
	response = http_text("text/html; charset=utf-8", page);
	return response ? http_send(connection, MHD_HTTP_OK, response) : MHD_NO;
}

/* Once it waits no longer its time begins anew, to send the answer in. */
static enum MHD_Result send_profile(struct http *http, struct MHD_Connection *library)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *connection = info ? info->socket_context : NULL;
	enum MHD_Result result;

	if (!connection)
		return MHD_NO;
	result = http_profile_answer(http->profile, library, connection->fd, &connection->waiting);
	if (!connection->waiting) {
		connection->deadline_ns = now_ns() + HTTP_TIMEOUT_SECONDS * NSEC_PER_SEC;
		TAILQ_REMOVE(&http->connections, connection, entry);
		TAILQ_INSERT_TAIL(&http->connections, connection, entry);
	}
	return result;
}

/* An MHD_AccessHandlerCallback. NOLINTBEGIN(readability-non-const-parameter) */
static enum MHD_Result answer(void *userdata, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_length, void **state)
/* NOLINTEND(readability-non-const-parameter) */
{
	struct http *http = userdata;

	(void)version;
	(void)upload;
	(void)upload_length;
	/* Answered before a body is read: nothing here has use for one. */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return http_send_not_allowed(connection, "GET, HEAD");
	if (strcmp(path, "/metrics") == 0)
		return send_metrics(http, connection, state);
	if (strcmp(path, "/healthz") == 0)
		return send_health(http, connection);
	if (strcmp(path, HTTP_PROFILE_PATH) == 0)
		return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ? send_profile(http, connection)
								: http_send_not_allowed(connection, "GET");
	if (strcmp(path, "/") == 0)
		return send_page(http, connection);
	return http_send_text(connection, MHD_HTTP_NOT_FOUND,
			      "There is no such page. There are /, /metrics and /healthz.\n");
}

/* For the library, which tells when it wants to run again without a socket's becoming ready, and for
 * deadlines. */
static int arm_timer(struct http *http)
{
	u64 now = now_ns();
	u64 deadline_ns = hang_up_on_the_late(http, now);
	u64 wait_us = deadline_ns ? (deadline_ns - now) / NSEC_PER_USEC + 1 : UINT64_MAX;
	MHD_UNSIGNED_LONG_LONG wait_ms;
	int r;

	if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES)
		wait_us = MIN(wait_us, wait_ms * USEC_PER_MSEC);
	/* Only in its next turn does it take in again those who wait outside, and nothing else may bring
	 * that. */
	if (http->was_full)
		wait_us = 0;
	http->was_full = false;
	if (wait_us == UINT64_MAX)
		return sd_event_source_set_enabled(http->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(http->timer, wait_us);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
}

static int run(struct http *http)
{
	int r;

	(void)MHD_run(http->daemon);
	r = arm_timer(http);
	return r < 0 ? log_error(r, "Cannot set the timer of the HTTP endpoint; it stops serving") : 0;
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

/* Nothing makes the library's descriptor ready when a connection is resumed. */
static void run_soon(void *userdata)
{
	struct http *http = userdata;

	if (sd_event_source_set_time_relative(http->timer, 0) < 0 ||
	    sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT) < 0)
		(void)log_error(0, "Cannot set the timer of the HTTP endpoint; a profile comes late");
}

static int attach(struct http *http, sd_event *event)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info || info->epoll_fd < 0)
		return -ENOTSUP;
	r = sd_event_add_io(event, &http->io, info->epoll_fd, EPOLLIN, on_io, http);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(event, &http->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US, on_timer,
				       http);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(http->io, "http");
	(void)sd_event_source_set_description(http->timer, "http-timer");
	r = sd_event_source_set_priority(http->io, SD_EVENT_PRIORITY_NORMAL + HTTP_PRIORITY_BELOW_REST);
	if (r < 0)
		return r;
	return sd_event_source_set_priority(http->timer, SD_EVENT_PRIORITY_NORMAL + HTTP_PRIORITY_BELOW_REST);
}

static int start(struct http *http, sd_event *event, const struct listen_address *listen, char **ret_message)
{
	_cleanup_close_ int fd = -1;
	int port;
	int r;

	r = listen_open(listen, &fd, ret_message);
	if (r < 0)
		return r;
	port = listen_port(fd);
	if (port < 0)
		return port;
	http->port = (unsigned int)port;
	r = scrape_new(http->source.metrics, http->source.userdata, &http->scrape);
	if (r < 0)
		return r;
	r = http_profile_new(event, &http->source.profiles, run_soon, http, &http->profile);
	if (r < 0)
		return r;
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, http,
		MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS_MAX, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_BYTES, MHD_OPTION_END);
	if (!http->daemon)
		return errno > 0 ? -errno : -ENOMEM;
	TAKE_FD(fd); /* closed by MHD_stop_daemon() */
	return attach(http, event);
}

int http_new(sd_event *event, const struct listen_address *listen, const struct http_source *source,
	     struct http **ret, char **ret_message)
{
	struct http *http;
	int r;

	*ret_message = NULL;
	http = calloc(1, sizeof(*http));
	if (!http)
		return -ENOMEM;
	TAILQ_INIT(&http->connections);
	http->source = *source;
	r = start(http, event, listen, ret_message);
	if (r < 0) {
		http_free(http);
		if (!*ret_message &&
		    asprintf(ret_message,
			     "cannot serve HTTP on %s: %s; `listen = none` in [export] does without it",
			     listen->text, strerror(-r)) < 0)
			*ret_message = NULL;
		return r;
	}
	*ret = http;
	return 0;
}

struct http *http_free(struct http *http)
{
	if (!http)
		return NULL;
	/* The library cannot stop while it has suspended connections. */
	http_profile_resume_all(http->profile);
	sd_event_source_disable_unref(http->io);
	sd_event_source_disable_unref(http->timer);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	http_profile_free(http->profile);
	scrape_free(http->scrape);
	free(http);
	return NULL;
}

unsigned int http_port(const struct http *http)
{
	return http->port;
}
