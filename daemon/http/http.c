// SPDX-License-Identifier: GPL-2.0
#include "http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "child/child.h"
#include "http/http_bodies.h"
#include "http/http_broker.h"

#define TIMER_ACCURACY_US 10000

struct http {
	struct http_settings settings;
	char *program;
	char *hosts;
	struct http_source source;
	struct http_sockets sockets;
	struct http_bodies bodies;
	struct child child;
	struct http_broker *broker;
	sd_event_source *on_end;
	sd_event_source *restart;
	const char *why; /* the reason why pebsd ended the process; NULL: it ended by itself */
	u64 started_ns;
	u64 wait_ms; /* before the next start */
	u64 restarts;
	bool warned;
	void (*stopped)(void *userdata); /* NULL: not stopping */
	void *stopped_userdata;
};

/* Warns once, and again only after the process has run for HTTP_STEADY_SECONDS. */
static void warn(struct http *http, int error, const char *what)
{
	bool repeated = http->warned;

	http->warned = true;
	if (repeated)
		log_debug("the HTTP endpoint's process %s", what);
	else
		(void)log_warning(
			0,
			"the HTTP endpoint's process %s%s%s; sampling continues, and pebsd starts the process again each time it ends, after at most %d s (counted in pebsd_http_restarts_total)",
			what, error ? ": " : "", error ? strerror(-error) : "", HTTP_RESTART_MAX_SECONDS);
}

static void start_later(struct http *http)
{
	if (monotonic_ns() - http->started_ns > HTTP_STEADY_SECONDS * NSEC_PER_SEC) {
		http->wait_ms = HTTP_RESTART_FIRST_MS;
		http->warned = false;
	}
	if (sd_event_source_set_time_relative(http->restart, http->wait_ms * 1000) < 0 ||
	    sd_event_source_set_enabled(http->restart, SD_EVENT_ONESHOT) < 0)
		(void)log_error(
			0,
			"cannot start the HTTP endpoint's process again, because a timer fails: HTTP is no longer served; restart pebsd");
	http->wait_ms = MIN(http->wait_ms * 2, HTTP_RESTART_MAX_SECONDS * 1000ULL);
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http *http = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	http->on_end = sd_event_source_disable_unref(http->on_end);
	http->broker = http_broker_free(http->broker);
	if (child_reap(&http->child, how) == 0) {
		/*
		 * Not expected, because a readable pidfd means that the process has ended. Continue without
		 * its exit code.
		 */
		(void)close(http->child.pidfd);
		(void)snprintf(how, sizeof(how), "has ended");
	}
	child_kill(&http->child);
	http->child = CHILD_NONE;
	if (http->stopped)
		return sd_event_source_set_time_relative(http->restart, 0);
	/* Call this before warn(): after a long run it makes warn() warn again. */
	start_later(http);
	warn(http, 0, http->why ? http->why : how);
	http->why = NULL;
	return 0;
}

/* Called by the broker, so do not free the broker here: on_end() does, once the process has ended. */
static void on_failed(void *userdata, const char *why)
{
	struct http *http = userdata;

	/* A process that closed its socket ends by itself, and its exit code says more. */
	if (strcmp(why, "has closed its socket") != 0)
		http->why = why;
	child_kill(&http->child);
}

static int start(struct http *http)
{
	static char *const environment[] = {
#ifdef __SANITIZE_ADDRESS__
		/* The leak check attaches to the process, which the process forbids. */
		(char *)"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
#endif
		NULL};
	int passed[HTTP_SOCKETS_MAX + 1];
	struct child_request request = {.program = http->program,
					.argument = "--http",
					.environment = environment,
					.passed = passed,
					.n_passed = http->sockets.n};
	struct http_broker_settings settings = {.event = http->settings.event,
						.source = &http->source,
						.bodies = &http->bodies,
						.failed = on_failed,
						.userdata = http};
	char how[CHILD_END_MAX];
	int r;

	memcpy(passed, http->sockets.fds, http->sockets.n * sizeof(*passed));
	if (http->sockets.users >= 0)
		passed[request.n_passed++] = http->sockets.users;
	r = child_start(&request, &http->child);
	if (r < 0)
		return r;
	http->started_ns = monotonic_ns();
	settings.socket = http->child.socket;
	r = http_broker_new(&settings, &http->broker);
	if (r == 0)
		r = sd_event_add_io(http->settings.event, &http->on_end, http->child.pidfd, EPOLLIN, on_end,
				    http);
	if (r < 0) {
		http->broker = http_broker_free(http->broker);
		child_kill(&http->child);
		(void)child_wait(&http->child, how);
		http->child = CHILD_NONE;
		return r;
	}
	http_broker_configure(http->broker, http->hosts);
	return 0;
}

static int on_restart(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http *http = userdata;
	int r;

	(void)source;
	(void)usec;
	if (http->stopped) {
		http->stopped(http->stopped_userdata);
		return 0;
	}
	http->restarts++;
	r = start(http);
	if (r < 0) {
		start_later(http);
		warn(http, r, "cannot be started");
	}
	return 0;
}

static int prepare(struct http *http, const struct http_settings *settings)
{
	int r;

	http->hosts = strdup(settings->hosts);
	if (!http->hosts || (settings->program && !(http->program = strdup(settings->program))))
		return -ENOMEM;
	r = sd_event_add_time_relative(http->settings.event, &http->restart, CLOCK_MONOTONIC, 0,
				       TIMER_ACCURACY_US, on_restart, http);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(http->restart, "http-restart");
	return sd_event_source_set_enabled(http->restart, SD_EVENT_OFF);
}

static const char *why_not(const struct http *http, int error)
{
	if (error == -ENOENT && !http->program)
		return "pebsd starts a process for HTTP from /proc/self/exe, which does not exist; mount /proc";
	return strerror(-error);
}

int http_new(const struct http_settings *settings, struct http_sockets *sockets,
	     const struct http_source *source, struct http **ret, char **ret_message)
{
	struct http *http = calloc(1, sizeof(*http));
	int r;

	*ret_message = NULL;
	if (!http) {
		http_sockets_close(sockets);
		return -ENOMEM;
	}
	http->settings = *settings;
	http->source = *source;
	http->sockets = *sockets;
	*sockets = HTTP_SOCKETS_NONE;
	http->child = CHILD_NONE;
	http->wait_ms = HTTP_RESTART_FIRST_MS;
	http_bodies_init(&http->bodies, &http->source);
	r = prepare(http, settings);
	if (r >= 0)
		r = start(http);
	if (r < 0) {
		if (asprintf(ret_message,
			     "cannot serve HTTP on %s: %s; `listen = none` in [export] disables HTTP",
			     http->sockets.text, why_not(http, r)) < 0)
			*ret_message = NULL;
		http_free(http);
		return r;
	}
	*ret = http;
	return 0;
}

struct http *http_free(struct http *http)
{
	char how[CHILD_END_MAX];

	if (!http)
		return NULL;
	sd_event_source_disable_unref(http->on_end);
	sd_event_source_disable_unref(http->restart);
	http->broker = http_broker_free(http->broker);
	child_kill(&http->child);
	if (http->child.pidfd >= 0 && child_wait(&http->child, how) == 0)
		(void)close(http->child.pidfd);
	http_sockets_close(&http->sockets);
	http_bodies_done(&http->bodies);
	free(http->program);
	free(http->hosts);
	free(http);
	return NULL;
}

int http_stop(struct http *http, void (*stopped)(void *userdata), void *userdata)
{
	u64 wait_ms = http->broker ? HTTP_STOP_MS : 0;
	int r;

	if ((r = sd_event_source_set_time_relative(http->restart, wait_ms * 1000)) < 0 ||
	    (r = sd_event_source_set_enabled(http->restart, SD_EVENT_ONESHOT)) < 0)
		return r;
	http->stopped = stopped;
	http->stopped_userdata = userdata;
	if (http->broker)
		http_broker_close(http->broker);
	return 0;
}

int http_configure(struct http *http, const char *hosts)
{
	char *copy = strdup(hosts);

	if (!copy)
		return -ENOMEM;
	free(http->hosts);
	http->hosts = copy;
	if (http->broker)
		http_broker_configure(http->broker, http->hosts);
	return 0;
}

u64 http_restarts(const struct http *http)
{
	return http ? http->restarts : 0;
}

pid_t http_pid(const struct http *http)
{
	return http->child.pidfd >= 0 ? http->child.pid : -1;
}
