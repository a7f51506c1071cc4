// SPDX-License-Identifier: GPL-2.0
#include "export/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

#define BACKLOG      128
#define PORT_DIGITS  5
#define PORT_LARGEST 65535

static inline void cleanup_freeaddrinfo(struct addrinfo *const *info)
{
	if (*info)
		freeaddrinfo(*info);
}

static int parse_port(const char *text)
{
	int port = 0;

	if (!*text || strlen(text) > PORT_DIGITS)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		port = port * 10 + (*text - '0');
	}
	return port <= PORT_LARGEST ? port : -EINVAL;
}

int listen_parse(const char *text, struct listen_address *ret)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	_cleanup_(cleanup_freeaddrinfo) struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':');
	char host[NI_MAXHOST];
	size_t length;
	bool bracketed = text[0] == '[';

	if (!colon || parse_port(colon + 1) < 0)
		return -EINVAL;
	length = (size_t)(colon - text);
	if (bracketed && (length < 2 || text[length - 1] != ']'))
		return -EINVAL;
	if (bracketed) {
		text++;
		length -= 2;
	}
	/* getaddrinfo() takes no host for the loopback; here it is more likely a mistake. */
	if (length == 0 || length >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, length);
	host[length] = '\0';
	if (bracketed != (strchr(host, ':') != NULL))
		return -EINVAL;
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return -EINVAL;
	*ret = (struct listen_address){.length = found->ai_addrlen};
	memcpy(&ret->socket, found->ai_addr, found->ai_addrlen);
	return 0;
}

static const char *remedy_for(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "another program, perhaps another pebsd, listens there; `ss -ltnp` names it: stop it, "
		       "or "
		       "choose another port with --listen or `listen` in [export]";
	case -EADDRNOTAVAIL:
		return "no network interface has that address (`ip address` lists them); choose one that "
		       "exists "
		       "with --listen or `listen` in [export]";
	case -EACCES:
		return "a port below 1024 needs CAP_NET_BIND_SERVICE; choose a higher one with --listen or "
		       "`listen` in [export]";
	case -EAFNOSUPPORT:
		return "this kernel does not have that address family; choose an address of the other with "
		       "--listen or `listen` in [export]";
	default:
		return "choose another address with --listen or `listen` in [export], or `none`";
	}
}

static int open_socket(const struct listen_address *address, int *ret)
{
	_cleanup_close_ int fd = -1;
	const int yes = 1;

	fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Connections of a daemon that just ended must not keep the next one from its port. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address->socket, address->length) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

int listen_open(const char *text, int *ret_fd, char **ret_message)
{
	struct listen_address address;
	int r;

	*ret_message = NULL;
	r = listen_parse(text, &address);
	if (r < 0) {
		if (asprintf(ret_message,
			     "cannot listen on \"%s\": not a numeric address and port; write 127.0.0.1:9754 "
			     "or "
			     "[::1]:9754, or `none`",
			     text) < 0)
			*ret_message = NULL;
		return r;
	}
	r = open_socket(&address, ret_fd);
	if (r < 0 &&
	    asprintf(ret_message, "cannot listen on %s: %s: %s", text, strerror(-r), remedy_for(r)) < 0)
		*ret_message = NULL;
	return r;
}

int listen_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	switch (address.ss_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)&address)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
	default:
		return -EAFNOSUPPORT;
	}
}
