// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_worker.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "base/failure.h"
#include "base/log.h"
#include "child/child.h"
#include "http/server/http_confine.h"
#include "http/server/http_server.h"
#include "http/shared/http_owner.h"

/* Exit code of the event loop; larger than any errno. */
#define FAILED 10000

static void on_ended(void *userdata, int error)
{
	sd_event *event = userdata;

	/* If pebsd has ended, that is not an error of this process. */
	if (error < 0 && error != -EPIPE && error != -ECONNRESET)
		(void)log_error(error, "the HTTP endpoint's process cannot communicate with pebsd");
	(void)sd_event_exit(event, error < 0 ? FAILED : 0);
}

/* Returns the number of listeners, whose descriptors have consecutive numbers. */
static size_t find_listeners(int ret[static HTTP_LISTENERS_MAX], bool *ret_any_local)
{
	size_t n = 0;

	*ret_any_local = false;
	while (n < HTTP_LISTENERS_MAX &&
	       sd_is_socket(CHILD_PASSED_FIRST + (int)n, AF_UNSPEC, SOCK_STREAM, true) > 0) {
		ret[n] = CHILD_PASSED_FIRST + (int)n;
		*ret_any_local = *ret_any_local || sd_is_socket(ret[n], AF_UNIX, SOCK_STREAM, true) > 0;
		n++;
	}
	return n;
}

static int serve(sd_event *event, int channel)
{
	int listeners[HTTP_LISTENERS_MAX];
	bool any_local;
	struct http_server_settings settings = {.event = event,
						.listeners = listeners,
						.n_listeners = find_listeners(listeners, &any_local),
						.channel = channel,
						.users = -1,
						.ended = on_ended,
						.userdata = event};
	struct http_server *server;
	int users, r;

	users = CHILD_PASSED_FIRST + (int)settings.n_listeners;
	if (http_owner_is_open(users))
		settings.users = users;
	r = http_server_new(&settings, &server);
	if (r < 0)
		return log_error(r, "cannot serve HTTP");
	/* Everything that the process needs is open now. */
	r = http_confine(CHILD_PASSED_FIRST + (int)settings.n_listeners - 1, any_local);
	if (r < 0) {
		http_server_free(server);
		(void)log_error(
			0,
			"the HTTP endpoint's process exits, because it cannot drop its privileges: %s; `listen = none` in [export] disables HTTP",
			strerror(-r));
		return r;
	}
	r = sd_event_loop(event);
	http_server_free(server);
	return r;
}

int http_worker(int channel)
{
	sd_event *event = NULL;
	int r;

	if (!child_is_ours(channel)) {
		(void)log_error(
			0,
			"--http: standard input is not a socket from pebsd; pebsd starts this process itself if HTTP is served, see pebsd(8)");
		return EXIT_INPUT;
	}
	r = sd_event_new(&event);
	if (r < 0)
		(void)log_error(r, "cannot set up the event loop");
	else
		r = serve(event, channel);
	sd_event_unref(event);
	return r == 0 ? EXIT_DONE : EXIT_FAILED;
}
