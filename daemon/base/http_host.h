// SPDX-License-Identifier: GPL-2.0
/*
 * The check of the Host header of a request. It protects against DNS rebinding: a foreign page in a browser
 * on this machine or its network lets its own host name resolve to this endpoint, and then reads the answers.
 * Such requests carry that host name. So a request is served only in these cases:
 * - Host is the address that the request arrived at.
 * - Host is localhost, and the request arrived on loopback.
 * - Host is a configured name.
 * - No browser sends such a request: it arrived on a UNIX socket, or it is HTTP/1.0 without Host.
 *
 * Pure functions.
 */
#ifndef PEBSD_HTTP_HOST_H
#define PEBSD_HTTP_HOST_H

#include <stdbool.h>
#include <sys/socket.h>

enum http_host {
	HTTP_HOST_RIGHT,
	HTTP_HOST_WRONG,
	HTTP_HOST_MALFORMED, /* missing (HTTP/1.1), repeated, or not a host and port (RFC 9110, 7.2) */
};

struct http_host_asked {
	const char *host;               /* value of the header; NULL: no such header */
	size_t n;                       /* number of Host headers */
	bool may_be_absent;             /* HTTP/1.0, which no browser sends */
	const struct sockaddr *arrived; /* local address of the connection */
	const char *names;              /* configured names, separated by blanks; `*` allows all */
};

/*
 * Ports are not compared, because the client uses another port if the port is forwarded. On a UNIX socket
 * every Host is accepted, because no browser connects to one.
 */
enum http_host http_host_check(const struct http_host_asked *asked);

/* Returns whether `name` may stand in the list: a host name, a numeric address without brackets, or `*`. */
bool http_host_is_name(const char *name);
#define HTTP_HOST_FORM                                                                 \
	"names or numeric addresses of this machine, separated by blanks and without " \
	"ports, or *"

#endif
