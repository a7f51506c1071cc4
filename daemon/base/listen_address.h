// SPDX-License-Identifier: GPL-2.0
/* Where the endpoint listens: "127.0.0.1:9754", "[::1]:9754", "unix:/run/pebsd/metrics.sock" or "none". Pure;
 * names are not looked up. */
#ifndef PEBSD_LISTEN_ADDRESS_H
#define PEBSD_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "pebsd/types.h"

#define LISTEN_ADDRESS_DEFAULT  "127.0.0.1:9754"
#define LISTEN_ADDRESS_LOCAL    "unix:"
#define LISTEN_ADDRESS_TEXT_MAX (sizeof(LISTEN_ADDRESS_LOCAL) + sizeof(((struct sockaddr_un *)0)->sun_path))

struct listen_address {
	bool none; /* do not listen: all below is 0 */
	u16 port;  /* 0: of a UNIX socket, which has none */
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un local;
	} address;                          /* port included; `address.any.sa_family` says which */
	socklen_t length;                   /* of the member in use */
	char text[LISTEN_ADDRESS_TEXT_MAX]; /* as in "http://TEXT/metrics", "unix:PATH"; "none" */
};

/* What listen_address_parse() takes, for messages. */
#define LISTEN_ADDRESS_FORM                                                                                 \
	"a numeric address and a port from 1 to 65535, as 127.0.0.1:9754 or [::1]:9754, a UNIX socket, as " \
	"unix:/run/pebsd/metrics.sock, or none"

/* Returns 0, or -EINVAL where `text` is not of that form; `*ret` is written with 0 only. */
int listen_address_parse(const char *text, struct listen_address *ret);

bool listen_address_equal(const struct listen_address *a, const struct listen_address *b);

/* Whether a socket that is bound there, as getsockname(2) has it, is at that address. */
bool listen_address_is(const struct listen_address *address, const struct sockaddr *bound, socklen_t length);

#endif
