// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the server (http_server.c), its connections (http_connection.c), the answers to requests
 * (http_requests.c) and the messages from pebsd (http_receive.c).
 */
#ifndef PEBSD_HTTP_SERVER_INTERNAL_H
#define PEBSD_HTTP_SERVER_INTERNAL_H

#include <microhttpd.h>
#include <sys/queue.h>

#include "http/server/http_cache.h"
#include "http/server/http_pending.h"
#include "http/server/http_questions.h"
#include "http/server/http_server.h"
#include "http/shared/http_places.h"

struct http_connection {
	TAILQ_ENTRY(http_connection) entry;
	struct MHD_Connection *library;
	int fd;       /* owned by the library, or by this struct if `lingers` */
	bool lingers; /* not all bytes are acknowledged; the library has closed the connection */
	struct http_owner owner;
	struct http_pace pace;
	u64 deadline_ns;
	bool hung_up;
	/* Not NULL: waits for a profile or a view, without a deadline. */
	struct http_pending_request *waiting;

	bool asks; /* waits for an answer from pebsd, and is suspended */
	struct http_requester requester;
	bool answered; /* the answer came; `error` is an errno, 0: success */
	int error;
};

struct http_server {
	struct http_server_settings settings;
	TAILQ_HEAD(, http_connection) connections; /* oldest first */
	unsigned int n_connections;
	unsigned int n_lingering; /* number of lingering connections among them */
	u64 look_ns;              /* time of the next check for slow clients */
	bool was_crowd;           /* the memory of many connections has not been returned to the kernel yet */
	bool crowded; /* no client is accepted until a connection ends: there are HTTP_PLACES_ROOM */
	struct MHD_Daemon *daemon;
	struct http_cache cache;
	struct http_questions questions;
	struct http_pending *pending;
	bool profiles; /* they are served */
	bool zooms;    /* the same for /zoom.json */
	bool configured;
	bool last; /* answer current clients, accept no new ones */
	bool ended;
	char *origin;
	char *hosts;
	/* The last state from pebsd. */
	int unready; /* an errno; 0: it samples */
	bool works;  /* pebsd itself works, whether it samples or not */
	char *reason;
	sd_event_source *accepting[HTTP_LISTENERS_MAX];
	sd_event_source *io;
	sd_event_source *channel;
	sd_event_source *timer;
	sd_event_source *again; /* runs once more in the next iteration of the loop */
};

/* Starts the client's deadline, or starts it again. */
void http_server_begin(struct http_connection *connection);

/* Bytes that the client's kernel has acknowledged; 0 on a UNIX socket, for which the kernel has no count. */
u64 http_connection_taken(const struct http_connection *connection);

/* Returns true if the client's kernel has not acknowledged all bytes that were written to the connection. */
bool http_connection_is_untaken(const struct http_connection *connection);

/* Stops serving; `error` is passed to http_server_settings.ended. */
void http_server_end(struct http_server *server, int error);

/* Starts or stops accepting connections. Never starts after pebsd has announced its end. */
void http_server_let_in(struct http_server *server, bool open);

/*
 * Resumes the request of a requester. `error` is 0 if the answer has come, otherwise an errno. The caller has
 * removed the requester from the questions.
 */
void http_server_resume(struct http_requester *requester, int error);

#endif
