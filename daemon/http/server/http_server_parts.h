// SPDX-License-Identifier: GPL-2.0
/* What the server (http_server.c), one connection (http_connection.c), answers to requests (http_requests.c) and
 * what pebsd says (http_told.c) share. */
#ifndef PEBSD_HTTP_SERVER_PARTS_H
#define PEBSD_HTTP_SERVER_PARTS_H

#include <microhttpd.h>
#include <sys/queue.h>

#include "http/server/http_profile.h"
#include "http/server/http_questions.h"
#include "http/server/http_scrape.h"
#include "http/server/http_server.h"
#include "http/shared/http_places.h"

struct http_connection {
	TAILQ_ENTRY(http_connection) entry;
	struct MHD_Connection *library;
	int fd;       /* the library's; its own if it lingers */
	bool lingers; /* all is sent, and its client has not taken all; the library is done with it */
	struct http_owner owner;
	struct http_pace pace;
	u64 deadline_ns;
	bool hung_up;
	struct http_waiting *waiting; /* not NULL: for a profile, without a deadline */

	bool asks; /* it is among those who wait for an answer, and suspended */
	struct http_requester requester;
	bool answered; /* with `error`, an errno; 0: there is what it asked for */
	int error;
};

struct http_server {
	struct http_server_settings settings;
	TAILQ_HEAD(, http_connection) connections; /* the oldest first */
	unsigned int n_connections;
	unsigned int n_lingering; /* of them */
	u64 look_ns;              /* when it is looked again who is slow */
	bool was_crowd;           /* and what its clients took was not given back yet */
	bool crowded;             /* nobody is taken in: all that are in wait for pebsd */
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
	sd_event_source *again; /* in the next turn of the loop */
};

u64 http_server_now_ns(void);

/* The client's time begins, or begins again. */
void http_server_begin(struct http_connection *connection);

/* Bytes that the client's kernel has taken; 0 on a UNIX socket, whose bytes the kernel does not count. */
u64 http_connection_taken(const struct http_connection *connection);

/* Whether something that was sent is still here. */
bool http_connection_is_untaken(const struct http_connection *connection);

struct http_connection *http_connection_of_requester(struct http_requester *requester);

/* Nothing is served any more: `error` of http_server_settings.ended. */
void http_server_end(struct http_server *server, int error);

/* Whether who comes is let in; nobody is once pebsd said that it ends. */
void http_server_let_in(struct http_server *server, bool open);

/* Has the request that waits for an answer go on: there is one, or `error`, an errno. It is no requester then. */
void http_server_resume(struct http_requester *requester, int error);

#endif
