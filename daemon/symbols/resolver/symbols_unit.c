// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/symbols_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/log.h"
#include "base/text_file.h"
#include "symbols/shared/symbols_child.h"

/* Failures are logged at most once in this time. */
#define LOG_AGAIN_NS    (600 * NSEC_PER_SEC)
#define ACCEPT_AGAIN_US 100000

struct unit;

struct client {
	struct unit *unit;
	int connection; /* -1: none; a symbolizer that still exists was killed or has ended */
	struct child child;
	sd_event_source *on_hangup;
	sd_event_source *on_end;
};

struct unit {
	const struct symbols_unit_settings *settings;
	u64 idle_ns;
	uid_t owner; /* the only user besides root who may connect */
	u64 logged_ns;
	sd_event *event;
	sd_event_source *on_connection;
	sd_event_source *idle;
	struct client clients[SYMBOLS_UNIT_CLIENTS_MAX];
};

static bool is_free(const struct client *client)
{
	return client->connection < 0 && client->child.pidfd < 0;
}

static u64 now_ns(const struct unit *unit)
{
	u64 now_us = 0;

	(void)sd_event_now(unit->event, CLOCK_MONOTONIC, &now_us);
	return now_us ? now_us * NSEC_PER_USEC : 1;
}

static bool may_log(struct unit *unit)
{
	u64 now = now_ns(unit);

	if (unit->logged_ns && now - unit->logged_ns < LOG_AGAIN_NS)
		return false;
	unit->logged_ns = now;
	return true;
}

static void await_work(struct unit *unit)
{
	bool idle = true;

	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++)
		idle = idle && is_free(&unit->clients[i]);
	if (idle)
		(void)sd_event_source_set_time(unit->idle,
					       (now_ns(unit) + unit->idle_ns) / NSEC_PER_USEC + 1);
	(void)sd_event_source_set_enabled(unit->idle, idle ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static void close_connection(struct client *client)
{
	client->on_hangup = sd_event_source_disable_unref(client->on_hangup);
	if (client->connection >= 0)
		(void)close(client->connection);
	client->connection = -1;
}

/* The client has gone or gave up waiting. Its symbolizer may hang while it reads a file, so kill it. */
static int on_hangup(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct client *client = userdata;

	(void)source;
	(void)fd;
	(void)events;
	close_connection(client);
	child_kill(&client->child);
	return 0;
}

static int on_end(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct client *client = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	client->on_end = sd_event_source_disable_unref(client->on_end);
	if (child_reap(&client->child, how) == 0) {
		/*
		 * child_reap() found no exit status, but the pidfd is readable, so the process has ended. Do
		 * not wait for it.
		 */
		(void)close(client->child.pidfd);
		client->child.pidfd = -1;
		(void)snprintf(how, sizeof(how), "has ended");
	}
	if (client->connection >= 0 && may_log(client->unit))
		(void)log_warning(
			0,
			"a symbolizer %s: the address that it was looking up has no name (this is logged at most once in ten minutes)",
			how);
	close_connection(client);
	await_work(client->unit);
	return 0;
}

/*
 * Runs a symbolizer for the connection. On failure, ends the symbolizer again. The caller then closes the
 * connection, from which the client learns of the failure.
 */
static int serve_connection(struct unit *unit, struct client *client, int connection)
{
	int r = symbols_child_run(unit->settings->program, unit->settings->debuginfod, connection,
				  &client->child);

	if (r < 0)
		return r;
	client->connection = connection;
	if ((r = sd_event_add_io(unit->event, &client->on_end, client->child.pidfd, EPOLLIN, on_end,
				 client)) < 0 ||
	    (r = sd_event_add_io(unit->event, &client->on_hangup, connection, EPOLLRDHUP, on_hangup,
				 client)) < 0) {
		char how[CHILD_END_MAX];

		client->on_end = sd_event_source_disable_unref(client->on_end);
		client->connection = -1;
		child_kill(&client->child);
		if (child_wait(&client->child, how) == 0)
			(void)close(client->child.pidfd);
		client->child = CHILD_NONE;
	}
	return r;
}

static struct client *find_free(struct unit *unit)
{
	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++)
		if (is_free(&unit->clients[i]))
			return &unit->clients[i];
	return NULL;
}

static void log_stranger(const struct unit *unit, uid_t uid)
{
	if (unit->owner == 0)
		(void)log_warning(0, "refused user %u: only root, the owner of the socket, may request names",
				  uid);
	else
		(void)log_warning(
			0,
			"refused user %u: only root and user %u, the owner of the socket, may request names",
			uid, unit->owner);
}

static int take_in(struct unit *unit, int connection)
{
	struct client *client = find_free(unit);
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int r;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	if (peer.uid != 0 && peer.uid != unit->owner) {
		if (may_log(unit))
			log_stranger(unit, peer.uid);
		return -EPERM;
	}
	if (!client) {
		if (may_log(unit))
			(void)log_warning(
				0,
				"refused a connection, so its addresses have no names: %d symbolizers are running, which is the maximum",
				SYMBOLS_UNIT_CLIENTS_MAX);
		return -EBUSY;
	}
	r = serve_connection(unit, client, connection);
	if (r < 0 && may_log(unit))
		(void)log_warning(r, "cannot run a symbolizer");
	return r;
}

static int on_connection(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct unit *unit = userdata;
	int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	(void)source;
	(void)events;
	/*
	 * The process may be out of descriptors. The connection stays in the queue. Pause to avoid a busy
	 * loop.
	 */
	if (connection < 0) {
		(void)usleep(ACCEPT_AGAIN_US);
		return 0;
	}
	if (take_in(unit, connection) < 0)
		(void)close(connection);
	await_work(unit);
	return 0;
}

static int on_idle(sd_event_source *source, u64 usec, void *userdata)
{
	struct unit *unit = userdata;

	(void)source;
	(void)usec;
	return sd_event_exit(unit->event, EXIT_DONE);
}

/* Returns the owner of the socket's file, or root if there is no such file. */
static uid_t find_owner(int listening)
{
	struct sockaddr_un address = {0};
	socklen_t size = sizeof(address) - 1;
	struct stat st;

	if (getsockname(listening, (struct sockaddr *)&address, &size) < 0 || address.sun_family != AF_UNIX ||
	    !*address.sun_path || lstat(address.sun_path, &st) < 0)
		return 0;
	return st.st_uid;
}

/* Returns whether there is a network interface other than loopback, or true if that is unknown. */
static bool has_network(void)
{
	_cleanup_free_ char *devices = NULL;
	size_t n = 0;

	if (text_file_read("/proc/net/dev", &devices) < 0)
		return true;
	/* A colon follows each interface's name, and there are no other colons. */
	for (const char *at = devices; (at = strchr(at, ':')); at++)
		n++;
	return n > 1;
}

static int begin(struct unit *unit)
{
	const struct symbols_unit_settings *settings = unit->settings;
	int r;

	/* accept4() must not block if the client has already gone. */
	if (fcntl(settings->listening, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if ((r = sd_event_new(&unit->event)) < 0 ||
	    (r = sd_event_add_time(unit->event, &unit->idle, CLOCK_MONOTONIC, UINT64_MAX, 0, on_idle, unit)) <
		    0 ||
	    (r = sd_event_add_io(unit->event, &unit->on_connection, settings->listening, EPOLLIN,
				 on_connection, unit)) < 0 ||
	    (r = sd_event_set_watchdog(unit->event, true)) < 0)
		return r;
	await_work(unit);
	if (settings->debuginfod && *settings->debuginfod && !has_network())
		(void)log_warning(0, "debuginfod in pebsd.conf has no effect: this unit has no network; see "
				     "/usr/share/doc/pebsd/symbols-debuginfod.conf");
	(void)sd_notify(false, "READY=1");
	return 0;
}

static void end(struct unit *unit)
{
	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++) {
		struct client *client = &unit->clients[i];
		char how[CHILD_END_MAX];

		(void)sd_event_source_disable_unref(client->on_end);
		close_connection(client);
		child_kill(&client->child);
		if (client->child.pidfd >= 0 && child_wait(&client->child, how) == 0)
			(void)close(client->child.pidfd);
	}
	(void)sd_event_source_disable_unref(unit->idle);
	(void)sd_event_source_disable_unref(unit->on_connection);
	(void)sd_event_unref(unit->event);
}

int symbols_unit(const struct symbols_unit_settings *settings)
{
	struct unit unit = {.settings = settings, .owner = find_owner(settings->listening)};
	int r;

	unit.idle_ns = settings->idle_ns ? settings->idle_ns : SYMBOLS_UNIT_IDLE_S * NSEC_PER_SEC;
	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++)
		unit.clients[i] = (struct client){.unit = &unit, .connection = -1, .child = CHILD_NONE};
	r = begin(&unit);
	if (r >= 0)
		r = sd_event_loop(unit.event);
	if (r < 0)
		(void)log_error(r, "pebsd-symbols cannot continue");
	end(&unit);
	return r < 0 ? EXIT_FAILED : r;
}
