// SPDX-License-Identifier: GPL-2.0
/*
 * The address of the HTTP endpoint: "127.0.0.1:9754", "[::1]:9754", "unix:/run/pebsd/metrics.sock" or "none".
 * Pure functions. Host names are not resolved.
 */
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
	bool none; /* do not listen; all members below except `text` are 0 */
	u16 port;  /* 0 for a UNIX socket, which has no port */
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un local;
	} address;                          /* includes the port; `address.any.sa_family` tells the family */
	socklen_t length;                   /* length of the member in use */
	char text[LISTEN_ADDRESS_TEXT_MAX]; /* for "http://TEXT/metrics", or "unix:PATH", or "none" */
};

/* The accepted forms, for messages. */
#define LISTEN_ADDRESS_FORM                                                              \
	"a numeric address and a port from 1 to 65535, such as 127.0.0.1:9754 or "       \
	"[::1]:9754, a UNIX socket with an absolute path of at most 107 bytes, such as " \
	"unix:/run/pebsd/metrics.sock, or none"

/*
 * Returns 0, or -EINVAL if `text` does not have one of the accepted forms. `*ret` is written on success only.
 */
int listen_address_parse(const char *text, struct listen_address *ret);

bool listen_address_equal(const struct listen_address *a, const struct listen_address *b);

/* Returns whether `bound`, a socket address from getsockname(2), is this address. */
bool listen_address_is(const struct listen_address *address, const struct sockaddr *bound, socklen_t length);

#endif
