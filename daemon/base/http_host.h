// SPDX-License-Identifier: GPL-2.0
/*
 * The Host of a request. A page of anybody's, opened in a browser on this machine or in its network, can have
 * its own name lead here (DNS rebinding) and then read what is answered; its requests carry that name. So a
 * request is served only for the address that it came to, for localhost on loopback, and for names that are
 * configured. Pure.
 */
#ifndef PEBSD_HTTP_HOST_H
#define PEBSD_HTTP_HOST_H

#include <stdbool.h>
#include <sys/socket.h>

enum http_host {
	HTTP_HOST_RIGHT,
	HTTP_HOST_WRONG,
	HTTP_HOST_MALFORMED, /* no host and port (RFC 9110, 7.2), none where HTTP/1.1 wants one, or several */
};

struct http_host_asked {
	const char *host;               /* the header; NULL: there is none */
	size_t n;                       /* how many there are */
	bool may_be_absent;             /* HTTP/1.0: no browser sends that */
	const struct sockaddr *arrived; /* this end of the connection */
	const char *names;              /* configured: with blanks between them; `*` is all */
};

/* Ports are not compared: where one is forwarded the client's is another. Any Host will do on a UNIX socket,
 * which no browser connects to. */
enum http_host http_host_check(const struct http_host_asked *asked);

/* What a name of the list may look like: a host name, a numeric address without brackets, or `*`. */
bool http_host_is_name(const char *name);
#define HTTP_HOST_FORM \
	"names or numeric addresses of this machine with blanks between them, without ports, or *"

#endif
