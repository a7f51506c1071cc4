// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd's side of the connection to pebsd-opener. The whole process has one connection, made when it is first
 * needed and then kept. Threads take turns.
 *
 * If pebsd-opener hangs, a caller waits only for a limited time:
 * - OPENER_ANSWER_MS for a request.
 * - OPENER_CONNECT_MS for the first request of a connection, because systemd may have to start the service.
 * - OPENER_START_MS for the very first request, while pebsd itself starts.
 *
 * After a failure of pebsd-opener, no request is sent for OPENER_PAUSE_MS. Each further failure doubles that
 * time, at most to 16 times OPENER_PAUSE_MS.
 */
#ifndef PEBSD_OPENER_CLIENT_H
#define PEBSD_OPENER_CLIENT_H

#include "origin/opener/opener_wire.h"

#define OPENER_START_MS   30000
#define OPENER_CONNECT_MS 10000
#define OPENER_ANSWER_MS  2000
#define OPENER_PAUSE_MS   3000

/* The reason why pebsd-opener did not open the event of a request. */
enum opener_trouble {
	OPENER_WELL,      /* pebsd-opener answered, or was never asked */
	OPENER_NO_SOCKET, /* there is no socket */
	OPENER_NOT_OURS,  /* this process's user may not use the socket */
	OPENER_GONE,      /* pebsd-opener closed the connection */
	OPENER_SILENT,    /* no answer in time */
	OPENER_GARBLED,   /* the answer is of another version, or invalid */
	OPENER_REFUSED,   /* pebsd-opener does not open such events: see the reason */
};

/*
 * Asks pebsd-opener to open the event. `fds` are the descriptors that accompany the request, in the order of
 * opener_wire.h, and their number is that of opener_wire_request_fds(). The caller keeps them. Returns the
 * event's descriptor, or -errno of perf_event_open(2) in pebsd-opener, or -EMFILE or -ENFILE if no descriptor is
 * left for a socket or the event, or -ENOTCONN if pebsd-opener did not call perf_event_open(2): see
 * opener_client_trouble().
 */
int opener_client_open(const struct opener_request *request, const int *fds);

/*
 * Returns the trouble with the last request of the calling thread, for messages. A request that was not sent
 * because of an earlier failure has the trouble of that failure. Writes the reason of a refusal, otherwise "".
 */
enum opener_trouble opener_client_trouble(char ret_reason[OPENER_REASON_MAX]);

/*
 * Closes the connection and forgets all state, except the last requests of other threads. For tests, each of
 * which uses its own socket `path`. NULL means OPENER_SOCKET. The caller owns `path` and must keep it.
 */
void opener_client_reset(const char *path);

#endif
