// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd's side of the opener. One connection for the whole process, made when it is first needed and kept; a
 * second thread waits for its turn. An opener that hangs holds up nobody for long: a request has
 * OPENER_ANSWER_MS, the first over a connection OPENER_CONNECT_MS, as the service may have to be started for
 * it, and the very first, when pebsd starts itself, OPENER_START_MS; after a failure the next is not tried
 * before OPENER_PAUSE_MS have passed, and twice as many after each further one, up to 16 times.
 */
#ifndef PEBSD_OPENER_CLIENT_H
#define PEBSD_OPENER_CLIENT_H

#include "origin/opener/opener_wire.h"

#define OPENER_START_MS   30000
#define OPENER_CONNECT_MS 10000
#define OPENER_ANSWER_MS  2000
#define OPENER_PAUSE_MS   3000

/* Why the opener opened nothing when it was last asked. */
enum opener_trouble {
	OPENER_WELL,      /* it answered, or was never asked */
	OPENER_NO_SOCKET, /* there is none */
	OPENER_NOT_OURS,  /* the socket is not for this process' user */
	OPENER_GONE,      /* it hung up */
	OPENER_SILENT,    /* no answer in time */
	OPENER_GARBLED,   /* an answer of another version, or of no form at all */
	OPENER_REFUSED,   /* it opens no such event: opener_client_reason() */
};

/*
 * Has the opener open the event. `fds`: as many as opener_wire_request_fds() says, in its order; they stay
 * the caller's. Returns the event's descriptor; the opener's -errno of perf_event_open(2); or -ENOTCONN where
 * it did not come to that, see opener_client_trouble().
 */
int opener_client_open(const struct opener_request *request, const int *fds);

/* For messages: of the last request that any thread made. */
enum opener_trouble opener_client_trouble(void);

/* Of OPENER_REFUSED; `ret` holds OPENER_REASON_MAX. */
void opener_client_reason(char *ret);

/* Closes the connection and forgets all: for tests, which have another socket than OPENER_SOCKET each; NULL:
 * that one. `path` is the caller's, and stays. */
void opener_client_reset(const char *path);

#endif
